"""Export and import of a user's whole memory: the format, its Markdown for people, export and import."""
