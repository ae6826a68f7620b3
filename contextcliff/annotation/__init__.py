"""What is said of answers beside their score: embeddings of their texts, and the ratings of a judge."""
