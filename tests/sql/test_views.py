"""The views for people: the same truth as the functions that know two times, counted from the tables themselves."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, date, datetime
from itertools import count
from typing import Any
from uuid import UUID

import psycopg
import pytest

from memsvc.access.users import Owner, add_user
from memsvc.db.engine import Database
from memsvc.db.identity import Signer
from memsvc.graph import operations as ops
from memsvc.graph.history import write
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, Role, append
from tests.sql.histories import MAKE_TYPE, Player, make_user
from tests.sql.world import APP, READER, Logins, login_url, value

pytestmark = pytest.mark.slow

HISTORIES, STEPS = 12, 40
FACTS = """
SELECT DISTINCT f.version_id, f.from_node, f.type, f.to_node, f.fact, f.contested, f.stored_from, f.stored_to
FROM memsvc.nodes AS n
CROSS JOIN LATERAL memsvc.facts(n.user_id, ARRAY[n.node_id], NULL, now()) AS f
ORDER BY 1
"""
SHOWN = """
SELECT version_id, subject_id, predicate, object_id, fact, contested, stored_subject_id, stored_object_id
FROM memsvc.facts_current ORDER BY 1
"""
LABELS = """
SELECT k.node_id, k.canonical_id, k.type, k.label FROM memsvc.users AS u
CROSS JOIN LATERAL memsvc.node_cards(u.user_id, ARRAY(SELECT n.node_id FROM memsvc.nodes AS n)) AS k ORDER BY 1
"""
_numbers = count()


@pytest.fixture
def players(logins: Logins, settings: Settings) -> Iterator[tuple[psycopg.Connection, psycopg.Connection]]:
    """Two connections of the application's login."""
    with psycopg.connect(logins.admin_url, autocommit=True) as admin:
        admin.execute(MAKE_TYPE.encode())
    url = login_url(logins.admin_url, APP, settings)
    with psycopg.connect(url, autocommit=True) as first, psycopg.connect(url, autocommit=True) as second:
        yield first, second


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_facts_and_labels_are_those_of_the_functions_after_any_history(
    seed: int, players: tuple[psycopg.Connection, psycopg.Connection], settings: Settings, worker_id: str
) -> None:
    chance = random.Random(seed)
    user_id = make_user(players[0], f"views {worker_id} {next(_numbers)}")
    token = Signer(settings.secret("identity_secret").encode(), 36_000).token(user_id)
    for connection in players:
        connection.execute("SELECT set_config('memsvc.identity', %s, false)", [token])
    player = Player(*players, user_id)
    player.begin()
    for _ in range(STEPS):
        player.step([tuple(chance.randrange(60) for _ in range(7)) for _ in range(chance.randint(1, 4))])
    one = players[0]
    assert one.execute(SHOWN.encode()).fetchall() == one.execute(FACTS.encode()).fetchall()
    labels = "SELECT node_id, canonical_id, type, label FROM memsvc.node_labels ORDER BY 1"
    assert one.execute(labels.encode()).fetchall() == one.execute(LABELS.encode()).fetchall()
    open_, closed = one.execute(
        "SELECT count(*) FILTER (WHERE recorded_to = 'infinity'), count(*) FILTER (WHERE recorded_to < 'infinity') "
        "FROM memsvc.edge_versions"
    ).fetchall()[0]
    states: dict[str, int] = dict(
        one.execute("SELECT state, count(*) FROM memsvc.facts_history GROUP BY state").fetchall()
    )
    believed = ("holds", "ended", "to come")
    assert sum(number for state, number in states.items() if state in believed) == open_
    assert sum(number for state, number in states.items() if state not in believed) == closed
    assert value(one, "SELECT count(*) FROM memsvc.facts_history WHERE learnt_by_change IS NULL") == 0
    assert value(one, "SELECT count(*) FROM memsvc.facts_history WHERE superseded AND closed_by_change IS NULL") == 0


def look(logins: Logins, settings: Settings, owner: Owner, statement: str) -> list[tuple[Any, ...]]:
    """What a person who may only read is shown."""
    token = Signer(settings.secret("identity_secret").encode(), 60).token(owner.user_id)
    with logins.enter(READER, token) as connection:
        return connection.execute(statement.encode()).fetchall()


async def people_of(db: Database, owner: Owner, *names: str) -> list[UUID]:
    """New persons."""
    made = await write(db, owner, [ops.Node(type="Person", label=name) for name in names], asserted_by="user")
    return [row.node_id for row in made.results if row.node_id]


async def test_a_version_says_what_became_of_it(db: Database, owner: Owner, logins: Logins, settings: Settings) -> None:
    ann, bea, cleo = await people_of(db, owner, "Ann", "Bea", "Cleo")

    async def said(*operations: ops.Operation) -> list[UUID]:
        change = await write(db, owner, operations, asserted_by="user")
        return [row.edge_id or UUID(int=0) for row in change.results]

    def knows(end: UUID, fact: str) -> ops.Edge:
        return ops.Edge(from_node=ann, type="KNOWS", to_node=end, fact=fact)

    [first] = await said(knows(bea, "Ann knows Bea."))
    await said(knows(bea, "Ann knows Bea well."))
    [second] = await said(knows(cleo, "Ann knows Cleo."))
    await said(ops.Retract(thread=ops.Thread(edge=second)))
    await said(knows(cleo, "At first so."), knows(cleo, "Then so."))
    await said(ops.Close(thread=ops.Thread(edge=first), at=datetime(2020, 1, 1, tzinfo=UTC)))
    rows = look(logins, settings, owner, "SELECT fact, state FROM facts_history ORDER BY learnt_at, fact")
    assert rows == [
        ("Ann knows Bea.", "corrected"),
        ("Ann knows Bea well.", "shortened"),
        ("Ann knows Cleo.", "retracted"),
        ("At first so.", "overruled"),
        ("Then so.", "holds"),
        ("Ann knows Bea well.", "ended"),
    ]
    learnt = look(logins, settings, owner, "SELECT what FROM timeline WHERE kind = 'learnt' ORDER BY at")
    assert learnt == [("Ann knows Bea.",), ("Ann knows Bea well.",), ("Ann knows Cleo.",), ("Then so.",)]
    assert look(logins, settings, owner, "SELECT what, kind FROM timeline WHERE kind = 'ended'") == [
        ("Ann knows Bea well.", "ended")
    ]


async def test_a_chain_of_merges_is_one_person_and_comes_apart_again(
    db: Database, owner: Owner, logins: Logins, settings: Settings
) -> None:
    ann, bea, cleo = await people_of(db, owner, "Ann", "Bea", "Cleo")
    merges = [ops.Merge(node=ann, canonical=bea, reason="a guess"), ops.Merge(node=bea, canonical=cleo)]
    await write(db, owner, merges, asserted_by="user")
    found = look(logins, settings, owner, "SELECT name FROM people WHERE NOT self")
    assert found == [("Cleo",)]
    nodes = look(logins, settings, owner, f"SELECT nodes FROM nodes_current WHERE node_id = '{cleo}'")
    assert set(nodes[0][0]) == {ann, bea, cleo}
    await write(db, owner, [ops.Unmerge(node=bea)], asserted_by="user")
    found = look(logins, settings, owner, "SELECT name FROM people WHERE NOT self ORDER BY 1")
    assert found == [("Bea",), ("Cleo",)]
    merged = look(logins, settings, owner, "SELECT kind, what FROM timeline ORDER BY at, what")
    assert merged == [("merged", "Ann is Bea: a guess"), ("merged", "Bea is Cleo"), ("unmerged", "Bea is not Cleo")]


async def test_people_speak_under_all_their_names(
    db: Database, owner: Owner, other: Owner, logins: Logins, settings: Settings
) -> None:
    [bea] = await people_of(db, owner, "Bea Ruiz")
    names = [ops.Alias(node=bea, alias="Béa"), ops.Alias(node=bea, alias="Bea  Ruiz")]
    await write(db, owner, names, asserted_by="user")
    who: tuple[tuple[str, Role], ...] = (
        ("bea", "other"), ("BEA RUIZ", "other"), ("Beatrix", "other"), ("", "user"), ("", "assistant")
    )  # fmt: skip
    said = [
        MessageIn(conversation="a", speaker=name, text="hello", role=role, said_at=f"2026-03-0{day}T12:00Z")
        for day, (name, role) in enumerate(who, 1)
    ]
    for user in (owner, other):
        await append(db, user, said, settings)
    rows = look(
        logins, settings, owner,
        "SELECT name, messages, facts, first_seen::date, last_seen::date, main_facts FROM people ORDER BY self",
    )  # fmt: skip
    assert rows == [
        ("Bea Ruiz", 2, 0, date(2026, 3, 1), date(2026, 3, 2), None),
        ("Ada", 1, 0, date(2026, 3, 4), date(2026, 3, 4), None),
    ]


@pytest.mark.parametrize(
    ("zone", "moments", "expected"),
    [
        # 23:30 and 00:30 by the clock of the user, whatever UTC says.
        ("Asia/Tokyo", ["2026-05-01T14:30Z", "2026-05-01T15:30Z"], {date(2026, 5, 1): 1, date(2026, 5, 2): 1}),
        # The day on which clocks go back has 25 hours; the one on which they go forward has 23.
        (
            "Europe/Berlin",
            ["2026-10-24T22:00Z", "2026-10-25T22:59Z", "2026-10-25T23:00Z", "2026-03-28T23:00Z", "2026-03-29T21:59Z"],
            {date(2026, 3, 29): 2, date(2026, 10, 25): 2, date(2026, 10, 26): 1},
        ),
        # A midnight that the clock shows twice: nothing is lost, nothing counted twice, and the walk ends.
        ("Asia/Gaza", ["1980-09-13T21:30Z", "1980-09-13T22:30Z"], {date(1980, 9, 14): 2}),
        ("Pacific/Apia", ["2011-12-30T09:59Z", "2011-12-30T10:00Z"], {date(2011, 12, 29): 1, date(2011, 12, 31): 1}),
        ("UTC", ["1000-01-01T00:00Z", "8999-12-31T23:00Z"], {date(1000, 1, 1): 1, date(8999, 12, 31): 1}),
    ],
)
async def test_a_day_is_the_users_own(  # noqa: PLR0917 - three are parameters of the case
    zone: str,
    moments: list[str],
    expected: dict[date, int],
    db: Database,
    app: UUID,
    logins: Logins,
    settings: Settings,
) -> None:
    user = await add_user(db, app, name="Zoe", external_id=f"zone-{next(_numbers)}-{zone}", time_zone=zone)
    owner = user.owner
    said = [MessageIn(conversation="a", text="two words", said_at=moment) for moment in moments]
    await append(db, owner, said, settings)
    rows = look(logins, settings, owner, "SELECT day, messages, words, speakers, facts_learnt FROM daily_activity")
    assert {row[0]: row[1] for row in rows} == expected
    assert len(rows) == len(expected)
    assert all(row[2:] == (2 * row[1], 1, 0) for row in rows)


async def test_a_zone_that_this_server_lacks_counts_as_utc(
    db: Database, owner: Owner, logins: Logins, settings: Settings, admin: psycopg.Connection
) -> None:
    moments = ["2026-03-01T23:59Z", "2026-03-02T00:00Z", "2026-03-02T01:00Z"]
    said = [MessageIn(conversation="a", text="two words", said_at=moment) for moment in moments]
    await append(db, owner, said, settings)
    admin.execute("UPDATE memsvc.users SET time_zone = 'Mars/Olympus_Mons' WHERE user_id = %s", [owner.user_id])
    rows = look(logins, settings, owner, "SELECT day, messages FROM daily_activity")
    assert rows == [(date(2026, 3, 1), 1), (date(2026, 3, 2), 2)]
    habits = "SELECT count(*) FROM memsvc.days_of_facts(current_user_id(), 'Mars/Olympus_Mons', 1)"
    assert look(logins, settings, owner, habits) == [(0,)]


async def test_a_user_without_anything_has_no_rows_and_no_errors(
    db: Database, owner: Owner, logins: Logins, settings: Settings
) -> None:
    for view in ("facts_current", "facts_history", "timeline", "daily_activity", "sources_status"):
        assert look(logins, settings, owner, f"SELECT * FROM {view}") == [], view
    assert look(logins, settings, owner, "SELECT name, messages, self FROM people") == [("Ada", 0, True)]


async def test_a_source_says_how_far_it_is(
    db: Database, owner: Owner, logins: Logins, settings: Settings, admin: psycopg.Connection
) -> None:
    said = [MessageIn(conversation="a", text="one"), MessageIn(conversation="a", text="two", role="tool")]
    stored = await append(db, owner, said, settings)
    columns = "messages, passages, vectors, vectors_lacking, model, status, job, error_code"
    shown = look(logins, settings, owner, f"SELECT {columns} FROM sources_status")
    assert shown[0][:2] == (2, 2)
    assert shown[0][5:] == ("pending", "pending", None)
    model = admin.execute("SELECT model_id, name, dimensions FROM memsvc.embedding_models WHERE state = 'active'")
    active = model.fetchone()
    if active is None:
        assert shown[0][2:5] == (None, None, None)
    else:
        assert shown[0][2:5] == (0, 1, active[1])
        vector = str([1.0] + [0.0] * (active[2] - 1))
        insert = "INSERT INTO memsvc.embeddings (user_id, model_id, passage_id, vector) VALUES (%s, %s, %s, %s)"
        admin.execute(insert, [owner.user_id, active[0], stored[0].passage_id, vector])
        assert look(logins, settings, owner, f"SELECT {columns} FROM sources_status")[0][2:4] == (1, 0)
    admin.execute(
        "UPDATE memsvc.jobs SET state = 'failed', error_code = 'embedder' WHERE user_id = %s", [owner.user_id]
    )
    assert look(logins, settings, owner, "SELECT job, error_code FROM sources_status") == [("failed", "embedder")]


def test_every_column_of_these_views_is_described(admin: psycopg.Connection) -> None:
    lacking = admin.execute(
        "SELECT c.relname || '.' || a.attname FROM pg_class AS c INNER JOIN pg_attribute AS a ON a.attrelid = c.oid "
        "WHERE c.relnamespace = 'memsvc'::regnamespace AND c.relkind = 'v' AND a.attnum > 0 "
        "AND c.relname NOT IN ('messages', 'conversations') AND col_description(c.oid, a.attnum) IS NULL"
    )
    assert lacking.fetchall() == []
