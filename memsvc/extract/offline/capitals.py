"""Names typed with capitals: runs of capitalised words, with small words inside, where nothing else explains them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spacy.tokens import Doc, Token

from memsvc.extract.offline import lexicon_brands as brands
from memsvc.extract.offline import lexicon_given as given
from memsvc.extract.offline import lexicon_names as lexicon
from memsvc.extract.offline import lexicon_places as places
from memsvc.extract.offline.lexicon_kin import FAMILY
from memsvc.extract.offline.lexicon_things import words
from memsvc.extract.offline.lowercase import SHORT, before_of, known_phrase
from memsvc.extract.offline.vocabulary import is_word
from memsvc.extract.offline.votes import KNOWN, LABELS, PEOPLES

INNER = words("""
    of the de da di del della von van der den la le du dos das y e & and 's in at for zu na - do el al ten ter ibn bin
    bint vom zum zur af av
""")
"""Stand inside names, between capitalised words."""
ARTICLES = words("al el ul ar as an ad at")
"""Written with a hyphen before a name's last part."""
PARTICLES = words("van von de da di del della dos du la le ibn bin bint")
NO_NAMES = frozenset({"PRON", "DET", "ADP", "CCONJ", "SCONJ", "AUX", "PART", "INTJ", "PUNCT"})
ACRONYM = 5
"""Letters of the longest."""
HOUSES = 3
"""Digits of a number that belongs to a name: "Oude Gracht 114", "Falcon 900"; smaller ones are ages and amounts."""
INTERJECTION = re.compile(
    r"(?:[ah]{2,}|a+w+e*|wo+h+o*|wo+w+|ya+y+|y[ue]+s+|he+y+|hm+|u+gh+|o+h+|o+oo+f*|o+ps+|yum+|ga+h|ba+h|pf+t+|me+h|brr+"
    r"|whe+e*|hu+h|hurra[yh]|hoora[yh]|yippee|voila|ta-?da+|lo+l|xo+|no+pe*|mhm+|ew+|eek|argh+|phew+|\w*(\w)\1\1\w*)$"
)
"""Cries, and words that are drawn out: "Awww", "Woohoo", "sooo"."""
ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)$")
PLAIN = words("""
    new day week part year see long short love happy good great nice fine big small little old young best right true
    sound grand point level type first second third one two three four five six seven eight nine ten earth night
    morning evening work way white red black blue green me my our your his her you we us house school same sure jesus
    christ god lord
""")
"""Capitalised inside a sentence, next to another capital, they are part of a name."""
DWELLING = words("at to from in near behind outside opposite by round")
"""Before "Whelan's" that owns nothing these make it a pub's, shop's or firm's name."""


def capital_runs(doc: Doc, taken: list[bool]) -> Iterator[tuple[int, int]]:
    """Where runs of capitalised words begin, and end, with a noun behind ("Coburg pool")."""
    at = 0
    while at < len(doc):
        if taken[at] or not starts_name(doc[at]):
            at += 1
            continue
        end = run_from(doc, at, taken)
        if is_numbered(doc, at):
            yield at - 1, end
        elif not is_class(doc, at, end):
            yield at, end
        at = end


def is_numbered(doc: Doc, at: int) -> bool:
    """Whether an ordinal belongs to the street, or the like, behind it: "7th Street"."""
    before = before_of(doc[at])
    return doc[at].lower_ in places.PLACE_ENDS and before is not None and ORDINAL.match(before.lower_) is not None


def run_from(doc: Doc, at: int, taken: list[bool]) -> int:
    """Where the name that begins at a token ends."""
    whole = doc[at : at + 3].text.lower()
    end = at + max(3 if whole in lexicon.ORGANIZATION_ENDS else 1, known_phrase(doc[at]))  # "Co-op"
    while end < len(doc) and not taken[end]:
        if continues(doc[end]):
            end += 1
        elif end + 1 < len(doc) and not taken[end + 1] and bridges(doc, at, end):
            end += 2
        elif (inner := two_inner(doc, end) or behind_hyphen(doc, at, end)) and not any(taken[end : end + inner]):
            end += inner
        else:
            break
    last = doc[end - 1]
    if end >= len(doc):
        return end
    follows = doc[end]
    if follows.lower_ in lexicon.EXTENDING and last.dep_ in {"compound", "amod", "nmod", "poss"}:
        return end + 1
    if follows.is_digit and len(follows) >= HOUSES and not follows.text.startswith(("19", "20")):
        return end + 1
    return end + 1 if is_house(doc, at, end) else end


def behind_hyphen(doc: Doc, start: int, at: int) -> int:
    """How many tokens "-su" adds to "Kim Min", or "-052" to "SR-2023": a hyphen and what is written to it; 0: none."""
    if at + 1 >= len(doc) or doc[at].text != "-" or doc[at - 1].whitespace_ or doc[at].whitespace_:
        return 0
    last = doc[at + 1]
    if last.is_digit and any(sign.isdigit() for sign in doc[at - 1].text):
        return 2
    short = len(last) <= SHORT + 1 and not last.tag_.startswith("VB")
    unknown = short or not is_word(last.lower_) or (last.tag_ == "NNP" and not is_word(doc[at - 1].lower_))
    return 2 if at - start > 1 and last.is_alpha and last.is_lower and unknown else 0  # not "New York-based"


def two_inner(doc: Doc, at: int) -> int:
    """How many tokens "van der Berg" adds to a name: two small words and a capitalised one; 0: none."""
    if (
        at + 2 < len(doc)
        and doc[at].lower_ in {"van", "de", "von"}
        and doc[at + 1].lower_ in {"der", "den", "la", "los"}
    ):
        return 3 if is_capital(doc[at + 2]) else 0
    if at + 2 < len(doc) and doc[at].lower_ in ARTICLES and doc[at + 1].text == "-" and not doc[at + 1].whitespace_:
        return 3 if is_capital(doc[at + 2]) else 0  # "al-Bashir"
    of_the = at and at + 2 < len(doc) and doc[at].lower_ == "of" and doc[at + 1].lower_ == "the"
    return 3 if of_the and doc[at - 1].lower_ in lexicon.HEADS and is_capital(doc[at + 2]) else 0


def is_house(doc: Doc, start: int, end: int) -> bool:
    """Whether "'s" belongs to a name that owns nothing here: "at Whelan's", not "at Ana's"."""
    if doc[end].lower_ not in {"'s", "s'"} or doc[end].tag_ != "POS" or start == 0:
        return False
    if doc[end - 1].lower_ in given.GIVEN or doc[start].lower_.rstrip(".") in lexicon.TITLES:
        return False
    after = doc[end + 1] if end + 1 < len(doc) else None
    owns = after is not None and (after.pos_ in {"NOUN", "PROPN", "ADJ"} and after.dep_ != "npadvmod")
    return doc[start - 1].lower_ in DWELLING and not owns


def is_class(doc: Doc, start: int, end: int) -> bool:
    """Whether capitals name a kind rather than one: "a Newfoundland", "a Ken doll", "the Latinas", "Merhaba."."""
    first, last = doc[start], doc[end - 1]
    phrase = doc[start:end].text.lower()
    place = article_before(first) and phrase in places.PLACES  # "it's a Newfoundland"
    if phrase in KNOWN and not place and not (end < len(doc) and doc[end].pos_ == "NOUN" and last.dep_ == "compound"):
        return False
    after = doc[end] if end < len(doc) else None
    article = article_before(first)
    if article and end - start == 1 and (after is None or after.pos_ not in {"NOUN", "PROPN"}):
        return first.lower_ not in given.GIVEN
    if article and after is not None and after.pos_ == "NOUN" and last.dep_ in {"compound", "amod", "nmod"}:
        return True
    if end - start > 1:
        return False
    if first.text.isupper() and len(first) > 1 and is_common_noun(first, after):
        return True
    return is_people(last) or is_greeting(first)


def article_before(token: Token) -> bool:
    """Whether "a" stands before a word."""
    before = before_of(token)
    return before is not None and before.lower_ in {"a", "an"}


def is_common_noun(acronym: Token, after: Token | None) -> bool:
    """Whether an unknown acronym stands as a noun does: "the ICT teacher", "my PI"."""
    compound = after is not None and after.pos_ == "NOUN" and acronym.dep_ == "compound"
    return compound or any(child.tag_ == "PRP$" for child in acronym.lefts)


def is_greeting(token: Token) -> bool:
    """Whether an unknown word is the whole first sentence: "Merhaba!"."""
    low = token.lower_
    if token.i or low in given.GIVEN or low in KNOWN:
        return False
    after = token.doc[1] if len(token.doc) > 1 else None
    return after is not None and after.text == "!" and not is_word(low)


def is_people(token: Token) -> bool:
    """Whether a word in the plural names a people: "Calabrians", "Latinas"."""
    low = token.lower_
    plural = token.tag_ in {"NNPS", "NNS"} or any(child.lower_ == "the" for child in token.lefts)
    return plural and low.endswith("s") and low[:-1].endswith(PEOPLES) and low not in given.GIVEN


def continues(token: Token) -> bool:
    """Whether a token goes on with a name that has begun."""
    allowed = token.lower_ not in lexicon.NOT_NAMES or token.lower_ in PLAIN
    before = before_of(token)
    apart = token.is_sent_start and (before is None or before.is_punct or before.is_space)
    return not apart and is_capital(token) and allowed


def bridges(doc: Doc, start: int, at: int) -> bool:
    """Whether a small word joins words of one name: "Moran & Son", "Bank of Ireland", not "Ana and Tom"."""
    word, after = doc[at].lower_, doc[at + 1]
    if word not in INNER or not is_capital(after) or (after.lower_ in lexicon.NOT_NAMES and after.lower_ not in PLAIN):
        return False
    if word == "-":
        return not doc[at - 1].whitespace_ and not doc[at].whitespace_
    if word == "'s":
        saint = doc[start].lower_.rstrip(".") in {"st", "saint"}
        return saint or after.lower_ in lexicon.ORGANIZATION_ENDS | places.PLACE_ENDS | lexicon.EVENT_ENDS
    if word == "and":
        return after.lower_ in lexicon.ORGANIZATION_ENDS and doc[start].lower_ not in given.GIVEN
    return word not in {"in", "at", "for"}


def starts_name(token: Token) -> bool:
    """Whether a name may begin with a token."""
    low = token.lower_
    if not is_capital(token):
        return False
    if known_phrase(token) and len(token) > SHORT:
        return True
    if (
        is_shouted(token)
        or INTERJECTION.match(low)
        or (low in lexicon.NOT_NAMES and not is_title(token) and not opens_title(token) and not is_sure_name(token))
    ):
        return False
    if low in PLAIN and opens_title(token):
        return True
    if is_title(token) or (low == "project" and after_is_capital(token)):
        return True
    if token.pos_ in NO_NAMES and not token.ent_type_:
        return low in given.GIVEN
    if explains_capital(token):
        return opens_sentence(token)
    given_one = low in given.GIVEN and low not in given.ALSO_WORDS
    return given_one or token.pos_ in {"NOUN", "PROPN", "X", "ADJ", "VERB"} or token.ent_type_ in LABELS


def is_sure_name(token: Token) -> bool:
    """Whether its neighbours make a word a name that alone is none: "Jan van der Berg", "my aunt May"."""
    doc, at = token.doc, token.i + 1
    before = before_of(token)
    if before is not None and before.lower_ in FAMILY and token.tag_ == "NNP" and token.text.istitle():
        return any(child.tag_ == "PRP$" for child in token.lefts) or before.head == token or token.head == before
    if at + 1 >= len(doc) or doc[at].lower_ not in PARTICLES or not doc[at].is_lower:
        return False
    return is_capital(doc[at + 1]) or two_inner(doc, at) > 0


def opens_sentence(token: Token) -> bool:
    """Whether a sentence's first word is a name."""
    low = token.lower_
    after = token.doc[token.i + 1] if token.i + 1 < len(token.doc) else None
    if any(low in known for known in (given.GIVEN, places.PLACES, brands.PRODUCTS, brands.ORGANIZATIONS)):
        odd = low in given.ALSO_WORDS or low in brands.BRAND_WORDS or (low in places.PLACE_WORDS and is_word(low))
        return not odd or token.pos_ == "PROPN"
    if not is_word(low) and token.pos_ in {"PROPN", "NOUN", "X", "ADJ", "VERB"}:
        return len(low) > SHORT
    if token.tag_ == "NNP" and not token.is_stop and after is not None:
        if after.lower_ in given.GIVEN and is_word(low):
            return False  # "Bet Max will come"
        firm = after.lower_ in {"and", "&"} and after.i + 1 < len(token.doc) and bridges(token.doc, token.i, after.i)
        return firm or after.tag_ == "POS" or (is_capital(after) and not after.is_sent_start)
    return False


def is_capital(token: Token) -> bool:
    """Whether a token begins with a capital and may stand in a name."""
    text = token.text
    return text[0].isupper() and text[0].isalpha() and token.lower_ not in {"i", "i'm"} and not token.like_url


def explains_capital(token: Token) -> bool:
    """Whether a token's capital comes from its place, as that of a sentence's first word."""
    before = before_of(token)
    return (
        token.is_sent_start or before is None or before.is_space
        or before.text in {".", "!", "?", ":", '"', "-", "(", "...", "*"}
    )  # fmt: skip


def is_shouted(token: Token) -> bool:
    """Whether a word is in capitals because its neighbours are, or is no name for its length."""
    if not token.text.isupper() or len(token.text) <= SHORT or token.lower_ in brands.ORGANIZATIONS:
        return False
    if behind_hyphen(token.doc, token.i, token.i + 1):
        return False  # "SR-2023-052 Ltd"
    near = [other.text.isupper() for other in token.sent if other.is_alpha and len(other) > 1 and other.i != token.i]
    loud = bool(near) and sum(near) >= 0.5 * len(near)
    after = token.doc[token.i + 1] if token.i + 1 < len(token.doc) else None
    begins = after is not None and is_capital(after) and not after.text.isupper() and not after.is_sent_start
    if begins and len(token) <= ACRONYM and not loud:
        return False
    return is_word(token.lower_) or len(set(token.lower_)) <= SHORT or loud


def opens_title(token: Token) -> bool:
    """Whether an ordinary word opens a name inside a sentence: "Old Tom", "Happy Valley", "Love Me Tender"."""
    after = token.doc[token.i + 1] if token.i + 1 < len(token.doc) else None
    if token.lower_ not in PLAIN or explains_capital(token) or after is None or after.is_sent_start:
        return False
    return is_capital(after) and not token.text.isupper()


def is_title(token: Token) -> bool:
    """Whether "Dr" or "Auntie" stands before a name."""
    return token.lower_ in lexicon.TITLES and after_is_capital(token)


def after_is_capital(token: Token) -> bool:
    """Whether the word behind one goes on with its name."""
    after = token.doc[token.i + 1] if token.i + 1 < len(token.doc) else None
    return after is not None and is_capital(after) and not after.is_sent_start
