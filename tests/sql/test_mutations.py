"""Removing any one policy or definer check makes a test fail: they are removed one by one, and the probes look.

Each mutation is made in one transaction of the administrator, the probes take on the logins' roles in it, and it is
rolled back. What no probe notices is listed; what cannot be noticed stands in ``UNOBSERVABLE`` with its reason. The
probe that is likeliest to notice looks first: which one does is not the question, and most mutations need but one.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import psycopg
import pytest

from memsvc.settings import Settings
from tests.sql import (
    probes_accounts,
    probes_audit,
    probes_erase,
    probes_erase_users,
    probes_graph,
    probes_late,
    probes_llm,
    probes_nights,
    probes_ontology,
    probes_recalls,
    probes_work,
)
from tests.sql.conftest import Scratch
from tests.sql.mutations import Mutation, mutations
from tests.sql.probes import PROBES
from tests.sql.world import ACCOUNT_TABLES, Disguise, World, make_world

pytestmark = pytest.mark.slow

assert probes_accounts.AUTHENTICATE  # their import adds their probes to the list
assert probes_audit.ACTS
assert probes_work.DUE
assert probes_graph.READS
assert probes_ontology.TABLES
assert probes_erase.BEGIN
assert probes_erase_users.MARK
assert probes_recalls.TOP
assert probes_llm.SPENT
assert probes_late.KEEP
assert probes_nights.LOOKS

# Only memsvc_owner's definer functions reach these tables, and its policy there shows it everything: neither flag
# changes what anybody can do while no login holds a privilege on them. test_privileges asserts flags and privileges.
# (Keys are seen by memsvc_eraser too, under a policy of its own: that they are not open is noticed.)
UNOBSERVABLE = {
    *(
        f"{flag} row security on memsvc.{table}"
        for flag in ("disable", "do not force")
        for table in ACCOUNT_TABLES
        if (flag, table) not in {("disable", "api_keys"), ("disable", "moves")}
    ),
    # The same for everybody, and nobody but functions of memsvc_owner may write there: no login holds more than SELECT.
    "disable row security on memsvc.embedding_models",
    "do not force row security on memsvc.embedding_models",
    "account_rows on memsvc.embedding_models for everybody",
    # Workers take messages of all users: memsvc_app sees all rows by the policy, and nobody else holds a privilege but
    # memsvc_eraser, which sees and deletes those of one user and writes none.
    *(f"do not force row security on memsvc.{table}" for table in ("dramatiq_queue", "dramatiq_worker")),
    "disable row security on memsvc.dramatiq_worker",
    "queue_rows on memsvc.dramatiq_worker for everybody",
    "erased_rows on memsvc.dramatiq_queue lets everything in",
    # Logins see these under own_rows, forced or not; the owner sees them all.
    *(f"do not force row security on memsvc.{table}" for table in ("users", "jobs", "outbox", "schedules", "feeds")),
    # memsvc_app may change the two columns of a pause alone, which say nothing of whose row it is.
    "own_rows on memsvc.users lets everything in",
    # It reads another view and no table, and that one looks at the caller's rights whoever asks.
    "memsvc.node_labels runs as its owner",
}


@pytest.fixture(scope="module")
def broken(scratch: Scratch, settings: Settings) -> Iterator[tuple[psycopg.Connection, World]]:
    """A database to break things in."""
    url = scratch("mutations")
    world = make_world(url, settings, "mutations")
    with psycopg.connect(url) as connection:
        yield connection, world


def noticed_by(
    connection: psycopg.Connection, world: World, broken: Sequence[Mutation], probes: Iterable[str] = PROBES
) -> str | None:
    """The first of the probes that fails when these things are broken."""
    with connection.transaction(force_rollback=True):
        for mutation in broken:
            connection.execute(mutation.statement.encode())
        doors = Disguise(connection)
        for name in probes:
            try:
                with connection.transaction(force_rollback=True):
                    PROBES[name](doors, world)
            except (AssertionError, ValueError, psycopg.Error):
                return name
    return None


@cache
def speaks_of(probe: str) -> frozenset[str]:
    """The words in the name and in the code of a probe, and in the statements of its module that it runs."""
    code = PROBES[probe].__code__
    constants = (PROBES[probe].__globals__.get(name) for name in code.co_names)
    told = (probe, inspect.getsource(code), *(str(each) for each in constants if isinstance(each, str | tuple)))
    return frozenset(re.findall(r"\w+", " ".join(told)))


class Hunch:
    """Which probe will notice: one that noticed this way of breaking of another table, or another way of this table."""

    def __init__(self) -> None:
        self._noticed: dict[str, list[str]] = {}
        self._noticed_of: dict[str, list[str]] = {}

    def likeliest_first(self, mutation: Mutation) -> Iterable[str]:
        """All probes: those that noticed the like before, then those that speak of what is broken, then the others."""
        broken, way = self._parts(mutation.name)
        such = (name.replace("*", broken) for name in self._noticed.get(way, [])[:2])
        speaking = (name for name in PROBES if broken in speaks_of(name))
        of_this = self._noticed_of.get(broken, [])
        return dict.fromkeys((*(name for name in such if name in PROBES), *of_this, *speaking, *PROBES))

    def noticed(self, mutation: Mutation, probe: str) -> None:
        """Learn from a probe that noticed."""
        broken, way = self._parts(mutation.name)
        learned = probe.replace(f" {broken}", " *")
        self._noticed[way] = [learned, *(name for name in self._noticed.get(way, []) if name != learned)]
        self._noticed_of[broken] = [probe, *(name for name in self._noticed_of.get(broken, []) if name != probe)]

    @staticmethod
    def _parts(mutation: str) -> tuple[str, str]:
        """What is broken, and how."""
        words = re.findall(r"\bmemsvc\.(\w+)", mutation) or re.findall(r"\w+", mutation)
        return words[0], mutation.replace(words[0], "")


def test_nothing_is_noticed_where_nothing_is_broken(broken: tuple[psycopg.Connection, World]) -> None:
    connection, world = broken
    for name, probe in PROBES.items():
        with connection.transaction(force_rollback=True):
            probe(Disguise(connection), world)
            assert name


def test_each_removed_policy_flag_or_check_is_noticed(broken: tuple[psycopg.Connection, World]) -> None:
    connection, world = broken
    todo = mutations(connection)
    connection.rollback()
    unnoticed = set()
    hunch = Hunch()
    for mutation in todo:
        if mutation.name in UNOBSERVABLE:
            continue
        probe = noticed_by(connection, world, [mutation], hunch.likeliest_first(mutation))
        if probe is None:
            unnoticed.add(mutation.name)
        else:
            hunch.noticed(mutation, probe)
    assert not unnoticed, "\n".join(sorted(unnoticed))
    assert len(todo) > 100


def test_what_is_said_to_be_unobservable_is(broken: tuple[psycopg.Connection, World]) -> None:
    """All of it at once: what one of them lets through, the others do not hide."""
    connection, world = broken
    hidden = [mutation for mutation in mutations(connection) if mutation.name in UNOBSERVABLE]
    connection.rollback()
    assert {mutation.name for mutation in hidden} == UNOBSERVABLE
    assert noticed_by(connection, world, hidden) is None
