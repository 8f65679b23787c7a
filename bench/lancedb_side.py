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
        self._table = lancedb.connect(folder).create_table("memories", schema=arrow.schema(fields))
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
        self._table.create_scalar_index("user", index_type="BITMAP")
        self._table.create_fts_index("text", language="English", stem=True, remove_stop_words=True)
        if self._table.count_rows() >= EXACT_BELOW:
            self._table.create_index(metric="cosine", index_type="IVF_HNSW_SQ", vector_column_name="vector")
        self._table.optimize()

    def search(self, user: str, query: str, vector: list[float], limit: int, mode: str) -> list[str]:
        """Ids, best first; by both, or by vectors alone."""
        mine = "user = '" + user.replace("'", "''") + "'"
        if mode == "hybrid":
            search = self._table.search(query_type="hybrid").vector(vector).text(query).rerank(self._reranker)
        else:
            search = self._table.search(vector, query_type="vector", vector_column_name="vector")
        search = search.distance_type("cosine").where(mine, prefilter=True).limit(limit).select(["id"])
        return [row["id"] for row in search.to_list()]


if __name__ == "__main__":
    serve("lancedb", Store)
