"""Packs items into one block under a token budget; no database, no clock.

The budget is spent in this order: the last turns (newest first, up to half of it), the profile, core items and
instructions (up to a quarter, and up to 40 % where last turns take little), what is salient (up to 15 %), then all that
is left for recalled memories, best first, and last for their neighbours. What does not fit is left out, and a shorter
one behind it may still fit. Recalled memories end before the budget does where the next ones are unlikely to tell
anything that matters: they lie too many points of the learnt order behind the best. Of two that say nearly the same,
the better one is given. In the end the whole block is counted, for a tokenizer may count the whole otherwise than
its pieces; while that is too much, what came last goes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import ClassVar, Literal, Protocol
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec

from memsvc.errors import BudgetTooSmallError
from memsvc.recall.items import (
    CHANCE,
    SECTIONS,
    ChatMessage,
    Format,
    Group,
    Item,
    Section,
    SectionName,
    Why,
    group_of,
    memory_item,
    plain_item,
)
from memsvc.recall.render_json import JsonRenderer
from memsvc.recall.render_markdown import MarkdownRenderer
from memsvc.recall.render_text import TextRenderer
from memsvc.recall.results import Memory
from memsvc.recall.sameness import Said, asks_at_its_end
from memsvc.recall.shortening import shortened
from memsvc.text.characters import flat
from memsvc.text.fence import Form, fenced, new_token
from memsvc.text.tokens import Tokenizer

NOTHING = "No memory matches."
SALIENT_CHARS = 120
"""Of what nobody asked for: enough to be reminded; its id opens the rest."""
RECENT_SHARE, CORE_SHARE, SALIENT_SHARE = 0.5, 0.25, 0.15
CORE_SHARE_ALONE = 0.4
"""Where there are no last turns: so a block of usual length fits the usual budget whole."""
LEAST_CHARS = 40
"""Of a line that is cut."""
MOST_WORDS_OF_AN_ANSWER = 12
"""Who answers in more words says by them what was asked."""
MOST_MISSED = 50
"""So many memories in turn may find no room before no further one is tried."""
GroupBy = Literal["conversation", "none"]
Turn = tuple[UUID | None, str, int]


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

    def body(self, notes: Sequence[str], sections: Sequence[tuple[str, Sequence[str]]]) -> str:
        """All of it, without the fences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What may go into a block; every list in the order in which it should get room."""

    memories: Sequence[Memory] = ()
    """Recalled, best first."""
    recent: Sequence[Item] = ()
    """Last turns, newest first."""
    profile: Sequence[Item] = ()
    core: Sequence[Item] = ()
    instructions: Sequence[Item] = ()
    salient: Sequence[Item] = ()
    """What is salient, and last the chance find; more than there is room for."""
    most_salient: int = 3
    neighbours: dict[UUID, list[Item]] = field(default_factory=dict)
    """The turns before and after a memory, by its id."""
    notes: Sequence[str] = ()
    """Remarks on top, while there is room."""
    asked: bool = True
    """Memories were asked for."""
    worth: float | None = None
    """Points behind the best memory from which on none is given any more; None: any."""

    def is_worth(self, memory: Memory) -> bool:
        """Whether a recalled memory may tell something that matters."""
        return self.worth is None or self.memories[0].score - memory.score <= self.worth

    def characters(self) -> int:
        """How much there is to count, whatever fits in the end."""
        lists = (self.recent, self.profile, self.core, self.instructions, self.salient, *self.neighbours.values())
        items: Iterator[Memory | Item] = chain(self.memories, *lists)
        return sum(len(item.text) + len(item.caption or "") for item in items)


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A block and what is in it."""

    text: str
    messages: list[ChatMessage]
    tokens: int
    sections: list[Section]
    memories: list[Memory]
    repeated: int
    """Memories that are among the last turns and do not come again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packer:
    """How to pack."""

    tokenizer: Tokenizer
    budget_tokens: int
    now: datetime
    zone: ZoneInfo
    format: Format = "text"
    group_by: GroupBy = "conversation"
    chars: int | None = None
    """Longest text of a recalled or salient message; None: any."""
    why: Why = "full"
    """How much of the reasons is told."""
    all_around: bool = True
    """All neighbours, where the budget allows; else only what a message answers, and what answers it."""

    def pack(self, material: Material) -> Packed:
        """Fill the budget.

        Raises:
            BudgetTooSmallError: not even an empty block fits.
        """
        block = _Block(self)
        block.fallback = [block.renderer.note(_remark(material))]
        _, least = block.measured()
        if least > self.budget_tokens:
            raise BudgetTooSmallError(
                f"An empty block takes {least:,} tokens; {self.budget_tokens:,} are given.",
                field="budget_tokens",
                least=least,
            )
        block.used = least
        block.remark(material.notes)
        repeated = self._fill(block, material)
        text, tokens = block.settled()
        kept = {entry.item.memory_id for entry in block.entries if entry.recalled}
        return Packed(
            text=text,
            messages=block.messages(text),
            tokens=tokens,
            sections=block.sections(),
            memories=[memory for memory in material.memories if memory.memory_id in kept],
            repeated=repeated,
        )

    def _fill(self, block: _Block, material: Material) -> int:
        budget = self.budget_tokens
        turns: set[Turn] = set()
        for turn in material.recent:  # without a gap: a turn that does not fit ends them
            if not block.add("recent", turn, RECENT_SHARE * budget):
                break
            turns.add(_turn(turn))
        free = CORE_SHARE + CORE_SHARE_ALONE - block.used / budget
        most = block.used + max(CORE_SHARE, min(CORE_SHARE_ALONE, free)) * budget
        self._profile(block, material, most)
        for item in material.core:
            block.add("core", item, most)
        for item in material.instructions:
            block.add("instructions", item, most)
        self._unasked(block, material, turns)
        return self._recalled(block, material, turns)

    @staticmethod
    def _profile(block: _Block, material: Material, most: float) -> None:
        """Whole blocks where they fit; of one that does not its first lines that do, or words of the first."""
        for item in material.profile:
            if block.add("profile", item, most):
                continue
            lines = item.text.split("\n")

            def too_long(number: int, item: Item = item, lines: list[str] = lines) -> bool:
                return not block.fits("profile", _begin_of(item, lines, number), most)

            def too_wide(chars: int, item: Item = item, line: str = lines[0]) -> bool:
                return not block.fits("profile", _words_of(item, line, chars), most)

            if fitting := bisect_left(range(1, len(lines)), True, key=too_long):
                block.add("profile", _begin_of(item, lines, fitting), most)
            elif fitting := bisect_left(range(LEAST_CHARS, len(lines[0])), True, key=too_wide):
                block.add("profile", _words_of(item, lines[0], LEAST_CHARS + fitting - 1), most)

    def _unasked(self, block: _Block, material: Material, turns: set[Turn]) -> None:
        most = block.used + SALIENT_SHARE * self.budget_tokens
        taken = {one for memory in material.memories for one in (memory.memory_id, *memory.repeats)}
        minded = 0
        for item in material.salient:
            chance = item.why.startswith(CHANCE)
            if item.memory_id in taken or (item.kind != "fact" and _turn(item) in turns):
                continue
            wanted = chance or minded < material.most_salient
            brief = _shortened(item, (), min(self.chars or SALIENT_CHARS, SALIENT_CHARS))
            if wanted and block.add("salient", brief, most, order=(len(taken), 0)):
                minded += not chance
                taken.add(item.memory_id)

    def _recalled(self, block: _Block, material: Material, turns: set[Turn]) -> int:
        chosen: list[tuple[int, Item]] = []
        said = Said()
        new = missed = 0
        for rank, memory in enumerate(material.memories):
            if memory.node_id in block.shown:  # an instruction that stands there
                continue
            item = self._brief(memory_item(memory, self.now, self.zone), memory.matched)
            if item.kind != "fact" and _turn(item) in turns:
                continue
            new += 1
            if missed >= MOST_MISSED or not material.is_worth(memory) or said.has(item.speaker, item.text):
                continue
            section: SectionName = "facts" if item.kind == "fact" else "memories"
            if block.add(section, item, self.budget_tokens, recalled=True, order=(rank, 0)):
                chosen.append((rank, item))
                said.add(item.speaker, item.text)
                block.shown.update(memory.repeats)
                missed = 0
            else:
                missed += 1
        if chosen or (material.asked and material.memories and not new):
            block.fallback = []
        for rank, item in chosen:
            around = _nearest(item, material.neighbours.get(item.memory_id, ()))
            for step, near in around if self.all_around else _needed(item, around):
                if near.memory_id not in block.shown and _turn(near) not in turns:
                    block.add("memories", near, self.budget_tokens, order=(rank, step))
        return len(material.memories) - new

    def _brief(self, item: Item, words: Sequence[str]) -> Item:
        """A message, or a block of the archive, as short as is wanted; facts are short as they are."""
        return item if self.chars is None or item.kind == "fact" else _shortened(item, words, self.chars)


def _shortened(item: Item, words: Sequence[str], chars: int) -> Item:
    """An item whose text and caption have so many characters at most."""
    caption = None if item.caption is None else shortened(item.caption, words, chars)
    return msgspec.structs.replace(item, text=shortened(item.text, words, chars), caption=caption)


def _nearest(item: Item, neighbours: Sequence[Item]) -> list[tuple[int, Item]]:
    """What stands around an item, the nearest first: with how many steps behind it (below 0: before it)."""
    before = [near for near in neighbours if _order_of(near) < _order_of(item)]
    after = [near for near in neighbours if _order_of(near) > _order_of(item)]
    steps = [*((-step, near) for step, near in enumerate(reversed(before), 1)), *enumerate(after, 1)]
    return sorted(steps, key=lambda one: abs(one[0]))


def _needed(item: Item, around: Sequence[tuple[int, Item]]) -> Iterator[tuple[int, Item]]:
    """Of what stands around an item that without which it cannot be read: what it answers, and what answers it."""
    brief = len(item.text.split()) <= MOST_WORDS_OF_AN_ANSWER
    for step, near in around:
        if (step == -1 and brief and asks_at_its_end(near.text)) or (step == 1 and asks_at_its_end(item.text)):
            yield step, near


def _begin_of(item: Item, lines: Sequence[str], number: int) -> Item:
    """An item with its first lines alone."""
    return msgspec.structs.replace(item, text="\n".join(lines[:number]) + " …")


def _words_of(item: Item, line: str, chars: int) -> Item:
    """An item with the first words of its first line alone."""
    return msgspec.structs.replace(item, text=shortened(line, (), chars))


def _remark(material: Material) -> str:
    """What a block without memories says."""
    match len(material.memories):
        case 0:
            return NOTHING if material.asked else "No memory was asked for."
        case 1:
            return "One memory matches, but it does not fit the budget."
        case known:
            return f"{known} memories match, but none fits the budget."


@dataclass(slots=True)
class _Entry:
    section: SectionName
    item: Item
    group: Group | None
    piece: str
    recalled: bool
    order: tuple[int, int]


class _Block:
    """A block while it is filled: ``used`` is the sum of its pieces, which guides; the whole is measured in the end."""

    def __init__(self, packer: Packer) -> None:
        self.packer = packer
        self.renderer: Renderer
        match packer.format:
            case "json":
                self.renderer = JsonRenderer(packer.why)
            case "markdown":
                self.renderer = MarkdownRenderer(packer.now, packer.why)
            case _:
                self.renderer = TextRenderer(packer.now, packer.why)
        self.entries: list[_Entry] = []
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
        return self.used + cost <= min(most, self.packer.budget_tokens)

    def _weighed(
        self, section: SectionName, item: Item, *, recalled: bool = False, order: tuple[int, int] = (0, 0)
    ) -> tuple[_Entry, set[tuple[SectionName, Group | None]], int]:
        """An item as it would stand in the block, the headings that it would bring, and what all of it takes."""
        count = self.packer.tokenizer.count
        item = plain_item(item)
        chat = section == "recent" and self.packer.format == "messages"
        grouped = section == "recent" or (section == "memories" and self.packer.group_by == "conversation")
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
        return _Entry(section, item, group, piece, recalled, order), headings, cost

    def remark(self, notes: Sequence[str]) -> None:
        """Add remarks while there is room."""
        for text in notes:
            note = self.renderer.note(text)
            cost = self.packer.tokenizer.count(f"{note}\n")
            if self.used + cost <= self.packer.budget_tokens:
                self.notes.append(note)
                self.used += cost

    def settled(self) -> tuple[str, int]:
        """The block within the budget, and what it takes: what came last goes, twice as many each time."""
        drop = 1
        text, tokens = self.measured()
        while tokens > self.packer.budget_tokens and (self.entries or self.notes):
            if self.entries:
                del self.entries[-drop:]
                drop *= 2
            else:
                self.notes = []
            text, tokens = self.measured()
        return text, tokens

    def measured(self) -> tuple[str, int]:
        """The block as it is, and what all of it takes."""
        count, text = self.packer.tokenizer.count, self._text()
        return text, count(text) + sum(count(message.content) for message in self._turns())

    def messages(self, text: str) -> list[ChatMessage]:
        """The block and the last turns, for the format messages."""
        if self.packer.format != "messages":
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
        if self.packer.format != "messages":
            return []
        return [_chat_message(entry.item) for entry in self._ordered("recent")]

    def _text(self) -> str:
        shown = [name for name in SECTIONS if name != "recent" or self.packer.format != "messages"]
        parts = [
            (self.renderer.section(name), self._lines(entries)) for name in shown if (entries := self._ordered(name))
        ]
        body = self.renderer.body([*self.notes, *(() if self._has_memories() else self.fallback)], parts)
        if self.token in body:
            self.token = new_token(body)
        return fenced(body, self.renderer.form, self.token)

    def _has_memories(self) -> bool:
        return any(entry.recalled for entry in self.entries)

    def _lines(self, entries: Sequence[_Entry]) -> list[str]:
        lines: list[str] = []
        group = None
        for entry in entries:
            if entry.group is not None and entry.group != group:
                lines.append(self.renderer.group(entry.group))
                group = entry.group
            lines.append(entry.piece)
        return lines

    def _ordered(self, name: SectionName) -> list[_Entry]:
        """Groups in the order in which they began, each in the order of what was said; else as it was added."""
        entries = [entry for entry in self.entries if entry.section == name]
        if name == "recent":
            return entries[::-1]
        began: dict[Group | None, int] = {}
        for place, entry in enumerate(entries):
            began.setdefault(entry.group, place)
        return sorted(entries, key=lambda entry: (began[entry.group], *_order(entry)))


def _order(entry: _Entry) -> tuple[int, int]:
    return _order_of(entry.item) if entry.group is not None else entry.order


def _order_of(item: Item) -> tuple[int, int]:
    """Its place in the session."""
    return (item.ordinal, item.part)


def _turn(item: Item) -> Turn:
    return (item.conversation_id, item.session, item.ordinal)


def _chat_message(item: Item) -> ChatMessage:
    """A turn as chat models take it; who is neither the user nor the assistant is named."""
    text = f"{item.text}\n[picture: {item.caption}]".strip() if item.caption else item.text
    if item.role == "assistant":
        return ChatMessage(role="assistant", content=text)
    named = item.role != "user" and item.speaker
    return ChatMessage(role="user", content=f"{flat(item.speaker)}: {text}" if named else text)
