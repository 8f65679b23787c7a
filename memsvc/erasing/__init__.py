"""Forgetting for good: memories, whole users, and both again in a database that was restored."""
