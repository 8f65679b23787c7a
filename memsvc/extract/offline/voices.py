"""Whose words a message holds: its author's, those of somebody whom it names, or of nobody who can be told.

Chats that were pasted, mail that was forwarded, what "Anna wrote:", text to translate, role-play and examples are not
what the author says. Only what is certainly a known person's is theirs; the rest is nobody's, and is not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from memsvc.access.users import FIRST_PERSON
from memsvc.extract.names import folded
from memsvc.extract.offline import voice_heads as heads
from memsvc.extract.offline import voice_labels as labels
from memsvc.extract.offline import voice_plays as plays
from memsvc.extract.offline.lexicon_chat import SMALL
from memsvc.extract.offline.voice_heads import Reach
from memsvc.extract.offline.voice_labels import AUTHOR, NOBODY, Known, Label
from memsvc.extract.quotes import Span
from memsvc.extract.window import OWNER, Turn, Window

PERSON = "Person"
NAMELESS = frozenset({"", "somebody", "user", "human", "assistant"})
"""What speakers without a name are called."""
QUOTED = re.compile(
    r'(?<![\w"])"(?=[^\s"])([^"]{12,2000})"(?!\w)|“([^”“]{12,2000})”|„([^“”„]{12,2000})[“”]|«([^»«]{12,2000})»'
    r"|‘((?:[^’‘\n]|(?<=\w)’(?=\w)){12,600})’(?!\w)|(?<![\w'])'(?=[^\s'])((?:[^'\n]|(?<=\w)'(?=\w)){12,600}?)'(?!\w)"
)
SENTENCE = re.compile(r"[^.!?…\n]*(?:[.!?…]+(?!\s)[^.!?…\n]*)*(?:[.!?…]+[\"'”’»)\]*_]*\s*|$)")
COLON = re.compile(r":(?=\s|[\"“„«‘'*_]|$)(?! ?[)(/|*]{1,2}(?:\s|$))")
DASH = re.compile(r" (?:[-–—]|->|=>) ")
OPENS = re.compile(r"\s*[*_]*(?:[\"“„«‘']|```)")
QUOTE_LINE = re.compile(r"[ \t]*>(?!\w*[:(])")
FENCE = re.compile(r"[ \t]*(?:```|~~~)")
OURS = re.compile(r"\b(?:my|our)\b", re.IGNORECASE)
"""A head that tells of the author's people: "my sister Ines wrote:"."""
FIRST_PERSON_IN = re.compile(r"\b(?:I|[Mm]y|[Mm]e|[Ww]e|[Oo]ur|[Uu]s)\b")
LOOKED_AT = 400
"""Characters of a sentence in which a head, a task or a play is looked for."""
SIGNATURE = re.compile(r"-- ?$")


class Voice(NamedTuple):
    """A piece of a message, and whose words it is."""

    begin: int
    """Characters, from 0."""
    end: int
    whose: str
    """``AUTHOR``, ``NOBODY``, or the name of a person."""


def any_word(_: str) -> bool:
    """Takes every string for a word."""
    return True


def voices_of(window: Window, is_word: Callable[[str], bool] = any_word) -> dict[UUID, list[Voice]]:
    """The voices in what people say in a window, by passage, those of the turns before it included.

    Args:
        window: as extractors get it.
        is_word: whether a string is a word, so that it need not be a name; without it every one may be.
    """
    owner = own_names(window, OWNER)
    people = {folded(turn.speaker) for turn in (*window.before, *window.turns) if turn.role == "user"}
    for one in window.candidates:
        if one.type == PERSON and one.number != OWNER:
            people |= own_names(window, one.number)
    found: dict[UUID, list[Voice]] = {}
    last: Turn | None = None
    for turn in (*window.before, *window.turns):
        if turn.role != "user":
            continue
        own = own_names(window, author_of(window, turn)) | {folded(turn.speaker)} - {""}
        known = Known(own, owner, frozenset(people - own - owner - NAMELESS), is_word)
        begun = None
        if turn.opening:
            before = found[last.passage_id] if last is not None and same_message(last, turn) else None
            begun = NOBODY if goes_on(before or split(turn.opening, known)) else AUTHOR
        found[turn.passage_id] = split(turn.text, known, begun)
        last = turn
    return found


def author_of(window: Window, turn: Turn) -> int | None:
    """The candidate that says a turn; None: somebody who is not known."""
    return window.speakers.get(turn.speaker, OWNER if not turn.speaker else None)


def own_names(window: Window, number: int | None) -> frozenset[str]:
    """What a candidate is called, folded."""
    if number is None or number >= len(window.candidates):
        return frozenset()
    one = window.candidates[number]
    return frozenset(folded(name) for name in (one.label, *one.aliases)) - {"", *map(folded, FIRST_PERSON)}


def same_message(one: Turn, other: Turn) -> bool:
    """Whether two turns are parts of one message, as far as their heads tell."""
    return bool(other.opening) and (one.said_at, one.speaker, one.other) == (other.said_at, other.speaker, other.other)


def goes_on(voices: list[Voice]) -> bool:
    """Whether words behind these are not the author's."""
    return bool(voices) and voices[-1].whose != AUTHOR


def foreign(text: str, voices: list[Voice]) -> list[Span]:
    """Where the words of others stand, quotations among them."""
    quoted = (
        found.span()
        for found in QUOTED.finditer(text)
        if FIRST_PERSON_IN.search(found[0]) and not is_title(found[found.lastindex or 0])
    )
    return [*((voice.begin, voice.end) for voice in voices if voice.whose != AUTHOR), *quoted]


def is_title(quoted: str) -> bool:
    """Whether what stands between quotation marks names a work rather than being somebody's words."""
    words = [word for word in re.findall(r"[^\W\d_][\w'’-]*", quoted) if word.lower() not in SMALL]
    return bool(words) and sum(word[0].isupper() for word in words) >= 0.75 * len(words)


def split(text: str, known: Known, begun: str | None = None) -> list[Voice]:
    """A text as the voices in it, from left to right without a gap.

    Args:
        text: of a message, or of a part of one.
        known: who is known.
        begun: whose words go on at its beginning; None: it begins a message.
    """
    return _Splitter(text, known, begun).voices()


@dataclass(slots=True)
class _Splitter:
    """Reads a text line by line."""

    text: str
    known: Known
    begun: str | None
    cut: int | None = None
    """From here on nothing of it is the author's: a play, or text to work on."""
    base: str = AUTHOR
    """Whose words are read now."""
    reach: Reach | None = None
    """How far they go; None: on."""
    block: bool = False
    """They began behind a line's end; a blank line after them leaves it open whose the next are."""
    in_mail: bool = False
    made: list[Voice] = field(default_factory=list)

    def voices(self) -> list[Voice]:
        text = self.text
        lines = list(_lines(text))
        found = [labels.label_at(text, begin, end, self.known) for begin, end in lines]
        self.told_of(found)
        chat = any(label is not None and label.sure for label in found)
        self.base = self.begun if self.begun is not None else labels.writer(text, self.known)
        headers = [labels.HEADER.match(text, begin, end) for begin, end in lines]
        fenced = False
        for place, (begin, end) in enumerate(lines):
            stop = lines[place + 1][0] if place + 1 < len(lines) else len(text)
            if FENCE.match(text, begin, end):
                fenced = not fenced
                self.add(begin, stop, NOBODY)
            elif fenced:
                self.add(begin, stop, NOBODY)
            elif not text[begin:end].strip():
                self.blank()
                self.add(begin, stop, self.base)
            elif QUOTE_LINE.match(text, begin, end):
                self.quote_line(begin, stop)
            elif SIGNATURE.match(text, begin, end):
                self.base, self.reach = NOBODY, Reach.MESSAGE
                self.add(begin, stop, NOBODY)
            elif self.is_header(headers, place):
                self.header(headers[place])
                self.add(begin, stop, NOBODY)
            else:
                self.line(begin, end, stop, found[place], chat=chat)
        return self.made if self.cut is None else [*self.before(self.cut), Voice(self.cut, len(text), NOBODY)]

    def told_of(self, found: list[Label | None]) -> None:
        """A trade's label that stands alone in the text is no speaker's."""
        told = [place for place, label in enumerate(found) if label is not None and label.voice is not None]
        alone = found[told[0]] if len(told) == 1 else None
        if alone is not None and alone.trade and not alone.above and not labels.has_inline(self.text, self.known):
            found[told[0]] = alone._replace(voice=None, sure=False)

    def before(self, cut: int) -> Iterator[Voice]:
        """What was read of the text before a place."""
        return (voice._replace(end=min(voice.end, cut)) for voice in self.made if voice.begin < cut)

    def leave(self, at: int | None) -> None:
        """From here on nothing is the author's; None: it is."""
        if at is not None and self.base == AUTHOR:
            self.cut = at if self.cut is None else min(self.cut, at)

    def add(self, begin: int, end: int, whose: str) -> None:
        """Note whose the next piece is."""
        if end <= begin:
            return
        if self.made and self.made[-1].whose == whose:
            self.made[-1] = self.made[-1]._replace(end=end)
        else:
            self.made.append(Voice(begin, end, whose))

    def blank(self) -> None:
        """A paragraph ends."""
        if self.reach in {Reach.PARAGRAPH, Reach.REPORT}:
            self.base, self.reach = (NOBODY, Reach.MESSAGE) if self.block else (AUTHOR, None)
            self.block = False

    def quote_line(self, begin: int, end: int) -> None:
        """A quoted line: who announced it speaks again behind it."""
        if self.block and not self.in_mail:
            self.base, self.reach, self.block = AUTHOR, None, False
        self.add(begin, end, NOBODY)

    def is_header(self, headers: list[re.Match[str] | None], place: int) -> bool:
        """Whether a line is one of a mail's head: beside another one, or with an address."""
        match = headers[place]
        if match is None:
            return False
        beside = any(headers[at] is not None for at in (place - 1, place + 1) if 0 <= at < len(headers))
        return beside or self.in_mail or bool(labels.ADDRESS.search(match["value"]))

    def header(self, match: re.Match[str] | None) -> None:
        """The head of a mail begins it."""
        if not self.in_mail:
            self.base, self.reach, self.in_mail = NOBODY, Reach.MESSAGE, True
        if match is not None and match["key"].lower() in {"from", "von"}:
            self.base = labels.sender(match["value"], self.known)

    def line(self, begin: int, end: int, stop: int, label: Label | None, *, chat: bool) -> None:
        """A line of words."""
        if (forwarded := labels.FORWARDED.match(self.text, begin, end)) is not None:
            self.base, self.reach, self.block, self.in_mail = NOBODY, Reach.MESSAGE, False, True
            self.add(begin, forwarded.end(), NOBODY)
            begin = forwarded.end()
            label = labels.label_at(self.text, begin, end, self.known)
        whose = None if label is None else label.voice
        if (
            label is not None
            and whose is None
            and chat
            and labels.capitalised(self.text[begin : label.end].split(":")[0])
        ):
            whose = NOBODY
        if label is None or whose is None:
            self.sentences(begin, stop)
            return
        self.add(begin, label.end, NOBODY)
        self.base, self.reach, self.in_mail = whose, None, False
        if label.above:
            self.reach, self.block = Reach.PARAGRAPH, True
            self.add(label.end, stop, NOBODY)
            return
        self.sentences(label.end, stop, labelled=True)
        # Who goes on in the next line without a label, this one or the author, nobody can tell.
        self.base, self.reach, self.block = NOBODY, Reach.MESSAGE, False

    def sentences(self, begin: int, stop: int, *, labelled: bool = False) -> None:
        """The sentences of a line, each with the voice that it has, or that one before it announced."""
        at = begin
        while at < stop:
            found = SENTENCE.match(self.text, at, stop)
            end = found.end() if found is not None and found.end() > at else stop
            if at > begin and (label := labels.inline_label(self.text, at, self.known)) is not None:
                self.add(at, label[0], NOBODY)
                at, self.base, self.block = label[0], label[1], False
                self.reach = None if labelled else Reach.PARAGRAPH
                if not labelled and self.base != AUTHOR:
                    self.base = NOBODY  # the author may go on in the same line
                continue
            at = self.sentence(at, min(end, stop), stop)

    def sentence(self, at: int, end: int, stop: int) -> int:
        """Add a sentence; where the next one begins."""
        text = self.text
        said = text[at : min(end, at + LOOKED_AT)]
        self.leave(plays.play_begins(text, at, at + len(said)))
        if (colon := COLON.search(text, at, at + len(said))) is not None:
            head = text[at : colon.start()]
            if heads.NOTED.search(head):
                self.add(at, colon.end(), NOBODY)
                return colon.end()
            behind = heads.voice_behind(head, self.known)
            if behind is not None:
                return self.announced(at, colon.end(), stop, *behind)
        elif (dash := DASH.search(said)) is not None and heads.WORK.search(said[: dash.start()]):
            return self.announced(at, at + dash.end(), stop, NOBODY, Reach.MESSAGE)
        if not QUOTED.search(said):
            self.leave(plays.worked_on(text, at, at + len(said)))
        if plays.FRAME.search(said):
            self.base, self.reach, self.block = NOBODY, Reach.PARAGRAPH, False
        self.add(at, end, NOBODY if heads.WORKED_IN.search(said) and self.base != NOBODY else self.base)
        return end

    def announced(self, at: int, begin: int, stop: int, whose: str, reach: Reach) -> int:
        """Go on behind a head: with the words that it announces."""
        told = reach is not Reach.MESSAGE and OURS.search(self.text, at, begin)
        self.add(at, begin, self.base if told else NOBODY)
        if OPENS.match(self.text, begin) and QUOTED.match(self.text, _visible(self.text, begin)):
            return begin  # the quotation itself tells how far it goes
        self.base, self.reach, self.block = whose, reach, False
        if not self.text[begin:stop].strip():
            self.block = True
            self.add(begin, stop, NOBODY)
            return stop
        found = SENTENCE.match(self.text, _visible(self.text, begin), stop)
        end = found.end() if found is not None else stop
        returns = reach is Reach.REPORT and not heads.GOES_ON.search(self.text[begin:end].strip(" \t*_"))
        if returns or (whose != NOBODY and reach is not Reach.MESSAGE):
            # The sentence behind the head is theirs; those that follow may be the author's again.
            self.add(begin, end, whose)
            self.base, self.reach = (AUTHOR, None) if returns else (NOBODY, reach)
            return end
        return begin


def _visible(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t*_":
        at += 1
    return at


def _lines(text: str) -> Iterator[Span]:
    """Where the lines of a text begin and end, without their line feeds."""
    begin = 0
    while begin <= len(text):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        yield begin, end
        begin = end + 1
