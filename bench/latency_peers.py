"""memsvc and other programs, asked in turn with the same questions: speed, rows that come, exactness of the nearest.

One store each holds the passages of one big user and of twenty small ones, with the same vectors. Timed is the call of
each program's own API on the client, the query's vector given: for memsvc ``memsvc.recall.search.recall``, transaction
and identity too; for LanceDB its hybrid search; for LangGraph the search of its store. ``recall_at_10`` is the share of
the exact ten nearest (by cosine) that a search by vectors alone finds; ``least_rows`` the fewest rows that came.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from bench.corpus_vectors import question_tokens
from bench.harness import Bench, Outcome, progress
from bench.metrics import percentile
from bench.peers import PEERS, Row, hand_over, passages, read_vector, running
from bench.variants import VARIANTS
from memsvc.db.engine import Database
from memsvc.llm.embedders.residents import QueryVector
from memsvc.recall.options import DEFAULT, Weights
from memsvc.recall.search import recall

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bench.corpus_users import Person
    from bench.environments import Side

QUESTIONS, WARM_UP, SMALL_QUESTIONS, LIMIT, PART = 200, 40, 3, 10, 20_000
NEAREST = VARIANTS["vector"].weights
Asked = tuple[str, str]
"""A question and its vector in pgvector's form."""


class Program(Protocol):
    """Something that is asked."""

    async def __call__(self, person: Person, asked: Asked, *, nearest: bool = False) -> tuple[list[str], float]:
        """Ids of a user's passages, best first, by all that it has or by vectors alone; and the milliseconds."""


class Given:
    """Gives a query the vector that is known."""

    def __init__(self, model: str, question: str, vector: str) -> None:
        """Those of the one query."""
        self._found = QueryVector(model, vector, question_tokens(question))

    async def query_vectors(self, db: Database, query: str, timeout_ms: int) -> tuple[QueryVector, None]:
        """The vector, by the active model."""
        del db, query, timeout_ms
        return self._found, None


def memsvc_program(db: Database, bench: Bench, model: str, usual: Weights = DEFAULT) -> Program:
    """Memsvc as its callers have it: transaction, identity and everything behind the statement too."""

    async def ask(person: Person, asked: Asked, *, nearest: bool = False) -> tuple[list[str], float]:
        question, vector = asked
        given, weights = Given(model, question, vector), NEAREST if nearest else usual
        start = time.perf_counter()
        found = await recall(db, person.owner, question, bench.settings, embedder=given, limit=LIMIT, weights=weights)
        return [str(one.passage_id) for one in found.memories], (time.perf_counter() - start) * 1_000

    return ask


def peer_program(one: Side, mode: str) -> Program:
    """A peer; the milliseconds are those of its own call in its own process."""

    async def ask(person: Person, asked: Asked, *, nearest: bool = False) -> tuple[list[str], float]:
        question, vector = asked
        found = one.ask(
            "search", user=str(person.owner.user_id), query=question, vector=read_vector(vector), limit=LIMIT,
            mode="vector" if nearest else mode,
        )  # fmt: skip
        return found["ids"], found["ms"]

    return ask


def load(bench: Bench, sides: Mapping[str, Side], people: Sequence[Person]) -> tuple[list[str], NDArray[np.float32]]:
    """Hand the people's passages over; ids and vectors of the first one's."""
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
    return ids, np.concatenate(kept)


def exact(ids: Sequence[str], vectors: NDArray[np.float32], asked: Asked) -> set[str]:
    """The ten nearest passages by cosine."""
    query = np.array(read_vector(asked[1]), np.float32)
    cosines = (vectors @ query) / np.linalg.norm(vectors, axis=1)
    return {ids[place] for place in np.argpartition(-cosines, LIMIT)[:LIMIT]}


@dataclass(slots=True)
class Found:
    """What one program did."""

    times: list[float] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    kept: list[float] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        """Its figures."""
        values: dict[str, float] = {
            "p50_ms": percentile(self.times, 0.5),
            "p95_ms": percentile(self.times, 0.95),
            "least_rows": min(self.rows),
            "answers_short": sum(count < LIMIT for count in self.rows),
        }
        return values | ({"recall_at_10": sum(self.kept) / len(self.kept)} if self.kept else {})


async def in_turn(
    programs: Mapping[str, Program],
    questions: Sequence[tuple[Person, Asked]],
    nearest: Callable[[Asked], set[str]] | None,
) -> dict[str, Found]:
    """Ask every program each question, one after another; the first questions once more beforehand, untimed.

    Args:
        programs: by name.
        questions: with whose they are.
        nearest: gives the exact ten nearest; None: they are not counted.
    """
    found = {name: Found() for name in programs}
    warm = min(WARM_UP, len(questions))
    with progress("asking in turn", len(questions)) as done:
        for number, (person, asked) in enumerate([*questions[:warm], *questions]):
            for name, ask in programs.items():
                ids, milliseconds = await ask(person, asked)
                if number >= warm:
                    found[name].times.append(milliseconds)
                    found[name].rows.append(len(ids))
            if nearest and number >= warm:
                wanted = nearest(asked)
                for name, ask in programs.items():
                    ids, _ = await ask(person, asked, nearest=True)
                    found[name].kept.append(len(wanted & set(ids)) / LIMIT)
            done(1)
    return found


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
        programs = {
            "memsvc": memsvc_program(db, bench, model),
            "memsvc_vector": memsvc_program(db, bench, model, NEAREST),
        }
        programs |= {name: peer_program(one, PEERS[name].mode) for name, one in sides.items()}
        of_big = [(big, asked) for asked in big.questions(QUESTIONS)]
        of_small = [(person, asked) for person in small for asked in person.questions(SMALL_QUESTIONS)]
        random.Random(5).shuffle(of_small)
        answers = {
            size: await in_turn(programs, of_big, lambda asked: exact(ids, vectors, asked)),
            "small": await in_turn(programs, of_small, None),
        }
    for part, by_program in answers.items():
        for name, found in by_program.items():
            outcome.figures |= {f"peers.{name}.{part}.{one}": value for one, value in found.figures().items()}
    outcome.configuration["peers"] = {one: list(peer.requirements) for one, peer in PEERS.items()}
    compare(size, outcome)


def compare(part: str, outcome: Outcome) -> None:
    """The p95 of memsvc over that of the fastest server-based peer, and of the fastest in its own process.

    ``server_vector`` compares like with like where peers search by vectors only: memsvc by its vector arm alone.
    """
    figures = outcome.figures
    ways = (("server", "memsvc", True), ("server_vector", "memsvc_vector", True), ("in_process", "memsvc", False))
    for kind, ours, server in ways:
        theirs = min(figures[f"peers.{one}.{part}.p95_ms"] for one, peer in PEERS.items() if peer.server is server)
        figures[f"peers.ratio.{kind}"] = figures[f"peers.{ours}.{part}.p95_ms"] / theirs
    outcome.bars |= {"peers.ratio.server": "< 1", "peers.ratio.in_process": "<= 1.5"}
