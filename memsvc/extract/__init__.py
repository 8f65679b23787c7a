"""Text becomes facts: what an extractor is given, what it gives back, how that is checked, resolved and written."""
