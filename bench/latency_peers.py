"""memsvc and other programs, asked in turn with the same questions: speed, rows that come, exactness of the nearest.

One store each holds the passages of one big user and of twenty small ones, with the same vectors. ``recall_at_10`` is
the share of the exact ten nearest (by cosine) that a search by vectors alone finds; ``least_rows`` the fewest rows that
came. Of the big user each other program is there twice: by its defaults, and as ``<program>_matched``, set so that it
finds as many of the nearest as memsvc (``bench.matched``). The small users are asked by defaults alone: a setting that
was chosen among 100,000 passages says nothing about 5,000.

Timed is the call of each program's own API in the process where it is called, the query's vector given:

- memsvc: ``memsvc.recall.search.recall``. That holds the transaction, the proof of who asks, times and names in the
  question, and the answer with its reasons; no HTTP.
- LanceDB: a hybrid search until its rows are there, in its own process.
- LangGraph: ``search`` of its store on an open connection, outside a transaction; its embedding function looks the
  vector up.

What benches say to the peers' processes is not timed. Each program goes through the questions in an order of its own,
and in each turn the programs follow one another in another order, all drawn by lot: so none is systematically the first
or the last to ask a question, or asks it just behind its own twin.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from pgvector import HalfVector

from bench.corpus_vectors import question_tokens
from bench.harness import Bench, Outcome, progress
from bench.matched import EXACT, LADDERS, Rung, Tried, choose, climb
from bench.metrics import percentile
from bench.peers import PEERS, Row, hand_over, passages, read_vector, running
from bench.variants import VARIANTS, Variant
from memsvc.db.engine import Database
from memsvc.llm.embedders.residents import QueryVector
from memsvc.recall.options import Filters
from memsvc.recall.search import recall

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bench.corpus_users import Person
    from bench.environments import Side

QUESTIONS, UNTIMED, WARM_UP, SMALL_QUESTIONS, LIMIT, PART = 200, 100, 40, 3, 10, 20_000
"""Questions that are timed, that peers are set by, beforehand, of each small user; rows wanted, handed over at once."""
DEFAULT, NEAREST = VARIANTS["default"], VARIANTS["vector"]
OURS: Mapping[str, Variant] = {"memsvc": DEFAULT, "memsvc_words_vector": VARIANTS["fused"], "memsvc_vector": NEAREST}
"""memsvc as it is; by no more than the peers have: words and vectors (LanceDB), vectors (LangGraph); messages alone."""
Asked = tuple[str, str]
"""A question and its vector in pgvector's form."""
Wanted = tuple[Asked, set[str]]
"""What is asked, and the exact ten nearest."""


class Program(Protocol):
    """Something that is asked."""

    async def __call__(self, person: Person, asked: Asked, *, nearest: bool = False) -> tuple[list[str], float]:
        """Ids of a user's passages, best first, by all that it has or by vectors alone; and the milliseconds."""


class Given:
    """Gives a query the vector that is known."""

    def __init__(self, model: str, question: str, vector: str) -> None:
        """Those of the one query."""
        self._found = QueryVector(model, HalfVector.from_text(vector), question_tokens(question))

    async def query_vectors(self, db: Database, query: str, timeout_ms: int) -> tuple[QueryVector, None]:
        """The vector, by the active model."""
        del db, query, timeout_ms
        return self._found, None


def memsvc_program(db: Database, bench: Bench, model: str, usual: Variant) -> Program:
    """Memsvc as its callers have it: transaction, identity and everything behind the statement too."""

    async def ask(person: Person, asked: Asked, *, nearest: bool = False) -> tuple[list[str], float]:
        question, vector = asked
        given, way = Given(model, question, vector), NEAREST if nearest else usual
        start = time.perf_counter()
        found = await recall(
            db, person.owner, question, bench.settings, embedder=given, limit=LIMIT, weights=way.weights,
            form=way.form, filters=Filters(facts=way.facts),
        )  # fmt: skip
        return [str(one.passage_id) for one in found.memories], (time.perf_counter() - start) * 1_000

    return ask


def peer_program(one: Side, mode: str, *, tuned: bool = False) -> Program:
    """A peer, by its defaults or as it was set last; the milliseconds are those of its own call in its own process."""

    async def ask(person: Person, asked: Asked, *, nearest: bool = False) -> tuple[list[str], float]:
        question, vector = asked
        found = one.ask(
            "search", user=str(person.owner.user_id), query=question, vector=read_vector(vector), limit=LIMIT,
            mode="vector" if nearest else mode, tuned=tuned,
        )  # fmt: skip
        return found["ids"], found["ms"]

    return ask


def load(bench: Bench, sides: Mapping[str, Side], people: Sequence[Person]) -> tuple[list[str], NDArray[np.float32]]:
    """Hand the people's passages over; ids of the first one's, and their vectors at length 1."""
    chosen = {str(person.owner.user_id) for person in people}
    first = str(people[0].owner.user_id)
    rows: list[Row] = []
    vectors: list[list[float]] = []
    ids: list[str] = []
    kept: list[NDArray[np.float32]] = []

    def flush() -> None:
        values = np.array(vectors, np.float32)
        hand_over(sides, rows, values)
        mine = [place for place, row in enumerate(rows) if row.user == first]
        ids.extend(rows[place].id for place in mine)
        kept.append(values[mine])
        rows.clear()
        vectors.clear()

    with progress("handing over", sum(person.size for person in people)) as done:
        for row, _, vector in passages(bench):
            if row.user in chosen:
                rows.append(row)
                vectors.append(vector)
                if len(rows) == PART:
                    done(PART)
                    flush()
        if rows:
            flush()
    for one in sides.values():
        one.ask("ready")
    of_first = np.concatenate(kept)
    return ids, of_first / np.linalg.norm(of_first, axis=1, keepdims=True)


def exact(ids: Sequence[str], vectors: NDArray[np.float32], asked: Asked) -> set[str]:
    """The ten nearest passages by cosine; vectors are of length 1."""
    cosines = vectors @ np.array(read_vector(asked[1]), np.float32)
    return {ids[place] for place in np.argpartition(-cosines, LIMIT)[:LIMIT]}


@dataclass(slots=True)
class Found:
    """What one program did."""

    times: list[float] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        """Its figures."""
        return {
            "p50_ms": percentile(self.times, 0.5),
            "p95_ms": percentile(self.times, 0.95),
            "least_rows": min(self.rows),
            "answers_short": sum(count < LIMIT for count in self.rows),
        }


def turns(names: Sequence[str], questions: int, seed: int = 6) -> list[list[tuple[str, int]]]:
    """Who asks what, turn by turn: each program each question once, in an order of its own.

    Args:
        names: of the programs; in each turn all of them ask, in an order that is drawn for it.
        questions: how many there are, and so turns.
        seed: of the lot.
    """
    lot = random.Random(seed)
    orders = {name: lot.sample(range(questions), questions) for name in names}
    return [[(name, orders[name][turn]) for name in lot.sample(names, len(names))] for turn in range(questions)]


async def in_turn(programs: Mapping[str, Program], questions: Sequence[tuple[Person, Asked]]) -> dict[str, Found]:
    """Ask every program each question, as ``turns`` says; the first turns once more beforehand, untimed.

    Args:
        programs: by name.
        questions: with whose they are.
    """
    found = {name: Found() for name in programs}
    drawn, warm = turns(list(programs), len(questions)), min(WARM_UP, len(questions))
    with progress("asking in turn", warm + len(questions)) as done:
        for turn in [*drawn[:warm], *drawn]:
            for name, number in turn:
                ids, milliseconds = await programs[name](*questions[number])
                found[name].times.append(milliseconds)
                found[name].rows.append(len(ids))
            done(1)
    for one in found.values():
        del one.times[:warm], one.rows[:warm]
    return found


@dataclass(frozen=True, slots=True)
class Nearest:
    """The exact ten nearest of a user's passages, and how many of them a program finds by vectors alone."""

    person: Person
    questions: Sequence[Wanted]

    async def kept(self, ask: Program) -> tuple[float, float]:
        """The share of them that it finds, and the median of the milliseconds."""
        shares, times = [], []
        for asked, wanted in self.questions:
            ids, milliseconds = await ask(self.person, asked, nearest=True)
            shares.append(len(wanted & set(ids)) / LIMIT)
            times.append(milliseconds)
        return sum(shares) / len(shares), percentile(times, 0.5)


def divided(questions: Sequence[Wanted]) -> tuple[Sequence[Wanted], Sequence[Wanted]]:
    """Questions to be timed, and every third one, by which peers are set: both from all conversations."""
    every = (QUESTIONS + UNTIMED) // UNTIMED
    return [one for place, one in enumerate(questions, 1) if place % every], questions[every - 1 :: every]


async def match(sides: Mapping[str, Side], ours: Program, untimed: Nearest, outcome: Outcome, size: str) -> None:
    """Set each peer so that it finds as many of the nearest as memsvc does, on questions that are not timed.

    Adds ``peers.<program>.<size>.untimed_recall_at_10``; what was tried and chosen goes into the configuration.
    """
    wanted, _ = await untimed.kept(ours)
    outcome.figures[f"peers.memsvc.{size}.untimed_recall_at_10"] = wanted
    settings: dict[str, object] = {}
    for name, one in sides.items():
        tuned = peer_program(one, "vector", tuned=True)

        async def attempt(rung: Rung, one: Side = one, tuned: Program = tuned) -> Tried:
            one.ask("tune", search=dict(rung.search), index=dict(rung.index))
            await Nearest(untimed.person, untimed.questions[:WARM_UP]).kept(tuned)  # warm
            return Tried(rung, *await untimed.kept(tuned))

        tried = await climb(LADDERS[name], EXACT[name], attempt, wanted)
        best = choose(tried, wanted)
        one.ask("tune", search=dict(best.rung.search), index=dict(best.rung.index))
        outcome.figures[f"peers.{name}_matched.{size}.untimed_recall_at_10"] = best.recall
        settings[name] = {"chosen": best.told(), "tried": [each.told() for each in tried]}
    outcome.configuration["matched"] = settings


async def measure(db: Database, bench: Bench, people: Mapping[str, Sequence[Person]], outcome: Outcome) -> None:
    """``peers.<program>.<size>.*``.

    Args:
        db: memsvc's.
        bench: its server.
        people: the big user under its size's name, then the small ones under "small".
        outcome: gets the figures; its configuration names the model.
    """
    model = outcome.configuration["model"]
    assert isinstance(model, str)
    (size, (big,)), (_, small) = people.items()
    with running(bench) as sides:
        started = time.perf_counter()
        ids, vectors = load(bench, sides, [big, *small])
        outcome.figures["peers.load_s"] = time.perf_counter() - started
        ours = {name: memsvc_program(db, bench, model, way) for name, way in OURS.items()}
        usual = ours | {name: peer_program(one, PEERS[name].mode) for name, one in sides.items()}
        started = time.perf_counter()
        of_big = [(asked, exact(ids, vectors, asked)) for asked in big.questions(QUESTIONS + UNTIMED)]
        timed, untimed = divided(of_big)
        await match(sides, ours["memsvc"], Nearest(big, untimed), outcome, size)
        outcome.figures["peers.match_s"] = time.perf_counter() - started
        matched = {f"{name}_matched": peer_program(one, PEERS[name].mode, tuned=True) for name, one in sides.items()}
        of_small = [(person, asked) for person in small for asked in person.questions(SMALL_QUESTIONS)]
        random.Random(5).shuffle(of_small)
        answers = {
            size: await in_turn(usual | matched, [(big, asked) for asked, _ in timed]),
            "small": await in_turn(usual, of_small),
        }
        for name, ask in (usual | matched).items():
            kept, _ = await Nearest(big, timed).kept(ask)
            outcome.figures[f"peers.{name}.{size}.recall_at_10"] = kept
    for part, by_program in answers.items():
        for name, found in by_program.items():
            outcome.figures |= {f"peers.{name}.{part}.{one}": value for one, value in found.figures().items()}
    outcome.configuration["peers"] = {one: list(peer.requirements) for one, peer in PEERS.items()}
    compare(size, outcome)


def compare(part: str, outcome: Outcome) -> None:
    """The p95 of memsvc over that of the fastest server-based peer, and of the fastest in its own process.

    ``ratio`` is beside the peers' defaults, ``ratio_matched`` beside what they take for memsvc's recall.
    ``server_vector`` and ``in_process_words_vector`` compare like with like: memsvc by the arms that such a peer has.
    The bars are for memsvc as it is.
    """
    figures = outcome.figures
    ways = (
        ("server", "memsvc", True), ("server_vector", "memsvc_vector", True), ("in_process", "memsvc", False),
        ("in_process_words_vector", "memsvc_words_vector", False),
    )  # fmt: skip
    for ratio, twin in (("ratio", ""), ("ratio_matched", "_matched")):
        for kind, ours, server in ways:
            theirs = [one for one, peer in PEERS.items() if peer.server is server]
            fastest = min(figures[f"peers.{one}{twin}.{part}.p95_ms"] for one in theirs)
            figures[f"peers.{ratio}.{kind}"] = figures[f"peers.{ours}.{part}.p95_ms"] / fastest
        outcome.bars |= {f"peers.{ratio}.server": "< 1", f"peers.{ratio}.in_process": "<= 1.5"}
