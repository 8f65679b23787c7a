"""Whether a query has anything that can be looked for."""

from __future__ import annotations

import re

from memsvc.recall.diversity import WORD

FEWEST_CHARS, FEWEST_WORDS = 200, 50
"""What is shorter, or has fewer words, may repeat what it likes."""
DIFFERENT = 2
"""So many words or characters, again and again, are no question."""
NOTHING_TO_LOOK_FOR = "Nothing in the question can be looked for: it has no words that recall knows how to read."
LONGEST_PERIOD = 16
"""Characters of a word that is repeated without blanks."""
# Scripts written without spaces between words, of which sql/functions/base/20_words.sql knows nothing: Tai Le, New Tai
# Lue, Tai Tham, Balinese, Javanese, Tai Viet, Yi, cuneiform, hieroglyphs, Tangut, Khitan, Nushu.
UNSPLIT = re.compile(
    "[\u1950-\u19df\u1a20-\u1aaf\u1b00-\u1b7f\ua000-\ua4cf\ua980-\ua9df\uaa80-\uaadf"
    "\U00012000-\U0001254f\U00013000-\U0001345f\U00017000-\U00018d8f\U0001b170-\U0001b2ff]"
)
UNSPLIT_SHARE = 0.3
"""Of a query's letters; with more of them it cannot be looked for by words."""


def only_repeats(query: str) -> bool:
    """Whether a query is one or two words or characters, repeated to great length, and nothing else.

    It would be looked for like a rare word, and its vector is near to anything. A sentence that is repeated is not
    meant: somebody may have pasted it twice.
    """
    if len(query) < FEWEST_CHARS:
        return False
    whole = "".join(query.casefold().split())
    if len(set(whole)) <= DIFFERENT:
        return True
    words = WORD.findall(query.casefold())
    if len(words) >= FEWEST_WORDS:
        return len(set(words)) <= DIFFERENT
    return any(whole[period:] == whole[:-period] for period in range(1, LONGEST_PERIOD + 1))


def has_words(query: str) -> bool:
    """Whether a query has words at all: letters or digits, not signs alone."""
    return any(map(str.isalnum, query))


def can_be_split(query: str) -> bool:
    """Whether the index by words can tell the words of a query apart."""
    letters = [sign for sign in query if sign.isalpha()]
    return sum(map(bool, map(UNSPLIT.match, letters))) <= UNSPLIT_SHARE * len(letters)
