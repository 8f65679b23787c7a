"""Cells: several databases, each a whole memsvc with some of the users, and a directory that says who is where."""
