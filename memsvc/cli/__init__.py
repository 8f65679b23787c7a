"""The command line: a thin shell over the capabilities.

Commands import heavy modules inside their functions, so that help appears immediately. A memsvc error ends the
command with its message, its hint and its exit code. ``--json`` prints one JSON document, and nothing else, to
standard output.
"""

from __future__ import annotations

import sys
from typing import NoReturn

import typer

from memsvc.cli.app import app
from memsvc.errors import InvalidRequestError, MemsvcError

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


def _advice(error: MemsvcError) -> str:
    """Return what to do about an error; where the API refers to its schema, the command's help."""
    if error.advice != InvalidRequestError.hint:
        return error.advice
    path, command = ["memsvc"], typer.main.get_command(app)
    for word in sys.argv[1:]:
        found = getattr(command, "commands", {}).get(word)
        if found is None:
            break
        path, command = [*path, word], found
    return f"'{' '.join(path)} --help' says what it takes."


def _end(error: MemsvcError) -> NoReturn:
    print(f"memsvc: {error.message}", file=sys.stderr)
    if advice := _advice(error):
        print(f"        {advice}", file=sys.stderr)
    sys.exit(error.exit_code)
