"""``python -m memsvc.cli``."""

from memsvc.cli import main

main()
