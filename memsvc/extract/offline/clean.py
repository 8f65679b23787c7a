"""A message as a parser should read it: spellings of chats written out, what is no speech left out, subjects put in.

Every sign keeps where it comes from, so that quotes stay verbatim.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from memsvc.extract.offline import lexicon_chat as chat
from memsvc.extract.offline import lexicon_moods as moods
from memsvc.extract.offline.voices import QUOTED, is_title

MAX_QUOTE = 200


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A text and, for each of its signs, where the signs of the source that it stands for begin and end."""

    text: str
    begins: tuple[int, ...]
    ends: tuple[int, ...]

    def sub(self, pattern: re.Pattern[str], into: Callable[[re.Match[str]], str | None]) -> Cleaned:
        """Replace matches; None leaves one as it is. A replacement stands for all that it replaces."""
        text: list[str] = []
        begins: list[int] = []
        ends: list[int] = []
        at = 0
        for match in pattern.finditer(self.text):
            new = into(match)
            if new is None or new == match[0]:
                continue
            start, stop = match.span()
            text += self.text[at:start], new
            begins += self.begins[at:start]
            ends += self.ends[at:start]
            first = self.begins[start] if start < len(self.begins) else (self.ends[-1] if self.ends else 0)
            last = self.ends[stop - 1] if stop > start else first
            begins += [first] * len(new)
            ends += [last] * len(new)
            at = stop
        if not text:
            return self
        text.append(self.text[at:])
        begins += self.begins[at:]
        ends += self.ends[at:]
        return Cleaned("".join(text), tuple(begins), tuple(ends))

    def source(self, begin: int, end: int) -> tuple[int, int]:
        """Where in the source the signs from ``begin`` up to ``end`` come from."""
        return self.begins[begin], max(self.ends[begin:end])


NOT_SPEECH = re.compile(
    r"```.*?(?:```|\Z)"  # code
    r"|<(\w+)[^>\n]*>.*?</\1>"  # what a program put in: <memory>…</memory>
    r"|https?://\S+|www\.\S+|\S+@\S+\.\w+"
    r"|^[ \t]*[|>][^\n]*$"  # tables, quoted lines
    r"|^(?: {4}|\t)\S[^\n]*$",  # indented code
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
MARKS = re.compile(r"[’‘`´]|[“”„«»]| [–—] |—|…|[*_]{1,3}(?=\w)|(?<=\w)[*_]{1,3}")
SHORT = re.compile(r"(?<![\w'@#.])(" + "|".join(map(re.escape, chat.SPELLINGS)) + r")(?![\w'])", re.IGNORECASE)
NOISE = re.compile(r"[ ,]*(?<![\w'])(?:" + "|".join(chat.NOISE) + r")(?![\w'])", re.IGNORECASE)
ITS = re.compile(
    r"\bits(?= (?:a|an|the|my|our|on|in|at|called|named|not|been|just|so|really|very|like|for|about|from|near|me|your"
    r"|his|her|only|all|still|\w+ing|always|too|pretty|quite|also|hard|good|great|nice|fine|ok|okay)\b)",
    re.IGNORECASE,
)
IS = re.compile(
    r"(?<![\w'])(?!(?:it|he|she|that|what|who|there|here|let|where|how|when|why|this)'s)"
    r"(?<!at )(?<!to )(?<!from )([\w-]{2,})'s"  # not "at Ana's in Porto"
    r"(?= (?:a|an|the|in|at|on|not|gone|been|coming|going|my|our|so|very|really|still|always|now|here|there|just"
    r"|already|off|back|out|down|up|getting|doing|making|working|living|pretending|moving|having|turning|leaving|only|ill|sick|pregnant|dead|\d+"
    r"|allergic|married|called|named|from|with|about|engaged|based|retired)\b(?!-))",
    re.IGNORECASE,
)
IS_SO = re.compile(
    r"(?<![\w'])(?!(?:it|he|she|that|what|who|there|here|let|where|how|when|why|this)'s)([\w-]{2,})'s"
    r"(?= (?:(?:"
    + "|".join(sorted(moods.EMOTIONS | moods.FOND | moods.AVERSE))
    + r") ?(?:[,.!;]|$|about |of |to |with "
    r"|by |that |because |and |but |now |at |on |for |he |she |today |again )"
    r"|(?:hoping|trying|planning|thinking|looking|learning|dying|saving|considering|studying|training|wanting|selling"
    r"|buying|knitting) (?:to|about|of|a|an|the|his|her|for|into|as|up) ))",
    re.IGNORECASE,
)
"""Behind a name where a feeling or a wish follows: "Theo's afraid of dogs", "Leo's hoping to"."""
HAS = re.compile(r" (?:been|gone|had|got)\b")
IN_LAW = re.compile(
    r"\b(?:mother|father|sister|brother|son|daughter|mum|mom|dad)s? in laws?\b(?! (?:school|firm|enforcement|and))",
    re.IGNORECASE,
)
DAYS = re.compile(r"\b(" + "|".join(chat.CAPITALISED) + r")\b")
EMOJI = re.compile(
    "[\U0001f1e6-\U0001faff\u2600-\u27bf\u2b50\ufe0f\u200d\u2190-\u21ff]+|(?<!\\w)(?:[:;=]-?[)(DPpO/|*]+|<3|xD|\\^\\^)(?!\\w)"
)
START = re.compile(
    r"(?:\A|(?<=[.!?\n:;…)])\s+|\n\s*)"  # where a sentence begins
    r"(?:(?:" + "|".join(chat.FILLERS) + r")\b[,!.]*\s+){0,3}"
    r"(?P<verb>(?:(?:" + "|".join(chat.ADVERBS) + r")\s+){0,2}(?P<word>[A-Za-z']+)\b)(?P<rest>[^.!?\n;]*)",
    re.IGNORECASE,
)


def clean(text: str, begin: int = 0, end: int | None = None) -> Cleaned:
    """Make a message, or the piece of it from one sign to another, readable for a parser."""
    end = len(text) if end is None else end
    cleaned = Cleaned(text[begin:end], tuple(range(begin, end)), tuple(range(begin + 1, end + 1)))
    cleaned = cleaned.sub(NOT_SPEECH, lambda match: "\n" if "\n" in match[0] else " ")
    cleaned = cleaned.sub(QUOTED, lambda match: None if is_title(match[match.lastindex or 0]) else '" … "')
    cleaned = cleaned.sub(EMOJI, lambda match: "." if ends_sentence(match) else " ")
    cleaned = cleaned.sub(MARKS, plain_mark)
    cleaned = cleaned.sub(SHORT, written_out)
    cleaned = cleaned.sub(NOISE, lambda _: "")
    cleaned = cleaned.sub(ITS, lambda match: match[0][:2] + "'s")
    cleaned = cleaned.sub(IS, lambda match: f"{match[1]} {'has' if HAS.match(match.string, match.end()) else 'is'}")
    cleaned = cleaned.sub(IS_SO, lambda match: f"{match[1]} is")
    cleaned = cleaned.sub(IN_LAW, lambda match: match[0].replace(" ", "-"))
    cleaned = cleaned.sub(DAYS, lambda match: match[0].capitalize())
    return cleaned.sub(START, with_subject)


def ends_sentence(match: re.Match[str]) -> bool:
    """Whether an emoji stands where a full stop would."""
    before, after = match.string[: match.start()].rstrip(), match.string[match.end() :].lstrip(" ")
    return bool(before) and before[-1] not in ".!?,;:\n" and (not after or after[0].isupper() or after[0] == "\n")


def plain_mark(match: re.Match[str]) -> str:
    """ASCII for a typographic mark; nothing for one of Markdown's."""
    mark = match[0]
    if mark in "’‘`´":
        return "'"
    if mark in "“”„«»":
        return '"'
    if mark == "…":
        return "..."
    return " - " if "–" in mark or "—" in mark else ""


def written_out(match: re.Match[str]) -> str | None:
    """The full form of a chat spelling."""
    word = match[0]
    full = chat.SPELLINGS[word.lower()]
    if word.lower() in chat.ONLY_LOWER and word != word.lower():
        return None
    return full[0].upper() + full[1:] if word[0].isupper() and len(word) > 1 else full


def with_subject(match: re.Match[str]) -> str | None:
    """The match with "I" before a verb that lacks its subject."""
    word, rest = match["word"].lower(), match["rest"]
    subject = ""
    if (
        word in chat.PAST
        or (word in chat.PRESENT and not chat.IMPERATIVE.match(word + rest))
        or word in chat.AUXILIARIES
    ):
        subject = "I "
    elif word in chat.GERUNDS and not chat.FINITE.search(rest):
        subject = "I am "
    elif word == "been":
        subject = "I have "
    elif word in chat.STATES and chat.STATE_FOLLOWED.match(rest) and not chat.FINITE.search(rest):
        subject = "I am "
    elif word == "born":
        subject = "I was "
    asks = word in chat.AUXILIARIES and chat.SUBJECT.match(rest)
    if not subject or asks or chat.HAS_SUBJECT.match(rest):
        return None
    at = match.start("verb") - match.start()
    verb = match[0][at:]
    if word != "i" and not match[0][at:].startswith("I "):
        verb = verb[0].lower() + verb[1:]
    return match[0][:at] + subject + verb
