"""Statements that are sent together: one transaction of one user, all of it or nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import text

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.identity import Signer
from memsvc.db.together import Together
from memsvc.errors import ConfigurationError, DatabaseUnavailableError, UserUnknownError
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.sql.world import value

WHO = text("SELECT memsvc.current_user_id() AS who, current_setting('plan_cache_mode') AS plans")
WHEN = text("SELECT pg_current_xact_id() AS transaction")
COUNT = text("SELECT count(*) AS count FROM memsvc.passages")
APPEND = text("SELECT memsvc.append_recall(:user_id, :recall_id, 'test', 'eager', '{}')")
RECORDED = "SELECT count(*) FROM memsvc.recall_events WHERE user_id = %s"
NOTHING: Mapping[str, Any] = {}


def recording(owner: Owner) -> dict[str, Any]:
    """Values of a statement that writes."""
    return {"user_id": owner.user_id, "recall_id": uuid4()}


async def test_all_of_it_is_one_transaction_of_one_user(
    db: Database, owner: Owner, other: Owner, settings: Settings
) -> None:
    await append(db, other, [MessageIn(conversation="c", text="what another one says")], settings)
    await append(db, owner, [MessageIn(conversation="c", text="a heron")], settings)
    for keep_plans, mode in ((True, "force_generic_plan"), (False, "force_custom_plan")):
        trip = Together(db, owner.user_id, keep_plans=keep_plans)
        first, who, count, last = (trip.ask(statement, NOTHING) for statement in (WHEN, WHO, COUNT, WHEN))
        assert first == []
        await trip.send()
        assert first == last
        assert (who[0].who, who[0].plans, count[0].count) == (owner.user_id, mode, 1)
    async with db.statement() as connection:  # nothing of it stays with the connection
        assert tuple((await connection.execute(WHO)).one()) == (None, "force_custom_plan")


async def test_what_fails_behind_a_change_takes_it_back(db: Database, owner: Owner, admin: psycopg.Connection) -> None:
    trip = Together(db, owner.user_id)
    trip.ask(APPEND, recording(owner))
    rows = trip.ask(text("SELECT 1 / :zero AS one"), {"zero": 0})
    with pytest.raises(psycopg.errors.DivisionByZero):
        await trip.send()
    assert (rows, value(admin, RECORDED, [owner.user_id])) == ([], 0)
    trip = Together(db, owner.user_id)
    trip.ask(APPEND, recording(owner))
    await trip.send()
    assert value(admin, RECORDED, [owner.user_id]) == 1


async def test_who_is_not_believed_or_not_here_does_nothing(
    db: Database, owner: Owner, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin.execute("UPDATE memsvc.users SET erasing_since = now() WHERE user_id = %s", [owner.user_id])
    trip = Together(db, owner.user_id)
    trip.ask(APPEND, recording(owner))
    with pytest.raises(UserUnknownError):
        await trip.send()
    admin.execute("UPDATE memsvc.users SET erasing_since = NULL WHERE user_id = %s", [owner.user_id])
    monkeypatch.setattr(db, "signer", Signer(b"another secret of thirty-two bytes", 60))
    trip = Together(db, owner.user_id)
    trip.ask(APPEND, recording(owner))
    with pytest.raises(ConfigurationError, match="does not believe"):
        await trip.send()
    assert value(admin, RECORDED, [owner.user_id]) == 0


async def test_it_is_signed_when_it_is_sent(db: Database, owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the first question and the sending a model may work for longer than a token holds."""
    with monkeypatch.context() as earlier:
        earlier.setattr(db, "signer", Signer(b"another secret of thirty-two bytes", 60))
        trip = Together(db, owner.user_id)
        who = trip.ask(WHO, NOTHING)
    await trip.send()
    assert who[0].who == owner.user_id


async def test_a_connection_that_breaks_or_is_given_up_costs_the_next_one_nothing(db: Database, owner: Owner) -> None:
    trip = Together(db, owner.user_id)
    trip.ask(text("SELECT pg_terminate_backend(pg_backend_pid())"), NOTHING)
    with pytest.raises(DatabaseUnavailableError):
        await trip.send()
    started = time.monotonic()
    trip = Together(db, owner.user_id)
    trip.ask(text("SELECT pg_sleep(30)"), NOTHING)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await trip.send()
    for _ in range(3):
        trip = Together(db, owner.user_id)
        rows = trip.ask(WHO, NOTHING)
        await trip.send()
        assert rows[0].who == owner.user_id
    assert time.monotonic() - started < 20


async def test_what_was_skipped_behind_a_failure_is_prepared_anew(db: Database, owner: Owner) -> None:
    """psycopg prepares what it has seen some times, and must not believe that of what the server never read."""
    for user_id in (*[owner.user_id] * 5, uuid4(), *[owner.user_id] * 2):  # prepared when it comes for the sixth time
        trip = Together(db, user_id)
        who = trip.ask(text("SELECT memsvc.current_user_id() AS who, 'skipped' AS name"), NOTHING)
        if user_id == owner.user_id:
            await trip.send()
            assert who[0].who == owner.user_id
        else:
            with pytest.raises(UserUnknownError):
                await trip.send()


async def test_a_statement_of_nobody_sees_nothing_and_is_committed(db: Database, owner: Owner) -> None:
    for keep_plans in (True, False):  # one behind the other, on the same connection
        trip = Together(db, owner.user_id, keep_plans=keep_plans)
        trip.ask(WHO, NOTHING)
        await trip.send()
        trip = Together(db, None)
        who = trip.ask(WHO, NOTHING)
        await trip.send()
        assert (who[0].who, who[0].plans) == (None, "force_custom_plan")
    async with db.transaction() as connection:
        assert (await connection.execute(text("SHOW enable_seqscan"))).scalar() == "on"
    trip = Together(db, None)
    trip.ask(text("SELECT 1 / :zero AS one"), {"zero": 0})
    with pytest.raises(psycopg.errors.DivisionByZero):
        await trip.send()


async def test_json_is_read_whatever_numbers_it_holds(db: Database) -> None:
    trip = Together(db, None)
    written = '{"a": [1, 2.5, "ä", null], "big": 1e400, "small": 0.1}'
    found = trip.ask(text("SELECT CAST(:written AS jsonb) AS read"), {"written": written})
    odd = trip.ask(text("SELECT CAST(:written AS jsonb) AS read"), {"written": '{"odd": 1.5e400, "half": 1e308}'})
    odder = trip.ask(text("SELECT CAST(:written AS json) AS read"), {"written": '[1.5e400, "x"]'})
    await trip.send()
    assert found[0].read == {"a": [1, 2.5, "ä", None], "big": 10**400, "small": 0.1}
    assert odd[0].read["odd"] == 15 * 10**399
    assert odder[0].read == [float("inf"), "x"]


async def test_what_cannot_be_sent_takes_back_what_was(db: Database, owner: Owner, admin: psycopg.Connection) -> None:
    trip = Together(db, owner.user_id)
    trip.ask(APPEND, recording(owner))
    trip.ask(text("SELECT :value AS value"), {"value": object()})
    with pytest.raises(psycopg.ProgrammingError):
        await trip.send()
    assert value(admin, RECORDED, [owner.user_id]) == 0
