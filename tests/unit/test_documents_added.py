"""Formats of documents that other packages add, found by their entry points."""

from __future__ import annotations

import functools
import importlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memsvc.documents import built_in, catalogue, parsing
from memsvc.documents.catalogue import BUILT_IN, ENTRY_POINTS, Format
from memsvc.documents.limits import Limits
from memsvc.documents.parsing import parse
from memsvc.documents.reading import document
from memsvc.errors import ConfigurationError
from memsvc.settings import Settings
from memsvc.sources.kinds.bundles import opened
from memsvc.sources.kinds.document_files import format_of, limits_of
from tests.documents import texts

PAGE = Path(__file__).parents[2] / "docs" / "documents.md"
FORMAT, READER = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
SCORE = "SCORE 1\nTITLE Fugue\nPART Theme\nTwo bars of oboe.\n"
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a package with a format where this process, and those that read documents, find packages."""
    folder = tmp_path / "packages"
    modules = ("my_scores", "my_scores_reader")

    def installed(format_: str = FORMAT, reader: str = READER, name: str = "score", what: str = "SCORE") -> None:
        about = folder / "scores-1.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: scores\nVersion: 1\n")
        (about / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\n{name} = my_scores:{what}\n")
        for module, text in zip(modules, (format_, reader), strict=True):
            (folder / f"{module}.py").write_text(text)
        monkeypatch.syspath_prepend(folder)
        start = subprocess.Popen

        @functools.wraps(start)
        def found_too(*arguments: object, env: dict[str, str], **more: object) -> object:
            return start(*arguments, env=env | {"PYTHONPATH": f"{folder}{os.pathsep}{env['PYTHONPATH']}"}, **more)  # type: ignore[call-overload]

        monkeypatch.setattr(subprocess, "Popen", found_too)
        parsing.close()
        catalogue.catalogue.cache_clear()

    yield installed
    parsing.close()
    catalogue.catalogue.cache_clear()
    for module in modules:
        sys.modules.pop(module, None)


@pytest.fixture
def score(tmp_path: Path) -> Path:
    path = tmp_path / "fugue.txt"
    path.write_text(SCORE)
    return path


def test_the_format_of_the_docs_is_read_like_ours(install: Install, score: Path) -> None:
    install()
    with opened(score, sys.stdin.buffer) as bundle:
        found = format_of(bundle)
    assert found is not None
    assert found.name == "score"
    assert "my_scores_reader" not in sys.modules, "the service imports no reader"
    read = parse(score, "fugue.txt")
    assert (read.format, read.title, texts(read)) == ("score", "Fugue", "Two bars of oboe.")
    assert (read.chunks[0].headings, read.chunks[0].origin) == (("Theme",), {"line": 4})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"format_": "import nowhere"}, "raises ModuleNotFoundError"), ({"what": "ABSENT"}, "raises AttributeError"),
        ({"format_": "SCORE = 1"}, "no memsvc.documents.catalogue.Format"),
        ({"name": "other"}, "calls itself 'score'"), ({"name": "pdf"}, "calls itself"),
        ({"format_": FORMAT.replace('name="score"', 'name="pdf"'), "name": "pdf"}, "'pdf' is also of the format 'pdf'"),
        ({"format_": FORMAT.replace('("score",)', '("docm",)')}, "'docm' is also of the format 'docx'"),
        ({"format_": FORMAT.replace("SCORE 1\\n", "PK")}, "less than 4 bytes"),
    ],
)  # fmt: skip
def test_a_format_that_cannot_be_used_is_named_with_its_package(
    install: Install, score: Path, change: dict[str, str], why: str
) -> None:
    install(**change)
    with pytest.raises(ConfigurationError, match=re.escape(why)) as raised:
        document(score, "fugue.txt", Limits())
    assert "my_scores:" in raised.value.advice


def test_a_reader_that_cannot_be_loaded_is_named(install: Install, score: Path) -> None:
    install(reader="import nowhere")
    with pytest.raises(ConfigurationError, match=r"a score files cannot be read: loading my_scores_reader\.read"):
        parse(score, "fugue.txt")


def test_every_built_in_format_is_its_entry_point() -> None:
    formats = {one.name: one for one in vars(built_in).values() if isinstance(one, Format)}
    assert {point.name: point.load() for point in BUILT_IN} == formats
    for one in formats.values():
        assert callable(importlib.import_module(one.reader).read)


def test_settings_are_the_limits_of_a_document() -> None:
    defaults = Limits(window_tokens=Settings().chunk_tokens)
    assert limits_of(Settings()) == defaults
    small = Settings(
        max_document_bytes=20_000, max_document_pages=3, max_document_memory_bytes=1 << 29, document_timeout_s=2.5
    )
    assert limits_of(small) == Limits(
        window_tokens=small.chunk_tokens, file_bytes=20_000, pages=3, memory_bytes=1 << 29, seconds=2.5
    )
