"""Identity: which node a name means, and which nodes are the same."""
