"""LangGraph's PostgresStore in a process of its own: vectors by pgvector, on the same server in another database.

Not a part of memsvc: ``bench.peers`` runs this module with an environment that has langgraph-checkpoint-postgres. A
user is a namespace. Texts go in by the store's own ``batch``; its embedding function looks up the vectors that are
given, so nothing is embedded here. The vector index is built behind the load, as for a bulk load, with the definition
that the store's ``setup`` gave it.
"""

from __future__ import annotations

import array
import importlib
import json
from pathlib import Path
from typing import Any

from bench.side_loop import serve

BATCH = 500
INDEX = "store_vectors_embedding_idx"


class Store:
    """A store on a database of its own."""

    def __init__(self, conninfo: str, dimensions: int) -> None:
        """Connect and let it make its tables."""
        psycopg: Any = importlib.import_module("psycopg")
        rows: Any = importlib.import_module("psycopg.rows")
        postgres: Any = importlib.import_module("langgraph.store.postgres")
        base: Any = importlib.import_module("langgraph.store.base")
        self._put = base.PutOp
        self._dimensions = dimensions
        self._vectors: dict[str, list[float]] = {}
        self._connection = psycopg.connect(conninfo, autocommit=True, prepare_threshold=0, row_factory=rows.dict_row)
        self._store = postgres.PostgresStore(
            self._connection, index={"dims": dimensions, "embed": self._embed, "fields": ["text"]}
        )
        self._store.setup()
        self._index: str | None = None

    def _embed(self, texts: list[str]) -> list[list[float]]:
        return [self._vectors[text] for text in texts]

    def load(self, rows: str, vectors: str) -> int:
        """Store rows (lines of JSON) with their vectors (float32 after one another); how many."""
        if self._index is None:
            found = self._connection.execute("SELECT pg_get_indexdef(to_regclass(%s)) AS made", [INDEX]).fetchone()
            self._index = found["made"] or ""
            self._connection.execute(f"DROP INDEX IF EXISTS {INDEX}")
        read = [json.loads(line) for line in Path(rows).read_text(encoding="utf-8").splitlines()]
        values = array.array("f")
        values.frombytes(Path(vectors).read_bytes())
        for start in range(0, len(read), BATCH):
            part = read[start : start + BATCH]
            self._vectors = {}
            for place, row in enumerate(part, start):
                # The text alone is no key: people repeat themselves, and vectors of equal texts may differ here.
                row["text"] = f"{row['text']} [{row['id']}]" if row["text"] in self._vectors else row["text"]
                self._vectors[row["text"]] = values[place * self._dimensions : (place + 1) * self._dimensions].tolist()
            self._store.batch([self._put(("users", row["user"]), row["id"], {"text": row["text"]}) for row in part])
        self._vectors = {}
        return len(read)

    def ready(self) -> None:
        """Build the index that was dropped, and let the planner know the tables."""
        if self._index:
            self._connection.execute("SET maintenance_work_mem = '1GB'")
            self._connection.execute(self._index)
        self._connection.execute("VACUUM (ANALYZE) store")
        self._connection.execute("VACUUM (ANALYZE) store_vectors")

    def search(self, user: str, query: str, vector: list[float], limit: int, mode: str) -> list[str]:
        """Ids, best first; it knows no other way than by vectors."""
        del mode
        self._vectors = {query: vector}
        return [item.key for item in self._store.search(("users", user), query=query, limit=limit)]


if __name__ == "__main__":
    serve("langgraph-checkpoint-postgres", Store)
