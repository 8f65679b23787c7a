"""English and German words of time, and the patterns of dates that are made of them.

Every pattern is tried at one offset of a text. Its repetitions have small bounds and are not nested, so the time is
linear in the length of the text. The text is in lower case, with single spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar jänner", "february feb februar", "march mar märz maerz", "april apr", "may mai",
            "june jun juni", "july jul juli", "august aug", "september sept sep", "october oct oktober okt",
            "november nov", "december dec dezember dez",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
VERBS = {"may", "march"}
"""Months that are also verbs: alone with a number ("may 7") they need a capital or a preposition."""
WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "monday mon montag", "tuesday tue tues dienstag", "wednesday wed mittwoch",
            "thursday thu thur thurs donnerstag",
            "friday fri freitag", "saturday sat samstag sonnabend", "sunday sun sonntag",
        )
    )
    for name in names.split()
}  # fmt: skip
SEASONS = {
    "spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12, "frühling": 3, "frühjahr": 3,
    "sommer": 6, "herbst": 9,
}  # fmt: skip
"""The month in which each begins."""
UNITS = {
    "minute": "minute", "min": "minute", "hour": "hour", "stunde": "hour", "day": "day", "tag": "day", "week": "week",
    "woche": "week", "weekend": "weekend", "wochenende": "weekend", "month": "month", "monat": "month",
    "quarter": "quarter", "quartal": "quarter", "year": "year", "jahr": "year", "decade": "decade",
    "jahrzehnt": "decade",
    "monats": "month", "jahres": "year", "quartals": "quarter",
}  # fmt: skip
COUNTS = {
    **{word: (number, number) for number, words in enumerate(
        (
            ("one", "ein"), ("two", "zwei"), ("three", "drei"), ("four", "vier"), ("five", "fünf"), ("six", "sechs"),
            ("seven", "sieben"), ("eight", "acht"), ("nine", "neun"), ("ten", "zehn"), ("eleven", "elf"),
            ("twelve", "zwölf"),
        ), start=1
    ) for word in words},
    **dict.fromkeys(("a", "an", "eine", "einer", "einem", "einen", "eines"), (1, 1)),
    "couple": (2, 3), "few": (2, 5), "several": (3, 8), "paar": (2, 5), "wenigen": (2, 5), "einigen": (2, 8),
    "mehreren": (3, 8),
}  # fmt: skip
"""The least and the greatest number that each word means."""
DAYS = {"today": 0, "yesterday": -1, "tomorrow": 1, "heute": 0, "gestern": -1, "vorgestern": -2, "übermorgen": 2}
STEPS = {
    **dict.fromkeys(("last", "past", "previous"), -1), "this": 0, "current": 0,
    **dict.fromkeys(("next", "coming", "upcoming"), 1),
    **{stem + ending: step for stem, step in (
        ("letzt", -1), ("vorig", -1), ("vergangen", -1), ("dies", 0), ("nächst", 1), ("kommend", 1)
    ) for ending in ("e", "en", "er", "es", "em")},
}  # fmt: skip
"""The unit meant: the previous one (-1), the present one (0), or the next one (1)."""
RECENTLY = {"recently": 30, "lately": 30, "neulich": 30, "kürzlich": 30}
"""Days back."""
THIRDS = {
    **dict.fromkeys(("early", "beginning", "start", "anfang"), 0), **dict.fromkeys(("mid", "middle", "mitte"), 1),
    **dict.fromkeys(("late", "end", "ende"), 2),
}  # fmt: skip
ORDINALS = {
    "first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "1st": 0, "2nd": 1, "3rd": 2, "4th": 3, "5th": 4,
    "last": -1,
}  # fmt: skip

ARTICLES = {"the", "den", "dem", "der", "die", "das", "of"}
FROM = {"between", "from", "zwischen", "von", "vom"}
SINCE, AFTER = {"since", "seit"}, {"after", "nach"}
UNTIL, BEFORE = {"until", "till", "by", "bis", "as"}, {"before", "vor"}
OPENING = SINCE | AFTER | UNTIL | BEFORE
SPAN = "–"
"""Takes the role of the word before the second date of a range."""
INSIDE = {"in", "during", "throughout", "im", SPAN} | OPENING - {"by", "as"}
"""Words before a month or a year without a day."""
ON = {"on", "am"}
SHORT = {"mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun"}
"""Weekdays that are also other words: they need a capital."""


def any_of(names: Iterable[str]) -> str:
    """Return a pattern for any of some words, longest first."""
    return "|".join(sorted(names, key=len, reverse=True))


MONTH = rf"(?P<month>{any_of(MONTHS)})\b\.?"
YEAR = r"(?P<year>(?:19|20)[0-9]{2})(?![a-z0-9_]|[.,:/-][0-9]| ?%)"
ORDINAL = r"(?P<nth>st|nd|rd|th)?"
NOT_A_DAY = r"(?![a-z0-9_]|(?!,(?:19|20)[0-9]{2}\b)[.,:/][0-9]| ?[%€$£]| ?[ap]\.?m\b)"
"""What must not follow a day of the month."""
_END = r"(?![a-z0-9_]|[-/+@]|[.,:][0-9])"

ISO = re.compile(rf"(?P<year>[12][0-9]{{3}})-(?P<month>[0-9]{{1,2}})-(?P<day>[0-9]{{1,2}})(?:(?=t[0-9])|{_END})")
YEAR_FIRST = re.compile(
    rf"(?P<year>(?:19|20)[0-9]{{2}})(?P<dash>[/.])(?P<month>[0-9]{{1,2}})(?P=dash)(?P<day>[0-9]{{1,2}}){_END}"
)
YEAR_MONTH = re.compile(rf"(?P<year>(?:19|20)[0-9]{{2}})-(?P<month>[0-9]{{2}}){_END}")
YEAR_LAST = re.compile(
    rf"(?P<first>[0-9]{{1,2}})(?P<dash>[-./])(?P<second>[0-9]{{1,2}})(?P=dash)(?P<year>(?:19|20)[0-9]{{2}}){_END}"
)
DAY_FIRST = re.compile(
    rf"(?P<day>[0-9]{{1,2}})(?P<nth>st|nd|rd|th|\.)?(?: of)?[ -]{MONTH}(?:(?:, ?| |-)(?:of )?{YEAR})?"
)
MONTH_FIRST = re.compile(
    rf"{MONTH} (?:the )?(?P<day>[0-9]{{1,2}}){ORDINAL}{NOT_A_DAY}"
    rf"(?:(?P<dash> ?[-–] ?| to | until | through | and )(?P<last>[0-9]{{1,2}})(?:st|nd|rd|th)?{NOT_A_DAY}"
    r"(?! [a-z]{3,9} (?:19|20)))?"
    rf"(?:(?:, ?| )(?:of )?{YEAR})?"
)
MONTH_YEAR = re.compile(rf"{MONTH},? (?:of )?{YEAR}")
MONTH_ALONE = re.compile(rf"{MONTH}(?!['’]s|-?\w)")
YEAR_ALONE = re.compile(YEAR)
SEASON = re.compile(
    rf"(?P<season>{any_of(SEASONS)}),? (?:of )?(?P<year>(?:19|20)[0-9]{{2}})(?:[/-](?:20)?[0-9]{{2}})?{_END}"
)
PERIOD = re.compile(rf"(?P<name>(?P<season>{any_of(SEASONS)})|{any_of(MONTHS)})\b")
STEP_OF_YEAR = re.compile(
    r",? (?:of |des )?(?P<step>last|this|next|letzten|vorigen|dieses|diesen|nächsten) (?:year|jahres|jahr)\b"
)
QUARTER = re.compile(rf"q(?P<quarter>[1-4])\b(?:,? (?:of )?{YEAR})?")
YEAR_QUARTER = re.compile(r"(?P<year>(?:19|20)[0-9]{2})[ -]?q(?P<quarter>[1-4])\b")

_COUNT = rf"(?P<count>[0-9]{{1,4}}|{any_of(COUNTS)})"
_UNIT = rf"(?P<unit>{any_of(UNITS)})(?:s|e|en|n|es)?\b"
COUNTED = re.compile(rf"(?:an? |ein )?{_COUNT}(?: of)? (?:short |long |full )?{_UNIT}")
"""A number of units: "three weeks", "a couple of days"."""
HALF = re.compile(r"half an? (?P<unit>year|decade)\b")
"""Half a unit, as a number of smaller ones: see ``HALVES``."""
HALVES = {"year": ("month", 6), "decade": ("year", 5)}
NOUN = re.compile(
    rf"(?P<noun>night|nacht|morning|afternoon|evening|{any_of((*UNITS, *WEEKDAYS, *SEASONS, *MONTHS))})"
    r"\b(?P<of> of\b)?(?!-\w)"
)
"""The words after "last", "this" and "next"."""
PART_OF_DAY = re.compile(r" (?:morning|afternoon|evening|night|früh|morgen|mittag|nachmittag|abend|nacht)\b")
HABIT = re.compile(
    r"(?: (?:and|or|through|to|und|bis) \w{6,10})? (?:mornings|afternoons|evenings|nights)\b| (?:and|or) \w{5,8}days\b"
)
TOWARDS = re.compile(r" (?P<way>before|after|of|vor|nach)(?: the| den| dem| der)? ")
PIECE = re.compile(
    r" (?:(?P<count>two|three|four|few|couple of|[2-9]) )?(?P<unit>day|week|weekend|month|quarter|half"
    rf"|{any_of(WEEKDAYS)})s? of (?:the )?"
)
"""The words after "first" and "last" as in "first week of", "last two weeks of"."""
OF = re.compile(r"(?: of| in|-| part of)?[ -]?(?:the )?")
LINK = re.compile(r" ?[-–—] ?| (?:to|until|till|through|bis|and|und) (?:the )?")
BARE_DAY = re.compile(
    r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th|\.)?(?P<link> ?[-–] ?| (?:to|until|through|bis|and|und) )(?:the )?(?=[0-9])"
)
AMOUNT = re.compile(
    r" (?!(?:is|was|has|does|as|this|his|its|us|plus|versus|vs|yes|unless|across)\b)"
    r"(?:[a-z]{2,20}s|people|men|women|km|kg|mi|kcal)\b"
)
"""Something that is counted, so the number before it is not a year."""
