"""What a user types: flags and overrides checked before anything is composed, and Hydra's errors in one line."""
