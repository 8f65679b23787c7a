"""Other programs from PyPI with the same texts and the same vectors, in the same run: how well and how fast they find.

LanceDB (in its own process, on disk) searches by full text and vectors and fuses both; LangGraph's PostgresStore
searches by vectors, on the same PostgreSQL server in a database of its own. Texts are the passages as memsvc searches
them ("speaker: text caption"), vectors are memsvc's own and go over in a file. Each runs in an environment in the
user's cache (``bench.environments``) and is asked through ``bench.side_loop``.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import sql
from sqlalchemy import make_url

from bench.asking import DEPTH, EMBEDDING_MS, World
from bench.datasets import DataSet, Key, Ranking
from bench.environments import Side, environment, side
from bench.harness import Bench, Outcome, progress
from bench.judging import COMPARED, Scores, difference, judged_groups

DIMENSIONS = 384
PAGE = 5_000
Rankings = dict[str, Ranking]
"""Question -> the turns that were found."""


@dataclass(frozen=True, slots=True)
class Peer:
    """One of the other programs."""

    requirements: Sequence[str]
    module: str
    mode: str
    """How it is asked where it counts: by all that it has."""
    server: bool
    """It asks a database server; else it works in its own process."""


PEERS: Mapping[str, Peer] = {
    "lancedb": Peer(("lancedb==0.40.0", "pyarrow==26.0.1", "numpy==2.4.6"), "bench.lancedb_side", "hybrid", False),
    "langgraph": Peer(
        (
            "langgraph-checkpoint-postgres==3.2.0", "langgraph-checkpoint==4.3.2", "langchain-core==1.7.2",
            "psycopg[binary]==3.3.9", "psycopg-pool==3.3.3",
        ),
        "bench.langgraph_side", "vector", True,
    ),
}  # fmt: skip


class Row(NamedTuple):
    """A passage for all sides."""

    user: str
    id: str
    text: str


@contextmanager
def running(bench: Bench) -> Iterator[dict[str, Side]]:
    """All peers, each with an empty store, while the block runs; nothing of them is left behind but the environments.

    Raises:
        ConfigurationError: a peer cannot be installed.
    """
    pythons = {name: environment(name, peer.requirements) for name, peer in PEERS.items()}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="memsvc-bench-peers-")))
        conninfo = stack.enter_context(_database(bench))
        sides = {}
        for name, peer in PEERS.items():
            one = sides[name] = stack.enter_context(side(pythons[name], peer.module))
            where = {"conninfo": conninfo} if peer.server else {"folder": str(folder)}
            one.ask("open", dimensions=DIMENSIONS, **where)
        yield sides


@contextmanager
def _database(bench: Bench) -> Iterator[str]:
    """A database beside memsvc's on the same server; its URL."""
    url = make_url(bench.admin_url)
    name = f"memsvc_bench_peer_{os.getpid()}"
    with bench.admin() as admin:
        admin.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
    try:
        yield url.set(database=name).render_as_string(hide_password=False)
    finally:
        with bench.admin() as admin:
            admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def hand_over(sides: Mapping[str, Side], rows: Sequence[Row], vectors: NDArray[np.float32]) -> None:
    """Give all sides the same rows with the same vectors."""
    with tempfile.TemporaryDirectory(prefix="memsvc-bench-rows-") as folder:
        lines, values = Path(folder, "rows.jsonl"), Path(folder, "vectors.f32")
        lines.write_text("".join(json.dumps(row._asdict()) + "\n" for row in rows), encoding="utf-8")
        values.write_bytes(np.ascontiguousarray(vectors, dtype="<f4").tobytes())
        for name, one in sides.items():
            stored = one.ask("load", rows=str(lines), vectors=str(values))["rows"]
            if stored != len(rows):
                raise RuntimeError(f"{name} stored {stored} of {len(rows)} rows")


def read_vector(written: str) -> list[float]:
    """A vector in pgvector's form."""
    found: list[float] = json.loads(written)
    return found


def passages(bench: Bench) -> Iterator[tuple[Row, Key, list[float]]]:
    """All passages that have a vector of the active model, with the turn that each is a part of."""
    with psycopg.connect(bench.admin_url) as connection, connection.cursor("passages") as cursor:
        cursor.itersize = PAGE
        cursor.execute(
            "SELECT p.user_id, p.passage_id, memsvc.searched_text(p.speaker, p.text, p.caption), s.identifier, "
            "p.client_id, e.vector::text FROM memsvc.passages AS p "
            "INNER JOIN memsvc.sources AS s ON s.user_id = p.user_id AND s.source_id = p.source_id "
            "INNER JOIN memsvc.embeddings AS e ON e.user_id = p.user_id AND e.passage_id = p.passage_id "
            "INNER JOIN memsvc.embedding_models AS m ON m.model_id = e.model_id AND m.state = 'active' "
            "ORDER BY p.user_id, p.passage_id"
        )
        for user_id, passage_id, text, conversation, client_id, vector in cursor:
            row = Row(str(user_id), str(passage_id), text)
            yield row, (conversation, client_id or ""), read_vector(vector)


async def quality(world: World, outcome: Outcome) -> dict[str, Rankings]:
    """What each peer finds for each question: ``peer.<name>`` -> question -> its first 20 turns."""
    everything = list(passages(world.bench))
    turn_of = {row.id: key for row, key, _ in everything}
    rankings: dict[str, Rankings] = {}
    with running(world.bench) as sides:
        vectors = np.array([vector for _, _, vector in everything], np.float32)
        hand_over(sides, [row for row, _, _ in everything], vectors)
        for name, one in sides.items():
            one.ask("ready")
            found = rankings[f"peer.{name}"] = {}
            with progress(f"asking, {name}", len(world.data.questions)) as done:
                for question in world.data.questions:
                    active, _ = await world.embedder.query_vectors(world.db, question.question, EMBEDDING_MS)
                    if active is None:
                        raise RuntimeError("the query was not embedded")
                    user = str(world.owners[question.conversation_id].user_id)
                    asked = {"user": user, "query": question.question, "vector": active.vector.to_list()}
                    found[question.question_id] = _first_turns(one, asked | {"mode": PEERS[name].mode}, turn_of)
                    done(1)
    outcome.configuration["peers"] = {name: list(peer.requirements) for name, peer in PEERS.items()}
    return rankings


def _first_turns(one: Side, asked: Mapping[str, object], turn_of: Mapping[str, Key]) -> Ranking:
    """The first 20 different turns; more rows are asked for where parts of split messages took ranks."""
    limit = DEPTH
    while True:
        ids = one.ask("search", limit=limit, **asked)["ids"]
        turns = list(dict.fromkeys(turn_of[found] for found in ids))
        if len(turns) >= DEPTH or len(ids) < limit:
            return turns[:DEPTH]
        limit *= 2


def compare(data: DataSet, scores: Mapping[str, Scores], outcome: Outcome) -> None:
    """``difference.peer.<name>.default.<group>.<metric>``: what the defaults find more than a peer."""
    for name in PEERS:
        for group in judged_groups(data):
            for metric in COMPARED:
                figure = f"difference.peer.{name}.default.{group}.{metric}"
                difference(outcome, figure, data.members(group), (scores[f"peer.{name}"], scores["default"]), metric)
