"""A dry run reads so much and takes so long, and says so."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

import httpx
import pytest
from litestar import Litestar

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import DryRunTooLongError, DryRunTooSlowError
from memsvc.extract import registry
from memsvc.extract.preview import Said, preview
from memsvc.settings import Settings
from tests.fakes.extractors import SayingExtractor

LONGEST_S = 0.6
WORDS = "I LIVES_IN Porto. "


@pytest.fixture
def limited(api: Litestar, reading: Settings, monkeypatch: pytest.MonkeyPatch) -> SayingExtractor:
    """The extractor of an application whose dry runs are short; it takes its time for each window."""
    slow = SayingExtractor(slow_s=0.2)
    monkeypatch.setattr(registry, "load", lambda _name, _settings: slow)
    chosen = reading.model_copy(update={"dry_run_s": LONGEST_S})
    api.state["service"] = replace(api.state["service"], settings=chosen)
    return slow


async def dry_run(client: httpx.AsyncClient, **body: Any) -> httpx.Response:
    """Ask for one."""
    return await client.post("/v1/extract", params={"dry_run": True}, json=body)


async def test_a_text_that_is_too_long_is_not_read(ada: httpx.AsyncClient, limited: SayingExtractor) -> None:
    most = Settings().dry_run_chars
    for body in (
        {"text": "x" * (most + 1)},
        {"messages": [{"text": "oak " * 300} for _ in range(60)]},
        {"messages": [{"text": "oak", "speaker": "A" * most}]},
        {"messages": [{"text": "oak", "caption": "A" * most}]},
    ):
        answer = await dry_run(ada, **body)
        assert (answer.status_code, answer.json()["code"]) == (413, "dry_run_too_long")
        assert f"{most:,}" in answer.json()["detail"]
        assert "background" in answer.json()["hint"]
    assert limited.windows == []


async def test_a_text_of_the_greatest_length_is_read(
    api: Litestar, ada: httpx.AsyncClient, limited: SayingExtractor
) -> None:
    limited.slow_s = 0
    service = api.state["service"]
    patient = service.settings.model_copy(update={"dry_run_s": Settings().dry_run_s})
    api.state["service"] = replace(service, settings=patient)
    text = (WORDS * 4_000)[: Settings().dry_run_chars]
    assert (await dry_run(ada, text=text)).status_code == 200
    assert len(limited.windows) > 5


async def test_reading_that_takes_too_long_ends_in_time(ada: httpx.AsyncClient, limited: SayingExtractor) -> None:
    begun = time.monotonic()
    answer = await dry_run(ada, text=WORDS * 2_700)
    assert (answer.status_code, answer.json()["code"]) == (400, "dry_run_too_slow")
    assert f"{LONGEST_S:g} seconds" in answer.json()["detail"]
    assert time.monotonic() - begun < LONGEST_S + 2
    read = len(limited.windows)
    await asyncio.sleep(0.5)
    assert len(limited.windows) == read, "nothing goes on after the answer"
    assert (await dry_run(ada, text=WORDS)).status_code == 200


async def test_the_command_line_has_the_same_limits(db: Database, owner: Owner, settings: Settings) -> None:
    slow = SayingExtractor(slow_s=5)
    short = settings.model_copy(update={"dry_run_s": 0.1, "dry_run_chars": 1_000})
    with pytest.raises(DryRunTooSlowError):
        await preview(db, owner, [Said(text=WORDS)], slow, short)
    with pytest.raises(DryRunTooLongError, match="1,000 characters"):
        await preview(db, owner, [Said(text=WORDS * 100)], slow, short)
