"""A context block while it is filled: what stands in it, what it costs, and its text.

How it is filled: ``memsvc.recall.packing``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal, Protocol
from uuid import UUID

import msgspec

from memsvc.recall.items import (
    SECTIONS,
    ChatMessage,
    Format,
    Group,
    Item,
    Section,
    SectionName,
    Why,
    group_of,
    plain_item,
)
from memsvc.recall.render_json import JsonRenderer
from memsvc.recall.render_markdown import MarkdownRenderer
from memsvc.recall.render_text import TextRenderer
from memsvc.text.characters import flat
from memsvc.text.fence import Form, fenced, new_token, with_rules
from memsvc.text.tokens import Tokenizer

GroupBy = Literal["conversation", "none"]
Turn = tuple[UUID | None, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a block looks like, and how much fits."""

    tokenizer: Tokenizer
    budget_tokens: int
    now: datetime
    format: Format = "text"
    group_by: GroupBy = "none"
    why: Why = "full"
    """How much of the reasons is told."""


class Renderer(Protocol):
    """Turns items into a format."""

    form: ClassVar[Form]

    def section(self, name: SectionName) -> str:
        """The heading of a section."""

    def group(self, group: Group) -> str:
        """The heading of what was said in one session on one day; may be empty."""

    def note(self, text: str) -> str:
        """A remark."""

    def item(self, item: Item, *, grouped: bool) -> str:
        """One item; grouped: it stands under such a heading."""

    def rule(self, item: Item) -> str:
        """A rule that the user set."""

    def rules(self, rules: Sequence[str]) -> str:
        """All rules, without their fences."""

    def body(self, notes: Sequence[str], sections: Sequence[tuple[str, Sequence[str]]]) -> str:
        """All of it, without the fences."""


@dataclass(slots=True)
class Entry:
    """An item in it."""

    section: SectionName
    item: Item
    group: Group | None
    piece: str
    recalled: bool
    order: tuple[int, int]


class Block:
    """A block while it is filled: ``used`` is the sum of its pieces, which guides; the whole is measured in the end."""

    def __init__(self, shape: Shape) -> None:
        """Nothing stands in it yet."""
        self.shape = shape
        self.renderer: Renderer
        match shape.format:
            case "json":
                self.renderer = JsonRenderer(shape.why)
            case "markdown":
                self.renderer = MarkdownRenderer(shape.now, shape.why)
            case _:
                self.renderer = TextRenderer(shape.now, shape.why)
        self.entries: list[Entry] = []
        self.shown: set[UUID] = set()
        """Ids of what is in it, and of what says the same in the same words."""
        self.begun: set[tuple[SectionName, Group | None]] = set()
        self.notes: list[str] = []
        self.fallback: list[str] = []
        self.used = 0
        self.token = new_token()

    def add(
        self, section: SectionName, item: Item, most: float, *, recalled: bool = False, order: tuple[int, int] = (0, 0)
    ) -> bool:
        """Add an item, if the block then takes no more than ``most``."""
        entry, headings, cost = self._weighed(section, item, recalled=recalled, order=order)
        if not self._has_room(cost, most):
            return False
        self.begun |= headings
        self.entries.append(entry)
        self.shown.add(item.memory_id)
        self.used += cost
        return True

    def fits(self, section: SectionName, item: Item, most: float) -> bool:
        """Whether ``add`` would add it."""
        *_, cost = self._weighed(section, item)
        return self._has_room(cost, most)

    def _has_room(self, cost: int, most: float) -> bool:
        return self.used + cost <= min(most, self.shape.budget_tokens)

    def _weighed(
        self, section: SectionName, item: Item, *, recalled: bool = False, order: tuple[int, int] = (0, 0)
    ) -> tuple[Entry, set[tuple[SectionName, Group | None]], int]:
        """An item as it would stand in the block, the headings that it would bring, and what all of it takes."""
        count = self.shape.tokenizer.count
        item = plain_item(item)
        if item.rule:
            return self._weighed_rule(section, item, recalled=recalled, order=order)
        chat = section == "recent" and self.shape.format == "messages"
        grouped = section == "recent" or (section == "memories" and self.shape.group_by == "conversation")
        group = group_of(item) if grouped and not chat else None
        piece = _chat_message(item).content if chat else self.renderer.item(item, grouped=group is not None)
        item = msgspec.structs.replace(item, tokens=count(f"{piece}\n"))
        cost = item.tokens
        if self.renderer.form == "json":
            piece = self.renderer.item(item, grouped=False)
            cost = count(f"{piece},")
        headings: set[tuple[SectionName, Group | None]] = set() if chat else {(section, None), (section, group)}
        for name, begins in headings - self.begun:
            cost += count(f"{self.renderer.section(name) if begins is None else self.renderer.group(begins)}\n")
        return Entry(section, item, group, piece, recalled, order), headings, cost

    def _weighed_rule(
        self, section: SectionName, item: Item, *, recalled: bool, order: tuple[int, int]
    ) -> tuple[Entry, set[tuple[SectionName, Group | None]], int]:
        """A rule as it would stand before the quotes, and what it takes; the first one also takes the fences."""
        count = self.shape.tokenizer.count
        piece = self.renderer.rule(item)
        cost = count(f"{piece}\n")
        entry = Entry(section, msgspec.structs.replace(item, tokens=cost), None, piece, recalled, order)
        if not any(other.item.rule for other in self.entries):
            form, empty = self.renderer.form, fenced("", self.renderer.form, self.token)
            cost += count(with_rules(self.renderer.rules([]), empty, form, self.token)) - count(empty)
        return entry, set(), cost

    def remark(self, notes: Sequence[str]) -> None:
        """Add remarks while there is room."""
        for text in notes:
            note = self.renderer.note(text)
            cost = self.shape.tokenizer.count(f"{note}\n")
            if self.used + cost <= self.shape.budget_tokens:
                self.notes.append(note)
                self.used += cost

    def settled(self) -> tuple[str, int]:
        """The block within the budget, and what it takes: what came last goes, twice as many each time."""
        drop = 1
        text, tokens = self.measured()
        while tokens > self.shape.budget_tokens and (self.entries or self.notes):
            if self.entries:
                del self.entries[-drop:]
                drop *= 2
            else:
                self.notes = []
            text, tokens = self.measured()
        return text, tokens

    def measured(self) -> tuple[str, int]:
        """The block as it is, and what all of it takes."""
        count, text = self.shape.tokenizer.count, self._text()
        return text, count(text) + sum(count(message.content) for message in self._turns())

    def messages(self, text: str) -> list[ChatMessage]:
        """The block and the last turns, for the format messages."""
        if self.shape.format != "messages":
            return []
        return [ChatMessage(role="system", content=text), *self._turns()]

    def sections(self) -> list[Section]:
        """Items by section, in the block's order."""
        return [
            Section(name=name, items=[entry.item for entry in self._ordered(name)])
            for name in SECTIONS
            if any(entry.section == name for entry in self.entries)
        ]

    def _turns(self) -> list[ChatMessage]:
        if self.shape.format != "messages":
            return []
        return [_chat_message(entry.item) for entry in self._ordered("recent")]

    def _text(self) -> str:
        shown = [name for name in SECTIONS if name != "recent" or self.shape.format != "messages"]
        ordered = {name: self._ordered(name) for name in shown}
        quoted = {name: [entry for entry in entries if not entry.item.rule] for name, entries in ordered.items()}
        parts = [(self.renderer.section(name), self._lines(entries)) for name, entries in quoted.items() if entries]
        body = self.renderer.body([*self.notes, *(() if self._has_memories() else self.fallback)], parts)
        rules = [entry.piece for entries in ordered.values() for entry in entries if entry.item.rule]
        stated = self.renderer.rules(rules) if rules else ""
        if self.token in body or self.token in stated:
            self.token = new_token(f"{stated}{body}")
        block = fenced(body, self.renderer.form, self.token)
        return with_rules(stated, block, self.renderer.form, self.token) if rules else block

    def _has_memories(self) -> bool:
        return any(entry.recalled for entry in self.entries)

    def _lines(self, entries: Sequence[Entry]) -> list[str]:
        lines: list[str] = []
        group = None
        for entry in entries:
            if entry.group is not None and entry.group != group:
                lines.append(self.renderer.group(entry.group))
                group = entry.group
            lines.append(entry.piece)
        return lines

    def _ordered(self, name: SectionName) -> list[Entry]:
        """Groups in the order in which they began, each in the order of what was said; else as it was added."""
        entries = [entry for entry in self.entries if entry.section == name]
        if name == "recent":
            return entries[::-1]
        began: dict[Group | None, int] = {}
        for place, entry in enumerate(entries):
            began.setdefault(entry.group, place)
        return sorted(entries, key=lambda entry: (began[entry.group], *_order(entry)))


def _order(entry: Entry) -> tuple[int, int]:
    return order_of(entry.item) if entry.group is not None else entry.order


def order_of(item: Item) -> tuple[int, int]:
    """Its place in the session."""
    return (item.ordinal, item.part)


def turn_of(item: Item) -> Turn:
    """By which a turn is told from others, whatever item it is."""
    return (item.conversation_id, item.session, item.ordinal)


def _chat_message(item: Item) -> ChatMessage:
    """A turn as chat models take it; who is neither the user nor the assistant is named."""
    text = f"{item.text}\n[picture: {item.caption}]".strip() if item.caption else item.text
    if item.role == "assistant":
        return ChatMessage(role="assistant", content=text)
    named = item.role != "user" and item.speaker
    return ChatMessage(role="user", content=f"{flat(item.speaker)}: {text}" if named else text)
