"""Packs items into one block under a token budget; no database, no clock.

The budget is spent in this order: the last turns (newest first, up to half of it), what is to be done at the time that
the query asks for (up to 40 %), the overview that it asks for (up to 300 tokens), the profile, core items and
instructions (up to a quarter, and up to 40 % where last turns take little), what is salient (up to 15 %), then all that
is left for recalled memories, best first, and last for their neighbours. What does not fit is left out, and a shorter
one behind it may still fit. Recalled memories end before the budget does where the next ones are unlikely to tell
anything that matters: they lie too many points of the learnt order behind the best. Of two that say nearly the same,
the better one is given. In the end the whole block is counted, for a tokenizer may count the whole otherwise than
its pieces; while that is too much, what came last goes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec

from memsvc.db.short_ids import short_id
from memsvc.errors import BudgetTooSmallError
from memsvc.recall.block import Block, Shape, Turn, order_of, turn_of
from memsvc.recall.items import CHANCE, ChatMessage, Item, Section, SectionName, memory_item
from memsvc.recall.options import LEAST_GIVEN, Worth
from memsvc.recall.results import Memory
from memsvc.recall.said import by_turns
from memsvc.recall.sameness import Said, asks_at_its_end
from memsvc.recall.shortening import shortened

NOTHING = "No memory matches."
SALIENT_CHARS = 60
"""Of what nobody asked for: enough to be reminded; its id opens the rest."""
RECENT_SHARE, CORE_SHARE, SALIENT_SHARE, AGENDA_SHARE = 0.5, 0.25, 0.15, 0.4
OVERVIEW_SHARE, OVERVIEW_TOKENS = 0.85, 300
"""Of an overview: most of a small budget, and tokens at most of a large one."""
CORE_SHARE_ALONE = 0.4
"""Where there are no last turns: so a block of usual length fits the usual budget whole."""
LEAST_FOR_UNASKED = 400
"""Tokens of a budget below which nothing is given that was not asked for: a few memories take all of it."""
LEAST_CHARS = 40
"""Of a line that is cut."""
MOST_WORDS_OF_AN_ANSWER = 12
"""Who answers in more words says by them what was asked."""
WHOLE = 2
"""So many recalled memories stand there whole, whatever ``later_chars``: one of them mostly answers."""
SECTION_OF: Mapping[str, SectionName] = {"fact": "facts", "critique": "lessons"}
"""Kinds of recalled memories that have a section of their own."""
MOST_MISSED = 50
"""So many memories in turn may find no room before no further one is tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What may go into a block; every list in the order in which it should get room."""

    memories: Sequence[Memory] = ()
    """Recalled, best first."""
    recent: Sequence[Item] = ()
    """Last turns, newest first."""
    agenda: Sequence[Item] = ()
    """What falls into the time for which the query asks what is to be done."""
    overview: Sequence[Item] = ()
    """What was talked about, where the query asks for that: the same in ever fewer lines."""
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
    worth: Worth | None = None
    """How far behind the best memory one may lie; None: no matter how far."""

    by_turns: bool = False
    """Memories stand in the order in which they were said, and days get room in turns (``memsvc.recall.said``)."""
    later: Mapping[UUID, Memory] = field(default_factory=dict)
    """What may have changed a memory, by that one's id (``memsvc.recall.changes``)."""

    def is_worth(self, memory: Memory, place: int) -> bool:
        """Whether a recalled memory may tell something that matters, behind so many others of its section.

        Facts are compared with the best of all; messages with the best that is no fact, for facts have points of their
        own, and the best few messages are given anyway.
        """
        if self.worth is None or (memory.kind != "fact" and place < LEAST_GIVEN):
            return True
        best = next(one.score for one in self.memories if one.kind != "fact" or memory.kind == "fact")
        return best - memory.score <= self.worth.points - self.worth.place * place

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
class Packer(Shape):
    """How to pack."""

    zone: ZoneInfo
    chars: int | None = None
    """Longest text of a recalled or salient message; None: any."""
    later_chars: int | None = None
    """The same of those behind the first ``WHOLE``."""
    all_around: bool = True
    """All neighbours, where the budget allows; else only what a message answers, and what answers it."""

    def pack(self, material: Material) -> Packed:
        """Fill the budget.

        Raises:
            BudgetTooSmallError: not even an empty block fits.
        """
        block = Block(self)
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

    def _fill(self, block: Block, material: Material) -> int:
        budget = self.budget_tokens
        turns: set[Turn] = set()
        for turn in material.recent:  # without a gap: a turn that does not fit ends them
            if not block.add("recent", turn, RECENT_SHARE * budget):
                break
            turns.add(turn_of(turn))
        most = block.used + AGENDA_SHARE * budget
        for item in material.agenda:
            if item.kind != "message" or turn_of(item) not in turns:
                block.add("agenda", _brief(item, (), self.later_chars), most, recalled=True)
        most = block.used + min(OVERVIEW_TOKENS, OVERVIEW_SHARE * budget)
        any(block.add("overview", item, most, recalled=True) for item in material.overview)  # the first one that fits
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
    def _profile(block: Block, material: Material, most: float) -> None:
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

    def _unasked(self, block: Block, material: Material, turns: set[Turn]) -> None:
        if self.budget_tokens < LEAST_FOR_UNASKED:
            return
        most = block.used + SALIENT_SHARE * self.budget_tokens
        taken = {one for memory in material.memories for one in (memory.memory_id, *memory.repeats)}
        taken |= block.shown
        minded = 0
        for item in material.salient:
            chance = item.why.startswith(CHANCE)
            if item.memory_id in taken or (item.kind != "fact" and turn_of(item) in turns):
                continue
            wanted = chance or minded < material.most_salient
            brief = _brief(item, (), min(self.chars or SALIENT_CHARS, SALIENT_CHARS))
            if wanted and block.add("salient", brief, most, order=(len(taken), 0)):
                minded += not chance
                taken.add(item.memory_id)

    def _recalled(self, block: Block, material: Material, turns: set[Turn]) -> int:
        """Add what was recalled, then neighbours; return how many memories stand in the block anyway."""
        due = {entry.item.memory_id for entry in block.entries if entry.section == "agenda"}
        new = [
            (2 * rank, memory, item)  # there is room before each
            for rank, memory in enumerate(material.memories)
            if memory.node_id not in block.shown  # an instruction that stands there
            and memory.memory_id not in due
            and ((item := memory_item(memory, self.now, self.zone)).kind == "fact" or turn_of(item) not in turns)
        ]
        if material.by_turns:
            turn = {memory.memory_id: place for place, memory in enumerate(by_turns(material.memories))}
            new.sort(key=lambda one: turn[one[1].memory_id])
        chosen = self._chosen(block, material, new)
        if chosen or (material.asked and material.memories and not new):
            block.fallback = []
        for rank, item in chosen:
            around = _nearest(item, material.neighbours.get(item.memory_id, ()))
            for step, near in around if self.all_around else _needed(item, around):
                if near.memory_id not in block.shown and turn_of(near) not in turns:
                    block.add("memories", near, self.budget_tokens, order=(rank, step))
        return len(material.memories) - len(new) - sum(memory.memory_id in due for memory in material.memories)

    def _chosen(
        self, block: Block, material: Material, new: Sequence[tuple[int, Memory, Item]]
    ) -> list[tuple[int, Item]]:
        """Add memories, best first, while they are worth it; before one what may have changed it, which it names."""
        chosen: list[tuple[int, Item]] = []
        said, given, missed = Said(), set[UUID](), 0
        of = {memory.memory_id: (memory, item) for _, memory, item in new}

        def add(rank: int, memory: Memory, item: Item) -> bool:
            """Add one; false: it has no room."""
            section = SECTION_OF.get(item.kind, "memories")
            place = sum((one.kind == "fact") == (item.kind == "fact") for _, one in chosen)
            shown = _brief(item, memory.matched, self.chars if place < WHOLE else self.later_chars)
            if not block.add(section, shown, self.budget_tokens, recalled=True, order=(rank, 0)):
                return False
            chosen.append((rank, item))
            said.add(item)
            given.add(memory.memory_id)
            block.shown.update(memory.repeats)
            return True

        for rank, memory, item in new:
            place = sum((one.kind == "fact") == (item.kind == "fact") for _, one in chosen)
            done = memory.memory_id in given or missed >= MOST_MISSED
            if done or not material.is_worth(memory, place) or (material.worth is not None and said.has(item)):
                continue
            later = material.later.get(memory.memory_id)
            remark = item.remark
            if later is not None:
                newer = later.memory_id
                stands = newer not in of or newer in given or add(rank - 1, *of[newer])
                remark = _out_of_date(later) if stands else remark
            missed = 0 if add(rank, memory, msgspec.structs.replace(item, remark=remark)) else missed + 1
        return chosen


def _brief(item: Item, words: Sequence[str], chars: int | None) -> Item:
    """An item as short as is wanted: so many characters; facts and lessons whole, for they say nothing in part."""
    if chars is None or item.kind in SECTION_OF:
        return item
    caption = None if item.caption is None else shortened(item.caption, words, chars)
    return msgspec.structs.replace(item, text=shortened(item.text, words, chars), caption=caption)


def _nearest(item: Item, neighbours: Sequence[Item]) -> list[tuple[int, Item]]:
    """What stands around an item, the nearest first: with how many steps behind it (below 0: before it)."""
    before = [near for near in neighbours if order_of(near) < order_of(item)]
    after = [near for near in neighbours if order_of(near) > order_of(item)]
    steps = [*((-step, near) for step, near in enumerate(reversed(before), 1)), *enumerate(after, 1)]
    return sorted(steps, key=lambda one: abs(one[0]))


def _needed(item: Item, around: Sequence[tuple[int, Item]]) -> Iterator[tuple[int, Item]]:
    """Of what stands around an item that without which it cannot be read: what it answers, and what answers it."""
    brief = len(item.text.split()) <= MOST_WORDS_OF_AN_ANSWER
    for step, near in around:
        if (step == -1 and brief and asks_at_its_end(near.text)) or (step == 1 and asks_at_its_end(item.text)):
            yield step, near


def _out_of_date(later: Memory) -> str:
    """What is said of a message that a later one may have changed."""
    return f"may be out of date: see m:{short_id(later.memory_id)}"


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
