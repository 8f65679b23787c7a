"""The extractor that needs no language model: names, grammar and rules."""
