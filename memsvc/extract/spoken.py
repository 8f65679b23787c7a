"""What a window speaks of: whether its turns have a name, and whether a fact's sentence says more than they do.

A name, number or date that stands neither in the turns nor among the candidates was made up.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from memsvc.extract.boilerplate import touches
from memsvc.extract.comparing import SYMMETRIC
from memsvc.extract.extraction import Entity, Fact
from memsvc.extract.names import SMALL, folded, telling, words_of
from memsvc.extract.offline.language import ENGLISH as FUNCTION_WORDS
from memsvc.extract.offline.language import is_english
from memsvc.extract.offline.sentences import sentence
from memsvc.extract.offline.voices import author_of, foreign, own_names, voices_of
from memsvc.extract.quotes import Span, find_quote
from memsvc.extract.relations import name_in
from memsvc.extract.stems import Stems, Vocabulary, all_of
from memsvc.extract.window import OWNER, Turn, Window

LEAST_SHARE = 0.5
"""Of the telling words of a description that must stand in the turns."""
FREE = frozenset({"Emotion", "Task"})
"""Types whose names put into words what the turns say in others."""
WORD = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
SPELT = """
two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
"""
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBERS = {word: str(number) for number, word in enumerate(SPELT.split(), 2)} | {
    word: str(10 * number) for number, word in enumerate(TENS.split(), 2)
}
"""Words for numbers; "one" is as often a pronoun."""
OPENING = (
    FUNCTION_WORDS
    | SMALL
    | {
        "since",
        "until",
        "after",
        "before",
        "during",
        "while",
        "because",
        "every",
        "each",
        "both",
        "once",
        "last",
        "next",
    }
    | {"last", "next", "today", "yesterday", "tomorrow", "currently", "recently", "formerly", "several", "many", "most"}
)
"""Words with which a sentence may begin, besides names."""


class Spoken:
    """What a window speaks of, and whose words they are."""

    def __init__(self, window: Window, stems: Stems) -> None:
        """Take the words of a window.

        Args:
            window: its turns, those before included, and its candidates.
            stems: of the words of the window and of the extraction; see ``memsvc.extract.stems``.
        """
        self._window = window
        turns = (*window.before, *window.turns)
        self._vocabulary = Vocabulary(turns, stems)
        self._english = is_english("\n".join(turn.text for turn in turns))
        self._numbers = frozenset(number for turn in turns for number in _numbers(all_of(turn)))
        self._card_words = frozenset(
            word
            for card in window.candidates
            for name in (card.label, *card.aliases, *card.relations)
            for word in words_of(name)
        )
        self._speaking = frozenset(number for number in window.speakers.values() if number is not None)
        self._speakers = frozenset(folded(speaker) for speaker in window.speakers)
        self._voices = voices_of(window)

    # Whose words they are -------------------------------------------------------------------------------------------

    def is_anothers(self, fact: Fact, ends: tuple[Entity, Entity], span: Span) -> bool:
        """Whether a fact about a turn's author, or the owner, stands in the words of somebody else."""
        turn = self._window.turns[fact.turn]
        told = ends if fact.type in SYMMETRIC else ends[:1]
        if not any(self._is_own(turn, entity) for entity in told):
            return False
        return touches(span, foreign(turn.text, self._voices.get(turn.passage_id, [])))

    def _is_own(self, turn: Turn, entity: Entity) -> bool:
        """Whether an entity is who says a turn, or the owner."""
        own = (OWNER, author_of(self._window, turn))
        if entity.known is not None:
            return entity.known in own
        names = {folded(turn.speaker)}.union(*(own_names(self._window, number) for number in own))
        return folded(entity.name) in names

    # Who and what is spoken of --------------------------------------------------------------------------------------

    def has(self, entity: Entity) -> bool:
        """Whether the turns speak of somebody or something."""
        if entity.known is not None:
            if entity.known == OWNER or entity.known in self._speaking:
                return True
            card = self._window.candidates[entity.known]
            names = (card.label, *card.aliases, entity.name, *card.relations)
            return any(self._vocabulary.share(name) >= LEAST_SHARE for name in names)
        if folded(entity.name) in self._speakers or entity.type in FREE:
            return True
        if entity.named:
            words = telling(entity.name)
            return all(self._vocabulary.has(word) or self._vocabulary.has_part(word) for word in words)
        share = self._vocabulary.share
        return share(entity.name) >= LEAST_SHARE or share(entity.relation) >= 1

    def ends_what_is_known(self, fact: Fact, entity: Entity, span: Span) -> bool:
        """Whether a fact tells the end of something known in other words: "we sold the van", of the Transporter.

        The words for it stand in the fact's quote, and no other candidate of its type can be meant.
        """
        if fact.change != "ended" or entity.known is None or not entity.quote:
            return False
        turn = self._window.turns[fact.turn]
        words = find_quote(turn.text, entity.quote, span[0])
        kind = self._window.candidates[entity.known].type
        alike = [card for card in self._window.candidates if card.type == kind and card.number != OWNER]
        return words is not None and touches(words, [span]) and len(alike) == 1

    # Sentences ------------------------------------------------------------------------------------------------------

    def sentence_of(self, fact: Fact, ends: tuple[Entity, Entity]) -> str:
        """A fact's sentence; one that is made of the fact's parts, where its own says more than the window."""
        if not self._adds_something(fact, ends):
            return fact.sentence
        turn = self._window.turns[fact.turn]
        if not self._english:
            return f"{turn.speaker}: {fact.quote.strip()}" if turn.speaker else fact.quote.strip()
        subject, thing = (msgspec.structs.replace(end, name=name_in(self._window, end)) for end in ends)
        past = fact.until is not None and fact.until <= turn.said_at
        change = "ended" if past and fact.change == "holds" else fact.change
        relation = str(fact.data.get("relation", ""))
        return sentence(subject, fact.type, thing, change, past=past, relation=relation)

    def _adds_something(self, fact: Fact, ends: tuple[Entity, Entity]) -> bool:
        """Whether a sentence has names, numbers or dates that are nobody's and nowhere."""
        rest = _without_dates(fact.sentence, [moment for moment in (fact.since, fact.until) if moment is not None])
        if not _numbers(rest) <= self._numbers:
            return True
        named = {word for end in ends if end.type not in FREE for word in words_of(f"{end.name} {end.relation}")}
        known = self._card_words | named
        return any(
            word not in known and not self._vocabulary.has(word) and not self._vocabulary.has_part(word)
            for word in _names_in(rest)
        )


def _numbers(text: str) -> set[str]:
    """The numbers of a text in digits, those in words too."""
    found = {re.sub(r"[.,]", "", number).lstrip("0") or "0" for number in NUMBER.findall(text)}
    return found | {NUMBERS[word] for written in words_of(text) for word in written.split("-") if word in NUMBERS}


def _names_in(text: str) -> Iterator[str]:
    """Words with a capital, folded; the first one counts unless sentences often begin with it."""
    for place, found in enumerate(WORD.finditer(text)):
        if found[0][0].isupper():
            yield from (word for word in words_of(found[0]) if place or word not in OPENING)


def _without_dates(text: str, moments: Sequence[datetime]) -> str:
    """A sentence without the dates of these moments, as exact as they may be written."""
    for moment in moments:
        month, weekday = calendar.month_name[moment.month], calendar.day_name[moment.weekday()]
        name, day = rf"{month[:3]}(?:{month[3:]})?\.?", rf"0?{moment.day}(?:st|nd|rd|th)?"
        written = (
            rf"{moment:%Y-%m-%d}|{moment:%Y-%m}|(?:{day}\ (?:of\ )?{name}|{name}(?:\ {day})?)(?:,?\ {moment.year})?"
            rf"|{weekday[:3]}(?:{weekday[3:]})?|{moment.year}"
        )
        text = re.sub(rf"(?<![\w-])(?:{written})(?![\w-])", "", text)
    return text
