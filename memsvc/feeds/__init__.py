"""Feeds: what memsvc reads again by itself, and what other programs push to it."""
