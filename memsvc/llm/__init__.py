"""Models: the language model, embedding models, and how long a text is for one."""
