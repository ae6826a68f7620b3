"""Questions on documents of natural length: which are asked, how answers are scored and why they fail."""
