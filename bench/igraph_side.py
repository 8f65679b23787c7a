"""``python bench/igraph_side.py IN OUT``: the same questions put to igraph, in a process of its own.

Not a part of memsvc: python-igraph is GPL-2.0-or-later. ``bench.graph`` installs it into the user's cache folder and
runs this file with it; nothing but the two JSON files passes between them.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any


def main() -> None:
    """Answer the questions of a file."""
    igraph: Any = importlib.import_module("igraph")
    asked = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    graphs = {
        kind: [igraph.Graph(n=asked["nodes"], edges=edges, directed=True) for edges in per_user]
        for kind, per_user in asked["graphs"].items()
    }
    answers: dict[str, Any] = {"version": igraph.__version__, "ms": {}}
    for hops in (2, 3):
        times = []
        for user, start in asked["starts"]:
            begin = time.perf_counter()
            graphs["now"][user].neighborhood(start, order=hops, mode="all")
            times.append((time.perf_counter() - begin) * 1_000)
        answers["ms"][str(hops)] = times
    answers["sizes"] = {
        kind: [per_user[user].neighborhood_size(start, order=2, mode="all") for user, start in asked["counted"]]
        for kind, per_user in graphs.items()
    }
    answers["distances"] = []
    for user, start, end in asked["pairs"]:
        (distance,) = graphs["now"][user].distances([start], [end], mode="all")[0]
        answers["distances"].append(None if distance == float("inf") else int(distance))
    Path(sys.argv[2]).write_text(json.dumps(answers), encoding="utf-8")


if __name__ == "__main__":
    main()
