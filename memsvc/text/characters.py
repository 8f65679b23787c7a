"""Invisible characters: detect text that consists of them, and remove them from prompts.

A text without a visible character counts as empty; every door refuses it with ``is_visible``. In a context, invisible
characters could carry instructions that a model obeys and no person sees, so ``without_hidden`` removes them. It keeps
only those that a script or an emoji needs at that position.
"""

from __future__ import annotations

import re
import unicodedata

SPEECHLESS = frozenset({"Cc", "Cf", "Cs", "Zs", "Zl", "Zp", "Mn", "Me"})
"""Categories of controls, formats, surrogates, separators, and combining marks."""
NUMBER_SIGNS = "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
"""Visible characters of category Cf: Arabic, Syriac and Kaithi signs that enclose digits."""
FILLERS = "\u115f\u1160\u3164\uffa0"
"""Hangul characters that are letters by category but invisible."""
BRAILLE_BLANK = "\u2800"
# Unicode's Default_Ignorable_Code_Point, annotation marks, and controls except tab and line breaks.
HIDDEN = (
    "\u00ad\u034f\u061c\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff0-\ufff8"
    f"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff{FILLERS}"
    "\ufff9-\ufffb"
    "\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f"
)
LINE_BREAK = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""Every character that can end a line; the same as for str.splitlines."""

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
    | (?<=[{EMOJI}0-9#*]) [\ufe0e\ufe0f]                                # shows the preceding one as text or emoji
    | (?<=[{IDEOGRAPH}]) [\ufe00-\ufe02\U000e0100-\U000e01ef]           # chooses a form of an ideograph
    | (?<=[{VIRAMA}]) [\u200c\u200d]                                    # how a virama joins (RFC 5892, A.1, A.2)
    | (?<=[{INDIC}]) \u200d (?=[{VIRAMA}])                              # the same, before it
    | (?<=[{ARABIC}]) [\u200c\u200d] (?=[{ARABIC}])                     # between letters, as Persian writes plurals
    | (?<=[\u1820-\u18aa]) [\u180b-\u180f]                              # chooses a form of a Mongolian letter
    """,
    re.VERBOSE,
)
# Ranges without hidden characters. Most texts lie within them, and matching them takes a thirtieth of the time.
ORDINARY = re.compile(
    r"[\t\n -~\u00a0-\u00ac\u00ae-\u034e\u0350-\u05ff\u2010-\u2027\u2030-\u205e\u20a0-\u2fff"
    r"\u3000-\u3163\u3165-\ud7ff]*+"
)
_HIDDEN = re.compile(f"[{HIDDEN}]")
_UNSEEN = re.compile(f"[{HIDDEN}{BRAILLE_BLANK}]")
_DRAWN = re.compile(f"[{NUMBER_SIGNS}]")
_FIRST = 100


def is_visible(text: str) -> bool:
    """Return whether a text has a visible character; a combining mark without a base character does not count."""
    # The first character is nearly always visible. In a long text of blanks, each distinct character is checked once.
    return any(map(_seen, text[:_FIRST])) or any(map(_seen, set(text[_FIRST:])))


def trimmed(text: str) -> str:
    """Return a text without surrounding blanks; "" if it has no visible character."""
    return text.strip() if is_visible(text) else ""


def _seen(character: str) -> bool:
    if _UNSEEN.match(character):
        return False
    return unicodedata.category(character) not in SPEECHLESS or _DRAWN.match(character) is not None


def without_hidden(text: str) -> str:
    """Remove invisible characters from a text, except tab, line breaks and those that a script needs.

    The exceptions are a joiner within an emoji, next to a virama or between Arabic letters, and one variation selector
    after an emoji, an ideograph or a Mongolian letter. So no two kept characters are adjacent, and none is at the start
    or within Latin text. The function is idempotent.
    """
    return text if ORDINARY.fullmatch(text) else _HIDDEN.sub(_needed, text)


def _needed(found: re.Match[str]) -> str:
    return found[0] if NEEDED.match(found.string, found.start()) else ""


def plain_lines(text: str) -> str:
    """Remove hidden characters and use one kind of line break, so that the text is safe in a prompt."""
    return text if ORDINARY.fullmatch(text) else LINE_BREAK.sub("\n", _HIDDEN.sub(_needed, text))


def flat(text: str) -> str:
    """Return a text on one line, without hidden characters and with single blanks."""
    return " ".join(without_hidden(text).split())
