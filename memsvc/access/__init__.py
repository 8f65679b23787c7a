"""Users, keys, tokens and scopes: who may make a request, and for which user."""
