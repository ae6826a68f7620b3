"""What is said of prose."""
