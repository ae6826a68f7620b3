"""The writing in reports: words, tables, figures, files and pages."""
