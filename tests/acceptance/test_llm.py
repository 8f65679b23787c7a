"""``memsvc llm`` as people run it: against a server that answers, and on a database with calls."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from tests.acceptance.killpoints import Rig
from tests.fakes.chat_server import ChatServer, Say, serving

pytestmark = pytest.mark.acceptance
CALL = (
    "INSERT INTO memsvc.model_calls "
    "(user_id, task, model, prompt_version, outcome, tokens_in, tokens_out, ms, cost, tries) "
    "VALUES (%s, 'facts', 'm-1', '1', %s, 900, 100, 1500, 0.002, 1)"
)
MADE = "SELECT memsvc.create_user(memsvc.ensure_app('spent'), %s, 'Somebody', 'UTC', 'english')"


def test_a_model_is_checked_without_a_database(rig: Rig) -> None:
    with serving(ChatServer(otherwise=Say('{"capital": "Lisbon"}'))) as server:
        told = rig.ok(
            "llm", "check", llm_url=server.url, llm_model="m-1", database_url="postgresql://nobody@127.0.0.1:1/x"
        )
    assert told.startswith(f"m-1 at {server.url} answers: first token after ")
    assert "90 tokens in, 10 out." in told
    assert "It accepts a strict JSON schema. The answer matched the schema." in told


def test_what_was_spent_is_shown_by_day_and_task(rig: Rig) -> None:
    with rig.admin() as admin:
        for name, *outcomes in (("ada", "answered", "unusable"), ("bob", "answered")):
            made = admin.execute(MADE, [name]).fetchone()
            assert made is not None
            for outcome in outcomes:
                admin.execute(CALL, [made[0], outcome])
        today = f"{datetime.now(UTC):%Y-%m-%d}"
        (spent,) = json.loads(rig.ok("llm", "calls", "--json"))
        assert spent == {
            "day": today, "task": "facts", "model": "m-1", "calls": 3, "answered": 2, "tokens_in": 2700,
            "tokens_out": 300, "ms": 4500, "cost": "0.006",
        }  # fmt: skip
        head, line = rig.ok("llm", "calls", "--user", "ada", "--app", "spent", "--days", "1").splitlines()
        assert head.split()[:4] == ["day", "task", "model", "calls"]
        assert line.split() == [today, "facts", "m-1", "2", "1", "1800", "200", "3.0", "0.004"]
