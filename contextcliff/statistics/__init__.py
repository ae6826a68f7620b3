"""Statistics that know nothing of contexts: intervals, exact and rank tests, clusters, sample size."""
