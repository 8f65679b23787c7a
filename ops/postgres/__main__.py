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
    """Run the command of the arguments; an error ends the process with a message."""
    parser = argparse.ArgumentParser(prog="python -m ops.postgres", description="PostgreSQL 18 with AGE and PostGIS.")
    parser.add_argument("command", choices=("up", "down", "image"), help="image: only make the image")
    parser.add_argument("--data", type=Path, default=DATA, help="its data (default: %(default)s)")
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
    """The administrator's URL of memsvc's database on the folder's server."""
    server = start(data)
    with psycopg.connect(server.url(), autocommit=True) as connection:
        if connection.execute("SELECT FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
            connection.execute("CREATE DATABASE memsvc TEMPLATE template0")
    return server.url(DATABASE)


if __name__ == "__main__":
    main()
