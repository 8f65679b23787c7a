"""Reads a time in English or German text: the phrase at one offset.

``Reader.read`` is called for each word of a text. A rule, chosen by the word or by its first digit, reads the phrase
that begins there. Rules look a few words ahead and do not guess: an ambiguous phrase gives nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date

from memsvc.times import words
from memsvc.times.calendar import DAYS_A_WEEK, MONTHS_A_YEAR, SATURDAY, Calendar, Span, months_from
from memsvc.times.dates import DAY, Dates, Found

OTHER_DAY, EVENING, MORNING = 14, 18, 6
DEEPEST = 2
"""How deep phrases may refer to each other: "the day before the first week of last year"."""
THIRD = 3


class Reader(Dates):
    """A text, and the calendar by which it is read."""

    def __init__(self, text: str, calendar: Calendar) -> None:
        super().__init__(text, calendar)
        self.depth = 0

    def read(self, word: str, at: int, before: str, front: str) -> Found | None:
        """Read the phrase that begins with this word, if any; ``before``: the previous word that is not an article."""
        rule = RULES.get(word) or (Reader.number if word[0].isdecimal() else None)
        if rule is None:
            return None
        self.front = front
        try:
            found = rule(self, at, before)
            return self.opened(found, before) if found else None
        except (ValueError, OverflowError):  # 30 February, 9999 years ago
            return None

    def opened(self, found: Found, before: str) -> Found:
        """Apply "since", "after", "until" or "before" to the phrase that follows."""
        first, last = found.spans[0].begin, found.spans[-1].end
        if before == "as" and self.front != "of":
            return found
        if before in words.SINCE | words.AFTER:
            return replace(found, spans=(self.calendar.after(first if before in words.SINCE else last),))
        if before in words.UNTIL | words.BEFORE:
            return replace(found, spans=(self.calendar.before(first if before in words.BEFORE else last),))
        return found

    def word(self, at: int) -> str:
        match = WORD.match(self.low, at)
        return match[0] if match else ""

    def point(self, at: int) -> Found | None:
        """Read a phrase to which another one refers, as in "the week of …"."""
        if self.depth == DEEPEST:
            return None
        self.depth += 1
        front, self.front = self.front, ""
        try:
            word = self.word(at)
            if word in words.DAYS or word in words.STEPS or word in words.COUNTS:
                found = RULES[word](self, at, "")
            else:
                found = self.number(at, "in") if word[:1].isdecimal() else self.dates(at, "in")
            return replace(found, spans=found.spans[:1]) if found else None
        finally:
            self.depth -= 1
            self.front = front

    def ordinal(self, at: int, before: str) -> Found | None:
        """Read "the second week of May" or "the 2nd of May"."""
        return self.piece(at, before) or (self.number(at, before) if self.low[at].isdecimal() else None)

    def month(self, at: int, before: str) -> Found | None:
        """Read a month or a season; nothing after a number that cannot be its day ("30 February 2023")."""
        return None if self.front[:1].isdecimal() else self.dates(at, before)

    def number(self, at: int, before: str) -> Found | None:
        return self.counted(at, before) or self.dates(at, before)

    def day_word(self, at: int, _: str) -> Found:
        word = self.word(at)
        part = words.PART_OF_DAY.match(self.low, at + len(word))
        day = self.calendar.today + words.DAYS[word] * DAY
        return Found((self.calendar.day(day),), part.end() if part else at + len(word), "relative")

    def tonight(self, at: int, _: str) -> Found:
        return Found((self.night(self.calendar.today),), at + len("tonight"), "relative")

    def night(self, day: date) -> Span:
        return Span(self.calendar.at(day, EVENING), self.calendar.at(day + DAY, MORNING))

    def recently(self, at: int, before: str) -> Found | None:
        word = self.word(at)
        if before in {"most", "more"}:
            return None
        return Found((self.calendar.past("day", words.RECENTLY[word]),), at + len(word), "relative", vague=True)

    def other_day(self, at: int, _: str) -> Found | None:
        if self.front != "the" or not self.low.startswith("other day", at):
            return None
        return Found((self.calendar.past("day", OTHER_DAY),), at + len("other day"), "relative")

    def counted(self, at: int, _: str) -> Found | None:
        """Read "three weeks ago" or "two days before 7 May"."""
        match = words.COUNTED.match(self.low, at)
        if match is None:
            return None
        fewest, most = number_of(match["count"])
        unit = words.UNITS[match["unit"]]
        ago = AGO.match(self.low, match.end())
        if ago:
            return Found((self.calendar.ago(unit, fewest, most),), ago.end(), "relative")
        way = words.TOWARDS.match(self.low, match.end())
        point = self.point(way.end()) if way and way["way"] != "of" and unit not in {"minute", "hour"} else None
        if way is None or point is None:
            return None
        sign = -1 if way["way"] in words.BEFORE else 1
        days = [self.calendar.shifted(unit, point.spans[0].begin.date(), sign * count) for count in (fewest, most)]
        return Found((self.calendar.days(min(days), max(days) + DAY),), point.stop, point.kind)

    def half(self, at: int, _: str) -> Found | None:
        """Read "half a year ago"."""
        match = words.HALF.match(self.low, at)
        ago = AGO.match(self.low, match.end()) if match else None
        if match is None or ago is None:
            return None
        unit, count = words.HALVES[match["unit"]]
        return Found((self.calendar.ago(unit, count, count),), ago.end(), "relative")

    def vor(self, at: int, _: str) -> Found | None:
        """Read German "vor drei Tagen"."""
        match = words.COUNTED.match(self.low, at + len("vor "))
        if match is None:
            return None
        return Found(
            (self.calendar.ago(words.UNITS[match["unit"]], *number_of(match["count"])),), match.end(), "relative"
        )

    def step(self, at: int, before: str) -> Found | None:
        """Read "last week", "this summer", "next Friday", "the last three days" or "the last week of May"."""
        word = self.word(at)
        step, start = words.STEPS[word], at + len(word) + 1
        counted = words.COUNTED.match(self.low, start)
        if counted and step and not self.low.startswith(" of ", counted.end()):
            return self.run(counted, step, before)
        match = words.NOUN.match(self.low, start)
        if match is None or match["of"] or PIECES.match(self.low, start):
            return self.piece(at, before) if word == "last" else None
        noun, today = match["noun"], self.calendar.today
        if noun in words.UNITS:
            span = self.whole(word, words.UNITS[noun], step)
        elif noun in words.WEEKDAYS:
            hidden = noun in words.SHORT and not self.capital(start)
            span = None if hidden or self.dated(match.end()) else self.weekday(words.WEEKDAYS[noun], step)
        elif noun in words.MONTHS or noun in words.SEASONS:
            span = self.named(noun, step, start)
        elif step <= 0 and noun in {"night", "nacht"}:
            span = self.night(today + step * DAY)
        else:
            span = self.calendar.day(today + step * DAY) if step <= 0 else None
        return Found((span,), match.end(), "relative") if span else None

    def run(self, counted: re.Match[str], step: int, before: str) -> Found | None:
        """Read "the last three days", but not "did it last three days"."""
        if not (self.front in LEADS or before in LEADS) or counted[0].startswith(("a ", "an ")):
            return None
        unit, most = words.UNITS[counted["unit"]], number_of(counted["count"])[1]
        today = self.calendar.today
        if step < 0:
            return Found((self.calendar.past(unit, most),), counted.end(), "relative")
        if unit in {"minute", "hour"}:
            return None
        return Found(
            (self.calendar.days(today, self.calendar.shifted(unit, today, most) + DAY),), counted.end(), "relative"
        )

    def whole(self, word: str, unit: str, step: int) -> Span | None:
        """Return the calendar week for "last week", and the seven days up to today for "the last week"."""
        rolling = word == "past" or (word == "last" and self.front == "the")
        if rolling and unit != "weekend":
            return self.calendar.past(unit, 1)
        return None if unit in {"day", "hour", "minute"} else self.calendar.unit(unit, self.calendar.today, step)

    def weekday(self, number: int, step: int) -> Span:
        today = self.calendar.today
        if step == 0:
            return self.calendar.day(today + (number - today.weekday()) * DAY)
        return self.calendar.weekday(number, today, -1 if step < 0 else 1)

    def named(self, noun: str, step: int, at: int) -> Span | None:
        """Read "last May", "this summer" or "next winter"."""
        if (noun in words.VERBS and not self.capital(at)) or self.date(at, "") is not None:
            return None
        today = self.calendar.today
        month = words.MONTHS.get(noun) or words.SEASONS[noun]
        length = 1 if noun in words.MONTHS else 3
        periods = [
            self.calendar.days(
                date(today.year + year, month, 1), months_from(date(today.year + year, month, 1), length)
            )
            for year in (-2, -1, 0, 1)
        ]
        tomorrow = self.calendar.at(today + DAY)
        if step < 0:
            return [period for period in periods if period.end < tomorrow][-1]
        if step > 0:
            return next(period for period in periods if period.begin >= tomorrow)
        current = [period for period in periods if period.begin < tomorrow <= period.end]
        return current[0] if current else periods[2]

    def towards(self, at: int, before: str) -> Found | None:
        """Read "the week of 3 June", "the weekend before it", "the Sunday after it" or "on Monday"."""
        word = self.word(at)
        if word in words.SHORT and not self.capital(at):
            return None
        last = BEFORE_LAST.match(self.low, at + len(word))
        if last and word in words.UNITS and not words.NOUN.match(self.low, last.end() + 1):
            return Found((self.calendar.unit(words.UNITS[word], self.calendar.today, -2),), last.end(), "relative")
        way = words.TOWARDS.match(self.low, at + len(word))
        point = self.point(way.end()) if way else None
        if way is None or point is None:
            return self.on(word, at, before) if word in words.WEEKDAYS else None
        begin, end = point.spans[0].begin.date(), point.spans[-1].end.date()
        sign = 0 if way["way"] == "of" else -1 if way["way"] in words.BEFORE else 1
        if word in words.WEEKDAYS:
            number = words.WEEKDAYS[word]
            near, direction = {-1: (begin, -1), 0: (end, -1), 1: (end - DAY, 1)}[sign]
            span = self.calendar.weekday(number, near, -1 if direction < 0 else 1)
        else:
            span = self.adjacent(words.UNITS[word], begin, end, sign)
        return Found((span,), point.stop, point.kind)

    def adjacent(self, unit: str, begin: date, end: date, sign: int) -> Span:
        """Return the week, weekend, month … that contains a span of days, or the one before or after it."""
        calendar = self.calendar
        if unit in {"minute", "hour"}:
            raise ValueError(unit)
        if sign == 0:
            return calendar.unit(unit, begin)
        if unit == "week":  # may mean the calendar week or seven days, so both are covered
            return (
                calendar.days(calendar.unit(unit, begin, -1).begin.date(), begin)
                if sign < 0
                else calendar.days(end, end + DAYS_A_WEEK * DAY)
            )
        if unit == "weekend" and sign > 0:
            span = calendar.unit(unit, end - DAY)
            return span if span.begin.date() >= end else calendar.unit(unit, end - DAY, 1)
        return calendar.unit(unit, begin if sign < 0 else end - DAY, sign)

    def on(self, word: str, at: int, before: str) -> Found | None:
        """Read "on Monday": the last one that has begun."""
        stop = at + len(word)
        if before not in words.ON | words.SINCE or words.HABIT.match(self.low, stop) or self.dated(stop):
            return None
        part = words.PART_OF_DAY.match(self.low, stop)
        stop = part.end() if part else stop
        return Found((self.calendar.weekday(words.WEEKDAYS[word], self.calendar.today, 0),), stop, "relative")

    def piece(self, at: int, _: str) -> Found | None:
        """Read "the second week of May", "the last two days of 2022" or "the first half of last year"."""
        word = self.word(at)
        match = words.PIECE.match(self.low, at + len(word))
        point = self.point(match.end()) if match else None
        if match is None or point is None:
            return None
        begin, end = point.spans[0].begin.date(), point.spans[-1].end.date()
        index, unit = words.ORDINALS[word], match["unit"]
        count = int(match["count"]) if (match["count"] or "").isdigit() else MANY.get(match["count"], 1)
        if unit == "weekend":
            first = begin + (SATURDAY - begin.weekday()) % DAYS_A_WEEK * DAY
            last = end - ((end - DAY).weekday() - SATURDAY) % DAYS_A_WEEK * DAY - DAY
            since = first + index * DAYS_A_WEEK * DAY if index >= 0 else last - (count - 1) * DAYS_A_WEEK * DAY
            until = since + ((count - 1) * DAYS_A_WEEK + 2) * DAY
        elif unit in words.WEEKDAYS:
            first = begin + (words.WEEKDAYS[unit] - begin.weekday()) % DAYS_A_WEEK * DAY
            last = end - ((end - DAY).weekday() - words.WEEKDAYS[unit]) % DAYS_A_WEEK * DAY - DAY
            since = first + index * DAYS_A_WEEK * DAY if index >= 0 else last
            until = since + DAY
        elif unit in {"day", "week"}:
            size = count * (1 if unit == "day" else DAYS_A_WEEK) * DAY
            since = begin + index * size / count if index >= 0 else end - size
            until = since + size
        else:
            months = (end.year - begin.year) * MONTHS_A_YEAR + end.month - begin.month
            size_in_months = {"half": months // 2, "quarter": 3, "month": 1}[unit]
            if unit == "half" and months <= 1:
                middle = begin + (end - begin) // 2
                since, until = (begin, middle) if index == 0 else (middle, end)
            else:
                since = months_from(begin if index >= 0 else end, (index if index >= 0 else -count) * size_in_months)
                until = months_from(since, count * size_in_months)
        if not begin <= since < until <= end + DAY:
            return None
        return Found((self.calendar.days(since, until),), point.stop, point.kind)

    def third(self, at: int, _: str) -> Found | None:
        """Read "early 2023", "mid-May" or "the end of last year": a third of it."""
        word = self.word(at)
        match = words.OF.match(self.low, at + len(word))
        point = self.point(match.end()) if match and match[0] else None
        if point is None:
            return None
        begin, end = point.spans[0].begin.date(), point.spans[-1].end.date()
        single = self.date(match.end(), "in") if match else None
        ranges = single is not None and single.stop < point.stop  # mid-March to August
        size = ((months_from(begin, single.months) if single and ranges else end) - begin) // THIRD
        if size < DAY or (single and single.day):
            return point
        since = begin + words.THIRDS[word] * size
        until = end if ranges or words.THIRDS[word] == THIRD - 1 else since + size
        return Found((self.calendar.days(since, until),), point.stop, point.kind)


def number_of(word: str) -> tuple[int, int]:
    """Return the least and the greatest number that a word means."""
    return (int(word), int(word)) if word.isdigit() else words.COUNTS[word]


WORD = re.compile(r"\w+")
BEFORE_LAST = re.compile(r" before last\b")
AGO = re.compile(r" (?:ago|back|earlier)\b")
PIECES = re.compile(r"(?:two|three|four|few|couple of|[2-9]) (?:day|week|weekend|month|quarter)s of\b")
MANY = {"two": 2, "three": 3, "four": 4, "few": 3, "couple of": 2}
LEADS = {"the", "these", "my", "our", "in", "over", "during", "within", "for", "den", "die", "der"}
RULES: dict[str, Callable[[Reader, int, str], Found | None]] = {
    **dict.fromkeys(words.ORDINALS, Reader.ordinal),
    **dict.fromkeys(("other",), Reader.other_day),
    **dict.fromkeys(("tonight",), Reader.tonight),
    **dict.fromkeys(("half",), Reader.half),
    **dict.fromkeys(("vor",), Reader.vor),
    **dict.fromkeys((*words.MONTHS, *words.SEASONS, "q1", "q2", "q3", "q4"), Reader.month),
    **dict.fromkeys((*words.UNITS, *words.WEEKDAYS), Reader.towards),
    **dict.fromkeys(words.COUNTS, Reader.counted),
    **dict.fromkeys(words.DAYS, Reader.day_word),
    **dict.fromkeys(words.RECENTLY, Reader.recently),
    **dict.fromkeys(words.STEPS, Reader.step),
    **dict.fromkeys(words.THIRDS, Reader.third),
}
"""Rules by the first word of a phrase."""
