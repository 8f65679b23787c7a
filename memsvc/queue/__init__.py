"""Background work: the table of jobs, and the loop that runs them."""
