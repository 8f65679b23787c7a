"""Memory for chats: recalling for a turn, and storing it. No HTTP here."""
