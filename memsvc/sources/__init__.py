"""Sources: validate messages, split them into passages and store them; list and open sources."""
