"""Tokenizers and token offsets, sentence starts, and generated prose."""
