"""Concepts: words for things of one kind, and who and what hangs together; see docs/concepts.md."""
