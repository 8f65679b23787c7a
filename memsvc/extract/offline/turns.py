"""A turn as it is read: the ``Reading`` that patterns ask, over names, relatives, pronouns and noun phrases."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from spacy.tokens import Doc, Token

from memsvc.extract.extraction import Entity
from memsvc.extract.offline import coreference, kinship, listing, naming
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import noun_phrases as phrases
from memsvc.extract.offline.cast import Cast, Entry, normal
from memsvc.extract.offline.clean import MAX_QUOTE, Cleaned
from memsvc.extract.offline.coreference import Mention
from memsvc.extract.offline.lexicon_things import words
from memsvc.extract.offline.names import Name
from memsvc.extract.offline.reading import Bond, Status
from memsvc.extract.offline.spelling import personal
from memsvc.extract.offline.status import status_of
from memsvc.extract.offline.votes import LIKE
from memsvc.extract.window import Turn

FIRST = words("i me my mine myself we us our ours ourselves")
SECOND = words("you your yours yourself")
RELATIVE = words("who that which whom whose")
VAGUE_PERSONS = words("someone somebody everyone everybody anyone anybody people nobody they them their")
NEAR = 12
"""Tokens at the beginning of a turn where "it" may mean what the turn before spoke of."""


class TurnReading:
    """See ``memsvc.extract.offline.reading.Reading``."""

    def __init__(
        self, turn: Turn, index: int, cleaned: Cleaned, doc: Doc, *, now: datetime, cast: Cast,
        speaker: int | None, partner: int | None, names: Sequence[Name], heard: bool = False,
        silent_of: frozenset[int] = frozenset(),
    ) -> None:  # fmt: skip
        """Prepare; ``settle`` has to follow, in the order of the turns.

        A turn that is only heard, an assistant's, adds nobody; it tells whom "she" in the answer means.
        """
        self.heard, self.silent_of = heard, silent_of
        self.turn, self.index, self.doc, self.now = turn, index, doc, now
        self.speaker, self.partner = speaker, partner
        self.cleaned, self.cast, self.names = cleaned, cast, names
        self.bonds: list[Bond] = []
        self.persons: list[Mention] = []
        self.places: list[Mention] = []
        self.named: dict[int, int] = {}
        self.known: dict[int, int | None] = {}
        self.earlier: list[TurnReading] = []

    def settle(self, earlier: Sequence[TurnReading]) -> None:
        """Find out who is spoken of, given the turns before, the last one first."""
        self.earlier = list(earlier)
        for name in self.names:
            if self.heard and not self.cast.knows(name.text):
                continue
            entry = self.cast.named(name.text, name.votes.most_common(1)[0][0])
            entry = self.cast.meant(entry, self.speaker)
            entry.votes = name.votes
            self.note(entry, name.start, name.end)
            for at in range(name.start, name.end):
                self.named[at] = entry.key
            mention = Mention(self.doc[name.head], entry.key)
            if entry.kind in {"Person", "Object", "Concept"}:
                self.persons.append(mention)
            elif entry.kind == "Place":
                self.places.append(mention)
        if not self.heard:
            kinship.bind(self)
            naming.read_statements(self)
            listing.read_lists(self)
        self.persons.sort(key=lambda mention: mention.token.i)

    def note(self, entry: Entry, start: int, end: int) -> None:
        """Remember where an entity is spoken of first."""
        if entry.spoken or self.index < 0 or self.heard:
            return
        entry.spoken, entry.turn = True, self.index
        entry.quote = self.words(self.doc[start], self.doc[end - 1])

    def status(self, verb: Token) -> Status:
        """See ``Reading.status``."""
        return status_of(verb)

    def person(self, token: Token) -> int | None:
        """See ``Reading.person``."""
        if token.i in self.known:
            return self.known[token.i]
        self.known[token.i] = None  # where it asks for itself
        found = self.known[token.i] = self.person_meant(token)
        return found

    def person_meant(self, token: Token) -> int | None:
        """Whom a token means, worked out."""
        low = token.lower_
        if low in FIRST:
            return self.speaker
        if low in SECOND:
            return self.partner
        if low in coreference.HER | coreference.HIM and token.pos_ in {"PRON", "DET"}:
            return self.living(token, animals=False)
        if low in RELATIVE and token.pos_ in {"PRON", "DET", "SCONJ"}:
            head = relative_head(token)
            return self.person(head) if head is not None else None
        if low in VAGUE_PERSONS:
            return None
        if token.i in self.named:
            entry = self.cast[self.named[token.i]]
            likely = entry.name.isalpha() and personal(entry.name.lower()) > LIKE and not entry.name.isupper()
            if entry.kind == "Concept" and likely and token.dep_ in {"nsubj", "poss", "dobj", "pobj"}:
                self.cast.as_kind(entry, ("Person",))
            return entry.key if entry.kind == "Person" else None
        return kinship.described(self, token)

    def living(self, pronoun: Token, *, animals: bool) -> int | None:
        """Whom "she" or "he" means."""
        others = frozenset(key for key in (self.speaker, self.partner) if key is not None)
        earlier = [reading.persons for reading in self.earlier]
        return coreference.person_meant(pronoun, self.persons, earlier, self.cast, others, animals=animals)

    def entity(self, token: Token, *types: str) -> int | None:
        """See ``Reading.entity``."""
        key = self.entity_meant(token, types)
        if key is None:
            return None
        entry = self.cast[key]
        if not self.cast.as_kind(entry, types):
            return None
        return entry.key

    def entity_meant(self, token: Token, types: Sequence[str]) -> int | None:
        """What a token means, whatever its type."""
        if token.i in self.named:
            return self.named[token.i]
        low = token.lower_
        if low in coreference.THERE:
            return self.place_before(token)
        if token.pos_ == "PRON" or low in coreference.THING:
            if low in coreference.THING and token.pos_ in {"PRON", "DET"}:
                return self.thing_before(token, types)
            return self.person(token)
        person = self.person(token)
        if person is not None:
            return person
        return self.thing(token, types)

    def thing(self, token: Token, types: Sequence[str]) -> int | None:
        """An unnamed thing."""
        phrase = phrases.phrase_of(token)
        if phrase is None:
            return None
        kind = phrases.kind_of(phrase, types)
        if not kind:
            return None
        owner = next((child for child in phrase.head.children if child.dep_ == "poss"), None)
        whose = self.person(owner) if owner is not None else None
        noun = phrase.head.lemma_.lower()
        for name, key in self.cast.described.get(noun, ()):
            if phrases.same(name, phrase.name, definite=phrase.definite) and self.fits(key, kind, types):
                return self.cast[key].key
        entry = self.cast.add(phrase.name, kind, named=False, of=whose, relation=noun if whose is not None else "")
        self.cast.described.setdefault(noun, []).append((phrase.name, entry.key))
        self.note(entry, phrase.start, phrase.end)
        return entry.key

    def fits(self, key: int, kind: str, types: Sequence[str]) -> bool:
        """Whether something may be what is asked; a thing of uncertain type becomes it."""
        entry = self.cast[key]
        if not types or entry.kind in types:
            return True
        if entry.sure or entry.named or kind not in types:
            return False
        entry.kind = kind
        return True

    def place_before(self, token: Token) -> int | None:
        """The place that "there" means."""
        for mention in reversed(self.places):
            if mention.token.i < token.i:
                return mention.key
        for reading in self.earlier[: coreference.FAR]:
            if reading.places:
                return reading.places[-1].key
        return None

    def thing_before(self, token: Token, types: Sequence[str]) -> int | None:
        """The thing that "it" means: the subject or object of the sentence before."""
        doc, start = self.doc, token.sent.start
        candidates = [
            word for word in doc[:start] if word.dep_ in {"dobj", "nsubj", "attr", "pobj", "ROOT", "nsubjpass"}
        ]
        same = [
            word
            for word in doc[start : token.i]
            if word.dep_ in {"dobj", "nsubj", "attr"} and token.head.i != word.head.i
        ]
        for word in [*reversed(same), *reversed(candidates[-4:])]:
            if word.pos_ not in {"NOUN", "PROPN"} or word.ent_type_ in {"DATE", "TIME"}:
                continue
            if word.i in self.named:
                entry = self.cast[self.named[word.i]]
                if entry.kind != "Person" and (not types or entry.kind in types):
                    return entry.key
                continue
            if word.lemma_.lower() in things.EMPTY or self.person(word) is not None:
                continue
            key = self.thing(word, types)
            if key is not None:
                return key
        return self.thing_of_before(types) if start < NEAR else None

    def thing_of_before(self, types: Sequence[str]) -> int | None:
        """The thing that the turn before introduced last: "I own a small shop." - "It is called …"."""
        for reading in self.earlier[: coreference.FAR]:
            for word in reversed(reading.doc):
                if word.dep_ in {"dobj", "attr", "nsubj", "ROOT", "appos"} and word.pos_ == "NOUN" and introduces(word):
                    return None if reading.heard else reading.thing(word, types)
        return None

    def made(self, name: str, kind: str, token: Token) -> int:
        """See ``Reading.made``."""
        made = self.cast.described.setdefault(name.casefold(), [])
        for _, key in made:
            if self.cast[key].kind == kind:
                return self.cast[key].key
        entry = self.cast.add(name, kind, named=False, sure=True)
        made.append((name, entry.key))
        self.note(entry, token.i, token.i + 1)
        return entry.key

    def whose(self, key: int) -> Entity:
        """See ``Reading.whose``."""
        return self.cast.entity(key)

    def shares_name(self, key: int) -> bool:
        """See ``Reading.shares_name``."""
        same = {self.cast.find(one) for one in self.cast.namesakes.get(normal(self.cast[key].name), ())}
        return self.cast.find(key) in same

    def words(self, first: Token, last: Token) -> str:
        """See ``Reading.words``."""
        begin, end = self.cleaned.source(first.idx, last.idx + len(last.text))
        quote = self.turn.text[begin:end]
        if len(quote) > MAX_QUOTE:
            quote = quote[:MAX_QUOTE].rsplit(" ", 1)[0]
        return quote.strip()


def introduces(noun: Token) -> bool:
    """Whether a noun has an indefinite article or a possessive."""
    return any(child.lower_ in {"a", "an", "my", "our"} for child in noun.children)


def relative_head(token: Token) -> Token | None:
    """The noun that a relative pronoun stands for."""
    for ancestor in token.ancestors:
        if ancestor.dep_ == "relcl":
            return ancestor.head
    return None
