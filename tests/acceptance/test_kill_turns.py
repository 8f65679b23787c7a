"""An agent that works through the drop-in door goes on after a kill: no committed turn is lost, and none is doubled."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig, assert_books_right, wait_until
from tests.fakes import upstream

pytestmark = [pytest.mark.acceptance, pytest.mark.slow]
TURNS = """
SELECT string_agg(c.told, ', ' ORDER BY c.number), bool_and(c.result_sha256 IS NOT NULL),
  bool_and(t.ended_at IS NOT NULL)
FROM memsvc.turns AS t INNER JOIN memsvc.tool_calls AS c USING (user_id, turn_id) GROUP BY t.turn_id ORDER BY t.turn_id
"""


def work(*commands: str) -> list[dict[str, Any]]:
    """What was asked, and calls with their results."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Do {commands[0]}."}]
    for number, command in enumerate(commands):
        given = json.dumps({"command": command})
        call = {"id": f"c{number}", "type": "function", "function": {"name": "bash", "arguments": given}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"{command} is done"},
        ]
    return messages


async def test_a_killed_service_loses_no_turn_of_an_agent(prepared: Path) -> None:
    async with upstream.serving() as model:
        with private_folder(prepared) as data, Rig(data, embedding_model="", chat_url=model.url, chat_model="m") as rig:
            await asyncio.to_thread(_killed, rig, model, asyncio.get_running_loop())


def _killed(rig: Rig, model: upstream.FakeUpstream, loop: asyncio.AbstractEventLoop) -> None:
    rig.ok("user", "add", "--name", "Kim")
    key = rig.ok("key", "create", "--user", "Kim", "--scope", "read", "--scope", "write").strip()
    calling = upstream.completion(None, "tool_calls", tool_calls=[{"id": "next", "type": "function"}])

    def send(messages: list[dict[str, Any]], *, answers: bool) -> str:
        model.act = upstream.says("All is done.") if answers else upstream.sends(upstream.response(calling))
        answer = httpx.post(
            f"{rig.url}/v1/chat/completions",
            json={"messages": messages},
            headers={"Authorization": f"Bearer {key}", "X-Memsvc-Session": messages[0]["content"]},
            timeout=60,
        )
        return f"{answer.status_code} {answer.headers.get('X-Memsvc-Memory')}"

    with rig.admin() as admin:

        def turns() -> list[tuple[Any, ...]]:
            return admin.execute(TURNS).fetchall()

        service = rig.serve()
        wait_until(lambda: send(work("first"), answers=True) == "200 ok", pause=1)
        send(work("second"), answers=False)
        assert turns() == [("BASH first", True, True), ("BASH second", True, False)]
        with rig.held("tool_calls") as in_the_middle:
            sending = asyncio.run_coroutine_threadsafe(
                asyncio.to_thread(_cut_off, lambda: send(work("second", "third"), answers=True)), loop
            )
            wait_until(in_the_middle)
            rig.kill(service)
        assert sending.result(60)
        rig.wait_for_backends(admin)
        first, second = turns()  # what the killed process had sent may be stored or not, but as a whole
        assert first == ("BASH first", True, True)
        assert second in {("BASH second", True, False), ("BASH second, BASH third", True, False)}
        rig.serve()
        wait_until(lambda: send(work("second", "third"), answers=True) == "200 ok", pause=1)
        assert turns() == [("BASH first", True, True), ("BASH second, BASH third", True, True)]
        _right(admin)


def _cut_off(send: Any) -> bool:
    try:
        send()
    except httpx.TransportError:
        return True
    return False


def _right(admin: psycopg.Connection) -> None:
    assert_books_right(admin)
    assert admin.execute("SELECT count(*) FROM memsvc.model_calls").fetchone() == (0,)
