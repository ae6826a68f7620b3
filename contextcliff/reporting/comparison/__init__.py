"""Several runs side by side: on the console and in files."""
