"""How documents are read: characters of real files, speed of each format, memory: ``python -m bench.documents``.

Real files come from ``BENCH_DATA/documents``; their manifest says what pypdf and python-docx saw, and the latter counts
again here. Files of text are made here, of prose, in each format, and read in a process of one core. Needs no database.
"""

from __future__ import annotations

import io
import json
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import openpyxl

from bench.harness import Outcome, data_folder, figures_table, report, run, table
from memsvc.documents.form import ParsedDocument
from memsvc.documents.limits import Limits
from memsvc.documents.parsing import parse
from memsvc.documents.reading import document
from memsvc.errors import MemsvcError

TEXT_BYTES = 2_000_000
SMALL_FILES = 1_000
PASSES = 3
PROSE = (
    "The river runs past the old mill, where Ada and her brother kept the boats; in 1987 they sold it for 12,500 euros."
    " Nobody knew why. People said that the winter had been long, and that a letter from Rome decided it."
)


def main() -> None:
    """Read all, and report."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    outcome = Outcome(
        "documents",
        bars={"text.mb_per_s": ">= 2", "documents.lost": "0"},
        configuration={"text_bytes": TEXT_BYTES, "small_files": SMALL_FILES, "passes": PASSES},
    )
    _real_files(outcome)
    with tempfile.TemporaryDirectory(prefix="memsvc-bench-") as folder:
        _speed(outcome, Path(folder))
        _small_files(outcome, Path(folder))
    outcome.figures["memory.peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures_table("Speed and memory", outcome, ("text.", "pages", "files", "memory"))
    report(outcome)


def _real_files(outcome: Outcome) -> None:
    folder = data_folder("documents")
    rows = [["file", "found", "manifest", "python-docx", "begins", "ends", "ms"]]
    lost = 0
    for line in (folder / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        path = folder / entry["file"]
        began = time.perf_counter()
        try:
            parsed = document(path, path.name, Limits())
        except MemsvcError as error:
            outcome.figures[f"documents.chars.{path.name}"] = 0
            rows.append([path.name, error.code, str(entry.get("text_chars", "")), "", "", "", ""])
            lost += bool(entry.get("text_chars"))
            continue
        took = time.perf_counter() - began
        shown = _shown(parsed, path.name)
        begins, ends = _holds(shown, entry.get("first_text")), _holds(shown, entry.get("last_text"))
        lost += not (begins and ends)
        outcome.figures[f"documents.chars.{path.name}"] = len(shown)
        by_docx = _by_docx(path) if path.suffix == ".docx" else ""
        told = [f"{len(shown):,}", f"{entry.get('text_chars', 0):,}", by_docx]
        rows.append([path.name, *told, str(begins), str(ends), f"{took * 1000:.0f}"])
    outcome.figures["documents.lost"] = lost
    table("Real files: characters, and whether their first and last texts are there", rows)


def _shown(parsed: ParsedDocument, name: str) -> str:
    """All that was found, each heading once."""
    parts = [] if parsed.title == Path(name).stem else [parsed.title]
    above: tuple[str, ...] = ()
    for chunk in parsed.chunks:
        parts += [heading for heading in chunk.headings if heading not in above]
        above = chunk.headings
        parts.append(chunk.text)
    return " ".join(" ".join(parts).split())


def _holds(shown: str, wanted: str | None) -> bool:
    """Whether a text is there, white space and hyphens aside: the manifest's came from another program."""
    return _bare(wanted or "")[:60] in _bare(shown)


def _bare(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _by_docx(path: Path) -> str:
    made = docx.Document(str(path))
    return f"{sum(len(paragraph.text) for paragraph in made.paragraphs):,} in {len(made.paragraphs)}"


def _prose(size: int) -> str:
    """Paragraphs of five lines, about so many bytes."""
    words = PROSE.split()
    paragraph = "\n".join(" ".join(words[number:] + words[:number]) for number in range(0, 25, 5))
    return "\n\n".join([paragraph] * (size // len(paragraph)))


def _made(size: int) -> dict[str, bytes]:
    """Files of prose by name."""
    paragraphs = _prose(size).split("\n\n")
    sections = [paragraphs[at : at + 5] for at in range(0, len(paragraphs), 5)]
    markdown = [f"## Part {number}\n\n" + "\n\n".join(part) for number, part in enumerate(sections)]
    html = [f"<h2>Part {number}</h2><p>" + "</p><p>".join(part) for number, part in enumerate(sections)]
    code = [f"def part_{number}():\n    # " + text.replace("\n", "\n    # ") for number, text in enumerate(paragraphs)]
    lines = [line for line in _prose(size).split("\n") if line]
    cells = [{"cell_type": "markdown", "source": source} for source in markdown]
    texts = {
        "a.txt": "\n\n".join(paragraphs),
        "a.md": "\n\n".join(markdown),
        "a.csv": "id,name,text\n" + "".join(f'{number},Ada,"{line}"\n' for number, line in enumerate(lines)),
        "a.html": f"<!doctype html><html><body>{''.join(html)}</body></html>",
        "a.ipynb": json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}),
        "a.py": "\n\n".join(code),
        "a.rtf": r"{\rtf1\ansi " + "".join(f"{text} \\par\n" for text in paragraphs) + "}",
    }
    return {
        **{name: text.encode() for name, text in texts.items()},
        "a.docx": _docx(paragraphs),
        "a.xlsx": _xlsx(paragraphs),
    }


def _docx(paragraphs: list[str]) -> bytes:
    made, target = docx.Document(), io.BytesIO()
    for text in paragraphs:
        made.add_paragraph(text.replace("\n", " "))
    made.save(target)
    return target.getvalue()


def _xlsx(paragraphs: list[str]) -> bytes:
    made, target = openpyxl.Workbook(), io.BytesIO()
    sheet: Any = made.active
    for number, text in enumerate("\n".join(paragraphs).split("\n")):
        sheet.append([number, "Ada", text])
    made.save(target)
    return target.getvalue()


def _median_s(call: Callable[[], object]) -> float:
    """Seconds of the processor's clock, which does not mind what else runs."""
    found: list[float] = []
    for _ in range(PASSES):
        began = time.process_time()
        call()
        found.append(time.process_time() - began)
    return statistics.median(found)


def _speed(outcome: Outcome, folder: Path) -> None:
    """MB of text a second: what comes out, not what a packed or marked-up file takes."""
    spent, read = 0.0, 0.0
    for name, data in _made(TEXT_BYTES).items():
        path = folder / name
        path.write_bytes(data)
        found = document(path, name, Limits())
        size = sum(len(chunk.text.encode()) for chunk in found.chunks) / 1e6
        took = _median_s(lambda path=path, name=name: document(path, name, Limits()))  # type: ignore[misc]
        outcome.figures[f"text.mb_per_s.{path.suffix[1:]}"] = size / took
        spent, read = spent + took, read + size
    outcome.figures["text.mb_per_s"] = read / spent
    pdf = data_folder("documents") / "files" / "coffee-mortality-nutrients-2021.pdf"
    outcome.figures["pages.per_s.pdf"] = 13 / _median_s(lambda: document(pdf, pdf.name, Limits()))


def _small_files(outcome: Outcome, folder: Path) -> None:
    """Small files through the reading process, as they are ingested."""
    path = folder / "small.md"
    path.write_text("# Note\n\nAda met Bob in Rome.\n", encoding="utf-8")
    parse(path, path.name)
    began = time.perf_counter()
    for _ in range(SMALL_FILES):
        parse(path, path.name)
    outcome.figures["files.per_s"] = SMALL_FILES / (time.perf_counter() - began)


if __name__ == "__main__":
    run(main)
