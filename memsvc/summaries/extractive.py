"""Summaries in the words of those who spoke: the sentences that tell most, each with its source. No model.

A sentence is worth what its new words tell, the rarer the more (as in maximal coverage: Takamura and Okumura 2009). It
is worth more where its message lies in the middle of what was said (the vectors that recall has, as in Radev et al.
2004), names something, has a number or a date, or taught a fact. Sentences are chosen one by one, the best for its
length first, and stand in the order in which they were said.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import msgspec

from memsvc.summaries.words import NUMBER, content_of, dated, names_in, one_line, rarity, stem
from memsvc.text.sentences import sentences
from memsvc.text.tokens import estimate_tokens

LEAST_WORDS, MOST_WORDS, MOST_SIGNS = 4, 25, 240
"""Of a line: words that say something at least; words and characters at most, behind which a sentence is cut."""
LEAST_CUT = 8
"""Words that a cut leaves at least."""
CLAUSE_END = re.compile(r"[,;:，；：、](?=\s|[\u2E80-\u9FFF])|\s[–—-](?=\s)|\s(?=\()")
FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
CODE = re.compile(
    r"[{}]|=>|==|\w\(.*\)\s*;|;\s*$|</?\w+>|^\s*(?:#|//|\$|>>>|import |from \w+ import )|\w+\.\w+\(|https?://\S{40}"
)
"""Signs of code and of addresses, which say nothing in a summary."""
REQUEST_WORDS = 7
"""Of a user's question that tells what is talked about: words that say something, at least."""
TOKENS_A_WORD = 1.4
LEAST_BUDGET = 12
"""Words below which a summary would say nothing."""
SHORTENS, SHORTENS_SUMMARIES = 0.8, 0.6
"""A summary has at most so much of the words of the messages, or summaries, that it rests on."""
ASSISTANT, QUESTION, TELLING = 0.35, 0.5, 0.3
"""What a sentence of an assistant, and a question, is worth beside others; and how much more for each name, number and
fact."""
AGAIN, LONGER = 0.3, 0.8
"""What a word is worth that is told already, each time; the power of its length by which a sentence's worth is
divided."""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A message, or a part of one, as a summary reads it."""

    passage_id: UUID
    speaker: str
    role: str
    text: str
    said_at: datetime
    """On the speaker's clock."""
    centrality: float | None = None
    """Cosine with the mean of its sitting, -1 to 1."""
    facts: int = 0
    """Facts that it supports."""


class Quoted(msgspec.Struct, frozen=True, kw_only=True):
    """Where a line of a summary comes from: characters of a passage, from 0, without the end."""

    passage_id: UUID
    begin: int
    end: int


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a summary."""

    text: str
    quoted: tuple[Quoted, ...]
    """What it rests on, at least one."""
    at: datetime
    """When the first of it was said."""
    worth: float = 1.0
    """0 and more: what its source is worth beside other sentences."""


class _Candidate(NamedTuple):
    place: int
    line: Line
    words: frozenset[str]
    size: float
    """Words that it takes, as a tokenizer counts them."""


def lines_of(messages: Sequence[Message]) -> list[Line]:
    """The sentences of messages that may stand in a summary, in their order."""
    return [line for message in messages for line in _lines(message)]


def _lines(message: Message) -> Iterator[Line]:
    plain = FENCE.sub(lambda code: "\n" * len(code[0]), message.text)
    name, at = one_line(message.speaker) or message.role, 0
    for piece in sentences(plain):
        begin, at = at + len(piece) - len(piece.lstrip()), at + len(piece)
        said = piece.strip()
        kept = said[: _cut(said)]
        words = content_of(kept)
        if len(words) < LEAST_WORDS or CODE.search(said):
            continue
        text = f"{name}: {dated(one_line(kept), message.said_at)}{'' if kept == said else ' …'}"
        quoted = Quoted(passage_id=message.passage_id, begin=begin, end=begin + len(kept))
        yield Line(text=text, quoted=(quoted,), at=message.said_at, worth=_worth(message, said, len(words)))


def _cut(said: str) -> int:
    """Where a sentence ends that is too long for a line: behind a clause, else a word."""
    most = 0
    for count, word in enumerate(re.finditer(r"\S+", said)):
        if count == MOST_WORDS or word.end() > MOST_SIGNS:
            break
        most = word.end()
    if most == len(said) or not most:
        return min(len(said), most or MOST_SIGNS)
    ends = [end.start() for end in CLAUSE_END.finditer(said, 0, most)]
    return next((end for end in reversed(ends) if len(said[:end].split()) >= LEAST_CUT), most)


def _worth(message: Message, said: str, words: int) -> float:
    central = 0.5 if message.centrality is None else max(0.0, message.centrality)
    told = min(4, len(names_in(said))) + min(3, len(NUMBER.findall(said))) + min(2, message.facts)
    worth = (0.5 + central) * (1 + TELLING * told)
    if message.role == "assistant":
        worth *= ASSISTANT
    asks = said.rstrip("\"'”’) ").endswith(("?", "？"))
    return round(worth * QUESTION if asks and (message.role != "user" or words < REQUEST_WORDS) else worth, 3)


def words_in(lines: Sequence[Line]) -> set[str]:
    """The words whose rarity ``summary`` asks for."""
    return {word for line in lines for word in content_of(line.text)}


def summary(
    lines: Sequence[Line], budget: int, known: Mapping[str, int], messages: int, *, share: float = SHORTENS
) -> list[Line]:
    """The lines that ``chosen`` chooses, in the order in which they are given."""
    places = {line: place for place, line in enumerate(lines)}
    return sorted(chosen(lines, budget, known, messages, share=share), key=lambda line: places[line])


def chosen(lines: Sequence[Line], budget: int, known: Mapping[str, int], messages: int, *, share: float) -> list[Line]:
    """Choose lines, those that tell most first.

    Args:
        lines: what may be told.
        budget: words at most.
        known: word -> in how many of the user's messages it stands.
        messages: how many messages the user has.
        share: of the words that are given, at most, 0 to 1.

    Returns:
        None where there is nothing to say in fewer words.
    """
    found = [
        _Candidate(place, line, frozenset(map(stem, content_of(line.text))), size_of(line.text))
        for place, line in enumerate(lines)
    ]
    left = min(float(budget), share * sum(one.size for one in found))
    if left < LEAST_BUDGET:
        return []
    often = Counter(word for one in found for word in one.words)
    rare = {stem(word): rarity(word, known, messages) for line in lines for word in content_of(line.text)}
    weights = {word: (0.15 + rare.get(word, 1.0)) * (1 + math.log(count)) for word, count in often.items()}
    told: Counter[str] = Counter()
    told_lines: list[Line] = []
    while found:
        gains = [(_gain(one, weights, told), -one.place, one) for one in found if one.size <= left]
        if not gains:
            break
        gain, _, best = max(gains, key=lambda one: one[:2])
        if gain <= 0:
            break
        told_lines.append(best.line)
        told.update(best.words)
        left -= best.size
        found.remove(best)
    return told_lines


def _gain(one: _Candidate, weights: Mapping[str, float], told: Counter[str]) -> float:
    new: float = sum(weights[word] * AGAIN ** told[word] for word in one.words)
    return one.line.worth * new / math.pow(one.size, LONGER)


def size_of(text: str) -> float:
    """The words of a text; of one without spaces so many as it has tokens for."""
    return max(len(text.split()), estimate_tokens(text) / TOKENS_A_WORD)
