"""What the facts of one checkout answer to LoCoMo's observations; ``bench.covered`` starts this file for each side.

The set is stored, embedded and read for facts without a language model, as ``bench.extracted`` does it. Then each
observation is a query for facts alone, as of the day after its last turn, so that a fact which ended later counts.
The other checkout needs ``bench.extracted.read_for_facts`` and recall's filter ``kinds``, but not this file. The file
that is written holds texts of the set and must not be committed.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from bench.asking import EMBEDDING_MS, World, write
from bench.datasets import DataSet, Key, as_moment, load
from bench.extracted import read_for_facts
from bench.harness import Bench, Outcome, database, progress, run
from bench.observations import Observation, observations
from memsvc.extract import registry
from memsvc.llm.embedders.residents import Residents
from memsvc.recall.options import Filters
from memsvc.recall.search import recall

FIRST = 5
"""Facts that are looked at."""
DAY = timedelta(days=1)


def moment(observation: Observation, said: Mapping[Key, datetime]) -> datetime:
    """The day after the last of an observation's turns that the set has, at the hour of that turn."""
    turns = ((observation.conversation_id, turn) for turn in observation.evidence_turn_ids)
    return max(said[turn] for turn in turns if turn in said) + DAY


async def recalled(bench: Bench, data: DataSet) -> dict[str, object]:
    """The first facts for each observation, and what reading the set gave.

    Returns:
        ``facts``: for each observation a list of (sentence, label of the node where the fact begins), best first;
        ``figures``: those of ``bench.shares``.

    Raises:
        RuntimeError: a query had no vector.
    """
    outcome, found = Outcome("covered"), list[list[tuple[str, str]]]()
    said = {(one.conversation_id, one.turn_id): as_moment(one.session_time)
            for turns in data.conversations.values() for one in turns}  # fmt: skip
    settings = bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS})
    db, resident = bench.connect(), Residents(settings)
    try:
        owners = await write(db, data, bench)
        await resident.ready(db)
        await read_for_facts(World(data, bench, db, owners, resident), registry.OFFLINE, outcome)
        given = observations(data.name)
        with progress("asking", len(given)) as done:
            for one in given:
                answer = await recall(
                    db, owners[one.conversation_id], one.text, settings, embedder=resident, limit=FIRST,
                    filters=Filters(kinds=["fact"], as_of=moment(one, said)),
                )  # fmt: skip
                if answer.degraded:
                    raise RuntimeError("An observation was not embedded; its facts would be those of words alone.")
                found.append([(memory.text, memory.fact.from_label) for memory in answer.memories if memory.fact])
                done(1)
    finally:
        resident.close()
        await db.close()
    return {"facts": found, "figures": outcome.figures}


def main() -> None:
    """Store, read, ask, and write a file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--set", required=True)
    parser.add_argument("--to", type=Path, required=True, metavar="FILE")
    chosen = parser.parse_args()

    def bench_covered_side() -> None:
        with database() as bench:
            found = asyncio.run(recalled(bench, load(chosen.set)))
        chosen.to.write_bytes(msgspec.json.encode(found))

    run(bench_covered_side)


if __name__ == "__main__":
    main()
