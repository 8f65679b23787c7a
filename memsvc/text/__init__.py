"""What is about text alone: what can be stored, how long it is, splitting it, fencing it, showing it as Markdown."""
