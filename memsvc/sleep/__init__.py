"""Sleep mode: maintenance of the memory at night, by tasks of one shape: resumable, bounded and recorded."""
