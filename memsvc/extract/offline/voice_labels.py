"""Labels in front of what somebody says: "Anna: …" in a pasted chat, time stamps before names, headers of mail.

A label is a person's where its form says so (a time stamp, angle brackets, a name that people bear, "me", "her", "my
sister", an interviewer), or where another line of the message has such a label. "Update:", "PS:", "Work:" are nobody's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from memsvc.extract.names import POSSESSIVE, folded, words_of
from memsvc.extract.offline.lexicon_given import GIVEN
from memsvc.extract.offline.lexicon_kin import ACQUAINTANCE, FAMILY, HE, KIN, SHE
from memsvc.extract.offline.lexicon_names import TITLES
from memsvc.extract.offline.lexicon_places import PLACES
from memsvc.extract.offline.lexicon_things import ROLES

AUTHOR, NOBODY = "<author>", ""
"""Whose words: who wrote the message; somebody who is not known. Any other is a person's name."""
MOST_WORDS = 4
LEAST_LETTERS = 3
FIRST = frozenset({"me", "i", "myself"})
OTHERS = frozenset(["you", "he", "him", "she", "her", "they", "them", "we", "us", "it"])
SPEAKING = frozenset([
    "interviewer", "interviewee", "candidate", "applicant", "customer", "client", "caller", "user", "human", "ai",
    "bot", "chatbot", "chatgpt", "gpt", "claude", "gemini", "copilot", "model", "system", "speaker", "person",
    "narrator", "moderator", "patient", "stranger", "anonymous", "unknown", "participant", "respondent", "recruiter",
    "operator", "support",
])  # fmt: skip
"""Who speaks in transcripts, other than relatives and trades."""
TRADES = (ACQUAINTANCE | ROLES | {"support", "recruiter"}) - FAMILY
THIRD = re.compile(r"\b(?:(?P<he>he|him|his)|she|her|hers)\b", re.IGNORECASE)
ADDRESSED = re.compile(r"\b(?:you|your|yours|yourself|u|ur)\b", re.IGNORECASE)
CALENDAR = frozenset([
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "monday",
    "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "mon", "tue", "tues", "wed", "thu", "thur",
    "thurs", "fri", "sat", "sun", "easter", "spring", "summer", "autumn", "winter", "dawn", "christmas",
])  # fmt: skip
"""Words for times, some of which people are called, too."""
WHEN = frozenset(["early", "mid", "late", "last", "this", "next", "since", "in", "end", "of", "the", "to", "and"])
PARTICLES = frozenset(["van", "von", "de", "der", "den", "da", "di", "del", "la", "le", "dos", "bin", "al", "el", "y"])
DATE = (
    r"(?:\d{1,4}[./-]\d{1,2}(?:[./-]\d{2,4})?|\d{1,2}\.? ?[A-Za-z]{3,9}\.? ?(?:\d{4})?"
    r"|(?:[A-Z][a-z]{2,8},? )?[A-Z][a-z]{2,8} \d{1,2},? (?:\d{4})?)"
)
TIME = r"\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?: ?[AaPp]\.?[Mm]\b\.?)?"
MOMENT = rf"(?:{DATE}[, T]{{1,2}})?{TIME}"
STAMP = rf"(?:\[ ?{MOMENT} ?\]|\( ?{MOMENT} ?\)|{MOMENT}|\[{DATE}\])"
LABEL = re.compile(
    rf"[ \t]*(?:(?:[-*•·]|\d{{1,3}}[.)]) )?(?P<stamp>{STAMP}(?: ?[-–—|,]"
    rf"| ?:(?= ))?[ \t]{{1,3}})?(?:~ ?)?(?P<mark>[*_]{{0,3}})"
    rf"(?:\[(?P<boxed>[^\W\d_][^\n:\[\]]{{0,40}})\]"
    rf"|(?P<name>[+@]?\w[^\n:<>()\[\]*“”\"?!;,]{{0,40}}?))(?: \([^()\n]{{1,30}}\))?"
    rf"(?P<after>,? {STAMP}|, {DATE})?[ \t]?[*_]{{0,3}}:[*_]{{0,3}}(?:[ \t]+|$)"
)
"""A line's: "[12.11.26, 09:15:22] Greta Lund: ", "10:15 - Anna: ", "**Anna:** ", "Anna (10:15): "."""
ANGLED = re.compile(rf"[ \t]*(?:{STAMP}[ \t]{{1,3}})?<[@+~ ]?(?P<name>[^\W\d_][\w.| -]{{0,30}})>(?=[ \t]+\S)")
"""As in IRC: "<anna> hello"."""
ABOVE = re.compile(
    rf"[ \t]*(?:(?P<name>[^\W\d_][^\n:<>()\[\]]{{0,40}}?)(?: ?[,—–-])? {{1,4}}(?:(?:Today|Yesterday)(?: at|,)? )?"
    rf"{STAMP}|\[{TIME}\] (?P<other>[^\W\d_][\w.'’ -]{{0,40}}))[ \t]*$"
)
"""A line of its own over what is said: "Anna Lund  10:15 AM"."""
DASHED = re.compile(r"[ \t]*(?P<name>[A-Z][\w'’-]{1,20}(?: [A-Z][\w'’-]{1,20})?)(?:>| [-–—]) (?=(?:I|We|My|Our)\b)")
"""Somebody's name, and a dash or bracket before an "I"."""
INLINE = re.compile(r"(?P<name>[^\W\d_][\w.'’-]{0,20}(?: [A-Z][\w.'’-]{0,20})?):[ \t]+")
WITHIN = re.compile(rf"(?<=[.!?]) {INLINE.pattern}")
FORWARDED = re.compile(
    r"[ \t]*(?:[-–—_*=]{2,} ?(?:forwarded|original)\b[^\n]{0,60}|(?:begin )?forwarded message\b[^\n]{0,20}"
    r"|[\[(*_]{0,2}(?:fwd?|forwarded)(?: message)?(?: many times)?[\])*_]{0,2}(?:[:,]|(?<=[\])*_])|$)[ \t]*"
    r"|[\[(]?forwarded (?:from|by) [^\n:]{1,40}$)",
    re.IGNORECASE,
)
HEADER = re.compile(
    r"[ \t]*[*_]{0,2}"
    r"(?P<key>from|to|cc|bcc|date|sent|subject|reply-to|von|an|betreff"
    r"|gesendet)[*_]{0,2}:[*_]{0,2}[ \t]+"
    r"(?P<value>[^\n]*)",
    re.IGNORECASE,
)
ADDRESS = re.compile(r"\S+@\S+")
GREETING = (
    r"\s*(?:hi|hey|hello|hiya|dear|dearest|good (?:morning|evening|afternoon)|hallo|hola)[ \t,]+(?:my )?(?:dear )?"
)
SIGNED = re.compile(
    r"(?:^|[.!?]\s)[ \t]*(?:(?:all the|all my|with|much|many|lots of|kind|warm|best|regards|wishes|love|cheers|yours"
    r"|sincerely|faithfully|truly|hugs|xx+)\b[ \t]?){1,4}(?:,[ \t]*\n?|[!.]?[ \t]*\n)[ \t]*"
    r"(?P<name>[A-Z][\w'’-]{1,20}(?: [A-Z][\w'’-]{1,20})?)[ \t]*[.!x]*\s*\Z",
    re.IGNORECASE | re.MULTILINE,
)
"""How a mail ends: "Best wishes, Greta"."""
NAME = re.compile(r"[A-Z]")
JOINED = re.compile(r" (?:and|&) |, ")


@dataclass(frozen=True, slots=True)
class Known:
    """Who is known to whoever tells voices apart."""

    own: frozenset[str] = frozenset()
    """Names of who wrote the message, folded."""
    owner: frozenset[str] = frozenset()
    """The memory's owner's."""
    people: frozenset[str] = frozenset()
    """Other persons'."""
    is_word: Callable[[str], bool] = field(default=lambda _: True)
    """Whether a string is a word of the language, so that it need not be a name."""


class Label(NamedTuple):
    """A label that stands in front of words."""

    end: int
    """Where the words begin."""
    voice: str | None
    """Whose they are; None: no person's, as far as one can tell."""
    sure: bool
    """It is a person's, by itself."""
    above: bool = False
    """The words stand in the lines below."""
    trade: bool = False
    """It names a trade; where no other label stands beside it, that is what the author speaks of."""


def label_at(text: str, begin: int, end: int, known: Known) -> Label | None:
    """The label with which a line from ``begin`` to ``end`` opens."""
    if (match := ANGLED.match(text, begin, end)) is not None and f"</{match['name']}" not in text[begin:end]:
        return Label(match.end(), speaker(match["name"], known, stamped=True) or NOBODY, sure=True)
    if (match := LABEL.match(text, begin, end)) is not None:
        name = match["boxed"] or match["name"]
        stamped = bool(match["stamp"] or match["after"])
        voice = speaker(name, known, stamped=stamped)
        if voice is None and len(name.split()) > MOST_WORDS:
            return None
        behind = text[match.end() : end]
        if voice == NOBODY and not stamped and is_told_of(name, behind, known):
            voice = None
        return Label(
            match.end(),
            voice,
            sure=voice is not None and (stamped or not stray(name, known)),
            above=not behind.strip(),
            trade=not stamped and is_trade(name) and not ADDRESSED.search(behind),
        )
    if (match := ABOVE.match(text, begin, end)) is not None:
        name = match["name"] or match["other"]
        if capitalised(name) and len(name.split()) <= MOST_WORDS:
            voice = speaker(name, known, stamped=True)
            return Label(end, voice, sure=voice is not None, above=True)
    if (match := DASHED.match(text, begin, end)) is not None and names_person(match["name"], known):
        return Label(match.end(), NOBODY, sure=True)
    return None


def speaker(label: str, known: Known, *, stamped: bool = False) -> str | None:
    """Whose a label is; None: nobody's, as far as one can tell."""
    name = label.strip(" *_~@")
    plain, words = folded(name), words_of(name)
    if not words or len(words) > MOST_WORDS or POSSESSIVE.search(name):
        return NOBODY if stamped else None
    if plain in FIRST or plain in known.own:
        return AUTHOR
    if len(words) == 1 and plain in {words_of(own)[0] for own in known.own if words_of(own)}:
        namesakes = any(words_of(one)[:1] == words for one in known.people | (known.owner - known.own))
        return NOBODY if namesakes else AUTHOR
    if plain in OTHERS or resembles(words, known.own | known.owner):
        return NOBODY
    if not stamped and is_time(name, known):
        return None
    if is_person(name, known):
        return name
    if stamped and capitalised(name) and len(words[0]) >= LEAST_LETTERS and words[-1] not in ROLES | KIN | SPEAKING:
        return name
    return NOBODY if stamped or is_somebody(label, known) else None


def is_somebody(label: str, known: Known) -> bool:
    """Whether a label that is no known person's name still is a person's: a relative, a trade, a name on a screen."""
    name = label.strip(" *_~@")
    words = words_of(name)
    if name != label.strip(" *_~") or "_" in name or all(is_person(one, known) for one in JOINED.split(name)):
        return True
    numbered = len(words) > 1 and (len(words[-1]) == 1 or words[-1].isdigit())  # "Speaker 1"
    role = words[-2] if numbered else words[-1]
    determined = words[0] in {"my", "the", "his", "her", "our"}
    if role in KIN | ROLES | SPEAKING and (len(words) == 1 or numbered or determined):
        return True
    called = words[0] in GIVEN or (len(words) > 1 and words[0] in TITLES | KIN)
    return (called and (capitalised(name) or len(words) == 1)) or stray(name, known)


def is_told_of(label: str, behind: str, known: Known) -> bool:
    """Whether words behind a relative's or a trade's label speak of that one: "Dad: I call him every day."."""
    words = words_of(label)
    match = THIRD.search(behind)
    if not words or words[-1] not in KIN | ROLES or match is None or ADDRESSED.search(behind):
        return False
    other = SHE if match["he"] else HE
    before = re.findall(r"[^\W\d_][\w'’-]*", behind[: match.start()])
    named = any(word.casefold() in KIN or (word[0].isupper() and is_person(word, known)) for word in before)
    return not (named or words[-1] in other or any(word[0].isupper() and word[:1] != "I" for word in before[1:]))


def is_time(label: str, known: Known) -> bool:
    """Whether a label tells when rather than who: "Jan", "Late May", "5 June 2024"; a known person's name does not."""
    words = words_of(label)
    times = all(word in CALENDAR | WHEN or word[0].isdigit() for word in words)
    return times and not CALENDAR.isdisjoint(words) and folded(label) not in known.people


def is_trade(label: str) -> bool:
    """Whether a label is one word for what somebody does for others: "Doctor", "Support"."""
    words = words_of(label)
    return len(words) == 1 and words[0] in TRADES


def stray(name: str, known: Known) -> bool:
    """Whether a label is one word that looks like a name and that nobody knows."""
    word = name.strip(" *_~@")
    plain = word.isalpha() and word[0].isupper() and word[1:].islower() and len(word) >= LEAST_LETTERS
    return plain and not (known.is_word(word) or word.casefold() in PLACES | GIVEN or folded(word) in known.people)


def is_person(name: str, known: Known) -> bool:
    """Whether a name is certainly a person's: a known one's, or one that begins with a given name and is no place."""
    words = words_of(name)
    if folded(name) in known.people and not KIN.union(ROLES, SPEAKING).issuperset(words):
        return True
    if not words or not capitalised(name) or resembles(words, known.own | known.owner):
        return False
    sure = words[0] in GIVEN and not (len(words) == 1 and words[0] in PLACES | KIN)
    return sure and all(word not in ROLES for word in words[1:])


def names_person(label: str, known: Known) -> bool:
    """Whether words that may also tell when name a person for certain."""
    return is_person(label, known) and not is_time(label, known)


def resembles(words: list[str], names: Iterable[str]) -> bool:
    """Whether a name shares its first word with one of others, or is a part of one."""
    return any(words[0] == (other := words_of(name) or [""])[0] or words == other[-len(words) :] for name in names)


def capitalised(name: str) -> bool:
    """Whether all words of a name but particles begin with a capital."""
    return all(word[0].isupper() or word.lower() in PARTICLES for word in name.split() if word[0].isalpha())


def inline_label(text: str, at: int, known: Known) -> tuple[int, str] | None:
    """The label of a speaker who follows another one in the same line; where its words begin, and whose they are."""
    match = INLINE.match(text, at)
    if match is None or not NAME.match(match["name"]):
        return None
    name, plain = match["name"], folded(match["name"])
    own = plain in FIRST | known.own
    if own or plain in OTHERS or names_person(name, known):
        return match.end(), AUTHOR if own else NOBODY if plain in OTHERS else name
    return None


def has_inline(text: str, known: Known) -> bool:
    """Whether a label of a speaker may stand within a line."""
    return any(is_somebody(found["name"], known) for found in WITHIN.finditer(text))


def sender(value: str, known: Known) -> str:
    """Who a mail is from, by its header."""
    name = ADDRESS.sub("", re.sub(r"<[^>]*>|\[[^\]]*\]|\([^)]*\)", "", value)).strip(" \t\"'*_,;")
    voice = name if is_person(name, known) else speaker(name, known) if name else NOBODY
    if voice is None:
        return name if capitalised(name) and 1 < len(name.split()) <= MOST_WORDS else NOBODY
    return voice


def writer(text: str, known: Known) -> str:
    """Who wrote a message as a whole: a mail that greets its author, or that another one signs, is no one's own."""
    greeted = any(
        re.match(rf"{GREETING}{re.escape(name)}[ \t]*(?:[,!.:–—-]|$)", folded_head(text), re.MULTILINE)
        for own in known.own
        for name in {own, own.split(" ")[0]}
    )
    match = SIGNED.search(text[-200:])
    name = match["name"] if match is not None else ""
    if name and NAME.match(name) and is_person(name, known):
        return name if greeted else NOBODY
    return NOBODY if greeted else AUTHOR


def folded_head(text: str) -> str:
    """The first line of a text that says something, folded."""
    return folded(text.lstrip()[:100].split("\n")[0])
