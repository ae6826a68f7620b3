"""OpenAI-compatible servers: one request, what a server tells of itself, and what it accepts."""
