"""Users with passages, vectors and a graph, and the questions that are asked of them: for benches of size and speed.

Texts come from ``bench.corpus``, a graph, times, speakers and questions that name them from ``bench.corpus_graph``; a
passage's vector is a real one (the sample conversation's, by the default model) plus noise, so that neighbourhoods have
the shape of real ones. Texts go in by the write path; vectors are copied in as the administrator, and the indexes of
words and of vectors are built afterwards, as for a bulk load.
"""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import text

from bench.corpus import Corpus
from bench.corpus_graph import SPEAKERS, dressed, labels, said_at, write_graph
from bench.corpus_vectors import DIMENSIONS, Points, as_text, copy_tokens, copy_vectors
from bench.harness import Bench, Outcome, progress
from bench.store import new_user
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from uuid import UUID

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database

DEFAULT_MODEL: str = Settings.model_fields["embedding_model"].default
CONVERSATION = 5_000
"""Passages of one."""
BATCH, WRITERS = 1_000, 2
QUESTIONS = 300
"""Of one user at least, where it has so many passages."""


@dataclass(slots=True)
class Person:
    """A user of the corpus."""

    owner: Owner
    size: int
    """Passages."""
    names: list[str] = field(default_factory=list)
    """Of the user's nodes, hubs first."""
    ids: set[UUID] = field(default_factory=set)
    """Of all the passages."""
    asked: dict[int, list[tuple[str, str]]] = field(default_factory=dict)
    """Questions with their vectors, by the place in the user's passages where they come from."""

    def questions(self, count: int) -> list[tuple[str, str]]:
        """The first questions, in the order of the passages."""
        return [one for place in sorted(self.asked) for one in self.asked[place]][:count]


async def fill(
    db: Database, bench: Bench, person: Person, start: int, *, points: Points, model_id: int, seed: int
) -> int:
    """Write a conversation of a user's, the passages from ``start`` on; how many."""
    corpus, draw = Corpus(seed), np.random.default_rng(seed)
    count = min(CONVERSATION, person.size - start)
    texts = list(corpus.texts(count))
    ids: list[UUID] = []
    for first in range(0, count, BATCH):
        messages = [
            MessageIn(
                conversation=f"talk {start // CONVERSATION}", session=str(number // 50), ordinal=number, text=one,
                speaker=SPEAKERS[number % 2], said_at=said_at(number, person.size),
            )
            for number, one in enumerate(texts[first : first + BATCH], start + first)
        ]  # fmt: skip
        stored = await append(db, person.owner, messages, bench.settings)
        ids += [one.passage_id for one in stored if one.passage_id is not None]
    person.ids.update(ids)
    vectors = points.make(count, draw)
    await asyncio.to_thread(copy_vectors, bench, person.owner.user_id, model_id, ids, vectors)
    await asyncio.to_thread(copy_tokens, bench, person.owner.user_id, model_id, ids, draw)
    near = points.near(vectors[: math.ceil(QUESTIONS * count / person.size)], draw)
    person.asked[start] = [
        (dressed(corpus.question(one), number, person.names), as_text(vector))
        for number, (one, vector) in enumerate(zip(texts, near, strict=False), start)
    ]
    return count


async def write(
    db: Database, bench: Bench, people: list[Person], *, model_id: int, done: Callable[[int], None]
) -> None:
    """Write all passages with their vectors, several conversations at a time."""
    points = Points()
    parts: Iterator[tuple[int, Person, int]] = (
        (seed * 1_000 + start // CONVERSATION, person, start)
        for seed, person in enumerate(people)
        for start in range(0, person.size, CONVERSATION)
    )

    async def writer() -> None:
        for seed, person, start in parts:
            done(await fill(db, bench, person, start, points=points, model_id=model_id, seed=seed))

    await asyncio.gather(*(writer() for _ in range(WRITERS)))


async def build(
    db: Database, bench: Bench, sizes: Mapping[str, int], outcome: Outcome, *, memory: str = "1GB"
) -> tuple[dict[str, Person], int]:
    """Build the corpus; adds the figures ``write_s`` and ``build_s``.

    Args:
        db: the database.
        bench: the same.
        sizes: passages of each user, by name.
        outcome: gets the figures.
        memory: ``maintenance_work_mem`` for the indexes.

    Returns:
        The users by name, and the model's id.
    """
    started = time.perf_counter()
    async with db.transaction() as connection:
        registered = await connection.execute(
            text("SELECT model_id FROM memsvc.ensure_model(:n, :d)"), {"n": DEFAULT_MODEL, "d": DIMENSIONS}
        )
        model_id: int = registered.scalar_one()
    indexes = ["memsvc.passages_words", f"memsvc.embeddings_near_{model_id}"]
    with bench.admin() as admin:
        made = [admin.execute("SELECT pg_get_indexdef(%s::regclass)", [one]).fetchone() for one in indexes]
        for one in indexes:
            admin.execute(f"DROP INDEX {one}".encode())
    users = {
        name: Person(await new_user(db, name), size, labels(size, seed))
        for seed, (name, size) in enumerate(sizes.items())
    }
    with progress("building the corpus", sum(sizes.values())) as done:
        await write(db, bench, list(users.values()), model_id=model_id, done=done)
    with progress("writing graphs", len(users)) as done:
        for seed, person in enumerate(users.values()):
            await write_graph(db, person.owner, person.names, sorted(person.ids), seed)
            done(1)
    outcome.figures["write_s"] = time.perf_counter() - started
    await run_due(db)
    with bench.admin() as admin, progress("building indexes", len(indexes)) as done:
        admin.execute(f"SET maintenance_work_mem = '{memory}'".encode())
        for definition in made:
            admin.execute(str(definition[0] if definition else "").replace(" ON ONLY ", " ON ").encode())
            done(1)
        admin.execute("VACUUM (ANALYZE)")
        admin.execute("CHECKPOINT")
    outcome.figures["build_s"] = time.perf_counter() - started
    return users, model_id
