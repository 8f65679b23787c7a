"""What the words of a sentence tell of its worth for a summary: names, numbers, dates, and how rare its words are."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from memsvc.text.characters import plain_lines
from memsvc.times.relative import relative_times

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+(?:[.,:/-]\d+)*|[^\W_]", re.UNICODE)
SIGNS = re.compile(r"[\u2E80-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF]")
NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
NAME = re.compile(r"(?<![.!?…:] )(?<!^)(?<![“\"'‘(])\b[^\W\d_a-zß-öø-ÿ][\w’'-]+")
"""A word with a capital that is not the first of its sentence."""
_EMPTY = """
    a an the and or but so if then than that this these those there here it its it's i i'm i've i'd i'll me my mine
    myself you you're you've your yours he he's she she's him his her hers they they're them their we we're we've us our
    ours who what which when where why how is are was were be been being am do does did done doing have has had having
    can could will would shall should may might must not no yes don't didn't doesn't isn't wasn't can't won't couldn't
    to of in on at by for from with about into over after before up down out off as just very really too also only even
    still again more most much many some any all each every both such own same other one ones lot lots bit thing things
    get got getting go going gone went come came like know think want make made let let's see say said tell well oh hey
    hi hello thanks thank please sure great good nice okay ok yeah yep wow sorry maybe right now ever never always
    that's there's what's here's i'ma gonna wanna kind sort way time
    der die das den dem des ein eine einen einem einer eines und oder aber wenn dann als dass ich du er sie es wir ihr
    mich mir dich dir ihn ihm uns euch mein meine dein deine sein seine unser unsere ist sind war waren bin bist wird
    werden wurde haben hat hatte habe kann können muss müssen soll sollen will wollen nicht kein keine ja nein doch auch
    nur noch schon sehr mehr so wie was wer wo wann warum zu zum zur im in am an auf aus bei mit nach von vom vor für
    über unter durch um hallo danke bitte gut okay mal
"""
EMPTY = frozenset(_EMPTY.split())
"""Words that say nothing by themselves."""


def words_of(text: str) -> list[str]:
    """The words of a text in small letters, numbers too; each Chinese, Japanese or Korean sign is a word."""
    found: list[str] = []
    for one in WORD.findall(text.casefold().replace("’", "'")):
        found += SIGNS.findall(one) if SIGNS.search(one) else [one]
    return found


def content_of(text: str) -> list[str]:
    """Those that say something."""
    return [
        word.removesuffix("'s")
        for word in words_of(text)
        if word not in EMPTY and (len(word) > 1 or not word.isascii())
    ]


def stem(word: str) -> str:
    """A word without its ending, so that its forms are one: its first letters."""
    return word[: max(4, len(word) - 3)] if word.isascii() and word.isalpha() else word


def names_in(text: str) -> set[str]:
    """Names in a sentence: words with capitals within it."""
    return {one.removesuffix("'s").removesuffix("’s") for one in NAME.findall(text)} - {
        "I",
        "I'm",
        "I've",
        "I'd",
        "I'll",
    }


def rarity(word: str, known: Mapping[str, int], messages: int) -> float:
    """How rare a word is among the messages that a user has: 0 (in all of them) to 1 (in one of them)."""
    if messages <= 1:
        return 1.0
    return max(0.0, 1 - math.log(max(1, known.get(word, 1))) / math.log(messages))


def dated(text: str, said_at: datetime) -> str:
    """A sentence with the dates that its relative words meant, in round brackets: "tomorrow (21 November)"."""
    pieces, done = [], 0
    for one in relative_times(text, said_at):
        year = "" if one.begin.year == said_at.year else " %Y"
        first, last = (f"{day.day} {day:%B{year}}" for day in (one.begin, one.end - timedelta(1)))
        told = first if first == last else f"{first} to {last}"
        pieces += [text[done : one.stop], f" ({'about ' if one.about else ''}{told})"]
        done = one.stop
    return "".join([*pieces, text[done:]])


def one_line(text: str) -> str:
    """A text on one line, without hidden characters."""
    return " ".join(plain_lines(text).split())


def numbers_in(texts: Iterable[str]) -> set[str]:
    """Numbers in some texts."""
    return {number for text in texts for number in NUMBER.findall(text)}
