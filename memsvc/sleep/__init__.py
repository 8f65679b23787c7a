"""The night's work on what is remembered: tasks with one shape, resumable, bounded, recorded."""
