"""The command line: a thin shell over the capabilities.

Commands import heavy modules inside their functions, so that help appears immediately. A memsvc error ends the
command with its message, its hint and its exit code. ``--json`` prints one JSON document, and nothing else, to
standard output.
"""

from __future__ import annotations

import sys
from typing import NoReturn

from memsvc.cli.app import app
from memsvc.errors import MemsvcError

INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit."""
    try:
        app()
    except MemsvcError as error:
        _end(error)
    except BrokenPipeError:
        sys.exit(0)
    except SystemExit as end:
        if end.code == INTERRUPTED:  # Typer turns Ctrl-C into this exit code
            print("memsvc: interrupted; everything stored so far is kept.", file=sys.stderr)
        raise
    except Exception as error:
        from memsvc.db.meanings import plain_error

        plain = plain_error(error)  # a driver error outside a transaction, not yet translated
        if plain is None:
            raise
        _end(plain)


def _end(error: MemsvcError) -> NoReturn:
    print(f"memsvc: {error.message}", file=sys.stderr)
    if error.advice:
        print(f"        {error.advice}", file=sys.stderr)
    sys.exit(error.exit_code)
