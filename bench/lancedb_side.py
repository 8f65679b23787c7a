"""LanceDB in a process of its own: hybrid search (full text and vectors, its own reciprocal rank fusion).

Not a part of memsvc: ``bench.peers`` runs this module with an environment that has lancedb. One table holds everybody's
rows, with an index on the user that is applied before the search. Vectors are given; nothing is embedded here.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

from bench.side_loop import serve

BATCH = 10_000
EXACT_BELOW = 50_000
"""Rows below which a table gets no vector index: exact search is as fast there, and loses nothing."""


class Store:
    """A table."""

    def __init__(self, folder: str, dimensions: int) -> None:
        """An empty one in a folder."""
        lancedb: Any = importlib.import_module("lancedb")
        self._arrow: Any = importlib.import_module("pyarrow")
        self._numpy: Any = importlib.import_module("numpy")
        arrow = self._arrow
        self._dimensions = dimensions
        fields = [
            arrow.field("user", arrow.string()),
            arrow.field("id", arrow.string()),
            arrow.field("text", arrow.string()),
            arrow.field("vector", arrow.list_(arrow.float32(), dimensions)),
        ]
        self._database = lancedb.connect(folder)
        self._table = self._database.create_table("memories", schema=arrow.schema(fields))
        self._tables = {"{}": self._table}
        self._tuned: tuple[Any, dict[str, Any]] = (self._table, {})
        self._reranker = importlib.import_module("lancedb.rerankers").RRFReranker()

    def load(self, rows: str, vectors: str) -> int:
        """Store rows (lines of JSON) with their vectors (float32 after one another); how many."""
        arrow, numpy = self._arrow, self._numpy
        read = [json.loads(line) for line in Path(rows).read_text(encoding="utf-8").splitlines()]
        values = numpy.fromfile(vectors, dtype=numpy.float32).reshape(len(read), self._dimensions)
        for start in range(0, len(read), BATCH):
            part = read[start : start + BATCH]
            flat = arrow.array(values[start : start + BATCH].reshape(-1))
            columns = {name: arrow.array([row[name] for row in part]) for name in ("user", "id", "text")}
            columns["vector"] = arrow.FixedSizeListArray.from_arrays(flat, self._dimensions)
            self._table.add(arrow.table(columns))
        return len(read)

    def ready(self) -> None:
        """Build the indexes and merge what was added in parts."""
        self._build(self._table, {"index_type": "IVF_HNSW_SQ"} if self._table.count_rows() >= EXACT_BELOW else None)

    def _build(self, table: Any, index: dict[str, Any] | None) -> None:
        table.create_scalar_index("user", index_type="BITMAP")
        table.create_fts_index("text", language="English", stem=True, remove_stop_words=True)
        if index is not None:
            table.create_index(metric="cosine", vector_column_name="vector", **index)
        table.optimize()

    def tune(self, search: dict[str, Any], index: dict[str, Any]) -> None:
        """Later tuned searches go to a table with this index, and call these methods of LanceDB's queries."""
        name = json.dumps(index, sort_keys=True)
        if name not in self._tables:
            self._tables[name] = table = self._database.create_table(
                f"tuned_{len(self._tables)}", data=self._table.to_arrow()
            )
            self._build(table, index)
        self._tuned = self._tables[name], search

    def search(
        self, user: str, query: str, vector: list[float], limit: int, mode: str, *, tuned: bool = False
    ) -> list[str]:
        """Ids, best first; by both, or by vectors alone."""
        table, settings = self._tuned if tuned else (self._table, {})
        mine = "user = '" + user.replace("'", "''") + "'"
        if mode == "hybrid":
            search = table.search(query_type="hybrid").vector(vector).text(query).rerank(self._reranker)
        else:
            search = table.search(vector, query_type="vector", vector_column_name="vector")
        for name, value in settings.items():
            search = search.bypass_vector_index() if name == "bypass_vector_index" else getattr(search, name)(value)
        search = search.distance_type("cosine").where(mine, prefilter=True).limit(limit).select(["id"])
        return [row["id"] for row in search.to_list()]


if __name__ == "__main__":
    serve("lancedb", Store)
