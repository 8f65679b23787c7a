"""``python -P -m bench.kuzu_side IN OUT``: hops through the same graph in kuzu, in a process of its own.

Not a part of memsvc: ``bench.graph_peers`` runs this module with an environment that has kuzu (MIT). Nothing but two
JSON files passes between them. All users' graphs are in one database on disk; a node's key is its place behind those of
the users before, and each of memsvc's types is a table of relations. What is timed is one prepared query, with all its
rows; the moment of asking stands in its text, for kuzu takes no parameter there. Each query is asked from all starts
once for each limit that is given; all of these passes are told.
"""

from __future__ import annotations

import csv
import importlib
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

OPEN = "9999-01-01 00:00:00"


def load(connection: Any, folder: Path, asked: dict[str, Any]) -> None:
    """Make the tables and copy the files into them."""
    nodes = folder / "nodes.csv"
    nodes.write_text("\n".join(str(key) for key in range(asked["nodes"])), encoding="utf-8")
    connection.execute("CREATE NODE TABLE Concept(id INT64 PRIMARY KEY)")
    connection.execute(f"COPY Concept FROM '{nodes}'")
    for name in asked["types"]:
        file = folder / f"{name}.csv"
        with file.open("w", encoding="utf-8", newline="") as lines:
            writer = csv.writer(lines)
            for start, kind, end, ended in asked["edges"]:
                if kind == name:
                    writer.writerow([start, end, ended or OPEN])
        connection.execute(f"CREATE REL TABLE {name}(FROM Concept TO Concept, valid_to TIMESTAMP)")
        connection.execute(f"COPY {name} FROM '{file}'")


def ask(connection: Any, query: str, asked: dict[str, Any], limit: int) -> dict[str, list[float]]:
    """How many rows a query has from each start, and in how many milliseconds."""
    answers: dict[str, list[float]] = {"counts": [], "ms": []}
    question = connection.prepare(query.replace("$limit", str(limit)).replace("$now", f"timestamp('{asked['now']}')"))
    for start in asked["starts"]:
        begin = time.perf_counter()
        found = connection.execute(question, {"id": start}).get_all()
        answers["ms"].append((time.perf_counter() - begin) * 1_000)
        answers["counts"].append(len(found))
    return answers


def main() -> None:
    """Answer the questions of a file."""
    kuzu: Any = importlib.import_module("kuzu")
    asked: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="memsvc-bench-kuzu-", dir=asked["folder"]) as folder:
        connection = kuzu.Connection(kuzu.Database(str(Path(folder, "graph"))), num_threads=asked["threads"])
        load(connection, Path(folder), asked)
        answers: dict[str, Any] = {"version": kuzu.__version__}
        for name, query in asked["queries"].items():
            answers[name] = [ask(connection, query, asked, limit) for limit in asked["passes"]]
    Path(sys.argv[2]).write_text(json.dumps(answers), encoding="utf-8")


if __name__ == "__main__":
    main()
