"""The offline extractor: cleans and parses turns, finds who is spoken of, and lets the patterns look for facts."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo

from spacy.tokens import Doc

from memsvc.extract.extraction import Extraction
from memsvc.extract.offline import pipeline
from memsvc.extract.offline.calibration import Judge, by_authors, by_gold
from memsvc.extract.offline.cast import Cast, normal
from memsvc.extract.offline.clean import Cleaned, clean
from memsvc.extract.offline.ellipsis import put_in, set_apart, verbs_left_out
from memsvc.extract.offline.facts import read_facts
from memsvc.extract.offline.language import is_english
from memsvc.extract.offline.names import Name, find_names
from memsvc.extract.offline.signs import is_boilerplate, read_signs
from memsvc.extract.offline.turns import TurnReading
from memsvc.extract.offline.vocabulary import is_word
from memsvc.extract.offline.voice_labels import AUTHOR, NOBODY
from memsvc.extract.offline.voices import Voice, voices_of
from memsvc.extract.offline.yes_no import answers
from memsvc.extract.window import OWNER, Turn, Window

CONTEXT = 4
"""Turns before the window that are read for whom "she" means."""
REMEMBERED = 4
"""Turns back that are asked for whom and what was spoken of."""
HEARD = 240
"""Signs at the end of an assistant's turn that are read, for what it asks about."""
ASSISTANT = "assistant"
PEOPLE = frozenset({"user", "human"})


class OfflineExtractor:
    """Reads windows by names, grammar and rules. See ``memsvc.extract.extraction.Extractor``."""

    name = "offline/2"

    def __init__(self) -> None:
        """Load the model, where no other has."""
        pipeline.load()

    async def extract(self, window: Window) -> Extraction:
        """What the turns of the window say; never raises for what a text holds."""
        return await asyncio.to_thread(read, window, by_gold)


def read(window: Window, judge: Judge = by_authors) -> Extraction:
    """What the turns of a window say, as sure as ``judge`` is of it; see ``OfflineExtractor.extract``."""
    cast = Cast(window)
    readings = read_turns(window, cast)
    cast.doubt()
    found = read_facts(window, readings, judge)
    facts = [fact for fact in found if fact.turn >= 0]
    counts = Counter(fact.turn for fact in facts)
    signs = [read_signs(at, turn.text, counts[at]) for at, turn in enumerate(window.turns) if turn.role in PEOPLE]
    used = [key for fact in facts for key in (fact.subject, fact.object)]
    return Extraction(entities=tuple(cast.extracted(used)), facts=tuple(facts), signs=tuple(signs))


class Piece(NamedTuple):
    """A part of a turn in one voice, as it is parsed."""

    turn: Turn
    place: int
    """Index of the turn; see ``Reading.index``."""
    cleaned: Cleaned
    whose: str
    """See ``memsvc.extract.offline.voices.Voice``."""


def read_turns(window: Window, cast: Cast) -> list[TurnReading]:
    """Readings of what people say, in the order of the turns; those before the window have negative indexes.

    A turn that holds the words of several has several readings; what is nobody's is not read.
    """
    before = window.before[-CONTEXT:]
    turns = [(at - len(before), turn) for at, turn in enumerate(before)] + list(enumerate(window.turns))
    voices = voices_of(window, is_word)
    asked = questions(turns)
    pieces, docs = filled(
        [
            Piece(turn, index, cleaned, voice.whose)
            for index, turn in turns
            for voice in voices.get(turn.passage_id, [Voice(0, len(turn.text), AUTHOR)])
            if voice.whose != NOBODY and (cleaned := readable(turn, voice, answers_question=index in asked)) is not None
        ]
    )
    known, lengths = known_names(window)
    speakers = {turn.speaker: speaker_key(window, cast, turn) for _, turn in turns if turn.role in PEOPLE}
    zone = ZoneInfo(window.zone)
    made: list[TurnReading] = []
    for (turn, index, cleaned, whose), doc in zip(pieces, docs, strict=True):
        others = [key for name, key in speakers.items() if name != turn.speaker]
        own = speakers.get(turn.speaker)
        made.append(
            TurnReading(
                turn, index, cleaned, doc, now=turn.said_at.astimezone(zone), cast=cast,
                speaker=own if whose == AUTHOR else cast.speaking(whose, index),
                partner=others[0] if len(others) == 1 and whose == AUTHOR else None,
                names=find_names(doc, known, lengths, asked.get(index, "")), heard=turn.role not in PEOPLE,
                silent_of=frozenset() if whose == AUTHOR else author_and_owner(cast, own),
            )
        )  # fmt: skip
    agree([reading.names for reading in made if not reading.heard])
    for at, reading in enumerate(made):
        reading.settle(made[:at][::-1][:REMEMBERED])
        if reading.index >= 0 and not reading.heard and reading.speaker is not None:
            cast[reading.speaker].spoken = True
    return [reading for reading in made if not reading.heard]


def filled(pieces: list[Piece]) -> tuple[list[Piece], list[Doc]]:
    """The pieces with what they leave out put in, and their parses."""
    docs = pipeline.parse([piece.cleaned.text for piece in pieces])
    changed: dict[int, Piece] = {}
    for at, (piece, doc) in enumerate(zip(pieces, docs, strict=True)):
        if piece.turn.role in PEOPLE:
            asked = docs[at - 1] if at and follows(pieces[at - 1], piece) else None
            puts = [*set_apart(doc), *verbs_left_out(doc), *(answers(doc, asked) if asked is not None else ())]
            if puts:
                changed[at] = piece._replace(cleaned=put_in(piece.cleaned, puts))
    again = pipeline.parse([piece.cleaned.text for piece in changed.values()])
    of_changed = dict(zip(changed, again, strict=True))
    return (
        [changed.get(at, piece) for at, piece in enumerate(pieces)],
        [of_changed.get(at, doc) for at, doc in enumerate(docs)],
    )


def follows(before: Piece, piece: Piece) -> bool:
    """Whether a piece begins the author's turn right behind another's."""
    return piece.whose == AUTHOR and before.place == piece.place - 1 and before.turn.speaker != piece.turn.speaker


def readable(turn: Turn, voice: Voice, *, answers_question: bool) -> Cleaned | None:
    """A piece of a turn as it is parsed: of an assistant's only the end, where it asks; None: nothing to read."""
    if turn.role in PEOPLE:
        boilerplate = is_boilerplate(turn.text[voice.begin : voice.end]) and not answers_question
        cleaned = None if boilerplate else clean(turn.text, voice.begin, voice.end)
    else:
        begin = max(0, len(turn.text) - HEARD)
        cleaned = clean(turn.text, turn.text.find(" ", begin) if begin else 0) if turn.role == ASSISTANT else None
    if cleaned is None or not cleaned.text.strip() or not is_english(cleaned.text):
        return None
    return cleaned


def author_and_owner(cast: Cast, author: int | None) -> frozenset[int]:
    """Of whom the words of others in a message tell nothing."""
    return frozenset(key for key in (author, cast.candidate(OWNER).key) if key is not None)


def questions(turns: list[tuple[int, Turn]]) -> dict[int, str]:
    """For each turn that follows a question: the question."""
    asked: dict[int, str] = {}
    for (_, before), (index, _) in pairwise(turns):
        last = re.split(r"(?<=[.!?])\s+", before.text.strip())[-1]
        if last.endswith("?") or re.match(r"(?:where|who|what|which)\b", last, re.IGNORECASE):
            asked[index] = last
    return asked


def known_names(window: Window) -> tuple[dict[str, str], dict[str, set[int]]]:
    """Names of candidates and speakers with their types, and the lengths of names by their first word."""
    known: dict[str, str] = {}
    for candidate in window.candidates:
        for name in (candidate.label, *candidate.aliases):
            known[normal(name)] = candidate.type
    for speaker in window.speakers:
        if speaker:
            known.setdefault(normal(speaker), "Person")
    known.pop("", None)
    index: dict[str, set[int]] = {}
    for name in known:
        words = name.split()
        index.setdefault(words[0], set()).add(len(words))
    return known, index


def agree(found: Sequence[Sequence[Name]]) -> None:
    """Let all mentions of a name vote together on what it names."""
    votes: dict[str, Counter[str]] = {}
    for name in (name for some in found for name in some):
        votes.setdefault(normal(name.text), Counter()).update(name.votes)
    for name in (name for some in found for name in some):
        name.votes = votes[normal(name.text)]


def speaker_key(window: Window, cast: Cast, turn: Turn) -> int | None:
    """The key of who says a turn."""
    number = window.speakers.get(turn.speaker, OWNER if turn.role == "user" and not turn.speaker else None)
    if number is not None:
        return cast.candidate(number).key
    if not turn.speaker:
        return None
    entry = cast.named(turn.speaker, "Person", sure=True)
    entry.sure = True
    return entry.key
