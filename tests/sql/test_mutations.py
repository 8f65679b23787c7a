"""Removing any one policy or definer check makes a test fail: they are removed one by one, and the probes look.

Each mutation is made in one transaction of the administrator, the probes take on the logins' roles in it, and it is
rolled back. What no probe notices is listed; what cannot be noticed stands in ``UNOBSERVABLE`` with its reason.
"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from memsvc.settings import Settings
from tests.sql import (
    probes_accounts,
    probes_erase,
    probes_erase_users,
    probes_graph,
    probes_late,
    probes_llm,
    probes_ontology,
    probes_recalls,
)
from tests.sql.conftest import Scratch
from tests.sql.mutations import Mutation, mutations
from tests.sql.probes import PROBES
from tests.sql.world import Disguise, World, make_world

assert probes_accounts.AUTHENTICATE  # their import adds their probes to the list
assert probes_graph.READS
assert probes_ontology.TABLES
assert probes_erase.BEGIN
assert probes_erase_users.MARK
assert probes_recalls.TOP
assert probes_llm.SPENT
assert probes_late.KEEP

# Only memsvc_owner's definer functions reach these tables, and its policy there shows it everything: neither flag
# changes what anybody can do while no login holds a privilege on them. test_privileges asserts flags and privileges.
# (Keys are seen by memsvc_eraser too, under a policy of its own: that they are not open is noticed.)
UNOBSERVABLE = {
    *(
        f"{flag} row security on memsvc.{table}"
        for flag in ("disable", "do not force")
        for table in ("apps", "api_keys", "audit_log", "identity_keys")
        if (flag, table) != ("disable", "api_keys")
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
    *(f"do not force row security on memsvc.{table}" for table in ("users", "jobs", "outbox", "schedules")),
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


def noticed_by(connection: psycopg.Connection, world: World, mutation: Mutation) -> str | None:
    """The first probe that fails after the mutation."""
    with connection.transaction(force_rollback=True):
        connection.execute(mutation.statement.encode())
        return failing_probe(connection, world)


def failing_probe(connection: psycopg.Connection, world: World) -> str | None:
    doors = Disguise(connection)
    for name, probe in PROBES.items():
        try:
            with connection.transaction(force_rollback=True):
                probe(doors, world)
        except (AssertionError, ValueError, psycopg.Error):
            return name
    return None


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
    unnoticed = {mutation.name for mutation in todo if noticed_by(connection, world, mutation) is None}
    assert unnoticed == UNOBSERVABLE
    assert len(todo) > 100
