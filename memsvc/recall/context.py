"""A context: one block of text for an assistant's prompt, under a token budget.

Recalled memories, what stands around them, and what belongs into every prompt, each with the reason why it is here and
a short id that opens it. The block says that it is data, for memories can hold anything that anybody ever wrote. How it
is filled: ``memsvc.recall.packing``. A guide: docs/context.md.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from dataclasses import field as field_of
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar, get_args
from uuid import UUID

import msgspec

from memsvc.access.users import Owner, valid_zone
from memsvc.db.engine import Database
from memsvc.db.files import query as named
from memsvc.db.together import Together
from memsvc.errors import ConversationUnknownError, InvalidRequestError
from memsvc.recall.asks import asks
from memsvc.recall.asks_said import SaidThen, said_then
from memsvc.recall.block import GroupBy
from memsvc.recall.changes import later_words
from memsvc.recall.due import NOT_ALL, Due, plans_asked
from memsvc.recall.items import CHANCE, SALIENT, Context, Format, Item, Why, memory_item
from memsvc.recall.kinds import RECALLED
from memsvc.recall.options import (
    EFFORTS,
    MAX_LIMIT,
    QUESTION_CHARS,
    WORTH,
    WORTH_TO_A_TEXT,
    Filters,
    Form,
    Mode,
    Weights,
    Worth,
)
from memsvc.recall.overview import asks_overview, overview_asked
from memsvc.recall.packing import Material, Packed, Packer
from memsvc.recall.present import Present, without_present, without_words
from memsvc.recall.query_words import NOTHING_TO_LOOK_FOR
from memsvc.recall.results import Memory, Recalled
from memsvc.recall.search import QueryEmbedder, recall
from memsvc.recall.surroundings import instructions, last_turns, moments, neighbours, profile, spoken
from memsvc.recall.times_in_words import clock, day, last_before, on_clock_of
from memsvc.settings import Settings
from memsvc.text.characters import flat
from memsvc.text.storable import check_storable
from memsvc.text.tokens import Estimate, tokenizer
from memsvc.times.elapsed import last_spoke
from memsvc.times.reading import QueryTimes, read_times

T = TypeVar("T")
MIN_BUDGET, MAX_BUDGET = 50, 100_000
MAX_TURNS = 100
MAX_SALIENT = 3
MAX_SEED = 2**31 - 1
CHANCES = 4
"""In one of so many blocks a memory is drawn, where nobody gives a seed."""
EVERYTHING = Filters()
MOST_AT_ONCE = 32_000
"""Signs of material that are packed in the loop's own thread: by the estimate up to three milliseconds, whatever the
budget; to hand them over costs a third of one."""
NOTHING_LIKELY = "Nothing that was recalled is likely to answer; say so rather than guess."
"""A remark where something was asked; to a greeting or a task there is nothing to answer."""
SPARE_SALIENT = 10
"""Asked for beyond what is wanted, for some will be recalled anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOptions:
    """What a context holds and how it looks; the defaults fit a chat assistant that asks before each answer."""

    budget_tokens: int = 1_500
    """Longest block, 50 to 100,000 tokens as the tokenizer counts."""
    format: Format = "text"
    tokenizer: str | None = None
    """Name of a tokenizer; None: that of the settings."""
    memories: bool = True
    """Recall memories for the query."""
    limit: int = 30
    """Most memories considered, 1 to 1,000."""
    mode: Mode = "balanced"
    """How hard to look, and how much of what is found is shown."""
    form: Form = "stemmed"
    weights: Weights = field_of(default_factory=dict)
    filters: Filters = EVERYTHING
    fill: bool = False
    """All memories that were considered, as far as the budget goes; else the block ends where the next one is unlikely
    to tell anything that matters (``EFFORTS``)."""
    why: Why | None = None
    """How much of the reasons is told; None: nothing in the format messages, which a model reads, else a short one."""
    group_by: GroupBy = "none"
    """none: best first; conversation: messages under the session and day in which they were said, in their order."""
    neighbours: bool = True
    """The question that a message answers, or the answer to it; in the mode deliberate the turns before and after it;
    none in the mode eager."""
    conversation: str | None = None
    """The one that goes on, by id or identifier: its last turns can be given, and its working memory is."""
    begins: bool = False
    """That is its identifier, and it may not exist yet: then there are none."""
    recent_turns: int = 0
    """So many of them, 0 to 100, to the letter; they do not come again as memories."""
    present: Sequence[str] = ()
    """What the prompt holds of that conversation anyway: messages with these words are not given again."""
    said: str | None = None
    """The client's id of the message in that conversation which is answered: where it is stored, it is not given."""
    profile: bool = True
    """Core memory, and the working memory of the conversation: blocks that an assistant edits itself."""
    core: bool = True
    """Instructions that are pinned, or of the category core."""
    instructions: Sequence[str] | None = None
    """Instructions of these categories; None: of all; (): none."""
    salient: int = 3
    """Most items that are salient without matching the query, 0 to 3."""
    chance: bool = True
    """One memory drawn at random, with a seed each time, else in one block of four."""
    seed: int | None = None
    """By which it is drawn, 0 to 2,147,483,647; None: another each time."""
    elapsed: bool = True
    """A line with the present day, and how long ago the user last spoke."""


class Salient(Protocol):
    """Where memories come from that nobody asked for."""

    async def top_of_mind(
        self, db: Database, owner: Owner, *, limit: int, as_of: datetime | None = None, known_at: datetime | None = None
    ) -> list[Memory]:
        """What is salient without a query, the most salient first."""

    async def random_memory(
        self, db: Database, owner: Owner, *, seed: int, as_of: datetime | None = None, known_at: datetime | None = None
    ) -> Memory | None:
        """One memory, the same for the same seed; None where there is none."""


def check_options(options: ContextOptions) -> None:
    """Refuse what cannot be.

    Raises:
        InvalidRequestError: it names the field.
    """
    for field, least, most in (
        ("budget_tokens", MIN_BUDGET, MAX_BUDGET),
        ("limit", 1, MAX_LIMIT),
        ("recent_turns", 0, MAX_TURNS),
        ("salient", 0, MAX_SALIENT),
        ("seed", 0, MAX_SEED),
    ):
        value = getattr(options, field)
        if value is not None and not least <= value <= most:
            raise InvalidRequestError(f"{field} must lie between {least:,} and {most:,}.", field=field)
    for field, known in (
        ("format", get_args(Format)),
        ("group_by", get_args(GroupBy)),
        ("mode", tuple(EFFORTS)),
        ("why", (None, *get_args(Why))),
    ):
        if getattr(options, field) not in known:
            raise InvalidRequestError(f"{field} is one of: {', '.join(filter(None, known))}.", field=field)
    if options.recent_turns and options.conversation is None:
        raise InvalidRequestError(
            "recent_turns are the last turns of a conversation.", hint="Name it as conversation.", field="conversation"
        )
    check_storable(options.conversation, "conversation")
    check_storable(list(options.instructions or ()), "instructions")


async def build_context(
    db: Database,
    owner: Owner,
    query: str,
    settings: Settings,
    *,
    embedder: QueryEmbedder | None = None,
    options: ContextOptions | None = None,
    salient: Salient | None = None,
    trip: Together | None = None,
) -> Context:
    """Recall and pack.

    Args:
        db: the database.
        owner: whose memory is asked.
        query: what the assistant is about to answer.
        settings: limits, and the tokenizer.
        embedder: gives the query's vector; None: words only.
        options: what the block holds and how it looks.
        salient: finds what is salient and draws the chance find; None: neither is given.
        trip: what else is asked of this user in the first round trip, which keeps plans; it is sent here.

    Raises:
        BudgetTooSmallError: not even an empty block fits.
        ConversationUnknownError: this user has no such conversation.
        InvalidRequestError: an option cannot be; see ``recall`` for the rest.
        TokenizerUnknownError, TokenizerError: there is no such tokenizer, or it fails.
    """
    chosen = options or ContextOptions()
    check_options(chosen)
    name = chosen.tokenizer or settings.tokenizer
    zone = valid_zone(owner.time_zone)
    effort = EFFORTS[chosen.mode]
    packer = Packer(
        tokenizer=tokenizer(name),
        budget_tokens=chosen.budget_tokens,
        now=on_clock_of(chosen.filters.today or datetime.now(UTC), zone),
        zone=zone,
        format=chosen.format,
        group_by=chosen.group_by,
        chars=effort.chars,
        later_chars=effort.chars if chosen.fill else effort.later_chars,
        why=chosen.why or ("none" if chosen.format == "messages" else "short"),
        all_around=effort.all_around,
    )
    times = read_times(query, packer.now, zone) if len(query) <= QUESTION_CHARS else QueryTimes()
    then = said_then(query, times, packer.now, chosen.filters, chosen.weights)
    asked = _Asked(db, owner, query, chosen, packer, then if chosen.memories else None)
    trip = trip or Together(db, owner.user_id, keep_plans=True, stores=False)
    standing = asked.standing(trip)
    # What comes unasked need not be what these filters let through.
    unasked = None if chosen.filters.narrows else salient
    seed = _seed(chosen) if unasked is not None else None
    async with _beside(asked.unasked(unasked, seed)) as minding:
        found = await asked.recalled(settings, embedder, trip)
        minds = await minding
    stands = standing()
    present = Present(chosen.present, settings.passage_tokens)
    kept = without_present(found.memories, present, chosen.said, stands.source_id)
    relevant = found.relevant and (asked.then is None or any(asked.then.is_in(one.said_at) for one in kept))
    found = msgspec.structs.replace(found, memories=kept, relevant=relevant)
    minded = asked.minded(without_present(minds, present, chosen.said, stands.source_id))
    material = await asked.material(found, minded, stands, present)
    packed = await _packed(packer, material)
    return Context(
        text=packed.text,
        format=chosen.format,
        messages=packed.messages,
        tokens=packed.tokens,
        budget_tokens=chosen.budget_tokens,
        tokenizer=name,
        sections=packed.sections,
        memories=packed.memories,
        left_out=len(found.memories) - len(packed.memories) - packed.repeated,
        relevant=found.relevant or bool(material.agenda or material.overview),
        ambiguous=found.ambiguous,
        seed=seed,
        degraded=found.degraded,
        recall_id=found.recall_id,
        conversation_id=stands.source_id,
        confidence=found.confidence,
    )


@asynccontextmanager
async def _beside(work: Coroutine[Any, Any, T]) -> AsyncIterator[asyncio.Task[T]]:
    """Work that goes on beside other work, and ends with it."""
    task = asyncio.ensure_future(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _seed(options: ContextOptions) -> int | None:
    """By what a memory is drawn; None: none is."""
    if options.seed is not None or not options.chance:
        return options.seed if options.chance else None
    return secrets.randbelow(MAX_SEED) if secrets.randbelow(CHANCES) == 0 else None


async def _packed(packer: Packer, material: Material) -> Packed:
    """The block; in another thread where there is much to count, or somebody else's tokenizer counts."""
    if isinstance(packer.tokenizer, Estimate) and material.characters() <= MOST_AT_ONCE:
        return packer.pack(material)
    return await asyncio.to_thread(packer.pack, material)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standing:
    """What may go into a context whatever is recalled."""

    source_id: UUID | None = None
    """The conversation that goes on."""
    meeting: str | None = None
    core: Sequence[Item] = ()
    instructions: Sequence[Item] = ()


@dataclass(frozen=True, slots=True)
class _Asked:
    """Gathers what may go into a context beside the recalled memories."""

    db: Database
    owner: Owner
    query: str
    options: ContextOptions
    packer: Packer
    then: SaidThen | None
    """What was said then is asked for, whatever it was about."""

    async def recalled(self, settings: Settings, embedder: QueryEmbedder | None, trip: Together) -> Recalled:
        """What is recalled, if that is wanted; the trip is sent."""
        options = self.options
        if not options.memories:
            await trip.send()
            return Recalled(memories=[], degraded=[])
        filters = options.filters
        if not filters.kinds and not filters.narrows and (self.then is not None or asks_overview(self.query)):
            # The overview chooses lines of all summaries, by what is near to the question and not by what they leave.
            filters = msgspec.structs.replace(filters, kinds=list(RECALLED))
        return await recall(
            self.db,
            self.owner,
            self.query,
            settings,
            embedder=embedder,
            limit=options.limit,
            form=options.form,
            mode=options.mode,
            weights=options.weights,
            filters=filters,
            trip=trip,
        )

    async def unasked(self, salient: Salient | None, seed: int | None) -> list[Memory]:
        """What is salient, then the chance find; the packer leaves out what is recalled anyway."""
        options = self.options
        times = {"as_of": options.filters.then, "known_at": options.filters.known_at}
        found: list[Memory] = []
        if salient is not None and options.salient:
            found = await salient.top_of_mind(self.db, self.owner, limit=options.salient + SPARE_SALIENT, **times)
        if salient is not None and seed is not None:
            drawn = await salient.random_memory(self.db, self.owner, seed=seed, **times)
            found += [msgspec.structs.replace(drawn, why=CHANCE)] if drawn is not None else []
        return [memory for memory in found if self._may(memory)]

    def minded(self, memories: Sequence[Memory]) -> list[Item]:
        """What nobody asked for, as items."""
        return [
            memory_item(memory, self.packer.now, self.packer.zone, why=CHANCE if memory.why == CHANCE else SALIENT)
            for memory in memories
        ]

    def _may(self, memory: Memory) -> bool:
        """Whether the filters of the request let it in, though it was not recalled by them."""
        filters = self.options.filters
        names = {memory.conversation, str(memory.conversation_id)}
        if filters.conversations and names.isdisjoint(filters.conversations):
            return False
        known = memory.kind in filters.searched
        return names.isdisjoint(filters.not_conversations) and known and filters.in_time(memory.said_at)

    def standing(self, trip: Together) -> Callable[[], _Standing]:
        """Ask for what may go into the block whatever is recalled; what it gives tells, once that is sent.

        Raises, when it tells:
            ConversationUnknownError: this user has no such conversation.
        """
        options, owner, times, now = self.options, self.owner, self._times(), self.packer.now
        wanted = options.core or options.instructions is None or bool(options.instructions)
        said = spoken(trip, owner, times) if options.elapsed or wanted else list[datetime]
        source = _conversation(trip, owner, options) if options.conversation is not None else _none
        guiding = instructions(
            trip, owner, options.instructions, core=options.core, asked=(self.query, now), times=times, spoken=said
        ) if wanted else _neither  # fmt: skip

        def told() -> _Standing:
            core, others = guiding()
            meeting = _meeting(said(), now) if options.elapsed else None
            return _Standing(source_id=source(), meeting=meeting, core=core, instructions=others)

        return told

    async def material(self, found: Recalled, minded: list[Item], stands: _Standing, present: Present) -> Material:
        """Everything that may go into the block; what depends on the memories or the conversation is read now."""
        options, owner, times = self.options, self.owner, self._times()
        trip = Together(self.db, owner.user_id, keep_plans=True, stores=False)
        near: Callable[[], dict[UUID, list[Item]]] = dict
        recent: Callable[[], list[Item]] = list
        blocks: Callable[[], list[Item]] = list
        if options.neighbours and (reach := EFFORTS[options.mode].neighbours):
            near = neighbours(
                trip, owner, found.memories, options.filters, times, reach=reach, said=(stands.source_id, options.said)
            )
        if options.recent_turns and stands.source_id is not None:
            recent = last_turns(trip, owner, stands.source_id, options.recent_turns, times, said=options.said)
        if options.profile:
            blocks = profile(trip, owner, stands.source_id, options.filters.known_at or options.filters.then)
        asked = (trip, owner, self.query, options.filters, self.packer.now)
        overview = overview_asked(*asked, said=self.then) if options.memories else None
        due = plans_asked(*asked) if options.memories and overview is None and self.then is None else None
        await trip.send()
        talked = await asyncio.to_thread(overview, found.memories) if overview is not None else []
        agenda, truncated = await asyncio.to_thread(due) if due is not None else Due([], truncated=False)
        found = msgspec.structs.replace(found, relevant=found.relevant or bool(agenda or talked))
        remarks = [
            *filter(None, [stands.meeting, NOT_ALL if truncated else None]),
            *_notes(found, self.query, self.then),
        ]
        return Material(
            memories=[one for one in found.memories if not talked or one.kind != "summary"],
            recent=without_words(recent(), present, stands.source_id),
            agenda=without_words(agenda, present, stands.source_id),
            overview=talked,
            profile=blocks(),
            core=stands.core,
            instructions=stands.instructions,
            salient=minded,
            most_salient=options.salient,
            neighbours={memory: without_words(items, present, stands.source_id) for memory, items in near().items()},
            notes=remarks,
            asked=options.memories,
            worth=self._worth(found),
            by_turns=self.then is not None,
            later=later_words(found.memories),
        )

    def _worth(self, found: Recalled) -> Worth | None:
        """How far behind the best a memory may lie; None: no matter, as points of other orders mean something else."""
        if self.options.fill or self.options.weights or "order" in found.degraded or self.then is not None:
            return None
        worth = WORTH if len(self.query) <= QUESTION_CHARS else WORTH_TO_A_TEXT
        return worth._replace(points=worth.points * EFFORTS[self.options.mode].wide).at(found.confidence)

    def _times(self) -> dict[str, Any]:
        """What may be read: what was said by then, as it was known then."""
        filters = self.options.filters
        then = self.packer.now if filters.then is None else on_clock_of(filters.then, self.packer.zone)
        return moments(then, filters.known_at)


def _meeting(spoken: Sequence[datetime], now: datetime) -> str:
    """The present day on the user's clock, and how long ago the user last spoke."""
    today = f"It is {now:%A}, {day(now)}, {clock(now)}."
    last = last_before(spoken, now)
    return f"{today} {last_spoke(last, now, now.tzinfo or UTC)}." if last is not None else today


def _conversation(trip: Together, owner: Owner, options: ContextOptions) -> Callable[[], UUID | None]:
    """The conversation's id; None: it begins.

    Raises, when it tells:
        ConversationUnknownError: it does not, and there is none.
    """
    name = options.conversation
    if options.begins:
        rows = trip.ask(named("chat_conversation"), {"user_id": owner.user_id, "identifier": name})
    else:
        rows = trip.ask(named("conversation_ids"), {"user_id": owner.user_id, "wanted": [name]})

    def told() -> UUID | None:
        if not rows and not options.begins:
            raise ConversationUnknownError(f"There is no conversation {name!r}.", conversation=name)
        return rows[0].source_id if rows else None

    return told


def _none() -> UUID | None:
    """No conversation."""
    return None


def _neither() -> tuple[list[Item], list[Item]]:
    """No core items and no instructions."""
    return [], []


def _notes(found: Recalled, query: str, then: SaidThen | None) -> list[str]:
    """What an assistant should know of the answer as a whole."""
    notes = []
    if then is not None:
        notes += [] if found.relevant else [then.nothing]
    elif "words" in found.degraded and not found.memories:
        notes.append(NOTHING_TO_LOOK_FOR)
    elif not found.relevant and asks(query):
        notes.append(NOTHING_LIKELY)
    for name in found.ambiguous:
        meant = "; ".join(f"{meaning.label} ({meaning.type})" for meaning in name.meanings)
        notes.append(f"“{flat(name.name)}” can mean several: {flat(meant)}. Ask which is meant.")
    return notes
