"""A user's way to another cell: its state in the directory, and rounds that copy what is new."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.rows import namedtuple_row

from memsvc.cells.copying import LATE, Copier, one, snapshot
from memsvc.cells.leaving import quiet
from memsvc.cells.sites import Site, Sites
from memsvc.errors import MoveRefusedError
from memsvc.settings import Settings

OWN = ("user_id", "app_id", "erasing_since", "erased_rows", "cell_id", "epoch", "moving")
"""Columns of ``users`` that are not the same in all cells; the others go with the user."""
HALF = 2**31
MOVE = "SELECT *, seen::text::numeric::bigint AS upto FROM memsvc.moves WHERE user_id = %s"
OTHERS = (
    "SELECT attname FROM pg_attribute WHERE attrelid = 'memsvc.users'::regclass AND attnum > 0 AND NOT attisdropped"
)
TELL_EVERY_S = 5.0
Report = Callable[[str], None]
"""Called with a line for each step."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a move may stop its user, and when it does."""

    grace_s: float = 0.3
    """How long running requests may end before the user is frozen."""
    wait_s: float = 2.0
    """How long to wait, while the user is frozen, for transactions that began before."""
    tries: int = 5
    """How often to freeze the user, if such transactions are in the way."""
    pause_s: float = 3.0
    """The pause before the next try; it grows with each."""
    round_s: float = 0.5
    """A round that takes no longer is the last one before the user is frozen."""
    rounds: int = 20
    """The most rounds: a user who writes faster than rows are copied is frozen anyway."""


@dataclass(frozen=True)
class Journey:
    """One user, between two cells."""

    sites: Sites
    settings: Settings
    limits: Limits = field(default_factory=Limits)
    report: Report = lambda _line: None

    @property
    def user_id(self) -> UUID:
        """Who moves."""
        return self.sites.user_id

    @property
    def home(self) -> psycopg.Connection:
        """The session in the directory, which holds a lock on the user, as those in the cells do."""
        return self.sites.home

    @property
    def source(self) -> Site:
        """The old cell."""
        return self.sites.source

    @property
    def target(self) -> Site:
        """The new cell."""
        return self.sites.target

    @property
    def state(self) -> str | None:
        """The state of the move, as the directory has it; None: the user is not moving."""
        found: str | None = one(self.home, "SELECT state FROM memsvc.moves WHERE user_id = %s", [self.user_id])
        return found

    @property
    def move(self) -> Any:
        """The move's row."""
        return self.home.cursor(row_factory=namedtuple_row).execute(MOVE, [self.user_id]).fetchone()

    @property
    def epoch(self) -> int:
        """The user's epoch in the directory."""
        return int(one(self.home, "SELECT epoch FROM memsvc.users WHERE user_id = %s", [self.user_id]))

    def check_age(self, *cells: Site) -> None:
        """Check that no cell knows of a later move of the user than the directory; of both, if none is named.

        Raises:
            MoveRefusedError: one does, so what the directory says of the user must not be believed.
        """
        epoch, switched = self.epoch, self.state == "switched"
        for site in cells or (self.source, self.target):
            if site.home or site.session is None:
                continue
            found = site.session.execute("SELECT epoch, moving FROM memsvc.users WHERE user_id = %s", [self.user_id])
            there, moving = found.fetchone() or (None, None)
            # Before the switch the new cell has the next epoch, and nobody is let in; the old one keeps the last.
            latest = epoch - switched + (site == self.target and (switched or moving == "frozen"))
            if there is None and switched and site == self.target:
                what = "does not have this user any more"
            elif there is not None and there > latest:
                what = f"has this user at epoch {there}, the directory at {epoch}"
            else:
                continue
            raise MoveRefusedError(
                f"The directory is older than the cell {site.name}: the cell {what}.",
                hint="Was the directory restored to an earlier time? Nothing was changed; erase no strays before it is "
                "right. 'memsvc cells doctor' compares the cells.",
                cell=site.name,
            )

    def copier(self, models: Mapping[int, int], projected: Mapping[int, int]) -> Copier:
        """What copies the user's rows."""
        return Copier(self.source.connection, self.target.connection, self.user_id, models, projected)

    def carried(self) -> dict[str, Any]:
        """What of the user's row goes with the user, as the old cell has it: as text, whatever its type."""
        cursor = self.source.connection.cursor()
        names = [name for (name,) in cursor.execute(OTHERS) if name not in OWN]
        columns = sql.SQL(", ").join(sql.SQL("{}::text").format(sql.Identifier(name)) for name in names)
        row = cursor.execute(sql.SQL("SELECT {} FROM memsvc.users WHERE user_id = %s").format(columns), [self.user_id])
        found = row.fetchone()
        if found is None:
            raise MoveRefusedError("This user is being erased.")
        return dict(zip(names, found, strict=True))

    def triggers(self, *, on: bool) -> None:
        """Whether triggers and foreign keys of the new cell act in our session."""
        role = "origin" if on else "replica"
        self.target.connection.execute("SELECT set_config('session_replication_role', %s, false)", [role])

    def seen(self) -> int | None:
        """Where the next round begins; None: with all rows.

        None also if the source was restored to an earlier time, or so many transactions ran that the numbers in rows
        may mean earlier ones.
        """
        seen: int | None = self.move.upto
        now = int(one(self.source.connection, "SELECT pg_snapshot_xmax(pg_current_snapshot())::text"))
        return seen if seen is not None and 0 <= now - seen < HALF else None

    def round(self, copier: Copier, *, compare: bool = False) -> int:
        """Copy what is new; how many rows. With ``compare`` also all rows that differ, whatever the reason.

        That finds what is wrong while the user goes on, and warms what compares while the user is stopped.
        """
        seen, rows = self.seen(), 0
        early = [table for table in copier.tables if table.name not in LATE]
        with snapshot(self.source.connection) as upto:
            if seen is None:
                began = told = time.monotonic()
                for table in early:
                    rows += copier.first(table)
                    now = time.monotonic()
                    if now >= told + TELL_EVERY_S:
                        told = now
                        self.report(f"{table.name}: {rows:,} rows in all, {rows / (now - began):,.0f} a second")
            else:
                for table in copier.written(early, seen):
                    with copier.target.transaction():
                        rows += copier.changed(table, seen)
                theirs, mine = copier.sums(early) if compare else copier.counts(early)
                for table in early:
                    if theirs[table.name] != mine[table.name]:
                        with copier.target.transaction():
                            rows += copier.mend(table)
        self.home.execute(
            "UPDATE memsvc.moves SET seen = %s::text::xid8, rows = rows + %s WHERE user_id = %s",
            [str(upto), rows, self.user_id],
        )
        return rows

    def unfreeze(self) -> None:
        """Let the user go on in the old cell, unless the directory has sent the user to the new one."""
        if self.state == "switched":
            return
        self.source.connection.execute(
            "UPDATE memsvc.users SET moving = NULL WHERE user_id = %s AND moving IS NOT NULL", [self.user_id]
        )
        with self.home.transaction():
            self.home.execute(
                "UPDATE memsvc.moves SET state = 'copying', frozen_at = NULL WHERE user_id = %s AND state = 'frozen'",
                [self.user_id],
            )
            self.home.execute("UPDATE memsvc.users SET moving = NULL WHERE user_id = %s", [self.user_id])
        if self.target.session is not None:
            with self.target.session.transaction():
                quiet(self.target.session, self.user_id)
