"""A user's whole memory, out and in: the format of an export, its Markdown for people, export and import."""
