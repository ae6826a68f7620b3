"""The model under test: weights, prices, positions, samplers."""
