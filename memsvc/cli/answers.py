"""Print an answer for people: messages, facts and archived blocks with reason and source, and the verdict."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from memsvc.cli.common import note, plain

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from memsvc.access.users import Owner
    from memsvc.recall.results import Memory, Recalled

PIPED_COLUMNS = 100
"""Width of a table when the width of the terminal is unknown."""


def lines_of(memory: Memory, number: int, now: datetime, zone: tzinfo) -> str:
    """Return a memory as two lines, even if its text, speaker or source contain line breaks."""
    from memsvc.graph.draw import one_line
    from memsvc.recall.explain import source, span
    from memsvc.recall.terminal import render

    if memory.fact is None:
        return plain(render(memory, number, now))
    ended = ", no longer" if memory.stale else ""
    unsure = f", confidence {memory.fact.confidence:.2g}" if memory.fact.confidence < 1 else ""
    said = f"[{number}] fact ({span(memory.fact, zone)}{ended}{unsure}): “{one_line(memory.text)}”"
    return f"{said}\n    why: {one_line(memory.reason)} | source: {source(memory)} | fact {memory.fact.edge_id}"


def show(found: Recalled, question: str, owner: Owner) -> None:
    """Print an answer for people; as a table if it has an explanation."""
    from datetime import UTC, datetime
    from zoneinfo import ZoneInfo

    from memsvc.recall.explain import ambiguous_lines, verdict

    zone = ZoneInfo(owner.time_zone)
    if found.explanation is not None:
        _show_table(found, question, zone)
    else:
        for line in ambiguous_lines(found.ambiguous):
            print(line)
        if says := verdict(found, question):
            print(says)
        for number, memory in enumerate(found.memories, 1):
            print(lines_of(memory, number, datetime.now(UTC), zone))
    if found.next_cursor is not None:
        note(f"There is more: --cursor {found.next_cursor}")


def _show_table(found: Recalled, question: str, zone: tzinfo) -> None:
    from io import StringIO

    from rich.console import Console

    from memsvc.recall.explain import table

    if sys.stdout.isatty():
        Console(highlight=False).print(table(found, question, zone))
        return
    width = None if "COLUMNS" in os.environ else PIPED_COLUMNS
    written = StringIO()
    Console(width=width, highlight=False, file=written).print(table(found, question, zone))
    # Rich pads the last cell of each line with spaces.
    for line in written.getvalue().splitlines():
        print(line.rstrip())
