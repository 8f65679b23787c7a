"""Folders of notes: read into notes and links, written back to in one marked section. No database is needed."""
