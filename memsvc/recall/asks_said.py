"""Which questions ask for what was said at a time, whatever it was about: "What did I say last week?".

By their words, in English and German: nothing but a time and words of saying. A question that also says what it is
about ("What did I say about the garden last week?"), or asks for one thing that was said, is none.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

from memsvc.recall.options import LEARNT, QUESTION_CHARS, Filters, Weights
from memsvc.recall.times_in_words import day, days
from memsvc.times.reading import QueryTimes, TimeWindow, read_times

FIRST_YEAR = 1900
"""A time that begins earlier has no begin: "before May"."""
TIME = "\0"
"""Stands for the time in what is left of a question."""
WORD = re.compile(r"\0|[^\W_]+(?:['’][^\W_]+)*")
LEADS = re.compile(
    r"^\W*(?:(?:please|pls|bitte|hey|hi|ok|okay|so|and|also|und|well)\b[\s,]*"
    r"|(?:can|could|would|will) (?:you|we)(?: please)? "
    r"|(?:(?:tell|show|give|remind|list)(?: (?:me|us))?(?: again)?|i (?:want|would like|['’]d like) to know)\b[\s,:]*"
    r"|(?:do|can) you (?:still )?(?:remember|recall|know|tell me)\b[\s,]*"
    r"|(?:kannst|könntest|würdest) du (?:mir |uns )?(?:bitte )?(?:noch ?mal )?(?:(?:sagen|zeigen)\b[\s,]*)?"
    r"|(?:sage?|zeige?|gib|nenne?|liste|erzähle?)(?: (?:mir|uns))(?: bitte)?(?: (?:noch ?mal|mal))?\b[\s,:]*"
    r"|weißt du (?:noch)?[\s,]*|erinner(?:e|st)? (?:mich|du dich)(?: (?:noch|daran))*\b[\s,]*)",
    re.IGNORECASE,
)
"""How somebody asks to be told; what is asked for stands behind it."""
SAYS = re.compile(
    r"\b(?:sa(?:y|id|ying)|t(?:ell|old|elling)|talk(?:s|ed|ing)?|sp(?:eak|oke|oken|eaking)|mention(?:ed|ing)?"
    r"|discuss(?:ed|ing|ions?)?|chat(?:s|ted|ting)?|wr(?:ite|ote|itten)|shared?|ask(?:ed|ing)?|sen[dt]"
    r"|conversations?|messages?|topics?|subjects?|recap|summar(?:y|ies|i[sz]e)|overview"
    r"|c(?:ame|ome) up|br(?:ing|ought) up|cover(?:ed)?|catch (?:me|us) up"
    r"|gesagt|gefragt|fragten?|sagten?|erzählt(?:en?)?|gesprochen|sprachen?|besprochen|besprachen?|geredet|redeten"
    r"|erwähnt(?:en?)?|geschrieben|schrieben?|diskutiert(?:en)?|unterhalten|unterhielten|unterhaltung(?:en)?|gesprächen?|gespräche?s?"
    r"|berichtet|mitgeteilt|themen|thema|nachrichten|zusammenfassung|zusammenfassen|überblick|übersicht|rückblick"
    r"|fasse? (?:bitte )?(?:(?:die|den|das) )?\0 (?:bitte )?(?:kurz )?zusammen|wor(?:um|über) (?:ging|geht))\b",
    re.IGNORECASE,
)
"""What tells that somebody said something, or that it is to be told in short."""
_PLAIN = """
    what which that all everything anything something things thing stuff else did do does have has had was were is are
    been i i've we we've you you've me us my our your to with about of on in at over during from for through within the
    a an and or any some so far please again exactly just there each other together main key most important short brief
    quick full whole complete list order up catch back between earlier
    say said saying tell told telling talk talks talked talking speak spoke spoken speaking mention mentioned mentioning
    discuss discussed discussing discussion discussions ask asked asking sent send chat chats chatted
    chatting write wrote written share shared log history already
    conversation conversations message messages topic topics subject subjects recap summary summaries summarize
    summarise overview come came bring brought cover covered points
    was worüber wovon worum welche welches welchen alles irgendetwas irgendwas etwas dinge sachen habe hab haben hast
    hatte hatten hattest ich wir du mir mich uns dir dich euch miteinander zusammen über von vom im in am an aus zu zum
    zur bei mit der die das den dem des ein eine einen einer und oder denn eigentlich so noch mal nochmal nochmals
    genau alle bisher wichtigsten kurz kurze kurzen kurzer bitte sind waren unser unsere unserem unseren unserer meine
    meinen ging geht es gab rede fass fasse zusammenfassen um mach mache
    war waren wurde wurden worden für schon bislang jetzt gesendet geschickt gefragt fragte
    gesagt sagte sagten erzählt erzählte erzählten gesprochen sprach sprachen besprochen besprach besprachen geredet
    redeten erwähnt erwähnte erwähnten geschrieben schrieb schrieben diskutiert diskutierten unterhalten unterhielten
    unterhaltung unterhaltungen gespräch gespräche gesprächen berichtet mitgeteilt thema themen nachricht nachrichten
    zusammenfassung überblick übersicht rückblick
"""
PLAIN = frozenset({*_PLAIN.split(), TIME})
"""Words of a question that name nothing by which something could be found."""
ABOUT_THE_TIME = re.compile(
    r"\b(?:sa(?:y|id)|t(?:ell|old)|mention(?:ed)?|discuss(?:ed)?|wr(?:ite|ote|itten)|shared?)\b[^\0]*"
    r"\babout(?: the)? \0"
    r"|\büber(?: d(?:en|ie|as))? \0",
    re.IGNORECASE,
)
"""The time is what is talked about: "What did I say about last week?"."""
ONE_OF_IT = re.compile(
    r"\b(?:i|we|ich|wir)\b(?<!you and i).*\b(?:i|we|ich|wir)\b|\bto do\b|\bdo (?:i|we|you)\b"
    r"|\bha(?:ve|d|s) to\b|\bam i\b|^(?:message|cover|share|write|bring|ask|send)\b(?! (?:me )?(?:an?|the)\b)",
    re.IGNORECASE,
)
"""What was said tells of what is asked for: "What did I say we did last week?"."""
IN_SHORT = re.compile(r"\b(?:zusammenfassung|überblick|übersicht|rückblick)\b", re.IGNORECASE)
"""Words behind which "über" leads to the time itself."""
BOTH = re.compile(r"\b(?:you and i|i and you|we|wir|du und ich|ich und du)\b", re.IGNORECASE)
OWN = re.compile(r"\b(?:i|i['’]ve|ich)\b", re.IGNORECASE)
YOURS = re.compile(r"\b(?:you|you['’]ve|du)\b", re.IGNORECASE)
Role = Literal["user", "assistant"]
NOTHING_THEN = "Nothing that was said at that time is stored."


class SaidThen(NamedTuple):
    """What was said is asked for, by its time alone."""

    windows: tuple[TimeWindow, ...]
    """When; none lies in another one."""
    role: Role | None
    """Who is asked about, if this one said anything then; None: everybody."""

    def is_in(self, moment: datetime) -> bool:
        """Whether a moment lies in the time."""
        return any(one.begin <= moment < one.end for one in self.windows)

    @property
    def nothing(self) -> str:
        """A remark where nothing was said."""
        return (
            f"Nothing that was said then ({', '.join(map(_days, self.windows))}) is stored; say so rather than guess."
        )


def said_then(question: str, times: QueryTimes, now: datetime, filters: Filters, weights: Weights) -> SaidThen | None:
    """What a question asks for, if that is what was said at a time, whatever it was about; None: something else.

    Args:
        question: in natural language.
        times: what it says about time.
        now: the moment of asking; what lies behind it has not been said.
        filters: what may be recalled; None where they ask for the nearest, or for other kinds.
        weights: None where somebody gives any, and so asks for an order.
    """
    begun = [one for one in times.windows if one.begin < now]
    if not begun or len(begun) < len(times.windows) or len(question) > QUESTION_CHARS:
        return None
    if weights or filters.near is not None or filters.least_score is not None or "message" not in filters.searched:
        return None
    rest = " ".join(question.split())
    for phrase in sorted({one.phrase for one in begun}, key=len, reverse=True):
        rest = rest.replace(phrase, TIME)
    while (lead := LEADS.match(rest)) is not None:
        rest = rest[lead.end() :]
    if not (SAYS.search(rest) and PLAIN.issuperset(WORD.findall(rest.casefold().replace("’", "'")))):
        return None
    if ONE_OF_IT.search(rest) or (ABOUT_THE_TIME.search(rest) and not IN_SHORT.search(rest)):
        return None
    windows = tuple(one for one in begun if not any(_lies_in(other, one) for other in begun))
    role: Role | None = None
    if not BOTH.search(rest):
        role = "user" if OWN.search(rest) else "assistant" if YOURS.search(rest) else None
    return SaidThen(windows, role)


def asks_of_a_time(question: str) -> bool:
    """Whether a question asks for no more than what was said at a time."""
    now, zone = datetime.now(UTC), ZoneInfo("UTC")
    return said_then(question, read_times(question, now, zone), now, Filters(), LEARNT) is not None


def _lies_in(one: TimeWindow, other: TimeWindow) -> bool:
    """Whether a time lies in another one that is longer."""
    return other.begin <= one.begin and one.end <= other.end and (one.begin, one.end) != (other.begin, other.end)


def _days(window: TimeWindow) -> str:
    """The days of a window."""
    if window.begin.year < FIRST_YEAR:
        return f"before {day(window.end)}"
    return days(window.begin.date(), window.end.date())
