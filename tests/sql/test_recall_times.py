"""Recall by time: how well a moment fits, what was said or turned inside windows, as the application's role sees it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import errors

from memsvc.db.identity import Signer
from memsvc.settings import Settings
from tests.sql.bulk import fill
from tests.sql.conftest import Scratch
from tests.sql.test_plans import Plans
from tests.sql.world import READER, Logins, World, value

PASSAGES, FACTS = 3_000, 1_000
YEAR = datetime(2026, 1, 1, tzinfo=UTC)
FITS = "SELECT memsvc.time_fit(%s, %s::timestamptz[], %s::timestamptz[], '2 days')"
SAID = (
    "SELECT matched_id, fit FROM memsvc.match_times(%(user)s, %(begins)s::timestamptz[], %(ends)s::timestamptz[], "
    "%(limit)s, memsvc.scope(%(kinds)s, %(sources)s::uuid[], %(others)s::uuid[], %(since)s, %(until)s, %(as_of)s, "
    "%(known_at)s))"
)
TURNED = (
    "SELECT version_id, fit FROM memsvc.match_fact_times(%(user)s, %(begins)s::timestamptz[], %(ends)s::timestamptz[], "
    "%(limit)s, %(as_of)s, %(known_at)s)"
)
# The same, told plainly; newest first.
PLAINLY_SAID = """
SELECT p.passage_id FROM memsvc.passages AS p
WHERE p.user_id = %(user)s AND p.kind = ANY (%(kinds)s) AND EXISTS (
    SELECT FROM unnest(%(begins)s::timestamptz[], %(ends)s::timestamptz[]) AS w (b, e)
    WHERE p.said_at >= w.b AND p.said_at < w.e
  )
  AND p.said_at >= coalesce(%(since)s, '-infinity'::timestamptz)
  AND p.said_at < coalesce(%(until)s, 'infinity'::timestamptz)
  AND p.said_at <= coalesce(%(as_of)s, 'infinity'::timestamptz)
  AND p.recorded_at <= coalesce(%(known_at)s, 'infinity'::timestamptz)
  AND (%(sources)s::uuid[] IS NULL OR p.source_id = ANY (%(sources)s::uuid[]))
  AND (%(others)s::uuid[] IS NULL OR p.source_id <> ALL (%(others)s::uuid[]))
ORDER BY p.said_at DESC
"""
PLAINLY_TURNED = """
SELECT v.version_id FROM memsvc.edge_versions AS v
WHERE v.user_id = %(user)s AND EXISTS (
    SELECT FROM unnest(%(begins)s::timestamptz[], %(ends)s::timestamptz[]) AS w (b, e)
    WHERE (v.valid_from >= w.b AND v.valid_from < w.e) OR (v.valid_to >= w.b AND v.valid_to < w.e)
      OR (v.valid_from < w.b AND v.valid_to >= w.e AND v.valid_to < 'infinity')
  )
  AND CASE WHEN %(known_at)s::timestamptz IS NULL THEN v.recorded_to = 'infinity'
    ELSE v.recorded_from <= %(known_at)s AND v.recorded_to > %(known_at)s END
  AND (%(as_of)s::timestamptz IS NULL OR (v.valid_from <= %(as_of)s AND v.valid_to > %(as_of)s))
"""
GRAPH = """
WITH node AS (INSERT INTO memsvc.nodes (user_id) VALUES (%(user)s) RETURNING node_id),
edge AS (
  INSERT INTO memsvc.edges (user_id, from_node, type, to_node, key)
  SELECT %(user)s, o.node_id, 'RELATED_TO', o.node_id, n::text
  FROM node AS o CROSS JOIN generate_series(1, %(facts)s) AS n
  RETURNING edge_id, from_node, type, to_node, key::integer AS n
)
INSERT INTO memsvc.edge_versions (
  user_id, edge_id, from_node, type, to_node, functional, fact, asserted_by, valid_from, valid_to, recorded_from,
  recorded_to
)
SELECT %(user)s, e.edge_id, e.from_node, e.type, e.to_node, false, 'x', 'bulk',
  CASE WHEN n %% 7 = 0 THEN '-infinity' ELSE timestamptz '2026-01-01Z' + n * interval '1 hour' END,
  CASE WHEN n %% 3 = 0 THEN timestamptz '2026-01-11Z' + n * interval '1 hour' ELSE 'infinity' END,
  timestamptz '2026-01-02Z' + n * interval '1 minute',
  CASE WHEN n %% 5 = 0 THEN timestamptz '2026-02-01Z' ELSE 'infinity' END
FROM edge AS e
"""


def at(days: float) -> datetime:
    return YEAR + timedelta(days)


def asked(user: UUID, *windows: tuple[float, float], **more: Any) -> dict[str, Any]:
    """Parameters of a call; windows in days of the year."""
    rest = dict.fromkeys(("sources", "others", "since", "until", "as_of", "known_at"))
    ends = {"begins": [at(begin) for begin, _ in windows], "ends": [at(end) for _, end in windows]}
    return {"user": user, "limit": 10_000, "kinds": ["message"], **rest, **ends, **more}


@pytest.fixture(scope="module")
def url(scratch: Scratch) -> str:
    return scratch("times")


@pytest.fixture(scope="module")
def plans(url: str, settings: Settings) -> Iterator[Plans]:
    """A user with passages a minute apart, recorded a day later, and facts an hour apart; three with a few."""
    with psycopg.connect(url, autocommit=True) as admin:
        app_id = value(admin, "SELECT memsvc.ensure_app('times')")
        make = "SELECT memsvc.create_user(%s, %s, 'Ada', 'UTC', 'english')"
        users = [value(admin, make, [app_id, f"user {n}"]) for n in range(4)]
        admin.execute("DROP INDEX memsvc.passages_words")
        for user in users:
            fill(admin, user, PASSAGES if user == users[0] else 50, conversations=4)
            admin.execute(GRAPH.encode(), {"user": user, "facts": FACTS if user == users[0] else 50})
        admin.execute(
            "UPDATE memsvc.passages SET recorded_at = said_at + interval '1 day', "
            "kind = CASE WHEN ordinal % 10 = 0 THEN 'trace' ELSE kind END"
        )
        admin.execute("VACUUM ANALYZE")
    with psycopg.connect(url, autocommit=True) as connection:
        collected = Plans(connection, users, Signer(settings.secret("identity_secret").encode(), 3600))
        connection.execute("LOAD 'auto_explain'")
        for setting, wanted in (
            ("auto_explain.log_min_duration", "0"), ("auto_explain.log_nested_statements", "on"),
            ("auto_explain.log_level", "notice"), ("auto_explain.log_format", "json"), ("jit", "off"),
        ):  # fmt: skip
            connection.execute("SELECT set_config(%s, %s, false)", [setting, wanted])
        connection.execute("SET SESSION AUTHORIZATION memsvc_app")
        connection.add_notice_handler(collected.note)
        yield collected


@pytest.fixture(scope="module")
def plain(url: str) -> Iterator[psycopg.Connection]:
    """The administrator, who sees all rows."""
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def found(plans: Plans, statement: str, parameters: dict[str, Any]) -> list[UUID]:
    rows = plans.connection.execute(statement.encode(), parameters).fetchall()
    assert all(fit == 1 for _, fit in rows)
    return [identity for identity, _ in rows]


def test_a_moment_fits_as_well_as_it_is_near(plans: Plans) -> None:
    def fit(moment: datetime | str | None, *windows: tuple[float, float]) -> float:
        ends = [[at(begin) for begin, _ in windows], [at(end) for _, end in windows]]
        return float(value(plans.connection, FITS, [moment, *ends]))

    few, many = [(10.0, 11.0), (20.0, 21.0)], [(n * 10.0, n * 10.0 + 1) for n in range(1, 7)]
    for windows in (few[:1], few, few * 2, many):
        assert [fit(at(day), *windows) for day in (10, 10.5, 11)] == [1, 1, 1]
        assert fit(at(8), *windows) == pytest.approx(math.exp(-1))
        assert fit(at(12), *windows) == pytest.approx(math.exp(-0.5))
        assert fit("-infinity", *windows) < 1e-300
        assert fit(None, *windows) == 0
    assert fit(at(18), *few) == fit(at(18), *many) == pytest.approx(math.exp(-1)), "the nearest window counts"
    assert fit(at(10)) == value(plans.connection, FITS, [at(10), None, None]) == 0


@pytest.mark.parametrize(
    "filters",
    [
        {}, {"kinds": ["trace"]}, {"kinds": ["message", "trace"]}, {"since": at(0.7)}, {"until": at(0.6)},
        {"as_of": at(0.55)}, {"known_at": at(1.6)}, {"as_of": at(0.9), "known_at": at(1.55), "since": at(0.52)},
        {"as_of": at(99)}, {"as_of": at(-9)}, {"sources": True}, {"others": True}, {"sources": [uuid4()]},
    ],
)  # fmt: skip
def test_passages_of_all_windows_that_pass_the_filters_are_found(
    plans: Plans, plain: psycopg.Connection, filters: dict[str, Any]
) -> None:
    user = plans.users[0]
    two = plain.execute("SELECT source_id FROM memsvc.sources WHERE user_id = %s LIMIT 2", [user]).fetchall()
    filters = {name: [row[0] for row in two] if wanted is True else wanted for name, wanted in filters.items()}
    plans.act_for(user)
    for windows in ([(0.5, 0.75)], [(0.5, 0.6), (0.55, 0.8), (-5, 0.01), (50, 60)]):
        parameters = asked(user, *windows, **filters)
        expected = [row[0] for row in plain.execute(PLAINLY_SAID.encode(), parameters)]
        assert found(plans, SAID, parameters) == expected


def test_windows_share_the_limit_and_the_newest_go_first(plans: Plans, plain: psycopg.Connection) -> None:
    user = plans.users[0]
    plans.act_for(user)
    expected = []
    for window in ((1.0, 2.0), (0.0, 0.5)):
        rows = plain.execute(PLAINLY_SAID.encode(), asked(user, window)).fetchall()
        expected += [row[0] for row in rows[:5]]
    assert found(plans, SAID, asked(user, (0.0, 0.5), (1.0, 2.0), limit=10)) == expected
    assert found(plans, SAID, asked(user, (0.0, 0.5), limit=0)) == []


@pytest.mark.parametrize(
    "filters",
    [
        {}, {"known_at": at(20)}, {"known_at": at(1.3)}, {"known_at": at(0)}, {"as_of": at(16)},
        {"as_of": at(16), "known_at": at(25)}, {"as_of": at(99)}, {"as_of": at(-9)},
    ],
)  # fmt: skip
def test_facts_that_began_ended_or_held_in_a_window_are_found(
    plans: Plans, plain: psycopg.Connection, filters: dict[str, Any]
) -> None:
    user = plans.users[0]
    plans.act_for(user)
    for windows in ([(15.0, 17.0)], [(0.0, 1.5), (15.0, 17.0), (16.5, 18.0), (500.0, 600.0)]):
        parameters = asked(user, *windows, **filters)
        expected = {row[0] for row in plain.execute(PLAINLY_TURNED.encode(), parameters)}
        assert set(found(plans, TURNED, parameters)) == expected
        some = found(plans, TURNED, {**parameters, "limit": 8})
        assert len(some) <= 8
        assert set(some) <= expected
        assert some or not expected


def test_times_are_looked_up_by_index(plans: Plans) -> None:
    """Whether the user has many rows or few, and whatever else is filtered."""
    for user in (plans.users[0], plans.users[1]):
        for filters in ({}, {"as_of": at(300), "known_at": at(300), "sources": [uuid4()]}):
            plans.act_for(user)
            parameters = asked(user, (0.0, 300.0), limit=50, **filters)
            found(plans, SAID, parameters)
            assert set(plans.indexes("passages")) == {"passages_said"}
            assert "said_at <" in plans.indexes("passages")["passages_said"]
            found(plans, TURNED, parameters)
            used = plans.indexes("edge_versions")
            assert set(used) == {"edge_versions_began", "edge_versions_ended", "edge_versions_closed"}
            assert "valid_from <" in used["edge_versions_began"]
            assert "valid_to >=" in used["edge_versions_ended"]  # so does what has ended since


def test_without_windows_nothing_is_read(plans: Plans) -> None:
    plans.act_for(plans.users[0])
    for statement in (SAID, TURNED):
        assert found(plans, statement, asked(plans.users[0])) == []
        assert found(plans, statement, asked(plans.users[0], begins=None, ends=None)) == []
    assert not plans.scans("passages")
    assert not plans.scans("edge_versions")


def test_no_user_is_shown_anothers_times(plans: Plans) -> None:
    plans.act_for(plans.users[1])
    for statement in (SAID, TURNED):
        assert found(plans, statement, asked(plans.users[1], (-500.0, 500.0)))
        assert found(plans, statement, asked(plans.users[0], (-500.0, 500.0))) == []
    plans.connection.execute("SELECT set_config('memsvc.identity', '', false)")
    for statement in (SAID, TURNED):
        assert found(plans, statement, asked(plans.users[1], (-500.0, 500.0))) == []


def test_the_reader_asks_too_and_the_cypher_login_does_not(logins: Logins, world: World) -> None:
    parameters = asked(world.ada.user_id, (-9_000.0, 9_000.0))
    with logins.enter(READER, world.token(world.ada)) as connection:
        assert connection.execute(SAID.encode(), parameters).fetchall()
    with (
        logins.enter("memsvc_cypher", world.token(world.ada)) as connection,
        pytest.raises(errors.InsufficientPrivilege),
    ):
        connection.execute(SAID.encode(), parameters)
