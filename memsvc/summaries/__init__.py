"""Summaries of what was said: by sitting, day, week, month and year. ``memsvc.sleep.summaries`` writes them."""
