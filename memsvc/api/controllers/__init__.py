"""One module for each capability's routes; all are joined in ``memsvc.api.app``."""
