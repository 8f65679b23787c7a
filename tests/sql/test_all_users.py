"""What memsvc_analyst sees: sums over groups of five users and more, of days that are over, and nobody's memories."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from memsvc.access.users import Owner, add_user, app_id
from memsvc.db.engine import Database, role_url
from memsvc.errors import SqlRefusedError
from memsvc.server.reader import ask
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.sql.conftest import Scratch
from tests.sql.world import USER_TABLES

pytestmark = [pytest.mark.server, pytest.mark.slow]
ANALYTICS = Path(__file__).resolve().parents[2] / "sql" / "analytics"
JOB = (
    "INSERT INTO memsvc.jobs (user_id, job_id, kind, subject_id, state, attempts, created_at, started_at, finished_at) "
    "SELECT %s, uuidv7(), %s, gen_random_uuid(), 'done', 1, t - interval '5 s', t - interval '2 s', t "
    "FROM (SELECT CAST(%s AS timestamptz) AS t) AS given"  # AGE 1.8 does not survive a cast after FROM
)
CALL = (
    "INSERT INTO memsvc.model_calls (user_id, at, task, model, prompt_version, outcome, tokens_in, tokens_out, ms, "
    "cost, tries) VALUES (%s, %s, 'facts', %s, '1', 'answered', 100, 10, 400, 0.25, 1)"
)


@pytest.fixture(scope="module")
async def service(scratch: Scratch, settings: Settings) -> tuple[str, Owner]:
    """A service of six users; the last two did what fewer than five did, and one day had four users only."""
    url = scratch("all_users")
    db = Database(role_url(url, "memsvc_app", settings.secret("app_password")), settings)
    yesterday = datetime.now(UTC).replace(hour=12) - timedelta(days=1)
    try:
        app = await app_id(db, "all")
        owners = [(await add_user(db, app, name="Secret Name", external_id=uuid4().hex)).owner for _ in range(6)]
        for owner in owners:
            await append(db, owner, [MessageIn(conversation="c", text=f"a secret {n}") for n in range(3)], settings)
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute("DELETE FROM memsvc.jobs")
            admin.execute("UPDATE memsvc.passages SET recorded_at = recorded_at - interval '1 day'")
            for number, owner in enumerate(owners):
                admin.execute(JOB, [owner.user_id, "tidy", yesterday])
                admin.execute(CALL, [owner.user_id, yesterday, "common"])
                admin.execute(JOB, [owner.user_id, "tidy", datetime.now(UTC)])
                if number < 4:
                    admin.execute(JOB, [owner.user_id, "sleep", yesterday])
                    admin.execute(JOB, [owner.user_id, "tidy", yesterday - timedelta(days=1)])
                    admin.execute(CALL, [owner.user_id, yesterday, "rare"])
        for owner in owners:
            async with db.transaction(owner.user_id) as connection:
                await connection.exec_driver_sql("SELECT memsvc.fold_statistics(%s)", (owner.user_id,))
    finally:
        await db.close()
    return url, owners[0]


def asked(service: tuple[str, Owner], settings: Settings, statement: str) -> list[tuple[object, ...]]:
    return ask(service[0], settings, None, statement, limit=100).rows


def test_groups_of_five_are_summed_and_smaller_ones_and_today_are_not_there(
    service: tuple[str, Owner], settings: Settings
) -> None:
    yesterday = str((datetime.now(UTC) - timedelta(days=1)).date())
    assert asked(service, settings, "SELECT * FROM all_users_jobs(7)") == [
        (yesterday, "tidy", 6, 6, 0, 6, 3.0, 2.0, 2.0)
    ]
    assert asked(service, settings, "SELECT * FROM all_users_model_calls(7)") == [
        (yesterday, "facts", "common", 6, 6, 6, 600, 60, 1.5, 400.0, 400.0)
    ]
    assert asked(service, settings, "SELECT * FROM all_users_messages(7)") == [(yesterday, 6, 18)]
    assert asked(service, settings, "SELECT * FROM all_users_sizes()") == [("message", 1, 5)]
    for call in ("jobs(0)", "model_calls(0)", "messages(0)", "jobs(-9)", "jobs(NULL)"):
        assert asked(service, settings, f"SELECT * FROM all_users_{call}") == []


@pytest.mark.parametrize("table", [*USER_TABLES, "people", "messages", "facts_current", "api_keys", "dramatiq_queue"])
def test_an_analyst_reads_no_table_and_no_view(table: str, service: tuple[str, Owner], settings: Settings) -> None:
    with pytest.raises(SqlRefusedError, match="permission denied"):
        asked(service, settings, f"SELECT * FROM {table}")


def test_a_proved_user_makes_no_difference(service: tuple[str, Owner], settings: Settings) -> None:
    for call in ("recall(NULL, 'secret', 3)", "current_user_id()", "users_of_app(NULL, NULL, NULL, 9)", "backlog()"):
        with pytest.raises(SqlRefusedError, match="permission denied"):
            asked(service, settings, f"SELECT * FROM {call}")


def test_the_database_itself_shows_an_analyst_no_values(service: tuple[str, Owner], settings: Settings) -> None:
    assert asked(service, settings, "SELECT * FROM pg_stats WHERE schemaname = 'memsvc'") == []
    for peek in ("SELECT * FROM pg_statistic", "SELECT query FROM pg_stat_activity"):
        with pytest.raises(SqlRefusedError, match="permission denied"):
            asked(service, settings, peek)


@pytest.mark.parametrize("path", sorted(ANALYTICS.glob("*.sql")), ids=lambda path: path.stem)
def test_statements_to_keep_at_hand_run_as_who_they_are_for(
    path: Path, service: tuple[str, Owner], settings: Settings
) -> None:
    url, owner = service
    statement, analyst = path.read_text(), path.stem.startswith("service_")
    answer = ask(url, settings, None if analyst else owner.user_id, statement, limit=100)
    assert bool(answer.rows) == (path.stem in {"week", "service_jobs", "service_costs"})
    with pytest.raises(SqlRefusedError, match="permission denied"):
        ask(url, settings, owner.user_id if analyst else None, statement, limit=100)
