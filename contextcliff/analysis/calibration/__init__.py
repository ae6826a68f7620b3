"""Simulated searches: scores are drawn by a law with a known crossing, and decided as those of a model are."""
