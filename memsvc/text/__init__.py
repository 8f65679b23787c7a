"""Text utilities: checks for storable text, token counts, splitting, fencing, and Markdown."""
