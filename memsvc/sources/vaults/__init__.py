"""Folders of notes in the memory: each note a document and a node, its links edges, kept as the folder is."""
