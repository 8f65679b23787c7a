"""Users, keys, tokens and scopes: who may ask, and for whom."""
