"""Whether a query has anything that can be looked for."""

from __future__ import annotations

from memsvc.recall.diversity import WORD

FEWEST_CHARS, FEWEST_WORDS = 200, 50
"""What is shorter, or has fewer words, may repeat what it likes."""
DIFFERENT = 2
"""So many words or characters, again and again, are no question."""
NOTHING_TO_LOOK_FOR = "Nothing in the question can be looked for: it has no words that recall knows how to read."
LONGEST_PERIOD = 16
"""Characters of a word that is repeated without blanks."""


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
