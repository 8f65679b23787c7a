"""Background work: the truth about jobs, and the loop that runs them."""
