"""Times in words: the times that a text or a query names, and how long ago something was, on a person's clock."""
