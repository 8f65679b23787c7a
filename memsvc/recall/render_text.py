"""A context as plain text: each line begins with a mark of ours, so nothing that is quoted can look like one.

Headings begin with ``#``, items with ``[``, reasons with ``why:``, further lines of a turn or block with ``|``, remarks
with ``*``. What people wrote stands behind such a mark, without its line breaks and without characters that nobody sees
(``memsvc.text.characters``).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import ClassVar

from memsvc.recall.dated import without_dates
from memsvc.recall.items import TITLES, Group, Item, SectionName, Why, told
from memsvc.recall.kinds import OF_NODES
from memsvc.recall.times_in_words import age, clock, day
from memsvc.text.characters import flat, plain_lines
from memsvc.text.fence import Form

LATELY = timedelta(days=35)
"""What is older has its date alone."""
LEARNT = {"critique": "lesson", "plan": "plan", "reflection": "reflection"}
"""What kinds are called whose text says what they are about."""


class TextRenderer:
    """Plain text."""

    form: ClassVar[Form] = "lines"

    def __init__(self, now: datetime, why: Why = "full") -> None:
        """Ages are told as of now; ``why``: how much of the reasons is told."""
        self._now = now
        self._reasons = why

    def section(self, name: SectionName) -> str:
        """The heading of a section."""
        return f"# {TITLES[name]}"

    def group(self, group: Group) -> str:
        """The heading of what was said in one session on one day."""
        session = f", session {group.session}" if group.session else ""
        return flat(f"## {without_dates(f'{group.conversation}{session}')}, {self._day(group.said_at)}")

    def note(self, text: str) -> str:
        """A remark of ours; it may name what people wrote."""
        return flat(f"* {without_dates(text)}")

    def item(self, item: Item, *, grouped: bool) -> str:
        """One item: by whom, when, why, and what became of it, and behind all that the quote."""
        if item.kind == "turn":
            return self._turn(item)
        if item.kind in {"block", "summary"}:
            return self._block(item)
        head = self._head(item, grouped=grouped)
        picture = f" [picture: {without_dates(item.caption)}]" if item.caption else ""
        said = flat(f"[{item.id}] {head}: “{item.shown.strip()}”{picture}")
        return f"{said}{self._why(item)}"

    def rule(self, item: Item) -> str:
        """A rule that the user set: its category, the day, and its words, on one line of ours."""
        return flat(f"[{item.id}] {rule_origin(item)}: {item.text.strip()}")

    def rules(self, rules: Sequence[str]) -> str:
        """All rules, a line each."""
        return "\n".join(rules)

    def body(self, notes: Sequence[str], sections: Sequence[tuple[str, Sequence[str]]]) -> str:
        """Remarks, then each section's heading and what stands below it."""
        return "\n".join([*notes, *(line for heading, lines in sections for line in (heading, *lines))])

    def _head(self, item: Item, *, grouped: bool) -> str:
        """What stands before the quote."""
        brief = self._reasons != "full"
        rests = f", from {item.sources[0]}" if brief and item.sources else ""
        again = f", said {item.count} times, last on {day(item.last_said)}" if brief and item.last_said else ""
        reason = told(item, "short") if self._reasons == "short" and item.kind != "neighbour" else ""
        because = f" ({reason})" if reason else ""
        since = f"; {item.remark}" if item.remark else ""
        return without_dates(f"{self._whence(item, grouped=grouped)}{rests}{again}{because}{since}")

    def _whence(self, item: Item, *, grouped: bool) -> str:
        """When it holds, or who said it and when."""
        if item.kind in {"fact", "node"}:
            return item.validity or ("true, as far as known" if item.kind == "fact" else "instruction")
        if item.kind in LEARNT:
            return f"{LEARNT[item.kind]}, {self._day(item.said_at)}" if item.said_at else LEARNT[item.kind]
        if item.kind in OF_NODES:
            return f"{'what is known of' if item.kind == 'card' else item.kind} {item.name}".strip()
        near = "neighbour, " if item.kind == "neighbour" else f"for {item.validity}; said " if item.validity else ""
        if item.said_at is None:
            return f"{near}{item.speaker}"
        if grouped:
            return f"{near}{clock(item.said_at)} {item.speaker}"
        where = f"{item.conversation}, " if self._reasons == "full" and item.conversation else ""
        return f"{near}{self._day(item.said_at)}, {where}{item.speaker}"

    def _turn(self, item: Item) -> str:
        moment = f"{clock(item.said_at)} " if item.said_at else ""
        picture = f" [picture: {without_dates(item.caption)}]" if item.caption else ""
        return self._lines(f"[{item.id}] {moment}{without_dates(item.speaker)}:", item.shown) + flat(picture)

    def _block(self, item: Item) -> str:
        name = f"summary {item.name}" if item.kind == "summary" else item.name
        return f"{self._lines(f'[{item.id}] {without_dates(name)}:', item.shown)}{self._why(item)}"

    @staticmethod
    def _lines(begin: str, text: str) -> str:
        first, *rest = plain_lines(text).split("\n")
        return "\n".join([f"{flat(begin)} {first}", *(f"  | {line}" for line in rest)])

    def _why(self, item: Item) -> str:
        """The line of the whole reason; empty: it has none."""
        if self._reasons != "full" or item.kind == "neighbour":
            return ""
        rests = f" (from {', '.join(item.sources)})" if item.sources else ""
        return f"\n  {flat(f'why: {item.why}{rests}')}"

    def _day(self, moment: datetime) -> str:
        """The day, and how long ago it was where that is told in days or weeks."""
        near = abs(self._now - moment) < LATELY
        return f"{day(moment)} ({age(moment, self._now)})" if near else day(moment)


def rule_origin(item: Item) -> str:
    """What a rule is about, and since when the user wants it."""
    return ", ".join(filter(None, (item.validity, item.rule_since))) or "rule"
