"""The sections of a report, one a file; `section_list` has their order."""
