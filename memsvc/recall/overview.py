"""What was talked about in a time or about a topic, for a context: lines of summaries, chosen for the question.

"What did we talk about last week?" and "What have I told you about the wedding so far?" ask for the main points, not
for the few memories nearest to their words. So the block begins with lines of the summaries that sleep mode has written
(``memsvc.summaries``): of the time that the question names, those that tell most. Where it names a topic, sentences of
the messages that recall finds count, too, and what is near to these more. The same rules choose as for a summary.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from memsvc.access.users import Owner, valid_zone
from memsvc.db.files import query as named
from memsvc.db.short_ids import short_id
from memsvc.db.together import Together
from memsvc.recall.asks_said import SaidThen
from memsvc.recall.items import Item
from memsvc.recall.options import Filters
from memsvc.recall.results import Memory
from memsvc.recall.times_in_words import day
from memsvc.summaries.extractive import Line, Message, Quoted, chosen
from memsvc.summaries.extractive import lines_of as sentences_of
from memsvc.summaries.stored import asked, lines_of
from memsvc.summaries.words import content_of, stem
from memsvc.times.reading import read_times

MOST_SITTINGS, MOST_LONGER = 120, 40
"""Summaries that are read: of sittings, and of months and years where that is not all."""
LONGEST = 400
"""Characters of a question; what is longer is a text."""
ASKS = re.compile(
    r"(?P<told>\b(?:what|which (?:things|topics|subjects))\b.{0,40}\b(?:we|i|you|us|they)\b.{0,30}"
    r"\b(?:talk(?:ed|ing)?|discuss(?:ed|ing)?|sp(?:eak|oke|oken)|said|say|told|tell|mention(?:ed)?|chat(?:ted)?|cover(?:ed)?)\b"
    r"(?:.{0,40}\b(?:about|so far|over|on|last|yesterday|this|in|of|there|today|past|since)\b)?)"
    r"|\b(?:catch|bring|get|fill) (?:me|us) (?:up|in)\b|\brecap\b|\bsumm(?:ary|aries|ari[sz]e)\b|\boverview\b"
    r"|\bwhat(?:['’]s| has| have| is| was)? (?:happen(?:ed|ing)|been (?:going on|happening)|going on|new)\b"
    r"|\bhow (?:have|has|did) .{1,80}\b(?:progress|develop|evolve|go so far|change over time)"
    r"|\b(?:the order in which|in (?:what|which) order|(?:list|tell me|name|give me) in order (?:how|what|which))\b"
    r"|\bso far\b.{0,40}\b(?:talk|discuss|said|told)"
    r"|\bworüber haben wir\b"
    r"|\bwas (?:haben wir|habe ich dir|hast du mir)\b.{0,60}\b(?:besprochen|gesagt|erzählt|geredet)"
    r"|\b(?:zusammenfassung|überblick)\b|\bfass\w*\b.{0,60}\bzusammen\b",
    re.IGNORECASE,
)
"""Words that ask for what was talked about, as a whole."""
ONE = re.compile(
    r"\bwhat(?:['’]s| is| are| was| were) (?:the|this|that|my|your|our) (?!(?:\w+ ){0,2}(?:things?|topics?|subjects?"
    r"|points?|themes?|highlights?|takeaways?|issues?|parts?|summary|overview|recap|gist)\b)",
    re.IGNORECASE,
)
"""Asks for one thing that was talked about: "What is the price that we discussed?"."""
EXACT = re.compile(r"\b(?:who|when|where|how (?:many|much|often|old|long)|which one|why|exactly)\b", re.IGNORECASE)
"""Words that ask for one thing."""
_INTENT = """
    talk talked talking discuss discussed discussing speak spoke spoken said say told tell mention mentioned chat
    chatted cover covered catch bring fill recap summary summaries summarize summarise overview happen happened
    happening far conversation conversations progress progressed develop developed different aspects list order
    brought please give comprehensive including various topics subjects today yesterday tomorrow week weeks month
    months year years last past since day days there worüber gesprochen besprochen gesagt erzählt geredet
    zusammenfassung überblick bisher letzte letzten woche monat
"""
INTENT = frozenset(_INTENT.split())
"""Words of a question that name no topic."""
WORDS = 230
"""Of an overview, at most."""
BESIDE_TOPIC, NAMED, POINTS = 0.05, 0.3, 2.0
"""What a line is worth that a question's topic neither names nor finds, beside the best one found (1); what it is worth
more for the topic's words; and the points of the learnt order behind the best after which it is worth a third."""


class Wanted(NamedTuple):
    """What a question asks an overview of."""

    spans: tuple[tuple[datetime, datetime], ...]
    """Times that it names; none: all."""
    topic: frozenset[str]
    """Stems of the words that name a topic; none: everything."""


def asks_overview(question: str) -> bool:
    """Whether a question asks for what was talked about, as a whole."""
    found = ASKS.search(question) if len(question) <= LONGEST else None
    return found is not None and not (found["told"] and ONE.search(question))


def wanted_overview(question: str, now: datetime, owner: Owner) -> Wanted | None:
    """What a question asks an overview of; None: it asks for something else."""
    if not asks_overview(question):
        return None
    told = read_times(question, now, valid_zone(owner.time_zone))
    spans = tuple((one.begin, min(one.end, now)) for one in told.windows if one.begin < now)
    rest = question
    for one in told.windows:
        rest = rest.replace(one.phrase, " ")
    topic = frozenset(stem(word) for word in content_of(rest) if word not in INTENT)
    if not spans and not topic and EXACT.search(question):
        return None
    return Wanted(spans, topic)


def overview_asked(
    trip: Together, owner: Owner, question: str, filters: Filters, now: datetime, *, said: SaidThen | None = None
) -> Callable[[Sequence[Memory]], list[Item]] | None:
    """Ask for the summaries that a question wants an overview of; None: it asks for something else.

    Args:
        trip: asked here, and sent by the caller; what this gives tells after that, from what was recalled for the
            question: the same overview in ever fewer lines.
        owner: whose memory.
        question: in natural language.
        filters: of the request; where they narrow what may be recalled, nothing is given.
        now: the moment of asking, on the user's clock.
        said: what was said then is asked for, whatever it was about.
    """
    narrowed = filters.narrows or any(
        (filters.kinds, filters.conversations, filters.not_conversations, filters.said_from, filters.said_to,
         filters.known_at, filters.least_score is not None)
    )  # fmt: skip
    wanted = None if narrowed else wanted_overview(question, now, owner)
    if said is not None and not narrowed:
        wanted = Wanted(tuple((one.begin, min(one.end, now)) for one in said.windows), frozenset())
    if wanted is None:
        return None
    begins = min((begin for begin, _ in wanted.spans), default=None)
    ends = max((end for _, end in wanted.spans), default=None)
    moment = filters.then or now
    span = (begins, ends)
    values = asked(owner, ["conversation"], span, limit=MOST_SITTINGS, as_of=moment)
    short = trip.ask(named("list_summaries"), values)
    longer = trip.ask(named("list_summaries"), asked(owner, ["month", "year"], span, limit=MOST_LONGER, as_of=moment))

    def told(found: Sequence[Memory]) -> list[Item]:
        rows = list(short)
        if len(rows) == MOST_SITTINGS:  # what lies before them is told by longer periods
            rows += [row for row in longer if row.period_end <= rows[MOST_SITTINGS - 1].period_end]
        return _overviews(rows, wanted, found)

    return told


def _overviews(rows: Sequence[Any], wanted: Wanted, found: Sequence[Memory]) -> list[Item]:
    nodes = {line: row.node_id for row in rows for line in lines_of(row.text, row.data)}
    if not nodes:
        return []
    given = [*nodes, *(_found_lines(found, {line.quoted for line in nodes}) if wanted.topic else ())]
    near = _nearness(found) if wanted.topic else {}
    quotes = {line.quoted: node for line, node in nodes.items()}
    lines = [
        msgspec.structs.replace(line, worth=line.worth * _fit(line, wanted, near))
        for line in sorted(given, key=lambda line: line.at)
        if not wanted.spans or any(begin <= line.at < end for begin, end in wanted.spans)
    ]
    often = Counter(word for line in lines for word in set(content_of(line.text)))
    best = chosen(lines, WORDS, often, max(2, len(lines)), share=1.0)
    shorter = (sorted(best[:most], key=lambda line: line.at) for most in range(len(best), 0, -1))
    return [_item(some, quotes) for some in shorter if any(line.quoted in quotes for line in some)]


def _found_lines(found: Sequence[Memory], known: Collection[tuple[Quoted, ...]]) -> list[Line]:
    """Sentences of recalled messages that no summary quotes."""
    said = [
        Message(passage_id=one.memory_id, speaker=one.speaker, role=one.role, text=one.text, said_at=one.said_at)
        for one in found
        if one.kind == "message"
    ]
    return [line for line in sentences_of(said) if line.quoted not in known]


def _item(lines: Sequence[Line], quotes: Mapping[tuple[Quoted, ...], UUID]) -> Item:
    """Lines as one item, under the summary that has most of them."""
    first, last = lines[0].at, lines[-1].at
    sources = list(dict.fromkeys(f"m:{short_id(quote.passage_id)}" for line in lines for quote in line.quoted))
    best = Counter(quotes[line.quoted] for line in lines if line.quoted in quotes).most_common(1)[0][0]
    name = day(first) if first.date() == last.date() else f"{day(first)} to {day(last)}"
    return Item(
        id=f"n:{short_id(best)}", kind="summary", memory_id=best, text=_text(lines), why="an overview was asked for",
        name=f"of {name}", sources=sources,
    )  # fmt: skip


def _text(lines: Sequence[Line]) -> str:
    """Lines by day, and by who speaks: a day and a name stand once in front of what follows."""
    days = []
    for date, of_day in groupby(lines, key=lambda line: line.at.date()):
        said = []
        for name, of_name in groupby((line.text.partition(": ") for line in of_day), key=lambda parts: parts[0]):
            told = " ".join(parts[2] for parts in of_name)
            said.append(told if name == "user" else f"{name}: {told}")
        days.append(f"{date.day} {date:%B}: {' '.join(said)}")
    return "\n".join(days)


def _nearness(found: Sequence[Memory]) -> Mapping[UUID, float]:
    """How near each passage is that was recalled: 1 (the best) to 0, by the points that it lies behind the best."""
    said = [one for one in found if one.kind != "summary"]
    return {one.memory_id: math.exp((one.score - said[0].score) / POINTS) for one in said}


def _fit(line: Line, wanted: Wanted, near: Mapping[UUID, float]) -> float:
    """How well a line fits the topic; 1 where there is none."""
    if not wanted.topic:
        return 1.0
    named = len(wanted.topic & {stem(word) for word in content_of(line.text)}) / len(wanted.topic)
    return BESIDE_TOPIC + max((near.get(quote.passage_id, 0.0) for quote in line.quoted), default=0.0) + NAMED * named
