"""Conversations of many turns: what is asked in them, and the pieces of writing that they are made of."""
