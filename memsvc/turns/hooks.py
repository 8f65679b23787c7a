"""What agents tell their hooks, as parts of turns: Claude Code, Codex and Cursor.

Claude Code and Codex call a hook when the user asks, after each tool and at the end, in one process each; Cursor does
the same under other names; Codex's ``notify`` tells a whole turn. A hook knows nothing of the one before it: which turn
is open, and how many calls it has, the database says.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memsvc.turns.draft import TurnDraft
from memsvc.turns.projects import find_project
from memsvc.turns.storing import TurnIn

BEGINS = {"UserPromptSubmit", "beforeSubmitPrompt"}
CALLS = {
    "PostToolUse", "PostToolUseFailure", "afterShellExecution", "afterFileEdit", "afterMCPExecution", "beforeReadFile",
}  # fmt: skip
ENDS = {"Stop", "stop", "SessionEnd", "sessionEnd"}
TAIL_BYTES = 2_000_000
"""Of a transcript, in which the last answer is looked for."""


SPEAKERS = {
    "claude-code": ("session_id",),
    "codex": ("thread-id", "thread_id", "session_id"),
    "cursor": ("conversation_id",),
}
"""Agents whose hooks are known, each with the fields of which one names the conversation."""


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """The open turn of a conversation."""

    id: str
    calls: int
    """The next call's number."""


def conversation_of(event: Mapping[str, Any]) -> str | None:
    """Return the conversation that a hook speaks of; None: it says none."""
    names = ("session_id", "conversation_id", "thread-id", "thread_id")
    found = (event.get(name) for name in names)
    return next((one for one in found if isinstance(one, str) and one), None)


def part_of(event: Mapping[str, Any], known: OpenTurn | None, agent: str = "") -> TurnIn | None:
    """Return the part of a turn that a hook tells; None: nothing is to be stored.

    Args:
        event: the hook's JSON.
        known: the conversation's open turn.
        agent: which agent.
    """
    conversation = conversation_of(event)
    if conversation is None:
        return None
    name = event.get("hook_event_name") or event.get("type")
    draft = TurnDraft(conversation, _options(event, known, name, agent))
    if name == "agent-turn-complete":
        asked = event.get("input-messages")
        draft.user("\n\n".join(one for one in asked if isinstance(one, str)) if isinstance(asked, list) else "")
        draft.agent(str(event.get("last-assistant-message") or ""))
        return draft.part(done=True)
    if name in BEGINS:
        draft.user(str(event.get("prompt") or ""))
        return draft.part(done=False)
    if name in CALLS:
        draft.calls = known.calls if known else 0
        tool, fields = _call(event)
        draft.add(tool, **fields)
        return draft.part(done=False)
    if name in ENDS and known is not None:
        answer = event.get("last_assistant_message") or _last_answer(event.get("transcript_path"))
        if isinstance(answer, str) and answer:
            draft.agent(answer)
        return draft.part(done=True)
    return None


def _options(event: Mapping[str, Any], known: OpenTurn | None, name: object, agent: str) -> dict[str, Any]:
    own = event.get("generation_id") or event.get("turn-id") or event.get("turn_id")
    new = secrets.token_hex(12) if name in BEGINS or known is None else known.id
    roots = event.get("workspace_roots")
    folder = event.get("cwd") or (roots[0] if isinstance(roots, list) and roots else None)
    project = find_project(folder) if isinstance(folder, str) and Path(folder).is_dir() else None
    return {"id": own if isinstance(own, str) and own else new, "agent": agent, "project": project}


def _call(event: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the tool and the fields of a call."""
    given = event.get("tool_input")
    if isinstance(event.get("command"), str):  # Cursor
        given = {"command": event["command"]}
    elif isinstance(event.get("file_path"), str):
        given = {"path": event["file_path"], **({"edits": event["edits"]} if "edits" in event else {})}
    reads = event.get("hook_event_name") == "beforeReadFile"
    tool = event.get("tool_name") or ("BASH" if "command" in event else "READ" if reads else "EDIT")
    answered = event.get("tool_response", event.get("output", event.get("error")))
    answered = event.get("content") if reads else answered
    told = answered if isinstance(answered, Mapping) else {}
    code = told.get("exit_code", told.get("exitCode"))
    ms = event.get("duration_ms", event.get("duration"))
    failed = event.get("hook_event_name") == "PostToolUseFailure" or told.get("is_error") or told.get("interrupted")
    return str(tool), {
        "arguments": given if isinstance(given, Mapping) else {},
        "result": _result(answered),
        "ok": not failed and not (isinstance(code, int) and code),
        "exit_code": code if isinstance(code, int) else None,
        "ms": round(ms) if isinstance(ms, int | float) and ms >= 0 else None,
    }


def _result(answered: object) -> str | None:
    if answered is None or isinstance(answered, str):
        return answered
    if isinstance(answered, Mapping):
        streams = [answered.get(name) for name in ("stdout", "stderr", "content", "output")]
        texts = [one for one in streams if isinstance(one, str) and one]
        if texts:
            return "\n".join(texts)
        if isinstance(file := answered.get("file"), Mapping) and isinstance(file.get("content"), str):
            return str(file["content"])
    return json.dumps(answered, ensure_ascii=False)


def _last_answer(path: object) -> str | None:
    """Return the last text of the assistant in a transcript of JSON lines; None: there is none that can be read."""
    if not isinstance(path, str):
        return None
    try:
        with Path(path).open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - TAIL_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return None
    for line in reversed(lines):
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            continue
        message = told.get("message") if isinstance(told, Mapping) and told.get("type") == "assistant" else None
        content = message.get("content") if isinstance(message, Mapping) else None
        texts = [one.get("text") for one in content if isinstance(one, Mapping)] if isinstance(content, list) else []
        if found := "\n\n".join(one for one in texts if isinstance(one, str) and one):
            return found
    return None
