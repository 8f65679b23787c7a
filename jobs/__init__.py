"""The Dramatiq side of background work: thin actors, and the worker that runs them."""
