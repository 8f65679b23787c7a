"""The command line: a thin shell over the capabilities.

Heavy modules are imported inside the commands, so that help appears at once. An error of memsvc ends the command with
its message, its hint and its exit code; ``--json`` prints one JSON document to standard output and nothing else there.
"""

from __future__ import annotations

import sys

from memsvc.cli.app import app
from memsvc.errors import MemsvcError


def main() -> None:
    """Run the command line and exit."""
    try:
        app()
    except MemsvcError as error:
        print(f"memsvc: {error.message}", file=sys.stderr)
        if error.advice:
            print(f"        {error.advice}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(0)
    except KeyboardInterrupt:
        print("memsvc: interrupted; what was stored stays stored.", file=sys.stderr)
        sys.exit(130)
