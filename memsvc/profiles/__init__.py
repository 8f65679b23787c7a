"""The profile: blocks of text about the user, about nodes and of conversations, which an assistant edits itself."""
