"""``python -m ops.postgres up | down | image``: the full server from the command line (``make full-up``)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import psycopg

from ops.postgres.image import FullServerError, image
from ops.postgres.server import start, stop

DATABASE = "memsvc"
DATA = Path("/var/lib/memsvc-full")


def main() -> None:
    """Run the command that the arguments name; an error ends the process with a message."""
    parser = argparse.ArgumentParser(prog="python -m ops.postgres", description="PostgreSQL 18 with AGE and PostGIS.")
    parser.add_argument("command", choices=("up", "down", "image"), help="image: only make what a start needs")
    parser.add_argument("--data", type=Path, default=DATA, help="the server's data folder (default: %(default)s)")
    given = parser.parse_args()
    try:
        if given.command == "image":
            print(image())
        elif given.command == "down":
            print("stopped" if stop(given.data) else "was not running")
        else:
            print(f"export MEMSVC_DATABASE_URL='{_up(given.data)}'")
    except (FullServerError, OSError) as error:
        sys.exit(str(error))


def _up(data: Path) -> str:
    """Start the folder's server, create memsvc's database if needed, and return the administrator's URL of it."""
    server = start(data)
    with psycopg.connect(server.url(), autocommit=True) as connection:
        if connection.execute("SELECT FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
            connection.execute("CREATE DATABASE memsvc TEMPLATE template0")
    return server.url(DATABASE)


if __name__ == "__main__":
    main()
