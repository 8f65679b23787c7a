"""``python -m bench.life_sample --sample 200 --seed 1``: extracted facts of talk between people, for somebody to grade.

A worker reads the talks of ``bench/gold/life/open`` (``--kept``: the others). A random sample of what the graph then
holds is written to a file, one JSON object a line, in random order: ``turn`` (talk and turn), ``sentence``, ``since``
and ``until`` on the clock of the place, ``before`` (three turns), ``said`` (the turn itself), ``after`` (one turn).
Nothing in it says which version of the extractor made it. Grades go to ``bench/gold/life/graded.jsonl``: turn,
sentence, ``grade`` (useful, trivial or false), ``times_right``.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from bench.harness import database, run
from bench.life import Talk, talks
from bench.life_graph import Graph, Told, graphs
from bench.life_scoring import keys_of
from memsvc.extract import registry

BEFORE, AFTER = 3, 1


class Asked(msgspec.Struct, frozen=True):
    """A sentence to be graded."""

    turn: str
    sentence: str
    since: str | None
    until: str | None
    before: list[str]
    said: str
    after: list[str]


def asked(talk: Talk, graph: Graph) -> Iterator[Asked]:
    """Each sentence that a graph holds, with the turns around its first one."""
    turns = talk.conversation.turns
    places = {turn.turn_id: place for place, turn in enumerate(turns)}
    for told in graph.told:
        place = places[told.turns[0]]
        lines = [f"{turn.session_time:%Y-%m-%d %H:%M} {turn.speaker}: {turn.text}" for turn in turns]
        yield Asked(
            turn=keys_of(talk, told)[0][0], sentence=told.sentence, since=shown(talk, told, told.since),
            until=shown(talk, told, told.until), before=lines[max(0, place - BEFORE) : place], said=lines[place],
            after=lines[place + 1 : place + 1 + AFTER],
        )  # fmt: skip


def shown(talk: Talk, told: Told, moment: datetime | None) -> str | None:
    """A moment on the clock of the place."""
    return None if moment is None else f"{moment.astimezone(talk.conversation.clocks[told.turns[0]]):%Y-%m-%d %H:%M}"


def drawn(talks_: Sequence[Talk], held: Sequence[Graph], most: int, seed: int) -> list[Asked]:
    """At most so many sentences of all talks, drawn at random, each turn's and sentence's once."""
    every = {
        (one.turn, one.sentence): one
        for talk, graph in zip(talks_, held, strict=True)
        for one in asked(talk, graph)
    }  # fmt: skip
    found = [every[key] for key in sorted(every)]  # the database's order is not the same twice
    return random.Random(seed).sample(found, min(most, len(found)))


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.life_sample", description=(__doc__ or "").partition(": ")[2].partition("\n")[0]
    )
    parser.add_argument("--sample", type=int, default=200, help="sentences; 200")
    parser.add_argument("--seed", type=int, required=True, help="of the drawing")
    parser.add_argument("--kept", action="store_true", help="of the talks that nobody looks at")
    parser.add_argument("--extractor", default=registry.OFFLINE, help="a name of memsvc.extract.registry")
    parser.add_argument("--out", type=Path, default=Path("life-sample.jsonl"), help="the file; life-sample.jsonl")
    chosen = parser.parse_args()

    def sample() -> None:
        told = talks("life/kept" if chosen.kept else "life/open")
        with database() as bench:
            held = asyncio.run(graphs(bench, chosen.extractor, told))
        found = drawn(told, held, chosen.sample, chosen.seed)
        chosen.out.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in found))
        print(f"{len(found)} sentences of {sum(len(graph.told) for graph in held)} written to {chosen.out}")

    run(sample)


if __name__ == "__main__":
    main()
