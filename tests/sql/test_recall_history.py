"""Recall at any pair of times against the plain model, in random histories: its arms, and all of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from memsvc.settings import Settings
from tests.examples import some_of
from tests.model import recall as plain
from tests.sql.erasing import ERASE, Eraser
from tests.sql.histories import BEGIN, NODES, SAID_AT, TICKS, Player, Raw, day
from tests.sql.test_history import HISTORY, PICKS, play, writers
from tests.sql.world import append_rows, message, value

pytestmark = pytest.mark.slow
__all__ = ["writers"]
HISTORIES = int(os.environ.get("MEMSVC_TEST_HISTORIES") or some_of(30))
"""2,000 is the whole proof: MEMSVC_TEST_HISTORIES=2000 make test ARGS=tests/sql/test_recall_history.py."""
STRENGTH = {"LIVES_IN": 1.0, "TESTS_ONE_VALUE": 0.7, "RELATED_TO": 0.3}
WORDS = ("tern", "gull", "auk")
FAN_OUT = 10
"""Of a node recall follows so many facts."""
QUERY = "Did ANN B meet Ann, n0 1's friend or n1, and n2 0 n3 n4?"
FACTS = """
SELECT v.edge_id, v.fact, m.distance, m.node_id
FROM memsvc.match_nodes(
  %(user)s, ARRAY[%(node)s]::uuid[], NULL, '{3}', 1000,
  memsvc.scope('{fact}', p_as_of => %(as_of)s, p_known_at => %(known)s)
) AS m
INNER JOIN memsvc.edge_versions AS v ON v.user_id = %(user)s AND v.version_id = m.memory_id
"""
NAMED = "SELECT name, node_id, similarity FROM memsvc.names_in_query(%(user)s, %(query)s, %(as_of)s, %(known)s)"
MENTIONS = """
SELECT n.node_id, m.matched_id, m.node_id
FROM unnest(%(nodes)s::uuid[]) AS n (node_id)
CROSS JOIN LATERAL memsvc.match_mentions(
  %(user)s, ARRAY[n.node_id], '{1}', ARRAY[%(distance)s]::integer[], 100,
  memsvc.scope('{message}', p_as_of => %(as_of)s, p_known_at => %(known)s)
) AS m
"""
WAYS = "SELECT * FROM memsvc.expand_names(%(user)s, ARRAY[%(node)s]::uuid[], 2, 1000, %(as_of)s, %(known)s)"
TURNED = """
SELECT v.edge_id, v.fact
FROM memsvc.match_fact_times(
  %(user)s, ARRAY[%(begins)s]::timestamptz[], ARRAY[%(ends)s]::timestamptz[], 1000, %(as_of)s, %(known)s
) AS m
INNER JOIN memsvc.edge_versions AS v ON v.user_id = %(user)s AND v.version_id = m.version_id
"""
RECALL = """
WITH named AS (
  SELECT DISTINCT n.node_id
  FROM memsvc.names_in_query(%(user)s, %(query)s, %(as_of)s, %(known)s) AS n
)
SELECT r.kind, m.memory_id, v.edge_id, v.fact, r.path, r.score
FROM memsvc.recall(
  %(user)s, %(query)s, 1000, memsvc.scope(p_as_of => %(as_of)s, p_known_at => %(known)s),
  memsvc.question(
    p_nodes => ARRAY(SELECT n.node_id FROM named AS n), p_hops => %(hops)s,
    p_begins => ARRAY[%(begins)s]::timestamptz[], p_ends => ARRAY[%(ends)s]::timestamptz[]
  ), p_candidates => 1000
) AS r
CROSS JOIN LATERAL unnest(r.memory_id || r.others) AS m (memory_id) -- also what was said again in the same words
LEFT JOIN memsvc.edge_versions AS v
  ON v.user_id = %(user)s AND v.version_id = m.memory_id AND r.kind = 'fact'
ORDER BY r.rank
"""
PROPERTY = hypothesis(
    max_examples=HISTORIES,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)


@dataclass(slots=True)
class Talk:
    """What was said: messages that facts rest on, and others."""

    player: Player
    others: dict[str, tuple[Any, plain.Told]] = field(default_factory=dict)
    """By name: the id, and what was stored."""

    def step(self, raws: list[Raw], *, tells: bool = True) -> None:
        """One step of the history; after some of them somebody says something, or that is erased."""
        self.player.step(raws)
        *_, tick, word, which = raws[0]
        if which % 3 == 0 and tells:
            self.tell(WORDS[word % 3], tick % (TICKS + 1))
        elif which % 9 == 1 and self.others and isinstance(self.player, Eraser):
            gone, _ = self.others.pop(list(self.others)[word % len(self.others)])
            assert value(self.player.connection, ERASE, [self.player.user_id, gone]) == "done"

    def tell(self, word: str, tick: int) -> None:
        """Store a message that nothing rests on."""
        said = message(f"A {word} {word}!", 1000 + len(self.others), said_at=str(day(tick)))
        said["client_id"] = None
        row = append_rows(self.player.connection, self.player.user_id, [said])[0]
        self.others[f"other {row[3]}"] = (row[3], self.stored(row[3], {word}, tick))

    def stored(self, passage: Any, words: set[str], tick: int) -> plain.Told:
        """The same with the time that the database gave it."""
        at = value(
            self.player.connection,
            "SELECT recorded_at FROM memsvc.passages WHERE user_id = %s AND passage_id = %s",
            [self.player.user_id, passage],
        )
        return plain.Told(frozenset(words), tick, at)

    def names(self) -> dict[Any, str]:
        """The names by which the model knows messages, by id."""
        passages = {passage: str(place) for place, passage in enumerate(self.player.passages)}
        return passages | {passage: name for name, (passage, _) in self.others.items()}

    def told(self) -> dict[str, plain.Told]:
        """All messages that are not erased."""
        present = {place: (str(place), tick) for place, tick in enumerate(SAID_AT)}
        if isinstance(self.player, Eraser):
            present |= {place: (name, place % (TICKS + 1)) for name, place in self.player.present.items()}
        return {
            str(place): self.stored(self.player.passages[place], {word}, tick)
            for place, (word, tick) in present.items()
        } | {name: one for name, (_, one) in self.others.items()}


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked at two times, and how it is said in the model."""

    tick: int
    known: datetime
    about: str
    words: frozenset[str]
    window: range
    hops: int

    def asked(self, player: Player) -> dict[str, Any]:
        """Parameters of the statements."""
        return {
            "user": player.user_id, "as_of": BEGIN.replace(year=2019) if self.tick < 0 else day(self.tick),
            "known": self.known, "node": player.nodes[self.about], "query": self.query, "hops": self.hops,
            "begins": [day(self.window.start)], "ends": [day(self.window.stop)], "nodes": list(player.nodes.values()),
        }  # fmt: skip

    @property
    def query(self) -> str:
        """Words that facts and messages have, and names."""
        return " ".join(sorted(self.words))


def questions(player: Player, picks: list[Raw]) -> list[Question]:
    """Questions at some pairs of times."""
    asked = []
    for nth, (tick, known) in enumerate(player.moments(picks)):
        number = tick + nth + len([at for _, at in player.changes if at <= known])
        words = frozenset({NODES[number % 5], str(nth % 3), "ann", WORDS[number % 3], f"s{nth % 5}"})
        window = range(number % 7, number % 7 + 1 + nth % 3)
        asked.append(Question(tick, known, NODES[(tick + nth) % 5], words, window, nth % 3))
    return asked


def compare(talk: Talk, question: Question) -> None:
    """What the arms find is the same on both sides."""
    player, tick, known = talk.player, question.tick, question.known
    where, asked = f"{question}", question.asked(player)
    names = {node: name for name, node in player.nodes.items()}
    rows = player.connection.execute(FACTS.encode(), asked).fetchall()
    found = {(player.edges[row[0]], row[1]) for row in rows}
    assert len(found) == len(rows), where
    said = player.model.said(frozenset(), question.about, tick, known)
    assert found == {(thread, fact) for thread, fact, _, about in said if about}, where
    stands = player.model.resolve(question.about, known)
    assert all(row[2] == 3 and names[row[3]] == stands for row in rows), where
    for text in (QUERY, question.query):
        rows = player.connection.execute(NAMED.encode(), asked | {"query": text}).fetchall()
        assert {(row[0].lower(), names[row[1]]) for row in rows} == player.model.named(text, tick, known), where
        assert all(row[2] == 1 for row in rows), where
    compare_mentions(talk, question)
    compare_ways(player, question)
    compare_turned(player, question)


def compare_mentions(talk: Talk, question: Question) -> None:
    """Passages that speak of each node, named or reached, as of a time and ever."""
    player, known = talk.player, question.known
    told, ids = talk.told(), talk.names()
    names = {node: name for name, node in player.nodes.items()}
    for as_of, distance in ((None, 0), (day(question.tick), 0), (day(question.tick), 1)):
        if as_of is not None and question.tick < 0:
            continue
        asked = question.asked(player) | {"as_of": as_of, "distance": distance}
        rows = player.connection.execute(MENTIONS.encode(), asked).fetchall()
        for name, node in player.nodes.items():
            found = [row for row in rows if row[0] == node]
            shown = {ids[row[1]] for row in found}
            must, may = plain.mentions(player.model, name, question.tick if distance else None, known)
            there = {one for one, said in told.items() if as_of is None or said.tick <= question.tick}
            must, may = must & there, may & there
            assert must <= shown <= may, f"{name} {distance} {question}: {shown}, must {must}, may {may}"
            assert len(shown) == len(found)
            assert {names[row[2]] for row in found} <= {player.model.resolve(name, known)}, question


def compare_ways(player: Player, question: Question) -> None:
    """Nodes that are reached, how well, and by which way."""
    model, tick, known = player.model, question.tick, question.known
    names = {node: name for name, node in player.nodes.items()}
    rows = player.connection.execute(WAYS.encode(), question.asked(player)).fetchall()
    expected = plain.reached(model, [question.about], 2, tick, known, STRENGTH)
    assert {names[row[0]]: row[1] for row in rows} == {node: way.distance for node, way in expected.items()}, question
    for node, _, reach, path in rows:
        way = expected[names[node]]
        assert abs(reach - way.reach) < 1e-9, f"{names[node]}: {reach}, not {way} {question}"
        fits = fitting(player, question)
        assert any(fits(path, one) for one in way.paths), f"{names[node]}: {path}, not {way} {question}"


def fitting(player: Player, question: Question) -> Callable[[list[str], tuple[str, ...]], bool]:
    """Whether a path of labels is one of nodes."""
    called = {node: plain.labels(player.model, node, question.tick, question.known) for node in NODES}

    def fits(path: list[str], nodes: tuple[str, ...]) -> bool:
        return len(path) == len(nodes) and all(
            step in called.get(node, {node}) for step, node in zip(path, nodes, strict=True)
        )

    return fits


def compare_turned(player: Player, question: Question) -> None:
    """Facts that began or ended in a window, true at a time or at any."""
    for tick in (question.tick, None):
        asked = question.asked(player)
        asked |= {"as_of": None} if tick is None else {}
        rows = player.connection.execute(TURNED.encode(), asked).fetchall()
        found = {player.edges[row[0]] for row in rows}
        turned = {
            thread: plain.turned(player.model, thread, question.window, tick, question.known)
            for thread in player.model.threads()
            if thread[0] == "edge"
        }
        must, may = ({thread for thread, held in turned.items() if held[which]} for which in (0, 1))
        assert must <= found <= may, f"{question} {tick}: {found}, must {must}, may {may}"


def answer(talk: Talk, question: Question) -> dict[Any, tuple[float, list[str]]]:
    """What memsvc.recall gives, after it was compared: score and path by memory."""
    player, model, tick, known = talk.player, talk.player.model, question.tick, question.known
    rows = player.connection.execute(RECALL.encode(), question.asked(player)).fetchall()
    named = {node for _, node in model.named(question.query, tick, known)}
    ways = plain.reached(model, named, question.hops, tick, known, STRENGTH)
    sure = set(ways) if not plain.crowded(model, tick, known, FAN_OUT) else named
    everywhere, told, ids = frozenset(ways), talk.told(), talk.names()
    rest = (question.window, tick, known)
    facts = {(player.edges[row[2]], row[3]) for row in rows if row[0] == "fact"}
    must, may = (
        plain.facts(model, question.words, sure, *rest)[0],
        plain.facts(model, question.words, everywhere, *rest)[1],
    )
    check(facts, must, may, f"{question}: facts")
    said = {ids[row[1]] for row in rows if row[0] == "passage"}
    distances = {node: way.distance for node, way in ways.items()}
    needed = {node: distance for node, distance in distances.items() if node in sure}
    check(
        said,
        plain.messages(model, told, question.words, needed, *rest)[0],
        plain.messages(model, told, question.words, distances, *rest)[1],
        f"{question}: messages",
    )
    assert len(facts) + len(said) == len(rows), "each comes once"
    fits = fitting(player, question)
    if sure == everywhere:
        paths = [path for way in ways.values() for path in way.paths]
        assert all(not row[4] or any(fits(row[4], path) for path in paths) for row in rows), question
    return {row[1]: (row[5], row[4]) for row in rows}


def check(found: set[Any], must: set[Any], may: set[Any], what: str) -> None:
    """All that must and nothing but what may."""
    assert not must - found, f"{what} are missing: {must - found}"
    assert not found - may, f"{what} must not come: {found - may}"


@PROPERTY
@given(history=HISTORY, picks=PICKS, erasing=st.integers(0, 3))
def test_recall_at_any_two_times_is_the_models(  # noqa: PLR0917 - what hypothesis and the fixtures give
    history: list[list[Raw]],
    picks: list[Raw],
    erasing: int,
    writers: tuple[psycopg.Connection, psycopg.Connection],
    settings: Settings,
    worker_id: str,
) -> None:
    talk = Talk(play(writers, settings, worker_id, Player if erasing % 2 else Eraser))
    for step in history:
        talk.step(step)
    for question in questions(talk.player, picks):
        compare(talk, question)
        answer(talk, question)


@PROPERTY
@given(history=HISTORY, picks=PICKS, later=st.sampled_from(("facts", "messages", "erasures")))
def test_what_was_recalled_at_two_times_is_recalled_again_later(  # noqa: PLR0917 - as above
    history: list[list[Raw]],
    picks: list[Raw],
    later: str,
    writers: tuple[psycopg.Connection, psycopg.Connection],
    settings: Settings,
    worker_id: str,
) -> None:
    talk = Talk(play(writers, settings, worker_id, Eraser if later == "erasures" else Player))
    for step in history[: len(history) // 2]:
        talk.step(step)
    questions_then = questions(talk.player, picks)
    before = [answer(talk, question) for question in questions_then]
    for step in history[len(history) // 2 :]:
        talk.step(step, tells=later == "messages")
    after = [answer(talk, question) for question in questions_then]
    for question, was, became in zip(questions_then, before, after, strict=True):
        if later == "erasures":
            assert became.keys() <= was.keys(), question
        else:
            assert became.keys() == was.keys(), question
        if later == "facts":
            # Scores change with the words of what came later: how rare a word is counts as of now.
            for memory, (_, path) in was.items():
                assert became[memory][1] == path, f"{memory} {question}"
