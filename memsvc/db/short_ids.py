"""Short forms of ids, for people and prompts: eleven letters and digits instead of 36, accepted wherever an id is.

An id of version 7 begins with its time: 48 bits of milliseconds, four bits for the version, and in PostgreSQL twelve
bits for the fraction of the millisecond, which one session never repeats. The short form writes the 60 bits of the time
in Crockford's base 32. So it stands for a prefix of the id, and the primary key, which begins with the user, finds it
without another index (an index on the random end of ids would cost 40 bytes and a random write for each passage). Two
sessions can create ids with the same short form; then both are reported, and the whole id distinguishes them.
"""

from __future__ import annotations

import re
from uuid import UUID

DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
VERSION = 7
SHORT = re.compile(rf"[{DIGITS}]{{1,12}}")
LOW_BITS = 64
FRACTION_BITS = 12
FRACTION = (1 << FRACTION_BITS) - 1
PAIRS = [first + second for first in DIGITS for second in DIGITS]
PAIR = len(PAIRS) - 1
SHIFTS = range(50, -1, -10)
"""Bit offsets of the pairs of digits, ten bits each."""


def short_id(value: UUID) -> str:
    """The short form of an id; the id itself if it is not of version 7."""
    if value.version != VERSION:
        return str(value)
    high = value.int >> LOW_BITS
    number = (high >> 16 << FRACTION_BITS) | (high & FRACTION)
    return "".join([PAIRS[number >> shift & PAIR] for shift in SHIFTS]).lstrip(DIGITS[0]) or DIGITS[0]


def id_range(given: str) -> tuple[UUID, UUID] | None:
    """The range of ids that a short form, or a whole id, can mean; None: the text is neither."""
    text = given.strip().lower()
    if SHORT.fullmatch(text):
        number = 0
        for sign in text:
            number = number * 32 + DIGITS.index(sign)
        milliseconds, fraction = number >> FRACTION_BITS, number & FRACTION
        high = milliseconds << 16 | VERSION << FRACTION_BITS | fraction
        return UUID(int=high << LOW_BITS), UUID(int=(high << LOW_BITS) | ((1 << LOW_BITS) - 1))
    try:
        value = UUID(text)
    except ValueError:
        return None
    return value, value
