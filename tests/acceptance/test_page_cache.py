"""How much of its pages the embedded server keeps in memory."""

from __future__ import annotations

import os
import resource
from typing import TYPE_CHECKING

import pytest

from memsvc.errors import EmbeddedServerError
from memsvc.server import embedded
from memsvc.settings import Settings
from tests.acceptance.test_embedded import ask, folder_for_all

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.acceptance


@pytest.fixture
def data() -> Iterator[Path]:
    with folder_for_all() as base:
        yield base / "data"


def test_a_quarter_of_the_memory_is_for_its_pages(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(embedded, "MEMORY_LIMITS", (str(tmp_path / "none"), str(limit)))
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 4 * 2**30 // 4096}.__getitem__)
    wanted = {"max\n": 1_024, str(2 * 2**30): 512, str(2**20): 128, str(2**62): 1_024}
    for told, megabytes in wanted.items():
        limit.write_text(told)
        assert embedded.page_cache_mb() == megabytes
    limit.write_text(str(800 * 2**20))
    with embedded.running(data) as server:
        assert ask(server, "SHOW shared_buffers") == "200MB"
    with embedded.running(data, options=Settings(page_cache_mb=160).embedded_options) as server:
        assert ask(server, "SHOW shared_buffers") == "160MB"


def test_a_page_cache_beyond_the_memory_is_called_so(data: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (2**40, hard))  # some systems promise any amount
    try:
        with (
            pytest.raises(EmbeddedServerError, match="could not map anonymous shared memory") as failed,
            embedded.running(data, options={"shared_buffers": "8000GB"}),
        ):
            pass
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    assert failed.value.advice == "Set MEMSVC_PAGE_CACHE_MB to less."
