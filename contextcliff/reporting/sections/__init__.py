"""The sections of a report, one a file; `finding` has their order."""
