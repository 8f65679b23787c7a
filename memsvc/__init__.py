"""memsvc: long-term memory for AI assistants inside PostgreSQL."""

__version__ = "0.1.0"
