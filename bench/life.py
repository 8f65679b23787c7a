"""Reads ``bench/gold/life``: talk between people, with what a good friend would want to know of it a month later.

``bench/gold/README.md`` has the format. ``kept`` is opened only when it is asked for by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from bench.gold import FOLDER, LABELS, Conversation, load

DETERMINER = re.compile(r"^(?:my|our|her|his|their|your|the|a|an|that) ", re.IGNORECASE)


class Person(msgspec.Struct, frozen=True, tag_field="record", tag="person"):
    """Somebody whom a talk names."""

    id: str
    names: list[str]
    mentions: list[str]
    kin: str | None
    """What it is to the owner: "mother", "friend's husband"."""
    speaker: bool = False


class Fact(msgspec.Struct, frozen=True, tag_field="record", tag="fact"):
    """What a talk says."""

    id: str
    sentence: str
    about: list[str]
    keys: list[list[str]]
    turns: list[str]
    since: str | None
    """An ISO date, month or year; ``~`` in front: about."""
    until: str | None
    """The same, or ``bench.gold.PAST``."""
    status: str
    worth: bool


class NotFact(msgspec.Struct, frozen=True, tag_field="record", tag="not_fact"):
    """What a hasty reader would note."""


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation with what it says."""

    conversation: Conversation
    people: Mapping[str, Person]
    """By id."""
    facts: Sequence[Fact]

    @property
    def worth(self) -> list[Fact]:
        """The facts that are worth keeping."""
        return [fact for fact in self.facts if fact.worth]


def talks(part: str) -> list[Talk]:
    """The talks of ``life/open`` or ``life/kept``, by name.

    Raises:
        ConfigurationError: there is no such set.
    """
    found = []
    for conversation in load(part):
        lines = (FOLDER / part / f"{conversation.name}{LABELS}").read_bytes().splitlines()
        records = [msgspec.json.decode(line, type=Person | Fact | NotFact) for line in lines if line.strip()]
        people = {one.id: one for one in records if isinstance(one, Person)}
        found.append(Talk(conversation, people, [one for one in records if isinstance(one, Fact)]))
    return found


def says(sentence: str, fact: Fact, people: Mapping[str, Person]) -> bool:
    """Whether a sentence names whom a fact is about first, and has a word of each group of its keys."""
    return len(groups_in([sentence], fact)) == len(fact.keys) and names_its_person([sentence], fact, people)


def says_partly(sentences: Sequence[str], fact: Fact, people: Mapping[str, Person]) -> bool:
    """Whether one sentence, or two together, name whom a fact is about, and have half of the groups of its keys."""
    half = len(fact.keys) / 2
    return any(
        len(groups_in(pair, fact)) >= max(half, 1) and names_its_person(pair, fact, people)
        for place, one in enumerate(sentences)
        for pair in ([one], *([one, other] for other in sentences[place + 1 :]))
    )


def groups_in(sentences: Sequence[str], fact: Fact) -> set[int]:
    """The groups of a fact's keys of which some sentence has a word."""
    texts = [sentence.lower() for sentence in sentences]
    return {
        number for number, group in enumerate(fact.keys)
        if any(begins(key, text) for key in group for text in texts)
    }  # fmt: skip


def names_its_person(sentences: Sequence[str], fact: Fact, people: Mapping[str, Person]) -> bool:
    """Whether some sentence names whom a fact is about first; true where it is about nobody."""
    return not fact.about or any(stands_in(name, one) for name in called(people[fact.about[0]]) for one in sentences)


def called(person: Person) -> list[str]:
    """All that somebody is called: names, first names, and mentions without "my"."""
    return [*person.names, *(name.split()[0] for name in person.names), *map(bare, person.mentions)]


def stands_in(name: str, text: str) -> bool:
    """Whether a name stands in a text as words of its own."""
    return re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", text.lower()) is not None


def begins(key: str, text: str) -> bool:
    """Whether a word of a text, in lower case, begins so."""
    return re.search(rf"(?<![a-z]){re.escape(key.lower())}", text) is not None


def bare(mention: str) -> str:
    """A mention without the determiner in front."""
    return DETERMINER.sub("", mention)
