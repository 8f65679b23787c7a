"""Open loops: what people said that they would do, and of which nothing since says that it was done.

Told by words, in English and German. A promise is over when somebody of the same name says later, with a word of doing
or of the past, what shares its words. A promise for a day counts once the day is over, any other after a day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from memsvc.summaries.words import content_of, dated, one_line, stem
from memsvc.times.plans import plans
from memsvc.times.tense import sentences

PROMISES = re.compile(
    r"\b(?:i|we)(?:['’]ll| will| shall| promise(?:d)? (?:to|that|you)| (?:have|need|ought|intend|plan|mean) to"
    r"|['’]ve got to| must| still need)\b"
    r"|\b(?:i['’]?m|i am|we['’]?re|we are) (?:going|planning) to\b"
    r"|\bremind me\b|\bdon['’]t let me forget\b|\bto-?do:"
    r"|\b(?:ich (?:werde|muss|soll(?:te)?|verspreche)|wir (?:werden|müssen|sollten))\b"
    r"|\b(?:erinnere? mich|nicht vergessen)\b",
    re.IGNORECASE,
)
NO_PROMISE = re.compile(
    r"\b(?:will|['’]ll) (?:be|see|never|not|always|probably|miss|love|have)\b|\bi['’]ll take it\b|\bif\b|\bwon['’]t\b"
    r"|\b(?:let you know|keep you posted|talk to you|see you|think about it|bis bald|melde mich)\b"
    r"|\bhave to (?:say|admit|agree)\b|\bmust (?:say|admit|be|have)\b",
    re.IGNORECASE,
)
"""What is said in the form of a promise, and is none."""
DONE = re.compile(
    r"\b(?:done|did|finished|completed|already|sorted|sent|bought|booked|paid|fixed|got|made|went|took|brought|wrote|told"
    r"|met|found|gave|saw|ran|built|sold|cancel+ed|called off|no longer|not any ?more|[a-z]{3,}ed|i['’]ve|we['’]ve"
    r"|have been|erledigt|fertig|gemacht|schon|gekauft|gebucht|bezahlt|geschickt|angerufen|abgesagt|ge[a-zäöü]{3,}t)\b",
    re.IGNORECASE,
)
"""Words of what was done."""
LEAST_WORDS, MOST_WORDS = 2, 30
"""Words of a promise that say something, and words in all."""
LEAST_SHARED, LEAST_SHARE = 2, 0.5
"""So many of its words must come again, and such a share."""
WAITS = timedelta(days=1)
MOST_CHARS = 240


class Said(NamedTuple):
    """A message."""

    passage_id: UUID
    speaker: str
    text: str
    said_at: datetime
    """On the speaker's clock."""


class Loop(NamedTuple):
    """A promise without an end."""

    said: Said
    span: tuple[int, int] | None
    """Where it stands in the message."""
    promise: str
    """In its words, with the dates that they mean."""
    due: datetime | None
    """When it was meant to be done; None: not told."""


def open_loops(messages: Sequence[Said], now: datetime, zone: ZoneInfo) -> list[Loop]:
    """Promises without an end, in their order.

    Args:
        messages: in the order of time.
        now: what is due later is not open yet.
        zone: the user's.
    """
    read = [(one, frozenset(map(stem, content_of(one.text)))) for one in messages]
    found = []
    for place, (one, _) in enumerate(read):
        for loop, words in _promises(one, now, zone):
            need = max(LEAST_SHARED, LEAST_SHARE * len(words))
            over = any(
                later.speaker == one.speaker and len(words & theirs) >= need and DONE.search(later.text)
                and not PROMISES.search(later.text)
                for later, theirs in read[place + 1 :]
            )  # fmt: skip
            if not over:
                found.append(loop)
    return found


def _promises(said: Said, now: datetime, zone: ZoneInfo) -> Iterator[tuple[Loop, frozenset[str]]]:
    if PROMISES.search(said.text) is None:
        return
    for raw in sentences(said.text):
        sentence = one_line(raw)
        if PROMISES.search(sentence) is None or NO_PROMISE.search(sentence) or sentence.endswith("?"):
            continue
        meant = plans(sentence, said.said_at, zone)
        bare = PROMISES.sub(" ", sentence)
        for one in meant:
            bare = bare.replace(one.words, " ")
        words = frozenset(map(stem, content_of(bare)))
        if not (len(words) >= LEAST_WORDS and len(sentence.split()) <= MOST_WORDS):
            continue
        due = max((one.ends for one in meant), default=None)
        if now < (due if due is not None else said.said_at + WAITS):
            continue
        begin = said.text.find(raw.strip())
        span = (begin, begin + len(raw.strip())) if begin >= 0 else None
        begins = max((one.begins for one in meant), default=None)
        yield Loop(said, span, dated(sentence, said.said_at)[:MOST_CHARS], begins), words
