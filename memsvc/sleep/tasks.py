"""The interface of a sleep task: it finds work in pages, makes proposals, and applies each page in one transaction.

The runner (``memsvc.sleep.runner``) does the rest: it records runs, resumes them, keeps budgets, and makes dry runs.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.extract.run import Extractors
from memsvc.extract.verdicts import Judgement
from memsvc.settings import Settings

Action = Literal["merge", "review", "group"]
Place = Mapping[str, Any]
"""The position that a task has reached: JSON that only the task itself writes and reads."""


PROPOSALS_STAY: Mapping[str, str] = {"proposed": "proposals: they wait for a person, who can reject them"}


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """The scope of a run."""

    from_node: UUID | None = None
    """Only what concerns this node."""
    since: datetime | None = None
    """Only what was learnt since then."""
    nightly: bool = False
    """Whether it recurs: a task may go on from where earlier runs came, and do a part."""
    dry: bool = False
    """Nothing is applied: a task that needs its pages applied to find the next ones proposes none."""


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A proposed change."""

    action: Action
    nodes: tuple[UUID, UUID]
    """merge: the first node is merged into the second. group: it comes under the second."""
    labels: tuple[str, str]
    """Names of the nodes, for a dry run."""
    score: float
    """From 0 to 1."""
    evidence: Mapping[str, float]
    """Evidence for and against it; only numbers."""


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a task's work, proposed and not yet applied."""

    place: Place
    """The position from which the work continues after this page."""
    examined: int
    left: int
    """Number of items of this run that are not examined yet, as far as known now."""
    proposals: Sequence[Proposal] = ()
    judgements: Sequence[Judgement] = ()
    """What becomes of facts under review; of the task reviews."""
    mark: Place | None = None
    """How far all work is done, for later runs; the task itself stores it."""
    work: Any = None
    """What else the task itself is to apply."""


class Applied(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a page's proposals; what others did or decided in the meantime is not counted."""

    applied: int = 0
    proposed: int = 0
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    """How many changes there were of each kind, such as merged or archived; never negative. A kind is a word of the
    task, never a text: lower-case letters, digits and _, at most 40. Empty: all changes are of the one kind that the
    task's ``Offer`` names, and proposals are ``proposed``."""


class Task(Protocol):
    """A task of sleep mode. Without a language model it does the part that needs none."""

    @property
    def name(self) -> str:
        """Its name on the command line and in ``sleep_runs``."""

    @property
    def gives_way(self) -> bool:
        """Whether its job lets the user's new messages go first, after each page."""

    async def has_work(self, db: Database, owner: Owner) -> bool:
        """Whether a nightly run may find anything; if not, none is begun."""

    def pages(self, db: Database, owner: Owner, scope: Scope, place: Place | None) -> AsyncGenerator[Page]:
        """Yield the work after a position, in an order that is the same every time. Only reads."""

    async def apply(self, connection: AsyncConnection, owner: Owner, page: Page) -> Applied:
        """Apply a page's proposals in the caller's transaction; those that do not fit any more are left out."""


@runtime_checkable
class Undoing(Protocol):
    """What a task has besides if it writes more than changes of the graph: the runner undoes those by itself."""

    async def undo(self, connection: AsyncConnection, owner: Owner, run_id: UUID) -> int:
        """Take back what a run wrote besides changes, in the caller's transaction; return how much. Safe to repeat.

        Within ``apply`` the setting ``memsvc.sleep_run`` of the transaction is the run's id, for example as the default
        of a column.
        """


class Means(NamedTuple):
    """What a process has for tasks."""

    settings: Settings
    extractors: Extractors


class Offer(NamedTuple):
    """A task that a package offers."""

    make: Callable[[Means], Task]
    """Makes it; called only where it is switched on. Its name is that of the entry point."""
    help: str
    """What it does, in one line."""
    order: int = 500
    """Tasks run in this order, then by name. Built-in ones: 100 to 900; what others rest on has a lower number."""
    done: str = "changed"
    """The kind of its changes, where the task itself does not count them by kind."""
    on: Callable[[Settings], bool] = lambda _settings: True
    """Whether the settings switch it on."""
    switch: str = ""
    """What to set, for people who want it and have it switched off."""
    of_node: bool = True
    """Whether it can keep to what concerns one node (``Scope.from_node``)."""
    stays: Mapping[str, str] = PROPOSALS_STAY
    """Kinds of changes that stay when a run is undone, each with what they are and what a person can do."""
