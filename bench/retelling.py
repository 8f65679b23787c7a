"""A sentence as somebody else would pass it on: names for "I", "you" and "she", dates for "next week".

"I've been allergic to peanuts since I was ten" becomes "Leo has been allergic to peanuts since he was ten.", "she moved
there last month" is left, and "Ana starts next Monday" becomes "Ana starts on 2 November 2026." The author's words stay
otherwise. What needs another sentence to be understood, for a word that points out of it, is not passed on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from memsvc.extract.offline import coreference
from memsvc.extract.offline.lexicon_things import words
from memsvc.recall.times_in_words import days
from memsvc.times.relative import relative_times

if TYPE_CHECKING:
    from datetime import datetime

    from spacy.tokens import Token

    from memsvc.extract.offline.turns import TurnReading

LONGEST = 240
"""Signs of a sentence."""
SUBJECTS = frozenset({"nsubj", "nsubjpass"})
ME = words("i me my mine myself")
US = words("we us our ours ourselves")
YOU = words("you your yours yourself")
THEM = words("they them their theirs themselves")
POINTING = words("it its this that these those one ones itself")
REFLEXIVE = words("myself yourself himself herself themselves ourselves")
OWN = words("mine ours yours hers theirs")
POSSESSIVE = words("my our your their its")
PLACES = words("here there")
WRITTEN_OUT = {
    "'ve": "have",
    "'re": "are",
    "'ll": "will",
    "'m": "am",
    "’ve": "have",
    "’re": "are",
    "’ll": "will",
    "’m": "am",
}
THIRD = {"am": "is", "are": "is", "have": "has", "do": "does", "were": "was"}
"""Forms of verbs with "she"."""
PLURAL = {"am": "are", "is": "are", "was": "were", "has": "have", "does": "do"}
FORMS = {
    "she": {"subject": "she", "object": "her", "possessive": "her", "reflexive": "herself", "own": "hers"},
    "he": {"subject": "he", "object": "him", "possessive": "his", "reflexive": "himself", "own": "his"},
}
FILLERS = words("""
    well so yeah yep yes no nope ok okay oh ah hey hi hmm um uh like actually honestly basically anyway anyways also and
    but or then now though lol haha ha btw right sure nah aw aww ooh wow sorry please thanks cheers because plus ps
    hello yup ay och ach
""")
CLOSING = FILLERS - words("now then right so no yes also")
JOINED = re.compile(r" ((?:['’](?:s|d|ll|re|ve|m)|n['’]t)\b)")
STRAY = re.compile(r"(?<![\w'’.])[b-hj-z](?![\w'’.&])")
"""A letter by itself, as in "id go" taken apart."""
ALL_OF_US = "{name} and others"


class Retold(NamedTuple):
    """A sentence that stands by itself, and what was done for that."""

    text: str
    traits: frozenset[str]
    """What was put in: "dated", "he or she", "you", "we"; and "it", where a word points to another of the sentence."""
    people: tuple[int, ...]
    """Keys of the persons whom it names, in the order of the words."""


def retell(tokens: Sequence[Token], reading: TurnReading) -> Retold | None:
    """A sentence as it stands by itself; None: it does not, or it is longer than ``LONGEST``.

    Args:
        tokens: its words, in order; fillers at both ends may be among them.
        reading: the turn that they are from.
    """
    kept = trimmed(tokens, reading)
    if not kept:
        return None
    made = _Retelling(reading, kept)
    for place, token in enumerate(kept):
        if not made.add(token, last=place + 1 == len(kept)):
            return None
    text, dated = with_dates("".join(made.pieces), reading.now)
    text = JOINED.sub(r"\1", " ".join(text.replace(" ,", ",").split())).strip(" ,;:-–.!\"'")
    if not text or len(text) > LONGEST or STRAY.search(text):
        return None
    traits = made.traits | ({"dated"} if dated else set())
    return Retold(f"{text[0].upper()}{text[1:]}.", frozenset(traits), tuple(made.people))


class _Retelling:
    """A sentence while it is being written."""

    def __init__(self, reading: TurnReading, tokens: Sequence[Token]) -> None:
        self.reading = reading
        self.tokens = tokens
        self.pieces: list[str] = []
        self.people: list[int] = []
        self.traits: set[str] = set()
        self.agrees: dict[int, str] = {}
        """Finite verbs whose subject is another now: the subject's number, "one" or "many"."""

    def add(self, token: Token, *, last: bool) -> bool:
        """Write a word; False: nobody can say what it means."""
        word = self.word(token)
        if word is None:
            return False
        if word != token.text and self.pieces and not self.pieces[-1].endswith((" ", "(", "-", "/", '"')):
            self.pieces.append(" ")  # "I've" is two words now
        self.pieces += [word, "" if last else token.whitespace_ or ("" if token.text == word else " ")]
        return True

    def word(self, token: Token) -> str | None:
        """What is written for a word; None: nobody can say what it means."""
        low = token.lower_
        if token.i in self.reading.named:
            key = self.reading.whose(self.reading.named[token.i]).key
            if self.reading.cast[key].kind == "Person":
                self.remember(key)
            return cased(token, self.reading.cast[key].name)
        if low in PLACES and token.dep_ == "advmod":
            return None if not self.place_before(token) else str(token.text)
        return self.pronoun(token) if token.pos_ in {"PRON", "DET"} or low in ME else self.verb(token)

    def pronoun(self, token: Token) -> str | None:
        """What is written for a pronoun or an article."""
        low = token.lower_
        if low in ME:
            return self.someone(token, self.reading.speaker)
        if low in US:
            return self.several(token)
        if low in YOU:
            self.traits.add("you")
            return self.someone(token, self.reading.partner)
        if low in coreference.HER | coreference.HIM:
            return self.third(token)
        if low in THEM:
            return str(token.text) if self.points_back(token, plural=True) else None
        if low in POINTING and token.dep_ not in {"det", "mark", "expl"} and not relative(token):
            return str(token.text) if dummy(token) or self.points_back(token, plural=False) else None
        return str(token.text)

    def several(self, token: Token) -> str | None:
        """What stands for "we": nobody says who the others are."""
        self.traits.add("we")
        speaker = self.reading.speaker
        if speaker is None:
            return None
        role = role_of(token)
        name = self.reading.cast.title(speaker)
        self.remember(speaker)
        if role == "subject":
            self.agree(token, "many")
        if role in {"possessive", "own"}:
            return f"{name}'s"
        return "themselves" if role == "reflexive" else ALL_OF_US.format(name=name)

    def third(self, token: Token) -> str | None:
        """What stands for "she": a name, but where the sentence has it already."""
        person = self.reading.person(token)
        if person is None:
            return None
        key = self.reading.whose(person).key
        if key in self.people:
            self.traits.add("she again")
            return str(token.text)
        self.traits.add("he or she")
        return self.someone(token, key)

    def someone(self, token: Token, person: int | None) -> str | None:
        """The name of a person; of whose gender we know, "she" or "he" behind it."""
        if person is None:
            return None
        key = self.reading.whose(person).key
        role, gender = role_of(token), self.reading.cast[key].gender
        if role == "subject":
            self.agree(token, "one")
        if role == "reflexive":
            return FORMS[gender]["reflexive"] if gender in FORMS else "themselves"
        rivals = any(self.reading.cast[other].gender in {gender, ""} for other in self.people if other != key)
        if key in self.people and gender in FORMS and not rivals:
            return FORMS[gender][role]
        self.remember(key)
        name = self.reading.cast.title(key)
        return f"{name}'s" if role in {"possessive", "own"} else name

    def remember(self, key: int) -> None:
        if key not in self.people:
            self.people.append(key)

    def agree(self, subject: Token, number: str) -> None:
        """Let the verb go with its new subject."""
        verb = finite_verb(subject.head)
        if verb is not None and not coordinated(subject):
            self.agrees[verb.i] = number

    def verb(self, token: Token) -> str:
        """A word as it stands, or in the form that goes with the new subject."""
        number = self.agrees.get(token.i)
        if number is None:
            return str(token.text)
        full = WRITTEN_OUT.get(token.lower_, token.lower_)
        if token.lower_ in {"'d", "’d"}:
            return "would" if token.head.tag_ == "VB" else "had"
        if number == "many":
            return PLURAL.get(full, full)
        if full in THIRD:
            return THIRD[full]
        return third_person(full) if token.tag_ == "VBP" and full not in {"was", "can", "will"} else full

    def points_back(self, token: Token, *, plural: bool) -> bool:
        """Whether a noun that "it" or "they" may mean stands before it in the sentence."""
        self.traits.add("they" if plural else "it")
        wanted = {"NNS", "NNPS"} if plural else {"NN", "NNP"}
        return any(
            (one.tag_ in wanted or (plural and one.dep_ == "conj" and one.pos_ in {"NOUN", "PROPN"}))
            and one.ent_type_ not in {"DATE", "TIME"}
            and (plural or self.reading.person(one) is None)
            for one in self.tokens
            if one.i < token.i
        )

    def place_before(self, token: Token) -> bool:
        """Whether a place that "there" may mean stands before it in the sentence."""
        self.traits.add("there")
        named = self.reading.named
        return any(
            one.i < token.i
            and (
                (one.i in named and self.reading.cast[named[one.i]].kind in {"Place", "Organization"})
                or one.dep_ == "pobj"
            )
            for one in self.tokens
        )


def trimmed(tokens: Sequence[Token], reading: TurnReading) -> list[Token]:
    """The words of a sentence without fillers, greetings and names of who is spoken to at both ends."""
    kept = [token for token in tokens if not token.is_space]
    while kept and (
        kept[0].is_punct
        or (kept[0].lower_ in FILLERS and kept[0].dep_ not in SUBJECTS | {"det"})
        or (kept[0].dep_ == "intj" and kept[0].pos_ != "VERB")
        or (addressed(kept[0], reading) and len(kept) > 1 and kept[1].is_punct)
    ):
        kept.pop(0)
    while kept and (
        kept[-1].is_punct
        or kept[-1].lower_ in CLOSING
        or (addressed(kept[-1], reading) and len(kept) > 1 and kept[-2].text == ",")
    ):
        kept.pop()
    return kept


def cased(token: Token, name: str) -> str:
    """A word of a name as the name spells it: "Sam" for "sam"."""
    text = str(token.text)
    return next((part for part in name.split() if part.lower() == text.lower()), text) if text.islower() else text


def addressed(token: Token, reading: TurnReading) -> bool:
    """Whether a word is the name of who is spoken to."""
    return token.i in reading.named and reading.partner is not None and reading.named[token.i] == reading.partner


def role_of(token: Token) -> str:
    """What a pronoun is in its clause: subject, object, possessive, own ("mine"), reflexive."""
    low = token.lower_
    if low in REFLEXIVE:
        return "reflexive"
    if low in POSSESSIVE or (token.dep_ == "poss" and low not in OWN):
        return "possessive"
    if low in OWN:
        return "own"
    return "subject" if token.dep_ in SUBJECTS and low not in {"me", "us", "him", "them"} else "object"


def relative(token: Token) -> bool:
    """Whether "that" opens a relative clause."""
    return token.lower_ == "that" and any(one.dep_ == "relcl" for one in (token.head, *token.head.ancestors))


def dummy(token: Token) -> bool:
    """Whether "it" stands for nothing: "it rains", "it takes two hours to …", "it was hard to leave"."""
    verb = token.head
    if token.lower_ != "it" or token.dep_ not in SUBJECTS:
        return False
    if verb.lemma_ in {"rain", "snow", "seem", "turn"}:
        return True
    behind = [child for child in verb.children if child.i > verb.i]
    clause = any(
        child.dep_ in {"xcomp", "ccomp", "csubj", "advcl"} and child.pos_ in {"VERB", "AUX"} for child in behind
    )
    return clause and verb.lemma_ in {"be", "take", "cost"}


def coordinated(token: Token) -> bool:
    """Whether somebody else is a subject as well: "Ana and I"."""
    return token.dep_ == "conj" or any(child.dep_ == "conj" for child in token.children)


def finite_verb(verb: Token) -> Token | None:
    """The word that agrees with the subject: the first auxiliary, else the verb."""
    helpers = [child for child in verb.children if child.dep_ in {"aux", "auxpass"} and child.tag_ != "TO"]
    first = min(helpers, key=lambda token: token.i, default=verb)
    return first if first.tag_ in {"VBP", "VBD", "VBZ", "MD", "VB"} else None


def third_person(verb: str) -> str:
    """The third person of a present form: "bakes", "tries", "goes"."""
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    if verb.endswith("y") and len(verb) > 1 and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def with_dates(text: str, now: datetime) -> tuple[str, bool]:
    """A sentence with dates for its relative words of time, and whether there are any."""
    pieces, done = [], 0
    for time in relative_times(text, now):
        if time.otherwise is not None:
            continue
        told = days(time.begin, time.end)
        before = text[done : time.start]
        pieces += [before, f"{preposition(before, told, about=time.about)}{told}"]
        done = time.stop
    return "".join([*pieces, text[done:]]), bool(pieces)


def preposition(before: str, told: str, *, about: bool) -> str:
    """What a date needs in front of it: "on 3 May 2026", "in May 2026", "from 3 to 9 May 2026"."""
    if about:
        return "about "
    if re.search(r"\b(?:on|in|by|since|until|till|from|for|before|after|of)(?: the)?\s*$", before):
        return ""
    if " to " in told:
        return "from "
    return "in " if told[0].isalpha() or told.isdigit() else "on "
