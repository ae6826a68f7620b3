"""The command line: flags and overrides are checked before composing, and Hydra's errors become one line."""
