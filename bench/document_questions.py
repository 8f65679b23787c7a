"""``python -m bench.document_questions``: whether recall finds the page that answers a question about a document.

All files of ``BENCH_DATA/documents`` become one user's memory, by ``memsvc ingest``. The questions are of
``bench/gold/documents``: a fresh reader wrote them before there was code for documents, and half of them shares no word
with what answers; ``--kept`` asks the half that stays unopened. A chunk is right if it is of the right document and
begins on the right page; of a Word file, if the paragraph is between its first one and that of the next chunk.
"""

from __future__ import annotations

import argparse
from bisect import bisect_right
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from uuid import UUID

import msgspec
import uvloop
from sqlalchemy import text

from bench.asking import EMBEDDING_MS
from bench.harness import Bench, Outcome, data_folder, database, figures_table, report, run, table
from bench.store import new_user
from memsvc.cli.ingest import ingest_files
from memsvc.llm.embedders.residents import Residents
from memsvc.recall.results import Memory
from memsvc.recall.search import recall

GOLD = Path(__file__).resolve().parent / "gold" / "documents"
LIMIT = 20
CHUNKS = text(
    "SELECT p.source_id, CAST(p.metadata -> 'origin' ->> 'paragraph' AS integer) AS paragraph "
    "FROM memsvc.passages AS p WHERE p.user_id = :user_id AND p.kind = 'chunk' "
    "AND p.metadata -> 'origin' ? 'paragraph'"
)


class DocumentQuestion(msgspec.Struct, frozen=True):
    """One line of the gold."""

    id: str
    document: str
    question: str
    shares_words: bool
    pages: list[int] = []
    paragraphs: list[int] = []


def holds(memory: Memory, question: DocumentQuestion, begins: dict[UUID, list[int]]) -> bool:
    """Whether a memory is a chunk with the answer.

    Args:
        memory: what was recalled.
        question: the question.
        begins: of each Word document, the paragraphs at which its chunks begin, in order.
    """
    place = memory.document
    if place is None or Path(place.path).name != Path(question.document).name:
        return False
    if question.pages:
        return place.origin.get("page") in question.pages
    first = place.origin.get("paragraph")
    known = begins.get(place.document_id, [])
    return first is not None and any(
        known[bisect_right(known, wanted) - 1] == first for wanted in question.paragraphs if bisect_right(known, wanted)
    )


async def measure(bench: Bench, outcome: Outcome, questions: list[DocumentQuestion], *, show: bool) -> None:
    """Ingest the documents and ask."""
    db = bench.connect()
    owner = await new_user(db, "reader")
    stored = await ingest_files(db, bench.settings, owner, [data_folder("documents") / "files"])
    outcome.figures["documents.refused"] = len(stored.errors)
    begins: dict[UUID, list[int]] = defaultdict(list)
    async with db.transaction(owner.user_id) as connection:
        for row in await connection.execute(CHUNKS, {"user_id": owner.user_id}):
            begins[row.source_id].append(row.paragraph)
    for known in begins.values():
        known.sort()
    settings = bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS})
    ranks: list[tuple[DocumentQuestion, int | None]] = []
    embedder = Residents(settings)
    await embedder.ready(db)
    try:
        for question in questions:
            found = await recall(db, owner, question.question, settings, embedder=embedder, limit=LIMIT)
            right = [nth for nth, one in enumerate(found.memories, 1) if holds(one, question, begins)]
            ranks.append((question, right[0] if right else None))
    finally:
        embedder.close()
    groups = {"": ranks} | {
        f"{name}.": [one for one in ranks if one[0].shares_words == shares]
        for name, shares in (("shares_words", True), ("no_shared_words", False))
    }
    for name, group in groups.items():
        for most in (1, 5, LIMIT):
            outcome.figures[f"documents.{name}recall@{most}"] = fmean(
                rank is not None and rank <= most for _, rank in group
            )
    if show:
        rows = [[one.id, str(rank or "-"), one.question[:90]] for one, rank in ranks if rank is None or rank > 5]
        table("not among the first five", [["id", "rank", "question"], *rows])
    await db.close()


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.document_questions")
    parser.add_argument("--kept", action="store_true", help="the questions that stay unopened")
    parser.add_argument("--show", action="store_true", help="what is not found; not of the kept half")
    chosen = parser.parse_args()
    half = "kept" if chosen.kept else "open"
    lines = (GOLD / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [msgspec.json.decode(line, type=DocumentQuestion) for line in lines]

    def bench_document_questions() -> None:
        outcome = Outcome("document-questions", data_set=half, bars={"documents.recall@5": ">= 0.85"})
        outcome.configuration["questions"] = len(questions)
        with database() as bench:
            uvloop.run(measure(bench, outcome, questions, show=chosen.show and not chosen.kept))
            figures_table("questions about documents", outcome, ("documents.",))
            report(outcome, bench)

    run(bench_document_questions)


if __name__ == "__main__":
    main()
