"""Recall of facts, names and mentions at any pair of times against the plain model, in random histories."""

from __future__ import annotations

import os
from datetime import datetime
from typing import Any

import psycopg
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from memsvc.settings import Settings
from tests.examples import some_of
from tests.sql.erasing import Eraser
from tests.sql.histories import BEGIN, NODES, Player, Raw, day
from tests.sql.test_history import HISTORY, PICKS, play, writers

__all__ = ["writers"]
HISTORIES = int(os.environ.get("MEMSVC_TEST_HISTORIES") or some_of(30))
"""2,000 is the whole proof: MEMSVC_TEST_HISTORIES=2000 make test ARGS=tests/sql/test_recall_history.py."""
QUERY = "Did ANN B meet Ann, n0 1's friend or n1, and n2 0 n3 n4?"
FACTS = """
SELECT v.edge_id, v.fact, m.words IS NOT NULL, m.distance IS NOT NULL, m.distance, m.node_id
FROM memsvc.match_facts(
  %(user)s, %(query)s, 'english', ARRAY[%(node)s]::uuid[], '{3}', 1000, p_as_of => %(as_of)s, p_known_at => %(known)s
) AS m
INNER JOIN memsvc.edge_versions AS v ON v.user_id = %(user)s AND v.version_id = m.version_id
"""
NAMED = "SELECT name, node_id, similarity FROM memsvc.names_in_query(%(user)s, %(query)s, %(as_of)s, %(known)s)"
MENTIONS = """
SELECT n.node_id, m.matched_id, m.node_id
FROM unnest(%(nodes)s::uuid[]) AS n (node_id)
CROSS JOIN LATERAL memsvc.match_mentions(
  %(user)s, ARRAY[n.node_id], '{1}', '{0}', 100, p_known_at => %(known)s
) AS m
"""


def compare(player: Player, picks: list[Raw]) -> None:
    """What is recalled is the same on both sides."""
    names = {node: name for name, node in player.nodes.items()}
    for nth, (tick, known) in enumerate(player.moments(picks)):
        as_of = BEGIN.replace(year=2019) if tick < 0 else day(tick)
        about, other = NODES[(tick + nth) % 5], NODES[nth % 5]
        asked: dict[str, Any] = {"user": player.user_id, "as_of": as_of, "known": known, "node": player.nodes[about]}
        where = f"as of tick {tick}, known at change {len([at for _, at in player.changes if at <= known])}"
        words = f"{other} {nth % 3}"
        rows = player.connection.execute(FACTS.encode(), asked | {"query": words}).fetchall()
        found = {(player.edges[row[0]], *row[1:4]) for row in rows}
        assert len(found) == len(rows), where
        assert found == player.model.said(frozenset(words.split()), about, tick, known), f"{words!r}, {about} {where}"
        stands = player.model.resolve(about, known)
        assert all(row[4] == 3 and names[row[5]] == stands for row in rows if row[3]), where
        rows = player.connection.execute(NAMED.encode(), asked | {"query": QUERY}).fetchall()
        assert {(row[0].lower(), names[row[1]]) for row in rows} == player.model.named(QUERY, tick, known), where
        assert all(row[2] == 1 for row in rows), where
        compare_mentions(player, asked | {"nodes": list(player.nodes.values())}, known, where)


def compare_mentions(player: Player, asked: dict[str, Any], known: datetime, where: str) -> None:
    """Passages that speak of each node."""
    names = {node: name for name, node in player.nodes.items()}
    rows = player.connection.execute(MENTIONS.encode(), asked).fetchall()
    for name, node in player.nodes.items():
        found = [row for row in rows if row[0] == node]
        shown = {str(player.passages.index(row[1])) for row in found}
        must, may = player.model.mentions(name, known)
        assert must <= shown <= may, f"{name} {where}: {shown}, must {must}, may {may}"
        assert len(shown) == len(found)
        assert {names[row[2]] for row in found} <= {player.model.resolve(name, known)}, where


@hypothesis(
    max_examples=HISTORIES,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(history=HISTORY, picks=PICKS, erasing=st.integers(0, 3))
def test_recall_at_any_two_times_is_the_models(  # noqa: PLR0917 - what hypothesis and the fixtures give
    history: list[list[Raw]],
    picks: list[Raw],
    erasing: int,
    writers: tuple[psycopg.Connection, psycopg.Connection],
    settings: Settings,
    worker_id: str,
) -> None:
    player = play(writers, settings, worker_id, Player if erasing else Eraser)
    for step in history:
        player.step(step)
    compare(player, picks)
