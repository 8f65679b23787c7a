"""Short forms of ids, for people and prompts: eleven letters and digits instead of 36, which open what they name.

An id of version 7 begins with its time: 48 bits of milliseconds, four that say 7, and in PostgreSQL twelve of a
fraction of the millisecond, which one session never gives twice. The short form writes these 60 bits in Crockford's
base 32. So it is a prefix, and the key that begins with the user finds it without an index of its own (an index over
the random end would cost each passage 40 bytes and a write at a random place). Two sessions could give two ids the
same; then both are named, and the whole id tells them apart.
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
PLACES = range(50, -1, -10)
"""Of the pairs of digits, each of ten bits."""


def short_id(value: UUID) -> str:
    """The short form of an id; the id itself where it is not of version 7."""
    if value.version != VERSION:
        return str(value)
    high = value.int >> LOW_BITS
    number = (high >> 16 << FRACTION_BITS) | (high & FRACTION)
    return "".join([PAIRS[number >> place & PAIR] for place in PLACES]).lstrip(DIGITS[0]) or DIGITS[0]


def id_range(given: str) -> tuple[UUID, UUID] | None:
    """The first and the last id that a short form, or a whole id, can mean; None: it is neither."""
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
