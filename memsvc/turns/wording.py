"""Past work as a block of text for an agent's prompt, within a budget of tokens.

Each line begins with a mark of ours, so nothing that is quoted can look like one. What was asked, what was done and
what came out are data: the fence around the block says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from memsvc.text.characters import flat
from memsvc.text.fence import fenced
from memsvc.text.tokens import Tokenizer

REQUEST_CHARS, ANSWER_CHARS = 400, 700
NOTHING_NEAR = "* Nothing that was done before clearly fits this. The nearest:"
MOST_CALLS = 12
"""Of a turn: the failures, then the first ones."""


class Called(Protocol):
    """What the block needs of a call."""

    @property
    def number(self) -> int:
        """Its place in the turn."""

    @property
    def told(self) -> str:
        """What it did, in a line."""

    @property
    def ok(self) -> bool:
        """It worked."""

    @property
    def document_id(self) -> UUID | None:
        """What it touched."""


class Touched(Protocol):
    """What the block needs of a document."""

    @property
    def document(self) -> str:
        """Its name."""

    @property
    def version(self) -> int | None:
        """The last one that the turn saw or wrote."""

    @property
    def current_version(self) -> int | None:
        """The last one."""


class Turn(Protocol):
    """What the block needs of a turn."""

    @property
    def at(self) -> datetime:
        """When the user asked."""

    @property
    def project(self) -> str | None:
        """Where."""

    @property
    def done(self) -> bool:
        """It was committed."""

    @property
    def request(self) -> str:
        """What was asked."""

    @property
    def answer(self) -> str | None:
        """What came out."""

    @property
    def calls(self) -> Sequence[Called]:
        """What was done."""

    @property
    def documents(self) -> Sequence[Touched]:
        """To what."""


def packed(turns: Sequence[Turn], budget: int, tokens: Tokenizer, *, relevant: bool = True) -> str:
    """Return the block; empty if there are no turns, or not even the first fits in short form.

    A turn that does not fit is told without what was done that did not fail; the first one that does not fit even so
    ends the block. If nothing is relevant, a remark comes first.
    """
    body: list[str] = ["# Past work"] if relevant else ["# Past work", NOTHING_NEAR]
    begun = len(body)
    for turn in turns:
        for brief in (False, True):
            lines = list(_lines(turn, brief=brief))
            block = fenced("\n".join([*body, *lines]))
            if tokens.count(block) <= budget:
                body += lines
                break
        else:
            break
    return fenced("\n".join(body)) if len(body) > begun else ""


def staleness_told(version: int | None, current: int | None) -> str:
    """Say what became of a document since a turn: ``changed since: v3 → v13``."""
    if version is None or current is None:
        return "version unknown"
    return f"unchanged since: v{version}" if version == current else f"changed since: v{version} → v{current}"


def _lines(turn: Turn, *, brief: bool) -> Iterator[str]:
    project = f", {turn.project}" if turn.project else ""
    yield flat(f"## {turn.at:%Y-%m-%d %H:%M}{project}")
    yield flat(f"asked: “{_short(turn.request, REQUEST_CHARS)}”")
    shown = sorted(turn.calls, key=lambda call: (call.ok, call.number))[:MOST_CALLS]
    chosen = [call for call in turn.calls if call in shown and not (brief and call.ok)]
    for call in chosen:
        yield flat(f"- {call.told}")
    if len(chosen) < len(turn.calls):
        yield f"* {len(turn.calls) - len(chosen)} more calls"
    if turn.answer:
        yield flat(f"answer: “{_short(turn.answer, ANSWER_CHARS)}”")
    elif not turn.done:
        yield "* It has not ended."
    stale = [one for one in turn.documents if one.version != one.current_version]
    for one in stale if brief else turn.documents:
        yield flat(f"* {one.document}: {staleness_told(one.version, one.current_version)}")


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
