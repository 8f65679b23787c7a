"""Names typed in lower case: frequent ones ("tova", "porto"), and what is no word where a name may stand."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from spacy.tokens import Doc, Token

from memsvc.extract.offline import lexicon_brands as brands
from memsvc.extract.offline import lexicon_given as given
from memsvc.extract.offline import lexicon_kin as kin
from memsvc.extract.offline import lexicon_names as lexicon
from memsvc.extract.offline import lexicon_places as places
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline.lexicon_things import words
from memsvc.extract.offline.spelling import personal
from memsvc.extract.offline.vocabulary import is_word
from memsvc.extract.offline.votes import KNOWN, LIKE, kin_before

SHORT = 2
"""Letters of names that are too short to be read in lower case."""
LOWER_WORDS = words("""
    turkey china rich chad orange apple target subway boots shell meta stripe uber zoom signal reading nice bath
    split essen hull cork derby phoenix mini costa spar jumbo coop shelter rotary java buffalo angel ed rob al per
    said del cher male mali hove hue stroud slough crawley bury tours hastings stirling stoke perth jersey mesa salt
    rugby poole mayo barry meath louth clare us la bc sf dc hk uk nz natal pula moss sale deal til till may mark ups
    bits uni fez guinea labrador lima mull bermuda cheshire delta sierra whistler lincoln salvador essex panama rotary
    who gap wise tell tele strat maya rhino safari snap edge leaf
""")
"""Names that are words in lower case, or were in chats."""
NOT_IN_LOWER = (
    LOWER_WORDS | kin.KIN | given.ALSO_WORDS | brands.BRAND_WORDS | lexicon.NOT_NAMES | things.MEDIA | things.LANGUAGES
)
GOING = words("off back going went go trip move moved moving fly flew flying drive drove driving travel relocate")
PLACED = words("in from near")
EMPLOYED = words("at for")
NAMING = words("in from near called named with")


@cache
def phrases() -> dict[str, tuple[int, ...]]:
    """For each first word of well-known names of several words: how many words they have, the longest first."""
    lengths: dict[str, set[int]] = {}
    for name in KNOWN:
        parts = name.split()
        if len(parts) > 1:
            lengths.setdefault(parts[0], set()).add(len(parts))
    return {first: tuple(sorted(found, reverse=True)) for first, found in lengths.items()}


def known_phrase(token: Token) -> int:
    """How many tokens the well-known name of several words has that begins with this one; 0: none begins."""
    doc, at = token.doc, token.i
    for length in phrases().get(token.lower_, ()):
        if at + length <= len(doc) and " ".join(word.lower_ for word in doc[at : at + length]) in KNOWN:
            return length
    return 0


def lower_names(doc: Doc, taken: list[bool]) -> Iterator[tuple[int, int]]:
    """Where names in lower case begin, and end."""
    for token in doc:
        if taken[token.i] or not token.text[0].islower():
            continue
        length = known_phrase(token)
        if length and not any(taken[token.i : token.i + length]) and is_place_or_brand(token, length):
            yield token.i, token.i + length
        elif len(token) > SHORT and token.is_alpha and is_name(token):
            yield token.i, token.i + 1 + extends(token)


def extends(token: Token) -> int:
    """How many words behind a name belong to it: 1 for "petra hall", "leeds fest"; otherwise 0."""
    after = token.doc[token.i + 1] if token.i + 1 < len(token.doc) else None
    compound = token.dep_ in {"compound", "amod", "nmod", "poss"} and after is not None and token.head.i == after.i
    return int(compound and after is not None and after.lower_ in lexicon.EXTENDING)


def is_place_or_brand(token: Token, length: int) -> bool:
    """Whether words in lower case that are also a well-known name mean it: "new york", not "happy valley"."""
    phrase = token.doc[token.i : token.i + length].text.lower()
    if phrase in places.PLACES or phrase in brands.ORGANIZATIONS or phrase in brands.PRODUCTS:
        return True
    return any(not is_word(word) for word in phrase.split())


def is_name(token: Token) -> bool:
    """Whether a word in lower case is a name."""
    low = token.lower_
    if low in NOT_IN_LOWER or (low in brands.ORGANIZATIONS and is_word(low)):
        return stands_as_name(token)
    if hyphenated(token):
        return False
    if owned(token):
        return False
    if not is_word(low) and any(low in known for known in (given.GIVEN, places.PLACES, brands.ORGANIZATIONS)):
        return token.pos_ not in {"ADP", "DET", "PRON", "AUX", "CCONJ", "SCONJ"}
    if token.pos_ not in {"PROPN", "NOUN", "X", "ADJ", "VERB"}:
        return False
    if low in given.GIVEN or low in places.PLACES or (low in brands.PRODUCTS | brands.WORKS and not is_word(low)):
        return token.pos_ != "VERB"
    if extends(token) and not is_word(low):
        return True  # "melton road", "wyggeston college"
    return is_named_here(token) and (not is_word(low) or token.tag_ == "NNP")


def hyphenated(token: Token) -> bool:
    """Whether a hyphen joins a word to another: "start-ups"."""
    doc, before = token.doc, before_of(token)
    after = doc[token.i + 1] if token.i + 1 < len(doc) else None
    return any(other is not None and other.text == "-" for other in (before, after)) and not (
        token.whitespace_ and before is not None and before.whitespace_
    )


def owned(token: Token) -> bool:
    """Whether a word is what somebody named by a noun has: "the old man's ute"."""
    owner = next((child for child in token.children if child.dep_ == "poss"), None)
    return (
        owner is not None
        and owner.pos_ == "NOUN"
        and owner.i + 1 < token.i + 1
        and token.doc[owner.i + 1].tag_ == "POS"
    )


def stands_as_name(token: Token) -> bool:
    """Whether a word that is a name too is one where it stands: "moved to cork", "work at boots", "my aunt rose"."""
    before = before_of(token)
    if before is not None and before.lower_ in kin.TITLED and token.lower_ in given.GIVEN:
        return True
    if before is None or token.tag_ in {"VBG", "VBD"} or any(child.i < token.i for child in token.children):
        return False
    after = token.doc[token.i + 1] if token.i + 1 < len(token.doc) else None
    if after is not None and after.pos_ in {"NOUN", "PROPN", "PRON", "DET", "VERB"}:
        return False
    low, front = token.lower_, before.lower_
    if low in places.PLACES and low not in {"us", "reading", "nice", "male"}:
        goes = front == "to" and before.i and token.doc[before.i - 1].lower_ in GOING
        return bool(goes) or (front in PLACED and token.dep_ == "pobj")
    if low in brands.ORGANIZATIONS:
        return front in EMPLOYED and token.dep_ == "pobj" and token.tag_ != "VB"
    return low in given.GIVEN and kin_before(before)


def is_meant(token: Token, phrase: str) -> bool:
    """Whether a known name in lower case is meant as one, "will" and "rose" only where no article or verb is."""
    if is_common(token) or len(phrase) <= SHORT:
        return False
    if phrase not in given.ALSO_WORDS and not is_word(phrase.split(maxsplit=1)[0]):
        return True
    return token.tag_ == "NNP" or not any(
        child.dep_ in {"det", "amod", "poss", "nummod", "compound"} for child in token.children
    )


def is_common(token: Token) -> bool:
    """Whether a word in lower case is an ordinary one here."""
    if token.lower_ in given.GIVEN and not is_word(token.lower_):
        return False
    return token.pos_ in {"VERB", "AUX", "ADV", "ADP", "PRON", "DET", "CCONJ", "SCONJ", "PART", "ADJ"}


def before_of(token: Token) -> Token | None:
    """The token before one."""
    return token.doc[token.i - 1] if token.i else None


def is_named_here(token: Token) -> bool:
    """Whether a name may stand where this word does: behind "in" without article, before "'s", by "my sister"."""
    doc, before = token.doc, before_of(token)
    after = doc[token.i + 1] if token.i + 1 < len(doc) else None
    if any(child.dep_ in {"det", "amod", "nummod", "poss"} for child in token.children) or token.tag_ == "NNS":
        return before is not None and kin_before(before)
    if after is not None and after.tag_ == "POS":
        return True
    if before is None:
        return False
    if before.lower_ == "to" and before.i and doc[before.i - 1].lower_ in GOING:
        return True
    if before.lower_ == "with" and personal(token.lower_) < LIKE:
        return False  # "obsessed with padel"
    if before.lower_ in NAMING:
        return token.dep_ in {"pobj", "oprd", "attr"}
    return kin_before(before)
