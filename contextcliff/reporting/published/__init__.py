"""Tables that others have published: read, checked, and chosen from by name."""
