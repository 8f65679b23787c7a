"""The graph part of ``memsvc demo``: people, places, facts and changes, each with the words that support it.

The facts are extracted offline, whatever is configured, because a demo must not cost anything.
"""

from __future__ import annotations

from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

from memsvc.cli.common import note, plain
from memsvc.text.counts import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Row

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.settings import Settings

PLACES, PEOPLE = "Place", "Person"
KINDS = ("FAMILY_OF", "KNOWS", "LIVES_IN", "WORKS_AT", "LIKES", "DISLIKES", "CREATED", "WANTS")
"""Edge types that are shown, in this order."""
EACH, MOST_NAMES, MOST_CHANGES = 2, 10, 4
FACT_CHARS, SPAN_CHARS = 36, 25
QUOTE_CHARS = {"fact": 52, "change": 50}


async def read_and_show(db: Database, settings: Settings, owner: Owner) -> None:
    """Extract facts from new messages, and show the graph."""
    from memsvc.cli.extraction import read_stored
    from memsvc.errors import ExtractorMissingError
    from memsvc.extract.registry import OFFLINE

    try:
        found = await read_stored(db, settings, owner, extractor=OFFLINE)
    except ExtractorMissingError:
        note("No facts are extracted: the extra nlp is missing. Install it with pip install 'memsvc[nlp]'.")
        return
    print(
        f"{counted(found.facts, 'fact')} extracted from {counted(found.turns, 'message')} by names, grammar and rules; "
        f"{found.refused} more "
        "are doubtful or were refused.\nNo language model was used; some are wrong."
    )
    await show(db, owner)


async def show(db: Database, owner: Owner) -> None:
    """Print about thirty lines of up to 120 characters."""
    from memsvc.db.files import query

    about = {"user_id": owner.user_id}
    async with db.transaction(owner.user_id) as connection:
        nodes = (await connection.execute(query("picture_nodes"), {**about, "types": [PEOPLE, PLACES]})).all()
        facts = (await connection.execute(query("picture_facts"), {**about, "types": list(KINDS), "each": EACH})).all()
        changes = (await connection.execute(query("picture_changes"), about)).all()
    for title, kind in (("People", PEOPLE), ("Places", PLACES)):
        print(f"\n{title}: {_names([node for node in nodes if node.type == kind])}")
    print("\nFacts, and who said so")
    for fact in facts:
        quote = _short(fact.quote, QUOTE_CHARS["fact"])
        said = f"“{quote}” ({plain(fact.speaker)}, {_day(fact.said_at, owner)})"
        print(f"  {_short(fact.fact, FACT_CHARS):<{FACT_CHARS}} {said}")
    print("\nWhat changed")
    chains = [list(rows) for _, rows in groupby(changes, key=lambda row: (row.subject_id, row.predicate))]
    for row in chain.from_iterable(chains[:MOST_CHANGES]):
        span = f"{_day(row.since, owner) or '…'} – {_day(row.until, owner) or 'now'}"
        statement = _short(f"{row.subject} {row.predicate.lower().replace('_', ' ')} {row.object}", FACT_CHARS)
        print(f"  {statement:<{FACT_CHARS}} {span:<{SPAN_CHARS}} “{_short(row.quote, QUOTE_CHARS['change'])}”")
    print()


def _names(nodes: Sequence[Row[Any]]) -> str:
    names = ", ".join(plain(f"{node.label} ({node.facts})") for node in nodes[:MOST_NAMES])
    more = len(nodes) - MOST_NAMES
    return f"{names or 'none'}{f' and {more} more' if more > 0 else ''}"


def _short(text: str, most: int) -> str:
    line = plain(" ".join(text.split()))
    return line if len(line) <= most else line[: most - 1] + "…"


def _day(moment: datetime | None, owner: Owner) -> str:
    from zoneinfo import ZoneInfo

    if moment is None:
        return ""
    local = moment.astimezone(ZoneInfo(owner.time_zone))
    return f"{local.day} {local:%b %Y}"
