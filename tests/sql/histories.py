"""Plays random histories to the database and to the reference model, and compares what both know.

A history is a list of tuples of small numbers, so that hypothesis can make it; every number means something. The clock
of valid time has nine ticks, days from the first of January 2020; recorded times are the database's.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any
from uuid import UUID

import msgspec
import psycopg

from memsvc.graph import operations as ops
from memsvc.graph.history import REFUSED
from tests.model import history as plain
from tests.model.history import RefusedError, Thread
from tests.sql.world import append_rows, message, value

TICKS = 8
MOMENTS = range(-1, TICKS + 1)
BEGIN = datetime(2020, 1, 1, tzinfo=UTC)
NODES = ("n0", "n1", "n2", "n3", "n4")
NODE_TYPES = ("Person", "Person", "Place", "Place", "Concept")
ONE = "TESTS_ONE_VALUE"
"""A functional edge type without restrictions, for these tests."""
EDGE_TYPES = (ONE, "RELATED_TO", "LIVES_IN")
ENDPOINTS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    ONE: (frozenset(), frozenset()),
    "RELATED_TO": (frozenset(), frozenset()),
    "LIVES_IN": (frozenset({"Person"}), frozenset({"Place"})),
}
NAMES = ("Ann", "ann", "ANN B")
PASSAGES = 3
SAID_AT = (0, 3, 6)
"""At which ticks the passages were said."""
Raw = tuple[int, ...]
MAKE_TYPE = (
    "INSERT INTO memsvc.edge_types (name, category, from_types, to_types, functional, description) "
    f"VALUES ('{ONE}', 'general', '{{}}', '{{}}', true, 'For tests.') ON CONFLICT DO NOTHING"
)

WALKS = """
SELECT n.place, w.node_id, w.hop, w.truncated
FROM unnest(%(nodes)s::uuid[], %(hops)s::integer[], %(sides)s::text[]) WITH ORDINALITY AS n (node_id, hops, side, place)
CROSS JOIN LATERAL memsvc.neighbourhood(
  %(user)s, ARRAY[n.node_id], n.hops, %(types)s::text[], n.side, NULL, NULL, %(as_of)s, %(known)s
) AS w
"""
PATHS = """
SELECT p.nodes, p.complete, p.truncated FROM memsvc.paths(
  %(user)s, %(start)s, %(end)s, 4, %(types)s::text[], %(side)s, NULL, NULL, %(as_of)s, %(known)s
) AS p
"""
AMONG = """
SELECT b.from_node, b.to_node FROM memsvc.edges_between(
  %(user)s, (%(nodes)s::uuid[])[:3], %(types)s::text[], NULL, %(as_of)s, %(known)s
) AS b
"""


def day(tick: int | None) -> datetime | None:
    """The moment of a tick."""
    return None if tick is None else BEGIN + timedelta(days=tick)


def span(begin: int, length: int) -> tuple[int | None, int | None]:
    """A span of ticks; the numbers at the ends stand for no bound."""
    start = begin % (TICKS + 2) - 1
    end = max(start, 0) + 1 + length % (TICKS + 2)
    return (None if start < 0 else start, None if end > TICKS else end)


@dataclass(slots=True)
class Player:
    """One user's history in both worlds."""

    connection: psycopg.Connection
    second: psycopg.Connection
    user_id: UUID
    nodes: dict[str, UUID] = field(default_factory=dict)
    passages: list[UUID] = field(default_factory=list)
    edges: dict[UUID, Thread] = field(default_factory=dict)
    changes: list[tuple[UUID, datetime]] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)
    model: plain.History = field(
        default_factory=lambda: plain.History(MOMENTS, frozenset({ONE, "LIVES_IN"}), ENDPOINTS)
    )

    def begin(self) -> None:
        """Make nodes and passages."""
        said = [message(f"Passage {n}.", n, said_at=str(day(SAID_AT[n]))) for n in range(PASSAGES)]
        rows = append_rows(self.connection, self.user_id, said)
        self.passages = [row[3] for row in rows]
        made = [ops.Node(type=kind, label=name) for name, kind in zip(NODES, NODE_TYPES, strict=True)]
        found = self.call(self.connection, made)
        assert not isinstance(found, str)
        self.nodes = {name: row[2] for name, row in zip(NODES, found, strict=True)}
        self.model.apply(
            self.changes[-1][1],
            [self.node_content(name, kind, name, None, None) for name, kind in zip(NODES, NODE_TYPES, strict=True)],
        )

    @staticmethod
    def node_content(name: str, kind: str, label: str, start: int | None, end: int | None) -> plain.Assert:
        return plain.Assert(("node", name), start, end, {"type": kind, "label": label})

    # Both sides of an operation

    def call(self, connection: psycopg.Connection, operations: Sequence[ops.Operation]) -> list[Any] | str:
        """``write_history`` in a transaction of its own: its rows, or the code of its refusal."""
        try:
            with connection.transaction():
                return self.write(connection, operations)
        except psycopg.Error as error:
            if error.sqlstate != REFUSED:
                raise
            return error.diag.message_detail or ""

    def write(self, connection: psycopg.Connection, operations: Sequence[ops.Operation]) -> list[Any]:
        """``write_history``; remembers the change and the edges."""
        rows = connection.execute(
            "SELECT nth, outcome, node_id, edge_id, versions, change_id, recorded_at "
            "FROM memsvc.write_history(%s, 'tests', %s::jsonb)",
            [self.user_id, msgspec.json.encode(ops.as_rows(operations)).decode()],
        ).fetchall()
        assert [row[0] for row in rows] == list(range(len(operations)))
        self.changes.append((rows[0][5], rows[0][6]))
        for row, operation in zip(rows, operations, strict=True):
            if isinstance(operation, ops.Edge):
                self.edges[row[3]] = self.thread_of(operation)
        self.outcomes += [row[1] for row in rows]
        return rows

    def thread_of(self, edge: ops.Edge) -> Thread:
        names = {node: name for name, node in self.nodes.items()}
        return ("edge", names[edge.from_node], edge.type, names[edge.to_node], edge.key)  # type: ignore[index]

    def assertion(self, raw: Raw, types: Sequence[str] = EDGE_TYPES) -> tuple[ops.Operation, plain.Operation]:
        """Something is so: mostly edges, some names and properties."""
        what, who, whom, begin, length, content = raw
        start, end = span(begin, length)
        bounds: dict[str, Any] = {"valid_from": day(start), "valid_to": day(end)}
        seen = frozenset(str(n) for n in range(PASSAGES) if content >> n & 1)
        bounds["evidence"] = [ops.Evidence(passage_id=self.passages[int(n)]) for n in sorted(seen)]
        name = NODES[who % 5]
        if what % 8 == 6:
            called = NAMES[whom % 3]
            return (
                ops.Alias(node=self.nodes[name], alias=called, **bounds),
                plain.Assert(("alias", name, called.lower()), start, end, {"alias": called}, seen),
            )
        if what % 8 == 7:
            kind = NODE_TYPES[whom % 5] if content % 4 == 3 else NODE_TYPES[who % 5]
            label = f"{name} {content % 2}"
            return (
                ops.Node(node=self.nodes[name], type=kind, label=label, **bounds),
                plain.Assert(("node", name), start, end, {"type": kind, "label": label}, seen),
            )
        kind, other = types[what % len(types)], NODES[whom % 5]
        key = "k" if content % 8 == 7 else ""
        if kind == "LIVES_IN" and content % 5:  # mostly as the ontology has it
            name, other = NODES[who % 2], NODES[2 + whom % 2]
        said = f"{name} {kind} {other} {content % 3}"
        return (
            ops.Edge(
                from_node=self.nodes[name], type=kind, to_node=self.nodes[other], fact=said, key=key, **bounds
            ),
            plain.Assert(("edge", name, kind, other, key), start, end, {"fact": said}, seen),
        )  # fmt: skip

    def known_thread(self, number: int) -> tuple[ops.Thread, Thread] | None:
        """Something that was said once."""
        threads = self.model.threads()
        return self.thread(threads[number % len(threads)])

    def thread(self, thread: Thread) -> tuple[ops.Thread, Thread] | None:
        """A thread on both sides; None: an edge that the database does not have yet."""
        if thread[0] == "edge":
            edge = next((edge for edge, known in self.edges.items() if known == thread), None)
            return None if edge is None else (ops.Thread(edge=edge), thread)
        if thread[0] == "alias":
            return ops.Thread(node=self.nodes[thread[1]], alias=thread[2].upper()), thread
        return ops.Thread(node=self.nodes[thread[1]]), thread

    def taking(self, raw: Raw) -> tuple[ops.Operation, plain.Operation] | None:
        """Something that was said is taken back."""
        found = self.known_thread(raw[1])
        if found is None:
            return None
        start, end = span(raw[3], raw[4]) if raw[2] % 3 else (None, None)
        return ops.Retract(thread=found[0], valid_from=day(start), valid_to=day(end)), plain.Cut(found[1], start, end)

    # Steps

    def step(self, raws: Sequence[Raw]) -> None:
        """One step of a history; the first number of the first tuple says which."""
        kind, *rest = raws[0]
        match kind % 12:
            case 0 | 1 | 2 | 3 | 4:
                self.batch(raws)
            case 5:
                self.close(rest)
            case 6:
                self.correct(rest)
            case 7 | 8:
                node, canonical = NODES[rest[0] % 5], NODES[rest[1] % 5]
                if node != canonical:
                    merging = ops.Merge(node=self.nodes[node], canonical=self.nodes[canonical])
                    self.both([merging], [plain.Merge(node, canonical)])
            case 9:
                node = NODES[rest[0] % 5]
                self.both([ops.Unmerge(node=self.nodes[node])], [plain.Unmerge(node)])
            case 10:
                self.undo(rest[0])
            case _:
                self.interleave(raws)

    def pairs(self, raws: Iterable[Raw], types: Sequence[str] = EDGE_TYPES) -> Iterator[tuple[Any, Any]]:
        """Operations of a batch on both sides; some say and take back the same, in either order."""
        for raw in raws:
            if raw[0] % 5 == 4:
                pair = self.taking(raw[1:])
                if pair is not None:
                    yield pair
                continue
            pair = self.assertion(raw[1:], types)
            taken = self.thread(pair[1].thread) if raw[0] % 5 == 3 and isinstance(pair[1], plain.Assert) else None
            if taken is None:
                yield pair
                continue
            start, end = span(raw[5], raw[4])
            taking = (
                ops.Retract(thread=taken[0], valid_from=day(start), valid_to=day(end)),
                plain.Cut(taken[1], start, end),
            )
            yield from (taking, pair) if raw[6] % 2 else (pair, taking)

    def batch(self, raws: Sequence[Raw], types: Sequence[str] = EDGE_TYPES) -> None:
        pairs = list(self.pairs(raws, types))
        if pairs:
            self.both([pair[0] for pair in pairs], [pair[1] for pair in pairs])

    def both(self, operations: Sequence[ops.Operation], mirrored: Sequence[plain.Operation]) -> None:
        """The same batch on both sides: both take it, or refuse it for the same reason."""
        answer = self.call(self.connection, operations)
        at = datetime.now(UTC) if isinstance(answer, str) else self.changes[-1][1]
        expected = ""
        try:
            self.model.apply(max(at, self.changes[-1][1]), mirrored)
        except RefusedError as refused:
            expected = str(refused)
        code = answer if isinstance(answer, str) else ""
        assert code == expected, f"{operations}: {code or 'done'} instead of {expected or 'done'}"

    def close(self, rest: Sequence[int]) -> None:
        found = self.known_thread(rest[0])
        if found is not None:
            at = rest[1] % (TICKS + 1)
            moment = day(at)
            assert moment is not None
            self.both([ops.Close(thread=found[0], at=moment)], [plain.Close(found[1], at)])

    def correct(self, rest: Sequence[int]) -> None:
        """A version says something else, if it is the one that is known now."""
        versions = self.connection.execute(
            "SELECT v.version_id, v.edge_id, v.recorded_to = 'infinity', v.fact, "
            "extract(day FROM nullif(v.valid_from, '-infinity') - %(begin)s)::integer, "
            "extract(day FROM nullif(v.valid_to, 'infinity') - %(begin)s)::integer "
            "FROM memsvc.edge_versions AS v WHERE v.user_id = %(user)s "
            "ORDER BY v.recorded_from, v.valid_from, v.from_node, v.to_node, v.fact",
            {"user": self.user_id, "begin": BEGIN},
        ).fetchall()
        if not versions:
            return
        version, edge, current, fact, start, end = versions[-1 - rest[0] % min(len(versions), 12)]
        said = fact[:-1] + str(rest[1] % 3)
        operation = ops.Correct(version=version, content={"fact": said})
        if current:
            links = self.connection.execute(
                "SELECT passage_id FROM memsvc.links_of(%s, 'edge', %s) WHERE stance = 'supports'",
                [self.user_id, version],
            )
            kept = frozenset(str(self.passages.index(row[0])) for row in links)
            mirrored = plain.Assert(self.edges[edge], start, end, {"fact": said}, kept, correction=True)
            self.both([operation], [mirrored])
        else:
            assert self.call(self.connection, [operation]) == "version_superseded"

    def undo(self, number: int) -> None:
        change, undone = self.changes[-1 - number % min(len(self.changes), 6)]
        answer = ""
        at = datetime.now(UTC)
        try:
            with self.connection.transaction():
                row = self.connection.execute(
                    "SELECT * FROM memsvc.undo_change(%s, 'tests', %s)", [self.user_id, change]
                ).fetchone()
                assert row is not None
            self.changes.append((row[0], row[1]))
            self.outcomes.append("undone")
            at = row[1]
        except psycopg.Error as error:
            if error.sqlstate != REFUSED:
                raise
            answer = error.diag.message_detail or ""
            self.outcomes.append(answer)
        expected = ""
        try:
            self.model.undo(max(at, self.changes[-1][1]), undone)
        except RefusedError as refused:
            expected = str(refused)
        assert answer == expected, f"undo: {answer or 'done'} instead of {expected or 'done'}"

    def interleave(self, raws: Sequence[Raw]) -> None:
        """Two writers at once: the second begins while the first has not committed."""
        half = (len(raws) + 1) // 2
        first, second = (list(self.pairs(part, EDGE_TYPES[:2])) for part in (raws[:half], raws[half:]))
        if not first or not second:
            return
        begun = threading.Event()

        def late() -> list[Any] | str:
            begun.set()
            return self.call(self.second, [pair[0] for pair in second])

        with ThreadPoolExecutor(1) as pool:
            with self.connection.transaction():
                self.write(self.connection, [pair[0] for pair in first])
                at = self.changes[-1][1]
                other = pool.submit(late)
                begun.wait()
            assert not isinstance(other.result(), str)
        assert at < self.changes[-1][1]
        self.model.apply(at, [pair[1] for pair in first])
        self.model.apply(self.changes[-1][1], [pair[1] for pair in second])

    # Comparing

    def moments(self, picks: Sequence[Raw]) -> list[tuple[int, datetime]]:
        """Pairs of (as_of, known_at): at changes, just before them, and now."""
        chosen = [(pick[0] % len(MOMENTS) - 1, pick[1] % len(self.changes), pick[2] % 2) for pick in picks]
        chosen += [(tick, len(self.changes) - 1, 0) for tick in (2, TICKS)]
        return [
            (tick, self.changes[change][1] - timedelta(microseconds=before)) for tick, change, before in chosen
        ]  # fmt: skip

    def compare(self, picks: Sequence[Raw]) -> None:
        """Facts, their evidence, properties, names and merges are the same on both sides."""
        names = {node: name for name, node in self.nodes.items()}
        for tick, known in self.moments(picks):
            asked: dict[str, Any] = {
                "user": self.user_id, "nodes": list(self.nodes.values()), "as_of": day(tick) or BEGIN, "known": known,
            }  # fmt: skip
            if tick < 0:
                asked["as_of"] = BEGIN - timedelta(days=30)
            where = f"as of tick {tick}, known at change {sum(at <= known for _, at in self.changes)}"
            self.compare_facts(asked, tick, known, where)
            self.compare_walks(asked, tick, known, where)
            resolved = self.connection.execute(
                "SELECT node_id, canonical_id FROM memsvc.resolve_nodes(%(user)s, %(nodes)s, %(known)s)", asked
            )
            found = {names[row[0]]: names[row[1]] for row in resolved}
            assert found == {name: self.model.resolve(name, known) for name in NODES}, where
            states = self.connection.execute(
                "SELECT node_id, type, label FROM memsvc.node_states(%(user)s, %(nodes)s, %(as_of)s, %(known)s)", asked
            )
            properties = {(names[row[0]], row[1], row[2]) for row in states}
            assert properties == {
                (name, held["type"], held["label"])
                for name in NODES
                if (held := self.model.content(("node", name), tick, known)) is not None
            }, where
            called = self.connection.execute(
                "SELECT node_id, normal_form, alias FROM memsvc.node_names(%(user)s, %(nodes)s, %(as_of)s, %(known)s)",
                asked,
            )
            aliases = {(names[row[0]], row[1], row[2]) for row in called}
            expected = {
                (name, form, held["alias"])
                for name, form in product(NODES, {name.lower() for name in NAMES})
                if (held := self.model.content(("alias", name, form), tick, known)) is not None
            }
            assert aliases == expected, where
            self.compare_names(asked, {(form, name) for name, form, _ in expected}, known, where)

    def compare_names(self, asked: dict[str, Any], held: set[tuple[str, str]], known: datetime, where: str) -> None:
        names = {node: name for name, node in self.nodes.items()}
        rows = self.connection.execute(
            "SELECT name, canonical_id FROM memsvc.nodes_called(%(user)s, %(names)s, %(as_of)s, %(known)s)",
            {**asked, "names": [name.lower() for name in NAMES[1:]]},
        )
        found = {(row[0], names[row[1]]) for row in rows}
        assert found == {(form, self.model.resolve(name, known)) for form, name in held}, where

    def compare_facts(self, asked: dict[str, Any], tick: int, known: datetime, where: str) -> None:
        rows = self.connection.execute(
            "SELECT n.node_id, f.edge_id, f.fact, f.contested, f.from_node, f.to_node, ARRAY("
            "SELECT l.passage_id FROM memsvc.links_of(%(user)s, 'edge', f.version_id, %(known)s) AS l "
            "WHERE l.stance = 'supports') FROM unnest(%(nodes)s::uuid[]) AS n (node_id) "
            "CROSS JOIN LATERAL memsvc.facts(%(user)s, ARRAY[n.node_id], NULL, %(as_of)s, %(known)s) AS f",
            asked,
        ).fetchall()
        for name, node in self.nodes.items():
            found = [row for row in rows if row[0] == node]
            facts = {(self.edges[row[1]], row[2], row[3]) for row in found}
            assert len(facts) == len(found), where
            assert facts == self.model.facts(name, tick, known), f"{name} {where}"
            for row in found:
                thread = self.edges[row[1]]
                assert row[4] == self.nodes[self.model.resolve(thread[1], known)], where
                assert row[5] == self.nodes[self.model.resolve(thread[3], known)], where
                must, may = self.model.evidence(thread, tick, known)
                shown = {str(self.passages.index(passage)) for passage in row[6]}
                assert must <= shown <= may, f"{thread} {where}: shows {shown}, must {must}, may {may}"

    def compare_walks(self, asked: dict[str, Any], tick: int, known: datetime, where: str) -> None:
        """Neighbourhoods, paths and facts among nodes; how far, which way and which types changes from time to time."""
        turn = tick + len(self.log_until(known))
        types = [EDGE_TYPES[:2], None, EDGE_TYPES[:1]][turn % 3]
        sides = [("both", "from", "to")[(turn + place) % 3] for place in range(len(NODES))]
        hops = [1 + (turn + place) % 4 for place in range(len(NODES))]
        names = {node: name for name, node in self.nodes.items()}
        asked = {**asked, "types": None if types is None else list(types), "sides": sides, "hops": hops}
        links = self.model.links(tick, known, None if types is None else frozenset(types))
        rows = self.connection.execute(WALKS, asked).fetchall()
        for place, name in enumerate(NODES):
            found = {names[row[1]]: row[2] for row in rows if row[0] == place + 1}
            steps = plain.walked(links, sides[place])
            assert found == plain.distances(steps, self.model.resolve(name, known), hops[place]), f"{name} {where}"
        assert not any(row[3] for row in rows), where
        asked |= {"start": self.nodes[NODES[turn % 5]], "end": self.nodes[NODES[(turn // 5 + 2) % 5]], "side": sides[0]}
        ways = self.connection.execute(PATHS, asked).fetchall()
        start, end = (self.model.resolve(names[asked[key]], known) for key in ("start", "end"))
        expected = plain.shortest(plain.walked(links, sides[0]), start, end, 4)
        assert {tuple(names[node] for node in row[0]) for row in ways if row[0]} == expected, f"{start} {end} {where}"
        assert len(ways) == max(1, len(expected)), where
        assert all(row[1] and not row[2] for row in ways), where
        among = self.connection.execute(AMONG, asked).fetchall()
        some = {self.model.resolve(name, known) for name in NODES[:3]}
        joined = {(names[row[0]], names[row[1]]) for row in among}
        assert joined == {link for link in links if some.issuperset(link)}, where

    def log_until(self, known: datetime) -> list[datetime]:
        """Times of the changes that are known."""
        return [at for _, at in self.changes if at <= known]


def make_user(admin: psycopg.Connection, name: str) -> UUID:
    """A user with nothing."""
    app_id = value(admin, "SELECT memsvc.ensure_app('histories')")
    made: UUID = value(admin, "SELECT memsvc.create_user(%s, %s, 'Ada', 'UTC', 'english')", [app_id, name])
    return made


DUMPED = (
    """
    SELECT f.from_node, f.type, f.to_node, f.fact, f.valid_from::text, f.valid_to::text, f.contested
    FROM memsvc.facts(%s, ARRAY[%s]) AS f ORDER BY f.fact, f.valid_from
    """,
    """
    SELECT s.canonical_id, s.label, s.valid_from::text, s.valid_to::text
    FROM memsvc.node_states(%s, ARRAY[%s]) AS s ORDER BY s.label, s.valid_from
    """,
    """
    SELECT a.canonical_id, a.alias, a.valid_from::text, a.valid_to::text
    FROM memsvc.node_names(%s, ARRAY[%s]) AS a ORDER BY a.alias, a.valid_from
    """,
)


def dump(connection: psycopg.Connection, user_id: UUID, nodes: Sequence[UUID]) -> str:
    """What is known now of some nodes, by their places, at every valid time."""
    found: list[Any] = []
    for place, node in enumerate(nodes):
        for statement in DUMPED:
            rows = connection.execute(statement.encode(), [user_id, node]).fetchall()
            found.append(
                [place, [[nodes.index(cell) if isinstance(cell, UUID) else cell for cell in row] for row in rows]]
            )
    return json.dumps(found, indent=1)
