"""Finds by which other names people are called in messages: "call me Bee", "Robert Stone, aka Bob", initials.

A name is found only where it can mean nobody else among the people that the conversation mentions. What is found is a
span of a message; nothing is decided here (``memsvc.sleep.aliases`` proposes it to a person).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal
from uuid import UUID

import msgspec

Rule = Literal["asked", "also", "first", "initials"]
SURE: Mapping[Rule, float] = {"asked": 0.9, "also": 0.85, "first": 0.5, "initials": 0.4}
"""How sure a name is that was found once; by first name and initials it gets surer each time."""
LEAST_TIMES: Mapping[Rule, int] = {"asked": 1, "also": 1, "first": 2, "initials": 2}
SHORTEST = 3
"""Letters of a first name that can stand alone."""
NAME = r"[^\W\d_a-z][\w'’-]{1,30}(?:\s[^\W\d_a-z][\w'’-]{1,30})?"
"""One or two words with a capital letter, or in a script without capitals; \\w excludes no such script."""
ASKED = re.compile(
    r"\b(?:[Cc]all me|[Cc]alls me|I go by|I'm known as|[Nn]ennt? mich|[Mm]e llaman|[Mm]e chamam(?: de)?)\s"
    rf"(?P<name>{NAME})"
)
ALSO = r",?\s\(?(?:aka|a\.k\.a\.|AKA|also known as|better known as|known as|called|auch bekannt als|genannt)\s"
SAYS_ALSO = re.compile(ALSO)
INITIALS = re.compile(r"(?<![\w.])(?:[^\W\d_a-z]\.\s?){2,3}|(?<![\w.])[^\W\d_a-z]{2,3}(?![\w.])")
WORD = re.compile(r"(?<![\w'’-])[^\W\d_][\w'’-]*")
OTHER_WORDS = """
monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
october november december montag dienstag mittwoch donnerstag freitag samstag sonntag today tomorrow tonight when if
back later again ok okay tv pc pm am uk us usa eu id hr pr ai it vip ceo cto cfo faq asap diy gps mr mrs ms dr the a an
i
"""
NO_NAMES = frozenset(OTHER_WORDS.split())


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A message of a conversation."""

    passage_id: UUID
    speaker: UUID | None
    """The node of whoever said it; None: not known."""
    text: str


class Called(msgspec.Struct, frozen=True, kw_only=True):
    """A name by which somebody is called."""

    node_id: UUID
    name: str
    passage_id: UUID
    """The first message with it."""
    span: tuple[int, int]
    """Where it stands there, in characters from 0, without the end."""
    rule: Rule
    times: int
    """In how many messages."""

    @property
    def score(self) -> float:
        """How sure it is, 0 to 1."""
        return SURE[self.rule] if LEAST_TIMES[self.rule] == 1 else 1 - (1 - SURE[self.rule]) ** self.times


def names_in(messages: Sequence[Said], people: Mapping[UUID, Sequence[str]]) -> list[Called]:
    """Return the names by which people are called in a conversation, that none of them has yet; the surest first.

    Args:
        messages: of one conversation.
        people: those whom it mentions, and who speak; each with the names that are known, the full one first.
    """
    taken = {name.casefold() for names in people.values() for name in names}
    hits: dict[tuple[UUID, str], list[tuple[Rule, UUID, tuple[int, int], str]]] = {}
    firsts, initials = _only(people, _first), _only(people, _initials)
    also = {node: _also(names) for node, names in people.items()}
    for said in messages:
        seen = set[tuple[UUID, str]]()
        for node, rule, span in _found(said, also, firsts, initials):
            name = said.text[span[0] : span[1]]
            key = (node, _folded(name))
            if key not in seen and name.casefold() not in taken and _folded(name) not in NO_NAMES:
                seen.add(key)
                hits.setdefault(key, []).append((rule, said.passage_id, span, name))
    found = []
    for (node, _), places in hits.items():
        rule = max((place[0] for place in places), key=lambda one: SURE[one])
        _, passage, span, name = next(place for place in places if place[0] == rule)
        if len(places) >= LEAST_TIMES[rule]:
            found.append(Called(node_id=node, name=name, passage_id=passage, span=span, rule=rule, times=len(places)))
    return sorted(found, key=lambda one: (-one.score, one.node_id, one.name))


def _found(
    said: Said,
    also: Mapping[UUID, re.Pattern[str] | None],
    firsts: Mapping[str, UUID],
    initials: Mapping[str, UUID],
) -> Iterator[tuple[UUID, Rule, tuple[int, int]]]:
    if said.speaker is not None:
        for match in ASKED.finditer(said.text):
            yield said.speaker, "asked", match.span("name")
    for node, pattern in also.items() if SAYS_ALSO.search(said.text) else ():
        for match in pattern.finditer(said.text) if pattern is not None else ():
            yield node, "also", match.span("name")
    words = list(WORD.finditer(said.text))
    for number, match in enumerate(words):
        called = firsts.get(_bare(match[0]))
        if called is not None and not _goes_on(said.text, words, number):
            yield called, "first", (match.start(), match.start() + len(_bare(match[0])))
    for match in INITIALS.finditer(said.text) if initials else ():
        short = initials.get(_folded(match[0]))
        if short is not None:
            yield short, "initials", (match.start(), match.start() + len(match[0].rstrip()))


def _bare(word: str) -> str:
    """A word without the ending of a possessive."""
    return re.sub(r"['’]s?$", "", word)


def _folded(name: str) -> str:
    """A name without case, dots and spaces at its ends; initials as letters alone."""
    letters = re.sub(r"[.\s]", "", name)
    return letters.casefold() if len(letters) <= SHORTEST else name.casefold().strip()


def _goes_on(text: str, words: Sequence[re.Match[str]], number: int) -> bool:
    """Whether a capitalised word stands directly before or after a word, so that it is a part of a longer name."""
    here = words[number]
    if number + 1 < len(words):
        following = words[number + 1]
        if text[here.end() : following.start()] == " " and following[0][0].isupper() and following[0] != "I":
            return True
    return number > 0 and text[words[number - 1].end() : here.start()] == " " and _is_name(text, words[number - 1])


def _is_name(text: str, word: re.Match[str]) -> bool:
    """Whether a word has a capital letter that the beginning of a sentence does not explain."""
    return word[0][0].isupper() and word.start() > 0 and text[: word.start()].rstrip()[-1:] not in set('.!?:\n"“')


def _first(names: Sequence[str]) -> str:
    words = names[0].split() if names else []
    return words[0] if len(words) > 1 and len(words[0]) >= SHORTEST and words[0][0].isupper() else ""


def _initials(names: Sequence[str]) -> str:
    words = names[0].split() if names else []
    fits = 1 < len(words) <= SHORTEST and all(word[0].isupper() for word in words)
    return "".join(word[0] for word in words).casefold() if fits else ""


def _only(people: Mapping[UUID, Sequence[str]], part: Callable[[Sequence[str]], str]) -> dict[str, UUID]:
    """Return what only one of some people has: a first name, or initials."""
    found: dict[str, UUID] = {}
    several = set[str]()
    for node, names in people.items():
        one = part(names)
        if one and found.setdefault(one, node) != node:
            several.add(one)
    # Somebody who is only known as "Tom" may be meant wherever another Tom is.
    alone = {name for names in people.values() for name in names if " " not in name}
    return {one: node for one, node in found.items() if one not in several and one not in alone}


def _also(names: Sequence[str]) -> re.Pattern[str] | None:
    known = [re.escape(name) for name in names[:5] if len(name) >= SHORTEST]
    return re.compile(rf"\b(?:{'|'.join(known)}){ALSO}[\"“„']?(?P<name>{NAME})") if known else None
