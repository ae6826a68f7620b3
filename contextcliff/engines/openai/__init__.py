"""OpenAI-compatible servers: what a server is and accepts, its API key, and one request with its answer."""
