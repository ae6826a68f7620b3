"""Tasks whose context is a list of words: nothing has to be understood, every entry counts."""
