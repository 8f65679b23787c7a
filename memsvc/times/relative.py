"""Reads words of time that move with the day: "tomorrow", "next Friday", "last week", "in two weeks", "am Montag".

For texts that were said at a known moment: each phrase comes with its offsets in the text and the days that it meant
then. Phrases are those of ``memsvc.times.phrases`` and ``phrases_cjk``; this module adds what a text says of the future
and queries hardly do. Absolute dates are left out, and so is what is vague ("recently"), shorter than a day ("an hour
ago"), or the very day on which it was said ("today").

A weekday alone ("on Friday") is dated only where its sentence says by other words whether it is past or to come.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from itertools import islice
from typing import NamedTuple
from zoneinfo import ZoneInfo

from memsvc.times import phrases_cjk as cjk
from memsvc.times import words
from memsvc.times.calendar import DAYS_A_WEEK, Calendar, months_from
from memsvc.times.dates import DAY, Found
from memsvc.times.durations import is_duration
from memsvc.times.phrases import AGO, RULES, WORD, Reader, number_of
from memsvc.times.tense import way_at

MOST, MOST_SIGNS = 3, 2_000
"""Phrases of a text that are given, and characters of it that are read."""
UNSAID = ZoneInfo("UTC")
"""Days are counted on the speaker's clock as it stood; no zone is needed for that."""
NEXT = {word for word, step in words.STEPS.items() if step > 0} - {"coming", "upcoming"}
BEFORE_A_DAY = words.ON | words.SINCE | {"by", "until", "till", "bis", "before", "ab"}
LASTING = re.compile(rf"(?:{words.COUNTED.pattern})(?:['’] time| time)?(?! (?:a|per|pro|each|every|of)\b)")
FROM_NOW = re.compile(r" (?:from now|from today|ab heute)\b")
HOUR_FOLLOWS = re.compile(r" (?:at|um|gegen|from|ab) \d")
SENTENCE_ENDS = re.compile(r"[.!?;\n](?=\s|$)")
TO_COME = re.compile(
    r"\b(?:will|won't|shall|should|must|going to|gonna|(?:need|have|has|got) to|let's|please|remind(?:er)?|remember to|"
    r"(?:do not|don't) forget|plan(?:s|ning)?|appointment|due|deadline|tomorrow|supposed to|can (?:you|we|i)|"
    r"could you|werden?|wird|muss|müssen|sollen?|soll|bitte|erinner\w*|termin|fällig|möchten?|wollen|vergiss)\b"
    r"|\w['’]ll\b|(?:\b(?:am|is|are)|\w['’](?:m|s|re)) (?:\w+ly )?\w{2,}ing\b",
    re.IGNORECASE,
)
PAST = re.compile(
    r"\b(?:was|were|did|didn't|had|went|came|got|took|saw|met|made|said|told|gave|left|bought|ate|found|thought|felt|"
    r"began|ran|won|lost|spent|read|built|wrote|drove|flew|grew|knew|paid|sent|sold|slept|spoke|stood|taught|wore|held|"
    r"yesterday|ago|war|waren|hatten?|gingen|ging|kam|kamen|gab|gestern|"
    r"(?!need|indeed|speed|hundred|wicked|sacred)\w{3,}ed|(?!gegen)\w*ge\w{2,}(?:t|en))\b",
    re.IGNORECASE,
)
TELLING = re.compile(
    rf"\b(?:{words.any_of((*words.DAYS, *words.STEPS, *words.WEEKDAYS, *words.UNITS, 'tonight', 'morgen'))})"
    rf"|{cjk.SIGNS.pattern}",
    re.IGNORECASE,
)
"""A text without one of these holds no such time."""
GREETED = {"guten", "schönen", "heute", "gestern", "vorgestern", "am", "jeden", "eines", "diesen", "every", "good"}
"""Before "morgen" where it is a part of the day."""


class RelativeTime(NamedTuple):
    """A phrase, and the days that it means."""

    start: int
    """Offset of its first character in the text."""
    stop: int
    """Offset behind its last one."""
    begin: date
    end: date
    """The first day after it."""
    about: bool = False
    """It is not meant to the day ("in two months")."""
    otherwise: date | None = None
    """Another day that it may mean: who says "next Friday" on a Monday may mean that of the week after."""


def relative_times(text: str, said_at: datetime, *, ahead: bool = False, back: bool = False) -> list[RelativeTime]:
    """The times in a text that are counted from when it was said.

    Args:
        text: what somebody said; of a long one the beginning counts.
        said_at: on the speaker's clock.
        ahead: what is not said to be past is to come, and the day itself counts too: for plans.
        back: a weekday alone is the last one, and the day itself counts too: for questions about the past.

    Returns:
        At most three, in their order, each day or span once; of ``ahead`` or ``back`` twice as many.
    """
    if TELLING.search(text, 0, MOST_SIGNS) is None:
        return []
    plain, where = _single_spaced(text[:MOST_SIGNS])
    calendar = Calendar(said_at.replace(tzinfo=UTC), UNSAID)
    reader = _Relative(plain, calendar, ahead=ahead, back=back)
    found = list(islice(_of_words(reader), 2 * MOST))
    if cjk.SIGNS.search(plain):
        found = sorted([*found, *_of_signs(reader)])
    given: dict[tuple[date, date], RelativeTime] = {}
    for one in found:
        today = (one.begin, one.end) == (calendar.today, calendar.today + DAY)
        if ahead or back or not today or reader.low.startswith("tonight", one.start):
            placed = one._replace(start=where[one.start], stop=where[one.stop - 1] + 1)
            given.setdefault((one.begin, one.end), placed)
    return list(given.values())[: 2 * MOST if ahead or back else MOST]


def _single_spaced(text: str) -> tuple[str, Sequence[int]]:
    """The text with single spaces, and where each of its characters stands in the text."""
    if (plain := " ".join(text.split())) == text:
        return text, range(len(text))
    where: list[int] = []
    for match in re.finditer(r"\S+", text):
        if where:
            where.append(match.start() - 1)
        where += range(match.start(), match.end())
    return plain, where


def _of_words(reader: _Relative) -> Iterator[RelativeTime]:
    """Phrases of a text in English or German."""
    front, before, end, stop = "", "", 0, 0
    for match in WORD.finditer(reader.low):
        word, at = match[0], match.start()
        if at != end + 1 or reader.low[end] != " ":
            front = before = ""  # punctuation precedes the word
        end = match.end()
        if at >= stop and (word in RULES or word in OWN or word[0].isdecimal()):
            found = reader.relative(word, at, before, front)
            if found is not None:
                stop = found.stop
                yield found
        front = word
        if word not in words.ARTICLES:
            before = word


def _of_signs(reader: _Relative) -> Iterator[RelativeTime]:
    """Phrases of a text in Chinese or Japanese."""
    for at, found in islice(cjk.read_all(reader.low, reader.calendar), 2 * MOST):
        if (time := _days_of(at, found)) is not None:
            yield time


def _days_of(at: int, found: Found) -> RelativeTime | None:
    """The days of what a rule found; None: it is a date, vague, or no whole days. A night is the day it begins on."""
    if found.kind != "relative" or found.vague:
        return None
    span = found.spans[0]
    begin, end = span.begin.date(), span.end.date()
    if span.begin.minute or (span.begin.hour and end - begin != DAY):  # "an hour ago"; a night is one day
        return None
    return RelativeTime(at, found.stop, begin, end)


class _Relative(Reader):
    """A text and the day on which it was said."""

    def __init__(self, text: str, calendar: Calendar, *, ahead: bool, back: bool) -> None:
        super().__init__(text, calendar)
        self.ahead, self.back = ahead, back
        self.directions: dict[int, int] = {}
        """Of sentences, by where they begin."""

    def relative(self, word: str, at: int, before: str, front: str) -> RelativeTime | None:
        """Read the phrase that begins with this word, if any."""
        self.front = front
        try:
            if word in words.WEEKDAYS:
                return self._weekday(word, at, before)
            if word in {"in", "vor", "morgen"}:
                return OWN[word](self, at)
            if word in words.COUNTS or word[0].isdecimal():
                return self._counted_from_now(at)
            rule = RULES.get(word)
            found = rule(self, at, before) if rule is not None else None
            time = _days_of(at, found) if found is not None else None
        except (ValueError, OverflowError):  # 9999 years ago
            return None
        return self._next(word, time) if time is not None else None

    def _next(self, word: str, time: RelativeTime) -> RelativeTime:
        """Next Friday: where this week's is still to come, perhaps the one after it."""
        sunday = self.calendar.today + (DAYS_A_WEEK - 1 - self.calendar.today.weekday()) * DAY
        weekday = time.end - time.begin == DAY and word in NEXT
        if not weekday or time.begin > sunday:
            return time
        return time._replace(otherwise=time.begin + DAYS_A_WEEK * DAY)

    def _weekday(self, word: str, at: int, before: str) -> RelativeTime | None:
        """On Friday; Friday at 9; am Montag: by what its sentence says."""
        found = self.towards(at, "")  # the Sunday after tomorrow
        if found is not None:
            return _days_of(at, found)
        stop = at + len(word)
        hidden = word in words.SHORT and not self.capital(at)
        if hidden or self.dated(stop) or words.HABIT.match(self.low, stop) or self.low[stop : stop + 1] in {"'", "’"}:
            return None
        part = words.PART_OF_DAY.match(self.low, stop)
        if not (before in BEFORE_A_DAY or part or HOUR_FOLLOWS.match(self.low, stop)):
            return None
        direction = -1 if before in words.SINCE else self._direction(at)
        if direction == 0:
            return None
        day = self.calendar.weekday(words.WEEKDAYS[word], self.calendar.today, 1 if direction > 0 else -1).begin.date()
        return RelativeTime(at, part.end() if part else stop, day, day + DAY)

    def _direction(self, at: int) -> int:
        """1: the sentence at an offset speaks of what is to come; -1: of what is past; 0: that is not clear."""
        if self.back or self.ahead:
            return -1 if self.back or way_at(self.low, at, at) == -1 else 1
        begin = max((match.end() for match in SENTENCE_ENDS.finditer(self.low, 0, at)), default=0)
        if begin in self.directions:
            return self.directions[begin]
        end = SENTENCE_ENDS.search(self.low, at)
        sentence = self.low[begin : end.start() if end else len(self.low)]
        self.directions[begin] = (TO_COME.search(sentence) is not None) - (PAST.search(sentence) is not None)
        return self.directions[begin]

    def _in(self, at: int) -> RelativeTime | None:
        """In two weeks; in drei Tagen; but not what was done in two weeks."""
        match = LASTING.match(self.low, at + len("in "))
        if match is None or self._direction(at) < 0 or is_duration(self.low, at, match.end()):
            return None
        return self._shifted(at, match.end(), match, 1)

    def _vor(self, at: int) -> RelativeTime | None:
        """Vor drei Tagen."""
        match = words.COUNTED.match(self.low, at + len("vor "))
        return self._shifted(at, match.end(), match, -1) if match is not None else None

    def _morgen(self, at: int) -> RelativeTime | None:
        """German "morgen" where it means the next day and no part of one."""
        stop = at + len("morgen")
        opens = self.text[at].isupper() and (at == 0 or self.text[max(at - 2, 0)] in ".!?")
        if self.front in GREETED | words.WEEKDAYS.keys() or (self.text[at].isupper() and not opens):
            return None
        if opens and not re.match(r" [a-zäöü]", self.text[stop : stop + 2]):
            return None
        part = words.PART_OF_DAY.match(self.low, stop)
        day = self.calendar.today + DAY
        return RelativeTime(at, part.end() if part else stop, day, day + DAY)

    def _counted_from_now(self, at: int) -> RelativeTime | None:
        """Three weeks ago; two weeks from now."""
        match = words.COUNTED.match(self.low, at)
        if match is None:
            return None
        ago, ahead = AGO.match(self.low, match.end()), FROM_NOW.match(self.low, match.end())
        if ago is not None and "earlier" not in ago[0]:
            return self._shifted(at, ago.end(), match, -1)
        return self._shifted(at, ahead.end(), match, 1) if ahead is not None else None

    def _shifted(self, at: int, stop: int, match: re.Match[str], sign: int) -> RelativeTime | None:
        """The day, month or year so many units away; None: a number or a unit that says too little."""
        (fewest, most), unit = number_of(match["count"]), words.UNITS[match["unit"]]
        if fewest != most or unit not in {"day", "week", "month", "year"}:
            return None
        day = self.calendar.shifted(unit, self.calendar.today, sign * most)
        match unit:
            case "month":
                first = day.replace(day=1)
                return RelativeTime(at, stop, first, months_from(first, 1), about=True)
            case "year":
                return RelativeTime(at, stop, date(day.year, 1, 1), date(day.year + 1, 1, 1), about=True)
            case _:
                return RelativeTime(at, stop, day, day + DAY, about=unit == "week")


OWN = {"in": _Relative._in, "vor": _Relative._vor, "morgen": _Relative._morgen}  # noqa: SLF001 - its own rules
"""Rules beside those of ``phrases``, by the first word."""
