"""Documents are read in a process of its own, within limits; what a file does to it does no harm."""

# ruff: noqa: E501 - markup and tables of cases are read best in one line

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memsvc.documents import parsing, worker
from memsvc.documents.form import ParsedDocument
from memsvc.documents.limits import Limits
from memsvc.documents.parsing import Reader, parse
from memsvc.errors import (
    BadFileError,
    DocumentEncryptedError,
    DocumentTooLargeError,
    DocumentWithoutTextError,
    SourceUnknownError,
)
from tests.documents import packed, texts

pytestmark = pytest.mark.slow
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@pytest.fixture(autouse=True)
def _own_processes() -> Iterator[None]:
    parsing.close()
    yield
    parsing.close()


def written(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def slow_csv(folder: Path) -> Path:
    """A file whose reading takes seconds."""
    return written(folder, "slow.csv", "a,b\n" + "1,2\n" * 3_000_000)


def test_a_document_is_read_as_in_this_process(tmp_path: Path) -> None:
    found = parse(written(tmp_path, "x.tmp", "# A\n\ntext"), "notes.md")
    assert (found.format, found.title, texts(found), found.chunks[0].origin) == ("md", "A", "text", {"line": 3})


def test_one_process_reads_many_files(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", "text")
    parse(path, "a.txt")
    [pid] = [reader.pid for reader in parsing._idle]
    began = time.monotonic()
    for _ in range(200):
        parse(path, "a.txt")
    assert [reader.pid for reader in parsing._idle] == [pid]
    assert time.monotonic() - began < 20


def test_what_takes_too_long_is_killed_and_the_next_file_is_read(tmp_path: Path) -> None:
    path = slow_csv(tmp_path)
    parse(written(tmp_path, "a.txt", "text"), "a.txt")
    [reader] = parsing._idle
    with pytest.raises(DocumentTooLargeError, match=r"longer than 0\.2 seconds"):
        parse(path, "slow.csv", limits=Limits(seconds=0.2))
    with pytest.raises(ProcessLookupError):
        os.kill(reader.pid, 0)
    assert texts(parse(written(tmp_path, "b.txt", "next"), "b.txt")) == "next"


def test_what_takes_too_much_memory_is_refused_and_the_next_file_is_read(tmp_path: Path) -> None:
    with pytest.raises(DocumentTooLargeError, match="more than 150 MiB"):
        parse(slow_csv(tmp_path), "slow.csv", limits=Limits(memory_bytes=150 << 20, seconds=50))
    assert texts(parse(written(tmp_path, "b.txt", "next"), "b.txt")) == "next"


def test_an_answer_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentTooLargeError, match="1,000 bytes"):
        parse(written(tmp_path, "a.txt", "text " * 10_000), "a.txt", limits=Limits(output_bytes=1_000))
    assert parsing._idle == []


def test_a_process_that_was_killed_is_replaced(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", "text")
    parse(path, "a.txt")
    os.kill(parsing._idle[0].pid, signal.SIGKILL)
    assert texts(parse(path, "a.txt")) == "text"


def test_a_file_that_kills_its_process_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(reader: Reader, *_: object) -> ParsedDocument:
        os.kill(reader.pid, signal.SIGKILL)
        return read(reader, path, "a.txt", Limits())

    path, read = written(tmp_path, "a.txt", "text"), Reader.read
    monkeypatch.setattr(Reader, "read", dies)
    with pytest.raises(BadFileError, match="breaks its parser"):
        parse(path, "a.txt")


def test_threads_read_at_the_same_time(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", "text")
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(texts(parse(path, "a.txt")))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["text"] * 4
    assert len(parsing._idle) <= parsing.MOST_IDLE


def test_a_process_ends_when_its_parent_does() -> None:
    code = (
        "import os, sys, tempfile, pathlib\nfrom memsvc.documents import parsing\n"
        "p = pathlib.Path(tempfile.mkdtemp()) / 'a.txt'; p.write_text('x')\n"
        "parsing.parse(p, 'a.txt'); print(parsing._idle[0].pid, flush=True); os._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    pid = int(done.stdout)
    until = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert not Path(f"/proc/{pid}").exists() or Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] == "Z"


def test_a_process_has_none_of_the_services_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSVC_APP_PASSWORD", "hunter2")
    parse(written(tmp_path, "a.txt", "text"), "a.txt")
    environment = Path(f"/proc/{parsing._idle[0].pid}/environ").read_bytes()
    assert b"PATH=" in environment
    assert b"MEMSVC" not in environment


def test_sockets_and_programs_are_refused_where_documents_are_read() -> None:
    code = (
        "import socket, subprocess, os\nfrom memsvc.documents import worker\nworker._limit()\nrefused = 0\n"
        "for call in (lambda: socket.socket(), lambda: subprocess.run(['true']), lambda: os.system('true'),\n"
        "             lambda: open('/tmp/memsvc-documents-test', 'wb').write(b'x' * 10_000_000)):\n"
        "    try:\n        call()\n    except OSError:\n        refused += 1\nprint(refused)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    Path("/tmp/memsvc-documents-test").unlink(missing_ok=True)
    assert done.stdout == "4\n"


@pytest.mark.parametrize(
    ("name", "data", "error"),
    [
        ("a.txt", b"", DocumentWithoutTextError),
        ("a.pdf", b"", DocumentWithoutTextError),
        ("a.pdf", b"no PDF", BadFileError),
        ("a.png", b"\x89PNG\r\n", SourceUnknownError),
        ("a.docx", OLE + "EncryptedPackage".encode("utf-16-le"), DocumentEncryptedError),
        ("a.doc", OLE + bytes(600), BadFileError),
        ("a.docx", b"PK\x03\x04cut", BadFileError),
    ],
)
def test_errors_come_as_they_are(tmp_path: Path, name: str, data: bytes, error: type[BadFileError]) -> None:
    with pytest.raises(error) as raised:
        parse(written(tmp_path, name, data), name)
    assert raised.type is error
    assert raised.value.advice
    assert str(tmp_path) not in raised.value.message


def test_a_file_that_is_not_there_is_a_bad_file(tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match="No such file"):
        parse(tmp_path / "nothing.txt", "nothing.txt")


def test_limits_of_a_call_hold_for_that_call_alone(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", "one two\n\nthree four")
    assert len(parse(path, "a.txt", limits=Limits(window_tokens=2)).chunks) == 2
    assert len(parse(path, "a.txt").chunks) == 1


def test_a_zip_bomb_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.docx", {"[Content_Types].xml": "<x/>", "word/document.xml": b"\0" * 60_000_000})
    with pytest.raises(DocumentTooLargeError):
        parse(path, "a.docx")


def test_help_imports_no_library_of_documents() -> None:
    code = (
        "import sys\nfrom memsvc.cli import main\nsys.argv = ['memsvc', '--help']\ntry:\n    main()\nexcept SystemExit:\n    pass\n"
        "found = {'lxml', 'pypdfium2', 'openpyxl', 'striprtf', 'markdown_it'} & set(sys.modules)\nprint('FOUND', sorted(found))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("FOUND []\n")
    assert worker.IDLE_S > 1
