"""Background work as Dramatiq sees it: thin actors, and the process that runs them."""
