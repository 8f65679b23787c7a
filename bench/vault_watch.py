"""``python -m bench.vault_watch``: how long a change in a watched folder of notes takes until recall finds it.

A folder of linked notes is made, and ``memsvc vault watch`` runs on it as a process of its own. Then notes are changed
one after another: each gets a word that no other has, and recall by words is asked for it until it finds it. What the
process takes while nothing changes is measured as well, because it polls.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path

import uvloop

from bench.corpus import Corpus
from bench.harness import Bench, Outcome, database, figures_table, progress, report, run
from bench.metrics import percentile
from bench.processes import environment, process, processor_s
from bench.store import new_user
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.recall.search import recall
from memsvc.sources.vaults.reads import list_vaults

USER = "watcher"
LOOK_S, IDLE_S, MOST_S = 0.05, 10.0, 60.0
BARS = {"vault.change_to_recall.p95_s": "<= 5"}


def make_notes(folder: Path, count: int) -> list[Path]:
    """Make notes of a few sentences, each with links to two others."""
    chance, corpus, places = random.Random(7), Corpus(7), []
    for number in range(count):
        text = "\n\n".join(corpus.texts(3))
        links = " ".join(f"[[note {chance.randrange(count)}]]" for _ in range(2))
        place = folder / f"{number % 20:02}" / f"note {number}.md"
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"# Note {number}\n\n{text}\n\nSee {links}.\n", encoding="utf-8")
        places.append(place)
    return places


async def found_after(bench: Bench, db: Database, owner: Owner, word: str) -> float:
    """Return after how many seconds recall finds a word.

    Raises:
        TimeoutError: it did not within a minute.
    """
    begun = time.monotonic()
    while (took := time.monotonic() - begun) < MOST_S:
        found = await recall(db, owner, word, bench.settings, limit=5)
        if any(word in memory.text for memory in found.memories):
            return took
        await asyncio.sleep(LOOK_S)
    message = f"{word} was not found within {MOST_S:.0f} s"
    raise TimeoutError(message)


async def measure(bench: Bench, outcome: Outcome, notes: int, edits: int) -> None:
    """Start the watch, wait until it has read the folder, and change notes."""
    db = bench.connect()
    owner = await new_user(db, USER)
    chance = random.Random(11)
    with tempfile.TemporaryDirectory(prefix="memsvc-bench-vault-") as name:
        places = make_notes(Path(name), notes)
        command = [sys.executable, "-m", "memsvc.cli", "vault", "watch", name, "--app", "bench", "--user", USER]
        with process(command, environment(bench, embedding_model=""), Path.cwd()) as watching:
            begun = time.monotonic()
            while not any(vault.read_at for vault in await list_vaults(db, owner)):
                if watching.poll() is not None:
                    message = f"memsvc vault watch ended with {watching.returncode}"
                    raise RuntimeError(message)
                await asyncio.sleep(LOOK_S)
            outcome.figures["vault.first_read_s"] = time.monotonic() - begun
            took = []
            with progress("edits", edits) as done:
                for number in range(edits):
                    place, word = chance.choice(places), f"zanzibar{number}quoll"
                    fresh = place.with_suffix(".tmp")
                    fresh.write_text(f"{place.read_text(encoding='utf-8')}\nA thought: {word}.\n", encoding="utf-8")
                    fresh.replace(place)
                    took.append(await found_after(bench, db, owner, word))
                    done(1)
            await asyncio.sleep(IDLE_S)  # until the work that follows from the last change is done
            used = processor_s([watching.pid])
            await asyncio.sleep(IDLE_S)
            outcome.figures["vault.idle_share"] = (processor_s([watching.pid]) - used) / IDLE_S
    outcome.figures["vault.change_to_recall.p50_s"] = percentile(took, 0.5)
    outcome.figures["vault.change_to_recall.p95_s"] = percentile(took, 0.95)
    await db.close()


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.vault_watch")
    parser.add_argument("--notes", type=int, default=500, help="notes of the folder (500)")
    parser.add_argument("--edits", type=int, default=20, help="changes (20)")
    chosen = parser.parse_args()

    def bench_vault_watch() -> None:
        outcome = Outcome("vault-watch", bars=BARS)
        outcome.configuration |= {"notes": chosen.notes, "edits": chosen.edits}
        with database() as bench:
            uvloop.run(measure(bench, outcome, chosen.notes, chosen.edits))
            figures_table("a watched vault", outcome, ("vault.",))
            report(outcome, bench)

    run(bench_vault_watch)


if __name__ == "__main__":
    main()
