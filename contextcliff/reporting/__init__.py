"""What a run is read from: the console, a Markdown page, figures, and the files that hold them."""
