"""The figures of a report, one a file."""
