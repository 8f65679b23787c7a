"""A context as plain text: each line begins with a mark of ours, so nothing that is quoted can look like one.

Headings begin with ``#``, items with ``[``, reasons with ``why:``, further lines of a turn or block with ``|``, remarks
with ``*``. What people wrote stands behind such a mark, without its line breaks and without characters that nobody sees
(``memsvc.text.characters``).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

from memsvc.recall.items import OF_NODES, TITLES, Group, Item, SectionName
from memsvc.recall.times_in_words import age, clock, day
from memsvc.text.characters import flat, plain_lines
from memsvc.text.fence import Form


class TextRenderer:
    """Plain text."""

    form: ClassVar[Form] = "lines"

    def __init__(self, now: datetime) -> None:
        """Ages are told as of now."""
        self._now = now

    def section(self, name: SectionName) -> str:
        """The heading of a section."""
        return f"# {TITLES[name]}"

    def group(self, group: Group) -> str:
        """The heading of what was said in one session on one day."""
        session = f", session {group.session}" if group.session else ""
        return flat(f"## {group.conversation}{session}, {self._day(group.said_at)}")

    def note(self, text: str) -> str:
        """A remark of ours; it may name what people wrote."""
        return flat(f"* {text}")

    def item(self, item: Item, *, grouped: bool) -> str:
        """One item: what, by whom and when; then why."""
        if item.kind == "turn":
            return self._turn(item)
        if item.kind == "block":
            return self._block(item)
        head = self._head(item, grouped=grouped)
        picture = f" [picture: {item.caption}]" if item.caption else ""
        said = flat(f"[{item.id}] {head}: “{item.text.strip()}”{picture}")
        return said if item.kind == "neighbour" else f"{said}\n{self._why(item)}"

    def body(self, notes: Sequence[str], sections: Sequence[tuple[str, Sequence[str]]]) -> str:
        """Remarks, then each section's heading and what stands below it."""
        return "\n".join([*notes, *(line for heading, lines in sections for line in (heading, *lines))])

    def _head(self, item: Item, *, grouped: bool) -> str:
        if item.kind in {"fact", "node"}:
            return item.validity or ("true, as far as known" if item.kind == "fact" else "instruction")
        if item.kind in OF_NODES:
            return f"{'what is known of' if item.kind == 'card' else item.kind} {item.name}".strip()
        near = "neighbour, " if item.kind == "neighbour" else ""
        if item.said_at is None:
            return f"{near}{item.speaker}"
        if grouped:
            return f"{near}{clock(item.said_at)} {item.speaker}"
        return f"{near}{self._day(item.said_at)}, {item.conversation}, {item.speaker}"

    def _turn(self, item: Item) -> str:
        moment = f"{clock(item.said_at)} " if item.said_at else ""
        picture = f" [picture: {item.caption}]" if item.caption else ""
        return self._lines(f"[{item.id}] {moment}{item.speaker}:", item.text) + flat(picture)

    def _block(self, item: Item) -> str:
        return f"{self._lines(f'[{item.id}] {item.name}:', item.text)}\n{self._why(item)}"

    @staticmethod
    def _lines(begin: str, text: str) -> str:
        first, *rest = plain_lines(text).split("\n")
        return "\n".join([f"{flat(begin)} {first}", *(f"  | {line}" for line in rest)])

    @staticmethod
    def _why(item: Item) -> str:
        rests = f" (from {', '.join(item.sources)})" if item.sources else ""
        return f"  {flat(f'why: {item.why}{rests}')}"

    def _day(self, moment: datetime) -> str:
        return f"{day(moment)} ({age(moment, self._now)})"
