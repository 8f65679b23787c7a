"""The worker's process: thin, for all work is done by the capabilities in ``memsvc``."""
