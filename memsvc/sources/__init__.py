"""Text comes in: messages are validated, split into passages and stored; sources are listed and opened."""
