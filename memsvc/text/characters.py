"""Characters that nobody sees: which text is empty because of them, and which of them are kept out of a prompt.

A text without a visible character is empty, whatever it holds: every door refuses it by ``is_visible``. In a context
invisible characters could carry what a person never reads but a model obeys, so ``without_hidden`` drops them; only
those stay that a script or an emoji needs, and only where they do.
"""

from __future__ import annotations

import re
import unicodedata

SPEECHLESS = frozenset({"Cc", "Cf", "Cs", "Zs", "Zl", "Zp", "Mn", "Me"})
"""Categories of controls, formats, halves of pairs, separators, and marks that stand on another character."""
NUMBER_SIGNS = "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
"""Of the category Cf, but drawn: Arabic, Syriac and Kaithi signs that enclose digits."""
FILLERS = "\u115f\u1160\u3164\uffa0"
"""Letters of Hangul by their category that are drawn as nothing."""
BRAILLE_BLANK = "\u2800"
# Unicode's Default_Ignorable_Code_Point, then what marks annotations; controls but tab and line breaks.
HIDDEN = (
    "\u00ad\u034f\u061c\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff0-\ufff8"
    f"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff{FILLERS}"
    "\ufff9-\ufffb"
    "\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f"
)
LINE_BREAK = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""Every character at which a reader of lines may break one; str.splitlines knows the same."""

EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
IDEOGRAPH = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
INDIC = "\u0900-\u0dff"
VIRAMA = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u1039\u17d2"
ARABIC = (
    "\u0620-\u065f\u066e-\u06d3\u06d5-\u06dc\u06ea-\u06ef\u06fa-\u06fc\u06ff\u0710-\u076f\u0770-\u077f\u08a0-\u08e1"
)
NEEDED = re.compile(
    rf"""
      (?: (?<=[{EMOJI}]) | (?<=[{EMOJI}]\ufe0f) ) \u200d (?=[{EMOJI}])  # joins two emoji
    | (?<=[{EMOJI}0-9#*]) [\ufe0e\ufe0f]                                # shows the one before as text or as emoji
    | (?<=[{IDEOGRAPH}]) [\ufe00-\ufe02\U000e0100-\U000e01ef]           # chooses a form of an ideograph
    | (?<=[{VIRAMA}]) [\u200c\u200d]                                    # how a virama joins (RFC 5892, A.1, A.2)
    | (?<=[{INDIC}]) \u200d (?=[{VIRAMA}])                              # the same, before it
    | (?<=[{ARABIC}]) [\u200c\u200d] (?=[{ARABIC}])                     # between letters, as Persian writes plurals
    | (?<=[\u1820-\u18aa]) [\u180b-\u180f]                              # chooses a form of a Mongolian letter
    """,
    re.VERBOSE,
)
# Ranges without a hidden character, in which most texts lie: to match them takes a thirtieth of the time.
ORDINARY = re.compile(
    r"[\t\n -~\u00a0-\u00ac\u00ae-\u034e\u0350-\u05ff\u2010-\u2027\u2030-\u205e\u20a0-\u2fff"
    r"\u3000-\u3163\u3165-\ud7ff]*+"
)
_HIDDEN = re.compile(f"[{HIDDEN}]")
_UNSEEN = re.compile(f"[{HIDDEN}{BRAILLE_BLANK}]")
_DRAWN = re.compile(f"[{NUMBER_SIGNS}]")
_FIRST = 100


def is_visible(text: str) -> bool:
    """Whether a text has a character that people see; a lone accent is none, for it stands on nothing."""
    # Nearly always the first character is one. Of a long text of blanks each kind of character is looked at once.
    return any(map(_seen, text[:_FIRST])) or any(map(_seen, set(text[_FIRST:])))


def trimmed(text: str) -> str:
    """A text without blanks around it; nothing of one that has no visible character."""
    return text.strip() if is_visible(text) else ""


def _seen(character: str) -> bool:
    if _UNSEEN.match(character):
        return False
    return unicodedata.category(character) not in SPEECHLESS or _DRAWN.match(character) is not None


def without_hidden(text: str) -> str:
    """A text without the characters that nobody sees; tab and line breaks stay.

    What stays of them, stays where a script needs it: a joiner within an emoji, beside a virama or between letters of
    Arabic, and one variation selector after an emoji, an ideograph or a Mongolian letter. So none stands beside
    another, at the begin, or within Latin text. Doing it again changes nothing.
    """
    return text if ORDINARY.fullmatch(text) else _HIDDEN.sub(_needed, text)


def _needed(found: re.Match[str]) -> str:
    return found[0] if NEEDED.match(found.string, found.start()) else ""


def plain_lines(text: str) -> str:
    """A text without hidden characters, and with line breaks of one kind: what a prompt may hold of it."""
    return text if ORDINARY.fullmatch(text) else LINE_BREAK.sub("\n", _HIDDEN.sub(_needed, text))


def flat(text: str) -> str:
    """A text without hidden characters on one line, with single blanks."""
    return " ".join(without_hidden(text).split())
