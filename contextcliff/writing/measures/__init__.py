"""One file a kind of measure of prose, and the list of all."""
