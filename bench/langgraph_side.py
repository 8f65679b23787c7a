"""LangGraph's PostgresStore in a process of its own: vectors by pgvector, on the same server in another database.

Not a part of memsvc: ``bench.peers`` runs this module with an environment that has langgraph-checkpoint-postgres. A
user is a namespace. Texts go in by the store's own ``batch``; its embedding function looks up the vectors that are
given, so nothing is embedded here. The vector index is built behind the load, as for a bulk load, with the definition
that the store's ``setup`` gave it. Another index, or none (its kind "flat"), stands in a second store, which has a
schema of its own and gets a copy of the rows.
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
USUAL = "public"
"""The schema of the store with the default index."""
MEMORY = "SET maintenance_work_mem = '1GB'"


class Store:
    """A store on a database of its own."""

    def __init__(self, conninfo: str, dimensions: int) -> None:
        """Connect and let it make its tables."""
        self._psycopg: Any = importlib.import_module("psycopg")
        self._rows: Any = importlib.import_module("psycopg.rows")
        self._postgres: Any = importlib.import_module("langgraph.store.postgres")
        base: Any = importlib.import_module("langgraph.store.base")
        self._put = base.PutOp
        self._conninfo = conninfo
        self._dimensions = dimensions
        self._vectors: dict[str, list[float]] = {}
        self._connection = self._connect(USUAL, {})
        self._store = self._on(self._connection, {})
        self._store.setup()
        self._index: str | None = None
        self._schemas = {"{}": USUAL}
        self._tuned: Any = None

    def _connect(self, schema: str, settings: dict[str, Any]) -> Any:
        """A connection as the store makes them itself, to a schema, with settings of the server."""
        chosen = {"search_path": ",".join(dict.fromkeys((schema, USUAL)))} | settings
        return self._psycopg.connect(
            self._conninfo, autocommit=True, prepare_threshold=0, row_factory=self._rows.dict_row,
            options=" ".join(f"-c {name}={value}" for name, value in chosen.items()),
        )  # fmt: skip

    def _on(self, connection: Any, index: dict[str, Any]) -> Any:
        given = {"dims": self._dimensions, "embed": self._embed, "fields": ["text"]}
        return self._postgres.PostgresStore(connection, index=given | ({"ann_index_config": index} if index else {}))

    def _embed(self, texts: list[str]) -> list[list[float]]:
        return [self._vectors[text] for text in texts]

    def load(self, rows: str, vectors: str) -> int:
        """Store rows (lines of JSON) with their vectors (float32 after one another); how many."""
        if self._index is None:
            self._index = self._without_index(self._connection, USUAL)
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

    def _without_index(self, connection: Any, schema: str) -> str:
        """Drop the vector index of a schema; its definition, empty where there is none."""
        name = f"{schema}.{INDEX}"  # by its name alone the default store's would be found where this one has none
        found = connection.execute("SELECT pg_get_indexdef(to_regclass(%s)) AS made", [name]).fetchone()
        connection.execute(f"DROP INDEX IF EXISTS {name}")
        return str(found["made"] or "")

    def _with_index(self, connection: Any, definition: str) -> None:
        """Build the index that was dropped, if any, and let the planner know the tables."""
        if definition:
            connection.execute(MEMORY)
            connection.execute(definition)
        connection.execute("VACUUM (ANALYZE) store")
        connection.execute("VACUUM (ANALYZE) store_vectors")

    def ready(self) -> None:
        """Build the index."""
        self._with_index(self._connection, self._index or "")

    def tune(self, search: dict[str, Any], index: dict[str, Any]) -> None:
        """Later tuned searches go to a store with this index, over a connection with these settings of pgvector."""
        name = json.dumps(index, sort_keys=True)
        if name not in self._schemas:
            self._schemas[name] = self._copied(f"tuned_{len(self._schemas)}", index)
        if self._tuned is not None:
            self._tuned.conn.close()
        self._tuned = self._on(self._connect(self._schemas[name], search), index)

    def _copied(self, schema: str, index: dict[str, Any]) -> str:
        """Make a store with another index in a new schema, with a copy of all rows; the schema."""
        self._connection.execute(f"CREATE SCHEMA {schema}")
        with self._connect(schema, {}) as connection:
            self._on(connection, index).setup()
            definition = self._without_index(connection, schema)
            for table in ("store", "store_vectors"):
                columns = connection.execute(
                    "SELECT string_agg(attname, ', ' ORDER BY attnum) AS names FROM pg_attribute "
                    "WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped", [table],
                ).fetchone()["names"]  # fmt: skip
                connection.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {USUAL}.{table}")
            self._with_index(connection, definition)
        return schema

    def search(
        self, user: str, query: str, vector: list[float], limit: int, mode: str, *, tuned: bool = False
    ) -> list[str]:
        """Ids, best first; it knows no other way than by vectors."""
        del mode
        self._vectors = {query: vector}
        store = self._tuned if tuned else self._store
        return [item.key for item in store.search(("users", user), query=query, limit=limit)]


if __name__ == "__main__":
    serve("langgraph-checkpoint-postgres", Store)
