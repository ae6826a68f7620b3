"""From scored rounds to what is said of the writing: tests, trends, tiers and comparisons."""
