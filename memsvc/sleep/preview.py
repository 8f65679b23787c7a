"""What tasks of sleep mode would do, in a form for people: the dry run. Nothing is stored.

The command line and the API show it; tasks make the pages (``memsvc.sleep.runner.dry_run``). A task whose pages name
nothing, such as ``summaries``, is counted only.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.settings import Settings
from memsvc.sleep import duplicates
from memsvc.sleep.forgetting import Fading
from memsvc.sleep.proposals import Found
from memsvc.sleep.runner import dry_run
from memsvc.sleep.salience import Salient
from memsvc.sleep.tasks import Page, Scope


class Would(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a task would do."""

    task: str
    action: str
    """merge, review, group, accept, refuse, wait, archive, rate, or a kind of proposal: link, alias, split, core."""
    one: str
    """What it is about, in words; where nothing else names it, an id."""
    other: str = ""
    """The other node, the name or the line."""
    score: float | None = None
    """0 to 1."""
    reason: str


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """How much a task looked at."""

    task: str
    examined: int
    would: int
    """How many things it would do, as far as they are named."""


class SleepPreview(msgspec.Struct, frozen=True, kw_only=True):
    """What tasks would do."""

    tasks: list[Looked]
    """Those that found work, in the order in which they run."""
    items: list[Would]
    complete: bool
    """False: there is more than was asked for, or time was up."""


async def preview_sleep(
    db: Database,
    owner: Owner,
    names: Sequence[str] = (),
    scope: Scope | None = None,
    *,
    settings: Settings | None = None,
    most: int | None = None,
    seconds: float | None = None,
) -> SleepPreview:
    """Return what tasks would do; nothing is stored. ``names`` and ``settings`` as in ``memsvc.sleep.runner.sleep``.

    Args:
        db: the database.
        owner: whose memory.
        names: of tasks; empty: all that are on.
        scope: what they look at.
        settings: of this process.
        most: how many things are named; None: all.
        seconds: after this time no further page is read; None: all are.

    Raises:
        InvalidRequestError: there is no such task, it is switched off, or it cannot keep to one node.
    """
    until = None if seconds is None else time.monotonic() + seconds
    looked: dict[str, Looked] = {}
    items: list[Would] = []
    complete = True
    async with aclosing(dry_run(db, owner, names, scope, settings=settings)) as pages:
        async for task, page in pages:
            found = list(_named(task, page))
            before = looked.get(task, Looked(task=task, examined=0, would=0))
            looked[task] = Looked(task=task, examined=before.examined + page.examined, would=before.would + len(found))
            room = len(found) if most is None else most - len(items)
            items += found[:room]
            complete = complete and len(found) <= room
            if until is not None and time.monotonic() >= until:
                complete = False
                break
    return SleepPreview(tasks=list(looked.values()), items=items, complete=complete)


def _named(task: str, page: Page) -> Iterator[Would]:
    """Name what a page would do."""
    for shown in map(duplicates.preview, page.proposals):
        one, other = shown.labels
        score = round(shown.score, 3)
        yield Would(task=task, action=shown.action, one=one, other=other, score=score, reason=shown.reason)
    for judged in page.judgements:
        yield Would(task=task, action=judged.action, one=judged.sentence, reason=judged.reason)
    if isinstance(page.work, Salient):
        for node, value in zip(page.work.nodes, page.work.values, strict=True):
            yield Would(task=task, action="rate", one=str(node), score=round(value, 3), reason="salient")
        return
    for work in page.work or ():
        if isinstance(work, Fading):
            score = round(work.retained, 3)
            yield Would(task=task, action="archive", one=str(work.memory_id), score=score, reason="hardly retained")
        elif isinstance(work, Found):
            why = duplicates.reason(work.evidence)
            one, other = work.text
            yield Would(task=task, action=work.kind, one=one, other=other, score=round(work.score, 3), reason=why)
