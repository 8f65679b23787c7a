"""What the facts of one checkout answer to LoCoMo's observations; ``bench.covered`` starts this file for each side.

The set is stored, embedded and read for facts without a language model, as ``bench.extracted`` does it. Then each
observation is a query for facts alone, as of its last turn, so that what held then counts though it has ended since.
The other checkout needs ``bench.extracted.read_for_facts`` and recall's filter ``kinds``, but not this file. The file
that is written holds texts of the set and must not be committed.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from bench.asking import EMBEDDING_MS, World, write
from bench.datasets import DataSet, Key, as_moment, load
from bench.extracted import read_for_facts
from bench.harness import Bench, Outcome, database, progress, run
from bench.observations import Observation, observations
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.extract import registry
from memsvc.llm.embedders.residents import Residents
from memsvc.recall.options import Filters
from memsvc.recall.search import recall
from memsvc.settings import Settings

FIRST = 5
"""Facts that are looked at."""


def moment(observation: Observation, said: Mapping[Key, datetime]) -> datetime:
    """When the last of an observation's turns that the set has was said."""
    turns = ((observation.conversation_id, turn) for turn in observation.evidence_turn_ids)
    return max(said[turn] for turn in turns if turn in said)


async def asked(
    db: Database, data: DataSet, owners: Mapping[str, Owner], embedder: Residents, settings: Settings
) -> list[list[tuple[str, str]]]:
    """For each observation the first facts, best first: sentence, and label of the node where the fact begins.

    Raises:
        RuntimeError: a query had no vector.
    """
    turns = [turn for conversation in data.conversations.values() for turn in conversation]
    said = {(turn.conversation_id, turn.turn_id): as_moment(turn.session_time) for turn in turns}
    given, found = observations(data.name), list[list[tuple[str, str]]]()
    with progress("asking", len(given)) as done:
        for one in given:
            answer = await recall(
                db, owners[one.conversation_id], one.text, settings, embedder=embedder, limit=FIRST,
                filters=Filters(kinds=["fact"], as_of=moment(one, said)),
            )  # fmt: skip
            if answer.degraded:
                raise RuntimeError("An observation was not embedded; its facts would be those of words alone.")
            found.append([(memory.text, memory.fact.from_label) for memory in answer.memories if memory.fact])
            done(1)
    return found


async def recalled(bench: Bench, data: DataSet) -> dict[str, object]:
    """What is asked, as ``facts``, and the figures of ``bench.shares``, as ``figures``."""
    outcome = Outcome("covered")
    settings = bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS})
    db, resident = bench.connect(), Residents(settings)
    try:
        owners = await write(db, data, bench)
        await resident.ready(db)
        await read_for_facts(World(data, bench, db, owners, resident), registry.OFFLINE, outcome)
        return {"facts": await asked(db, data, owners, resident, settings), "figures": outcome.figures}
    finally:
        resident.close()
        await db.close()


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
