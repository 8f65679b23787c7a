"""What a language model is asked about memories, a module a question."""
