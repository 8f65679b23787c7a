"""Ada goes each way that we know of to Bob's rows, by real logins with her own identity. None leads there.

``make test-leaks`` runs this on both servers and prints how many ways there were.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager

import psycopg
import pytest
from psycopg.types.string import TextLoader

from tests.leaks.scene import Scene, comparable, listening
from tests.leaks.ways import WAYS, Way
from tests.through import THROUGH

pytestmark = [pytest.mark.server, pytest.mark.slow]
Record = Callable[[str, object], None]
NONSENSE = {"42601", "42703", "42883", "42P18", "42804", "42P02"}
"""States of errors in the statement itself (syntax, unknown columns, wrong types): such a way leads nowhere whatever is
open. (Logins see different functions without their schema; the first of a way must see its own.)"""
NO_PRIVILEGE, ON_A_STANDBY = "42501", "25006"
REFUSED = {NO_PRIVILEGE, ON_A_STANDBY} if THROUGH == "replica" else {NO_PRIVILEGE}
"""A standby refuses to write before it looks at privileges."""


def said_by(connection: psycopg.Connection, statement: str) -> str:
    """All that a statement says: its rows, or its error with every part that a client gets."""
    try:
        if statement.startswith("COPY") and "STDOUT" in statement:
            with connection.cursor().copy(statement.encode()) as copied:
                return " ".join(bytes(block).decode() for block in copied)
        cursor = connection.execute(statement.encode())
        return "\n".join(map(str, cursor.fetchall())) if cursor.description else f"{cursor.rowcount} done"
    except psycopg.Error as error:
        diag = error.diag
        return f"ERROR {error.sqlstate} {diag.message_primary} {diag.message_detail} {diag.message_hint} {diag.context}"


def answers(connection: psycopg.Connection, way: Way, told: Mapping[str, str]) -> str:
    """What one hears on a way, up to its first error; with what is said beside."""
    said: list[str] = []
    connection.adapters.register_loader("timestamptz", TextLoader)  # Python has no infinite moment
    with listening(connection) as heard:
        for step in way.steps:
            said.append(said_by(connection, step.format(**told)))
            if said[-1].startswith("ERROR"):
                break
    return "\n".join([*said, *heard])


OF_SESSIONS = {"one's own counters"}
"""What shows traces of whoever had the session before: why people's logins do not belong behind a pooler
(docs/operations.md)."""
Enter = Callable[[str, str], AbstractContextManager[psycopg.Connection]]


def complaint(enter: Enter, scene: Scene, way: Way, login: str) -> str | None:
    """What is wrong with where a way leads; None: nowhere.

    Args:
        enter: opens a transaction for a role and a token; what is done in it goes.
        scene: who is who.
        way: which way.
        login: who goes it.
    """
    heard = []
    for told in (scene.bobs, scene.nobodys):
        with enter(login, scene.token) as connection:
            said = answers(connection, way, told)
        state = said.rpartition("ERROR ")[2][:5]
        if state in NONSENSE and login == way.logins[0]:
            return f"makes no sense: {said[:300]}"
        if way.refused:
            return None if state in REFUSED else f"is not refused: {said[:300]}"
        if shown := scene.leaked(said, told):
            return f"{shown}: {said[:300]}"
        heard.append(comparable(said, told))
    return None if heard[0] == heard[1] else f"tells Bob from nobody:\n{heard[0][:800]}\n{heard[1][:800]}"


@pytest.mark.parametrize("name", WAYS)
def test_no_way_leads_to_bob(name: str, scene: Scene, record_property: Record) -> None:
    way = WAYS[name]
    if THROUGH == "pooler" and name in OF_SESSIONS:
        pytest.skip("people's logins do not go through a pooler")
    for login in way.logins:
        assert complaint(scene.logins.enter, scene, way, login) is None, f"{login} by {name}"
    record_property("ways in SQL by which Ada did not get to Bob's rows", 1)


def test_ways_are_more_than_sixty() -> None:
    assert len(WAYS) > 60
