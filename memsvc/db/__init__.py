"""Connections and transactions bound to a user, the loader of named SQL, and what every statement needs."""
