"""Finds the tasks of sleep mode: built-in ones and those that other packages add, all as entry points.

An entry point of the group ``memsvc.sleep`` names an ``Offer``: how a task is made, when it runs, and what switches it
on. The built-in ones are entry points in code, so that a checkout has them without being installed anew. A task that
cannot be loaded stands in the list all the same, and its runs fail with the reason; the others go on.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import ConfigurationError, InvalidRequestError
from memsvc.extract.run import Extractors
from memsvc.settings import Settings
from memsvc.sleep.duplicates import Duplicates
from memsvc.sleep.tasks import Applied, Means, Offer, Page, Place, Scope, Task

ENTRY_POINTS = "memsvc.sleep"
BUILT_IN = (
    EntryPoint("duplicates", "memsvc.sleep.duplicates:OFFER", ENTRY_POINTS),
    EntryPoint("reread", "memsvc.sleep.reread:OFFER", ENTRY_POINTS),
    EntryPoint("reviews", "memsvc.sleep.reviews:OFFER", ENTRY_POINTS),
    EntryPoint("concepts", "memsvc.sleep.concepts:OFFER", ENTRY_POINTS),
    EntryPoint("summaries", "memsvc.sleep.summaries:OFFER", ENTRY_POINTS),
    EntryPoint("reflection", "memsvc.sleep.reflection:OFFER", ENTRY_POINTS),
    EntryPoint("forgetting", "memsvc.sleep.forgetting:OFFER", ENTRY_POINTS),
    EntryPoint("versions", "memsvc.sleep.versions:OFFER", ENTRY_POINTS),
    EntryPoint("salience", "memsvc.sleep.salience:OFFER", ENTRY_POINTS),
    EntryPoint("promotion", "memsvc.sleep.promotion:OFFER", ENTRY_POINTS),
    EntryPoint("links", "memsvc.sleep.links:OFFER", ENTRY_POINTS),
    EntryPoint("aliases", "memsvc.sleep.aliases:OFFER", ENTRY_POINTS),
)
NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """A task of this installation."""

    name: str
    help: str
    order: int
    on: bool
    """Whether it runs at night for this user."""
    why_off: str | None
    """What to do if it is wanted; None: it is on."""
    of_node: bool
    """Whether it can keep to what concerns one node."""


class _Broken:
    """Stands for a task that cannot be loaded or made: its run fails, and the reason is in the error."""

    gives_way = False

    def __init__(self, name: str, error: ConfigurationError) -> None:
        self.name, self._error = name, error

    async def has_work(self, _db: Database, _owner: Owner) -> bool:
        return True

    async def pages(self, _db: Database, _owner: Owner, _scope: Scope, _place: Place | None) -> AsyncGenerator[Page]:
        none: tuple[Page, ...] = ()
        for page in none:
            yield page
        raise self._error

    async def apply(self, _connection: AsyncConnection, _owner: Owner, _page: Page) -> Applied:
        raise self._error


def _unusable(point: EntryPoint, reason: str) -> ConfigurationError:
    return ConfigurationError(
        f"The task {point.name[:60]!r} of sleep mode cannot be used: {reason}.",
        hint=f"Install, correct or remove the package that adds it: {point.value[:200]}.",
    )


def _failing(point: EntryPoint, error: ConfigurationError) -> Offer:
    return Offer(make=lambda _means: _Broken(point.name, error), help=error.message, order=1_000)


def _loaded(point: EntryPoint) -> Offer:
    try:
        offer = point.load()
    except Exception as error:  # noqa: BLE001 - code of others
        return _failing(point, _unusable(point, f"loading it fails with {type(error).__name__}"))
    if not isinstance(offer, Offer):
        return _failing(point, _unusable(point, f"it is no Offer but {type(offer).__name__}"))

    def make(means: Means) -> Task:
        try:
            task = offer.make(means)
        except Exception as error:  # noqa: BLE001 - code of others
            return _Broken(point.name, _unusable(point, f"making it fails with {type(error).__name__}"))
        lacks = [name for name in ("name", "gives_way", "has_work", "pages", "apply") if not hasattr(task, name)]
        if lacks:
            return _Broken(point.name, _unusable(point, f"it has no {lacks[0]}"))
        if task.name != point.name:
            return _Broken(point.name, _unusable(point, "it has another name than its entry point"))
        return task

    return offer._replace(make=make)


@cache
def offers() -> dict[str, Offer]:
    """Return all tasks by name, in the order in which they run.

    Raises:
        ConfigurationError: two have one name, or a name cannot be one.
    """
    found: dict[str, Offer] = {}
    for point in (*BUILT_IN, *entry_points(group=ENTRY_POINTS)):
        if NAME.fullmatch(point.name) is None:
            raise _unusable(point, "a name has lower-case letters, digits, _ and -, at most 40")
        if point.name in found:
            raise _unusable(point, "another one has this name")
        found[point.name] = _loaded(point)
    return dict(sorted(found.items(), key=lambda one: (one[1].order, one[0])))


def known(settings: Settings, tasks_off: Sequence[str] = ()) -> list[Known]:
    """Return all tasks, in the order in which they run.

    Args:
        settings: of this process.
        tasks_off: those that the user does not want.
    """
    listed = []
    for name, offer in offers().items():
        why_off = None
        if not offer.on(settings):
            why_off = offer.switch
        elif name in tasks_off:
            why_off = f"memsvc schedule on sleep --task {name}"
        listed.append(
            Known(
                name=name,
                help=offer.help,
                order=offer.order,
                on=why_off is None,
                why_off=why_off,
                of_node=offer.of_node,
            )
        )
    return listed


def tasks_of(settings: Settings | None, extractors: Extractors | None = None) -> dict[str, Task]:
    """Return the tasks that the settings switch on by name, in the order in which they run.

    Args:
        settings: of this process; None: only the task that reads no messages and asks no language model.
        extractors: those of this process; None: new ones by the settings.
    """
    if settings is None:
        return {Duplicates.name: Duplicates()}
    means = Means(settings, extractors or Extractors(settings))
    return {name: offer.make(means) for name, offer in offers().items() if offer.on(settings)}


def named(names: Sequence[str], settings: Settings | None) -> list[str]:
    """Return names as they are asked for, each once, in the order in which the tasks run; empty if none is named.

    Raises:
        InvalidRequestError: there is no such task, or the settings switch it off.
    """
    wanted = {name.strip() for name in names if name.strip()}
    for name in sorted(wanted):
        offer = offers().get(name)
        if offer is None:
            raise InvalidRequestError(
                f"There is no task {name[:60]!r}.", hint=f"One of: {', '.join(offers())}.", field="tasks"
            )
        if settings is not None and not offer.on(settings):
            raise InvalidRequestError(f"The task {name} is switched off.", hint=offer.switch, field="tasks")
    return [name for name in offers() if name in wanted]
