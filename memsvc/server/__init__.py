"""The server under memsvc: installing, upgrading, backing up and caring for a database, and the embedded PostgreSQL."""
