"""Needles hidden in a text: one file a task, and what they share."""
