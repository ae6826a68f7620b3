"""Paired statistics: two runs that were asked the same, compared sample by sample."""
