"""``python -m bench.sources``: how fast exports are read and checked, as a dry run does it, and in what memory.

The exports are made here from ``bench.corpus``, each as large as ``--mb`` says, in the shape of its program. Each is
read by a process of its own, so that ``<kind>.peak_mb`` is of it alone. Nothing is stored; what storing takes is
measured by ``make bench-ingest``. ``*_per_s`` is for each second of a processor, ``*_s`` is time on the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import uuid
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.corpus import Corpus
from bench.harness import Outcome, database, figures_table, progress, report, run
from memsvc.access.users import Owner
from memsvc.settings import Settings
from memsvc.sources.finding import Source, find
from memsvc.sources.ingesting import checker
from memsvc.sources.previewing import Choices, Reader

A_TALK = 40
AN_ANSWER = 12
"""Texts of the corpus in an assistant's answer; a person's message has one."""
FIRST = datetime(2024, 1, 1, tzinfo=UTC)
LARGE_MB, LARGE_DATA_MB = 1_024, 300
BARS = {"chatgpt.zip_s": "<= 5", "text.mb_per_s": ">= 2", "export.data_mb": f"<= {LARGE_DATA_MB}"}


def texts() -> Iterator[tuple[int, datetime, str]]:
    """Yield messages without end: number, time, words of one to four sentences."""
    corpus, number = Corpus(7), 0
    while True:
        for text in corpus.texts(1_000):
            yield number, FIRST + timedelta(minutes=7 * number), text
            number += 1


def talks() -> Iterator[list[tuple[int, datetime, str]]]:
    """Yield conversations with an assistant without end; every other message is its answer, and longer."""
    given = texts()
    while True:
        talk = []
        for nth in range(A_TALK):
            number, said_at, text = next(given)
            longer = [text, *(next(given)[2] for _ in range(AN_ANSWER - 1))] if nth % 2 else [text]
            talk.append((number, said_at, "\n".join(longer)))
        yield talk


def chatgpt(talk: list[tuple[int, datetime, str]]) -> dict[str, Any]:
    """A conversation as ChatGPT writes it."""
    nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    parent = "root"
    for nth, (number, said_at, text) in enumerate(talk):
        name = str(uuid.UUID(int=number))
        role = "assistant" if nth % 2 else "user"
        nodes[name] = {
            "id": name, "parent": parent, "children": [],
            "message": {
                "id": name, "author": {"role": role, "name": None, "metadata": {}}, "recipient": "all", "weight": 1.0,
                "create_time": said_at.timestamp(), "update_time": None, "status": "finished_successfully",
                "content": {"content_type": "text", "parts": [text]}, "metadata": {"model_slug": "gpt-4o"},
            },
        }  # fmt: skip
        nodes[parent]["children"].append(name)
        parent = name
    name = f"talk {talk[0][0]}"
    created = talk[0][1].timestamp()
    return {
        "title": name, "create_time": created, "mapping": nodes, "current_node": parent, "conversation_id": name
    }  # fmt: skip


def claude(talk: list[tuple[int, datetime, str]]) -> dict[str, Any]:
    """A conversation as Claude writes it."""
    return {
        "uuid": f"talk {talk[0][0]}", "name": "A talk", "created_at": talk[0][1].isoformat(),
        "updated_at": talk[-1][1].isoformat(), "account": {"uuid": "one"},
        "chat_messages": [
            {
                "uuid": str(uuid.UUID(int=number)), "text": text, "sender": "assistant" if nth % 2 else "human",
                "content": [{"type": "text", "text": text}], "created_at": said_at.isoformat(),
                "updated_at": said_at.isoformat(), "attachments": [], "files": [],
            }
            for nth, (number, said_at, text) in enumerate(talk)
        ],
    }  # fmt: skip


def json_array(path: Path, size: int, made: Callable[[list[tuple[int, datetime, str]]], dict[str, Any]]) -> None:
    """Write conversations as one JSON array."""
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for talk in talks():
            file.write(json.dumps(made(talk)))
            if file.tell() >= size:
                break
            file.write(",\n")
        file.write("]")


def telegram(path: Path, size: int) -> None:
    """Write one chat as Telegram does."""
    with path.open("w", encoding="utf-8") as file:
        file.write('{"name": "Bo", "type": "personal_chat", "id": 77, "messages": [\n')
        for number, said_at, text in texts():
            name = "Ada" if number % 2 else "Bo"
            message = {
                "id": number, "type": "message", "date": said_at.strftime("%Y-%m-%dT%H:%M:%S"),
                "date_unixtime": str(int(said_at.timestamp())), "from": name, "from_id": f"user{number % 2}",
                "text": text, "text_entities": [{"type": "plain", "text": text}],
            }  # fmt: skip
            file.write(json.dumps(message))
            if file.tell() >= size:
                break
            file.write(",\n")
        file.write("\n]}")


def whatsapp(path: Path, size: int) -> None:
    """Write one chat as WhatsApp does."""
    with path.open("w", encoding="utf-8") as file:
        for number, said_at, text in texts():
            file.write(f"{said_at:%d/%m/%Y, %H:%M} - {'Ada' if number % 2 else 'Bo'}: {text}\n")
            if file.tell() >= size:
                break


def jsonl(path: Path, size: int) -> None:
    """Write chat JSONL."""
    with path.open("w", encoding="utf-8") as file:
        for number, said_at, text in texts():
            row = {
                "conversation": f"talk {number // A_TALK}", "id": str(number), "text": text,
                "role": "assistant" if number % 2 else "user", "said_at": said_at.isoformat(),
            }  # fmt: skip
            file.write(json.dumps(row) + "\n")
            if file.tell() >= size:
                break


MADE: dict[str, tuple[str, Callable[[Path, int], None]]] = {
    "chatgpt": ("conversations.json", lambda path, size: json_array(path, size, chatgpt)),
    "claude": ("conversations.json", lambda path, size: json_array(path, size, claude)),
    "telegram": ("result.json", telegram),
    "whatsapp": ("WhatsApp Chat with Bo.txt", whatsapp),
    "jsonl": ("chat.jsonl", jsonl),
}


def read(path: Path) -> dict[str, float]:
    """Read and check a file as a dry run does: messages, seconds, those of a processor, largest memory in MB."""
    owner = Owner(user_id=uuid.UUID(int=1), name="Ada", language="english", time_zone="Europe/Berlin")
    settings = Settings()
    start, worked = time.perf_counter(), time.process_time()
    count = 0
    with ExitStack() as stack:
        for source in find([path], None, sys.stdin.buffer, stack):
            if isinstance(source, Source):
                reader = Reader(owner, ("Ada",), Choices())
                count += reader.preview(source, checker(owner, settings)).messages
    seconds, worked = time.perf_counter() - start, time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"messages": count, "seconds": seconds, "processor_s": worked, "peak_mb": peak}


def measured(path: Path, data_mb: int | None = None) -> dict[str, float]:
    """Read a file in a process of its own.

    Args:
        path: the file.
        data_mb: what the process may have of private memory; pages of a mapped file do not count.

    Raises:
        CalledProcessError: it could not be read, for want of memory perhaps.
    """

    def limit() -> None:
        if data_mb is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (data_mb << 20, data_mb << 20))

    done = subprocess.run(
        [sys.executable, "-m", "bench.sources", "--read", str(path)], stdout=subprocess.PIPE, text=True, check=True,
        env=dict(os.environ), preexec_fn=limit,
    )  # fmt: skip
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(outcome: Outcome, kinds: list[str], megabytes: int) -> None:
    """Make each export, read it, and remove it."""
    total_mb = total_s = 0.0
    with tempfile.TemporaryDirectory(prefix="memsvc-bench-") as folder, progress("exports", len(kinds)) as done:
        for kind in kinds:
            name, make = MADE[kind]
            path = Path(folder) / name
            make(path, megabytes << 20)
            found = measured(path)
            size = path.stat().st_size / (1 << 20)
            outcome.figures |= {
                f"{kind}.items_per_s": found["messages"] / found["processor_s"],
                f"{kind}.mb_per_s": size / found["processor_s"],
                f"{kind}.dry_run_s": found["seconds"],
                f"{kind}.peak_mb": found["peak_mb"],
            }
            total_mb, total_s = total_mb + size, total_s + found["processor_s"]
            if kind == "chatgpt":
                archive = Path(folder) / "export.zip"
                with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
                    packed.write(path, name)
                outcome.figures["chatgpt.zip_s"] = measured(archive)["seconds"]
                archive.unlink()
            path.unlink()
            done(1)
    outcome.figures["text.mb_per_s"] = total_mb / total_s


def measure_large(outcome: Outcome) -> None:
    """Read an export of a gigabyte within the memory that it may take."""
    name, make = MADE["chatgpt"]
    with tempfile.TemporaryDirectory(prefix="memsvc-bench-") as folder:
        path = Path(folder) / name
        make(path, LARGE_MB << 20)
        found = measured(path, LARGE_DATA_MB)
    outcome.figures |= {"export.data_mb": LARGE_DATA_MB, "export.s": found["seconds"], "export.mb": LARGE_MB}


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.sources")
    parser.add_argument("--kinds", default=",".join(MADE), help="with commas between")
    parser.add_argument("--mb", type=int, default=100, help="size of each export")
    parser.add_argument("--large", action="store_true", help="also an export of a gigabyte, within 300 MB of memory")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.read is not None:
        print(json.dumps(read(chosen.read)))
        return

    def bench_sources() -> None:
        outcome = Outcome("sources", bars=dict(BARS))
        outcome.configuration["mb"] = chosen.mb
        measure(outcome, chosen.kinds.split(","), chosen.mb)
        if chosen.large:
            measure_large(outcome)
        with database() as bench:
            figures_table("sources", outcome, ("",))
            report(outcome, bench)

    run(bench_sources)


if __name__ == "__main__":
    main()
