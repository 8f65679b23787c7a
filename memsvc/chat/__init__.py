"""Memory for chats: what a turn gets of memory, and what memory gets of a turn. No HTTP here."""
