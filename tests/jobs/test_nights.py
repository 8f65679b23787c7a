"""Whole nights over every task of the registry: killed anywhere, without news, with bad models, erasures and clocks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from memsvc.access.users import add_user
from memsvc.erasing.memories import erase
from memsvc.errors import DatabaseUnavailableError
from memsvc.sleep import duplicates, forgetting, registry, runs, summaries
from memsvc.sleep.runs import list_runs
from memsvc.sleep.tasks import Page
from tests.fakes.chat_server import ChatServer, Dies, Hangs, Say, Step, serving
from tests.jobs.nights import AGREEING, Deadly, every_row, fill, left, night, traces_of, wide_awake
from tests.jobs.reading import Desk
from tests.jobs.test_forgetting import pass_days
from tests.jobs.test_summaries import DAYS

pytestmark = pytest.mark.slow
IDLE = frozenset({"promotion", "links", "aliases"})
"""Tasks that find nothing in this memory yet: what gives them work belongs into ``fill``."""
WAITED_S, MOST_CALLS, SUMMARIES = 60.0, 40, 5
"""Of a night with a model that cannot be used: the most that it takes and calls, and the summaries that it writes."""


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """More pages, so that a night can stop between more of them; and a model is not waited for."""
    for module, name, size in ((duplicates, "COMPARED", 4), (summaries, "AT_ONCE", 4), (forgetting, "READ", 12)):
        monkeypatch.setattr(module, name, size)
    monkeypatch.setattr("memsvc.llm.chat.PAUSE_S", (0.0, 0.01))


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """A model that says yes to everything."""
    with serving(ChatServer(otherwise=AGREEING)) as served:
        yield served


@pytest.fixture
async def full(desk: Desk) -> Desk:
    """A memory with work for each task."""
    await fill(desk)
    return desk


@pytest.fixture
async def twin(desk: Desk, app: UUID) -> Desk:
    """Another user with the same memory."""
    made = await add_user(desk.db, app, name="Ada", external_id=f"twin-{uuid4()}", aliases=["AL"])
    same = replace(desk, owner=made.owner)
    await fill(same)
    return same


async def test_every_task_has_work_here_and_a_second_night_writes_nothing(full: Desk, server: ChatServer) -> None:
    settings = wide_awake(full.settings, server.url)
    await night(full, settings)
    found = {run.task: run for run in await list_runs(full.db, full.owner.user_id)}
    assert {name for name in registry.offers() if name not in found or not found[name].applied} == IDLE
    assert {run.error_code for run in found.values()} == {None}
    before, asked = every_row(full.admin, full.owner), len(server)
    for _ in range(2):
        await night(full, settings)
        assert every_row(full.admin, full.owner) == before
    assert len(server) == asked, "a model was asked without news"


async def test_a_night_that_is_killed_before_every_statement_ends_as_one_that_was_not(
    full: Desk, twin: Desk, server: ChatServer
) -> None:
    settings = wide_awake(full.settings, server.url)
    await night(twin, settings)
    deadly, point, reached = Deadly(full.db, full.admin), 1, None
    while True:
        with deadly.at(point), suppress(DatabaseUnavailableError):
            await night(full, settings)
        if deadly.left > 0:
            break
        now = full.rows("SELECT task, state, applied, proposed FROM memsvc.sleep_runs WHERE user_id = %s")
        point, reached = (1, now) if now != reached else (point + 1, reached)
    assert len(deadly.killed) > 20
    (rows, texts), (other_rows, other_texts) = left(full.admin, full.owner), left(twin.admin, twin.owner)
    assert set(texts) ^ set(other_texts) == set()
    assert {table: (rows[table], other_rows[table]) for table in rows if rows[table] != other_rows[table]} == {}
    assert texts == other_texts


INVENTED = "Zorblax bought 99871 llamas."
BAD: dict[str, Step] = {
    "nonsense": Say("zorblax zorblax 99871"),
    "invents names": Say(
        '{"lines": [{"text": "' + INVENTED + '", "sources": [0]}], '
        '"facts": [{"number": 0, "verdict": "yes", "why": null, "quote": "' + INVENTED + '"}]}'
    ),
    "breaks off": Dies(),
    "never answers": Hangs(),
}


@pytest.mark.parametrize("how", BAD)
async def test_a_model_that_cannot_be_used_leaves_what_a_night_without_one_leaves(
    full: Desk, server: ChatServer, how: str
) -> None:
    server.otherwise = BAD[how]
    settings = wide_awake(full.settings, server.url).model_copy(update={"llm_timeout_s": 0.3})
    began = time.monotonic()
    await night(full, settings)
    assert time.monotonic() - began < WAITED_S
    assert traces_of(full.admin, full.owner, "Zorblax") == traces_of(full.admin, full.owner, "99871") == []
    done = await list_runs(full.db, full.owner.user_id)
    assert "open" not in {run.state for run in done}
    assert {run.error_code for run in done} <= {None, "llm", "llm_answer", "llm_slow"}
    calls = full.rows("SELECT count(*) FROM memsvc.model_calls WHERE user_id = %s")[0][0]
    assert 0 < calls <= MOST_CALLS
    summaries_of = "SELECT count(*) FROM memsvc.node_versions WHERE user_id = %s AND type = 'Summary'"
    assert full.rows(summaries_of)[0][0] == SUMMARIES, "people's own words stand"


async def test_what_is_erased_while_a_page_waits_to_be_applied_leaves_no_trace(
    full: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, erased, apply = wide_awake(full.settings), list[str](), runs.Writer.apply
    said = [text for texts in DAYS.values() for text in texts[:2]]
    asked = "SELECT passage_id FROM memsvc.passages WHERE user_id = %s AND kind = 'message' AND text = %s"

    async def erasing(self: Any, page: Page, *, seconds: float) -> None:
        if said:
            [(passage,)] = full.admin.execute(asked, [full.owner.user_id, said[0]]).fetchall()
            await erase(full.db, full.owner, "message", passage, requested_by="cli")
            erased.append(said.pop(0))
        await apply(self, page, seconds=seconds)

    with monkeypatch.context() as patched:
        patched.setattr(runs.Writer, "apply", erasing)
        await night(full, settings)
    for _ in range(2):
        assert [text for text in erased if traces_of(full.admin, full.owner, text[:30])] == []
        await night(full, settings)
    assert len(erased) == 2 * len(DAYS)
    assert {run.error_code for run in await list_runs(full.db, full.owner.user_id)} <= {None, "passage_unknown"}
    before = every_row(full.admin, full.owner)
    await night(full, settings)
    assert every_row(full.admin, full.owner) == before


@pytest.mark.parametrize("days", [4_000, -400])
async def test_a_clock_that_jumps_loses_nothing_and_the_night_after_is_quiet(full: Desk, days: int) -> None:
    settings = wide_awake(full.settings)
    messages = "SELECT text FROM memsvc.passages WHERE user_id = %s AND kind = 'message' ORDER BY 1"
    said = full.rows(messages)
    pass_days(full.admin, full.owner, days)
    await night(full, settings)
    assert {run.error_code for run in await list_runs(full.db, full.owner.user_id)} == {None}
    archived = full.rows("SELECT count(*) FROM memsvc.passages WHERE user_id = %s AND archived_at IS NOT NULL")[0][0]
    assert archived == 0 if days < 0 else archived <= forgetting.AT_LEAST
    pass_days(full.admin, full.owner, -days)
    for _ in range(2):
        await night(full, settings)
        before = every_row(full.admin, full.owner)
    await night(full, settings)
    assert every_row(full.admin, full.owner) == before
    assert full.rows(messages) == said
