"""Sentences and clauses of a text, and whether what a clause says of a day is past or to come.

What counts are the cues nearest to the day: "I told Ben that I will meet him on Friday" speaks of a Friday to come,
"call the man whom I met on Friday" of a past one. Verbs count more than nouns ("we had an appointment").
Words of arranging leave it open: "we booked a table on 3 December" may be told of both days.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from memsvc.text.sentences import sentences as text_sentences

NEAR = 120
"""Characters before and after a day that are looked at."""
Way = Literal[-1, 0, 1]
"""-1: past; 1: to come; 0: either."""
_HALVES = re.compile(r"(?<=;)(?=\s)")
_CLAUSE_ENDS = re.compile(
    r"(?:[,:]|\s[-–—])\s*(?:and|but|so|then|which|who|und|aber|dann|also|doch)\b|[;；]"
    r"|[,\s]\s*(?:but|because|although|though|whereas|aber|weil|denn|obwohl)\b|但是?|可是|不过|因为"
    r"|\b(?:that|dass)(?= (?:i|we|he|she|they|you|it|the|my|our|ich|wir|er|sie|es|der|die|das|mein\w*|unser\w*)\b)",
    re.IGNORECASE,
)
_FORMED = re.compile(r"^\W*(?:(?:on|at|by|from|for|am|ab|um|the|den|dem|das|and|und|then|so)\W+){0,3}$", re.IGNORECASE)
"""What may stand before words of time that begin a clause."""
_ARRANGED = (
    "moved|booked|scheduled|arranged|planned|postponed|reserved|confirmed|agreed|fixed|invited|promised|rescheduled|"
    "shifted|delayed|announced|registered|signed up|made|got|bought|set|decided|vereinbart|gebucht|verschoben|geplant|"
    "verlegt|reserviert|ausgemacht|abgemacht|bestätigt|eingeladen|angemeldet|festgelegt|sollten?|预约|约好|订|定了|予約"
)
_CUES = re.compile(
    r"(?P<past>\b(?:was|were|had) (?:\w+ )?(?:going|supposed|meant|planning|about) to\b"
    r"|\b(?:war|hatten?|musste[nt]?|wollte[nt]?|konnte[nt]?|durfte[nt]?)\b"
    r"|\b(?:should|would|could|must|might|may) have\b|\bdid(?:n['’]t)?\b)"
    rf"|(?P<open>(?:\b(?:was|were|got|been|wurden?) )?(?:\b(?:{_ARRANGED})\b))"
    r"|(?P<come>\b(?:will|won['’]t|shall|should|must|going to|gonna|(?:need|needs|have|has|got|want|wants|like) to"
    r"|let['’]s|remind(?:er)?|remember to|(?:do not|don['’]t) forget|can (?:you|we|i)|could you|werden?|wird|muss"
    r"|müssen|sollen?|soll|erinner\w*|möchten?|wollen|vergiss)\b|\w['’]ll\b"
    r"|(?:\b(?:am|is|are)|\w['’](?:m|s|re)) (?:\w+ly )?\w{2,}ing\b"
    r"|别忘了?|別忘了?|提醒|打算|[要将將](?!是)|予定|つもり)"
    r"|(?P<told>\b(?:was|were|had|went|came|took|saw|met|said|told|gave|left|ate|found|thought|felt|began|ran|won|lost|"
    r"spent|built|wrote|drove|flew|grew|knew|paid|sent|sold|slept|spoke|stood|taught|wore|held|heard|kept|brought|"
    r"caught|chose|became|broke|drank|fell|forgot|rode|sang|swam|threw|woke|been|gone|seen|taken|done|yesterday|ago|"
    r"gingen|ging|kam|kamen|gab|gestern|waren|trafen?|sah|sahen|fuhr|fuhren|blieb|blieben|fand|fanden|sprach|sprachen|"
    r"nahm|nahmen|flog|flogen|zog|zogen|schrieb|schrieben|aß|aßen|"
    r"(?!need|indeed|speed|hundred|wicked|sacred)\w{3,}ed|(?!gegen|genug)\w*ge\w{2,}(?:t|en))\b"
    r"|了(?!吗)|过(?!年|生日)|過(?!ぎ)|ました|でした|だった)",
    re.IGNORECASE,
)
_NOUNS = re.compile(
    r"\b(?:please|plan(?:s|ning)?|appointment|due|deadline|tomorrow|supposed to|bitte|termin|fällig)\b|明天|明日",
    re.IGNORECASE,
)
_FOR = re.compile(r"\b(?:for|to|until|till|für|auf|bis)(?: (?:the|den|zum))?\W*$", re.IGNORECASE)
_ASKED_BACK = re.compile(r"\b(?:did|was|were|had|war|hatten?|musste[nt]?|wollten?|sollten?)\b", re.IGNORECASE)
_ASKED_EITHER = re.compile(
    r"\b(?:supposed|meant|planned|scheduled|booked|due|sollten?|geplant)\b|\bvor\s*\?", re.IGNORECASE
)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text whose lines may be wrapped, each with its end sign; a semicolon ends one, too."""
    for sentence in text_sentences(text, wrapped=True):
        yield from _HALVES.split(sentence)


def clause_at(sentence: str, start: int, stop: int) -> tuple[int, int]:
    """Where the clause begins and ends that holds a place of a sentence, at most 120 characters around it."""
    begin, end = max(0, start - NEAR), min(len(sentence), stop + NEAR)
    for match in _CLAUSE_ENDS.finditer(sentence, begin, end):
        if match.end() <= start:
            begin = match.start()
        elif match.start() >= stop:
            return begin, match.start()
    return begin, end


def way_at(sentence: str, start: int, stop: int) -> Way | None:
    """Whether a sentence tells of the day at a place as past or as to come; None: no word says it."""
    begin, end = clause_at(sentence, start, stop)
    before = sentence[begin:start]
    cue = None
    for cue in _CUES.finditer(sentence, begin, start):  # noqa: B007 - the last one is nearest
        pass
    if cue is None:
        comma = sentence.find(",", stop, end)
        opens = _FORMED.match(before) is not None
        cue = _CUES.search(sentence, stop, end if opens or comma < 0 else comma)
    if cue is None:
        return 1 if _NOUNS.search(sentence, begin, end) else None
    if cue["open"]:
        return 1 if _FOR.search(before) else 0
    return 1 if cue["come"] else -1


def asked_way(question: str) -> Way:
    """Whether a question asks for a day that is past or to come."""
    if _ASKED_BACK.search(question) is None:
        return 1
    return 0 if _ASKED_EITHER.search(question) else -1
