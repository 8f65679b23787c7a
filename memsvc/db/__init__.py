"""Engines and transactions bound to a user, the SQL loader, upgrades, and the embedded server."""
