"""Prose measured: readability, diversity, repetition, rhythm, copying, coherence, and what the author does of each."""
