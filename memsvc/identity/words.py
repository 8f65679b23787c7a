"""Words in names that do not identify anybody (titles, legal forms, articles), and other forms of first names.

Nicknames come from the package ``nicknames`` (English names, 2,691 pairs). A name can have several nicknames, and a
nickname can belong to several names, so a nickname alone proves nothing.
"""

from __future__ import annotations

from functools import cache

from anyascii import anyascii
from nicknames import NickNamer

from memsvc.times.words import COUNTS, MONTHS, ORDINALS, SEASONS, WEEKDAYS

MALE, FEMALE, EITHER = "m", "f", ""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TITLES: dict[str, str] = {
    **dict.fromkeys(
        _words(
            "mr mister sir lord master king prince duke baron count earl father brother uncle monsieur herr senor "
            "signor don grandpa grandfather emperor squire abbot friar"
        ),
        MALE,
    ),
    **dict.fromkeys(
        _words(
            "mrs miss ms mistress madam madame mme mlle mademoiselle lady dame queen princess duchess baroness "
            "countess mother sister aunt aunty auntie frau senora senorita signora dona grandma grandmother empress "
            "abbess"
        ),
        FEMALE,
    ),
    **dict.fromkeys(
        _words(
            "dr doctor prof professor rev reverend capt captain col colonel major maj lieutenant lt sergeant sgt "
            "general gen admiral judge justice president senator governor mayor inspector detective officer coach chef "
            "pastor cousin saint st hon honourable honorable parson chancellor deacon bishop"
        ),
        EITHER,
    ),
}
"""Titles before a name, and the sex that they imply. "Saint" is a title of people; in names of places it is kept."""
EPITHETS = _words(
    "poor dear dearest old young little plain late beloved good great big sweet darling my our your his her their "
    "farmer nurse comrade constable"
)
"""Words before names that are not titles."""
MARRIED, UNMARRIED = frozenset({"mrs", "madame", "mme", "frau", "senora", "signora"}), frozenset({"miss", "mlle"})
SUFFIXES = _words("jr sr junior senior ii iii iv esq esquire phd md")
LEGAL_FORMS = _words(
    "inc incorporated ltd limited llc gmbh ag corp corporation co company plc sa srl sarl bv kg oy ab nv"
)
SMALL_WORDS = _words("the a an of de la le les el los las di da do dos das du der die das den van von and y e")
PLACE_WORDS = _words("city town village county province state municipality district prefecture shi ville")


_ARTICLES = _words("a an ein eine einer einem einen eines")
NUMBERS = {
    **{anyascii(word): str(low) for word, (low, high) in COUNTS.items() if low == high and word not in _ARTICLES},
    **{anyascii(word): str(place + 1) for word, place in ORDINALS.items() if place >= 0 and word.isalpha()},
    "eins": "1",
    "fuenf": "5",
    "zwoelf": "12",
}
"""Numbers up to twelve as words, in Latin letters, and their digits."""
TIMES = frozenset(anyascii(word) for word in (*MONTHS, *WEEKDAYS, *SEASONS))
"""Names of months, weekdays and seasons, in Latin letters."""


@cache
def _nicknames() -> NickNamer:
    return NickNamer()


@cache
def other_names(first_name: str) -> frozenset[str]:
    """Return the short forms of a first name and the names that it is short for, in lower case, without itself.

    Two nicknames of one name ("Bob" and "Rob") do not count as forms of each other: that would join far too many names.
    """
    known = _nicknames()
    found: set[str] = set(known.nicknames_of(first_name)) | set(known.canonicals_of(first_name))
    return frozenset(found - {first_name})


@cache
def is_first_name(word: str) -> bool:
    """Whether a word is an English first name or a nickname of one, and so common."""
    return bool(other_names(word))
