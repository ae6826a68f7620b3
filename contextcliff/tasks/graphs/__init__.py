"""Tasks on graphs that are given as lists of their edges."""
