"""Permanent erasure of memories and of whole users, and again in a restored database."""
