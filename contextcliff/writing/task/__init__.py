"""Task `continuation`: one point of a text, contexts that grow backward from it, and how an answer is scored."""
