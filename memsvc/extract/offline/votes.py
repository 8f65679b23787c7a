"""What a name is likely to name: its words, the words around it, and the model each have votes.

The model's count least: in chats it takes places for people and dogs for companies. Weights were set by hand so that
one strong cue outvotes a fair one and a weak one; they are no probabilities.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from spacy.tokens import Span, Token

from memsvc.extract.offline import lexicon_brands as brands
from memsvc.extract.offline import lexicon_cues as cues
from memsvc.extract.offline import lexicon_given as given
from memsvc.extract.offline import lexicon_kin as kin
from memsvc.extract.offline import lexicon_names as lexicon
from memsvc.extract.offline import lexicon_places as places
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline.spelling import personal
from memsvc.extract.offline.vocabulary import is_word

Votes = Counter[str]
"""Weight by node type."""
CERTAIN, STRONG, FAIR, WEAK, HINT, TRACE = 40, 16, 8, 4, 2, 1
LABELS = {
    "PERSON": "Person", "ORG": "Organization", "GPE": "Place", "LOC": "Place", "FAC": "Place", "PRODUCT": "Object",
    "EVENT": "Event", "WORK_OF_ART": "Media", "LAW": "Document",
}  # fmt: skip
LEFT, RIGHT, NEAR = 9, 7, 12
"""Tokens that are looked at before a name's comma, behind it, and behind the name."""
OLDEST = 100
LIKE, VERY_LIKE = 1.0, 2.5
"""From so much on a spelling looks like a given name, and certainly does; see ``spelling.personal``."""
KNOWN = places.PLACES | brands.ORGANIZATIONS | brands.PRODUCTS | brands.WORKS
OTHER_ENDS = lexicon.ORGANIZATION_ENDS | lexicon.EVENT_ENDS | places.PLACE_ENDS | lexicon.VENUES | lexicon.MEDIA_ENDS
"""Ends of names that are nobody's, even behind a given name."""
STATES = frozenset({"acomp", "advmod"})
FRAGMENT = 3
"""Tokens of a sentence before a name in it that only says what the one before spoke of."""
USED = frozenset({"new", "old", "used", "secondhand", "broken", "rusty"})
"""What is said of things that somebody has."""
AGED = frozenset({"old", "young", "big", "little", "wee"})
"""Before a given name, with a capital: "Old Tom"."""
AWAY_WITH = frozenset({"to", "with", "out", "along", "home", "in", "on"})
"""Whom somebody takes along is no medicine."""
OF = frozenset({"of", "de", "do", "del", "van", "der", "di", "da", "für"})
PEOPLES = ("an", "ans", "ish", "ese", "ic", "ch", "ian", "ians", "as", "os")
"""Endings of names of peoples, which are nobody's own."""


def votes_for(span: Span) -> Votes:
    """All votes on a name."""
    votes: Votes = Counter()
    words = [token.lower_ for token in span]
    phrase = " ".join(words)
    people = span.root.ent_type_ == "NORP" and words[-1].endswith(PEOPLES)
    if phrase in things.LANGUAGES or (people and phrase not in KNOWN and phrase not in given.GIVEN):
        return votes
    of_model(span, words, votes)
    of_words(span, words, votes)
    of_nouns(span, votes)
    of_role(span, votes)
    of_title(span, votes)
    of_preposition(span, votes)
    of_company(span, votes)
    across_comma(span, votes)
    after_sentence(span, votes)
    return votes


def of_model(span: Span, words: list[str], votes: Votes) -> None:
    """What the model says; less where it is known to be wrong often."""
    label = next((token.ent_type_ for token in span if token.ent_type_), "")
    if label not in LABELS:
        return
    doubtful = label in {"ORG", "PRODUCT", "WORK_OF_ART", "GPE"} and len(words) == 1 and words[0] not in places.PLACES
    unknown = words[0].rstrip(".") not in given.GIVEN | lexicon.TITLES
    doubtful = doubtful or (label == "PERSON" and unknown and (is_word(words[0]) or len(words) > 1))
    votes[LABELS[label]] += HINT if doubtful or label == "LAW" else WEAK


def of_words(span: Span, words: list[str], votes: Votes) -> None:
    """What a name's own words say: known ones, titles, and what names of a kind end with."""
    phrase, first, last = " ".join(words), words[0].rstrip("."), words[-1]
    of_lists(phrase, votes)
    of_person(span, words, votes)
    if last in things.VEHICLES | things.INSTRUMENTS or first in things.VEHICLES:
        votes["Object"] += STRONG
    if any(word.isdigit() for word in words):
        votes["Object"] += FAIR
    if len(words) > 1:
        of_ends(span, words, votes)
    elif not is_word(last):
        votes["Place"] += FAIR if last.endswith(places.PLACE_SUFFIXES) else 0
        votes["Organization"] += STRONG if last.endswith(lexicon.ORGANIZATION_SUFFIXES) else 0


def of_person(span: Span, words: list[str], votes: Votes) -> None:
    """Whether a name's words are those of somebody: a given name, one with a surname, or the letters of one."""
    phrase, first, last = " ".join(words), words[0].rstrip("."), words[-1]
    if first in given.GIVEN and "&" not in words and phrase not in places.PLACES_FIRST:
        votes["Person"] += STRONG if len(words) == 1 or last not in OTHER_ENDS else WEAK
    elif len(words) == 2 and is_word(first) and is_word(last) and first not in lexicon.TITLES:  # noqa: PLR2004
        votes["Person"] -= FAIR  # "Paper Lanterns"
    elif len(words) == 2 and not is_word(first) and first.isalpha() and last not in OTHER_ENDS:  # noqa: PLR2004
        votes["Person"] += WEAK * (personal(first) > LIKE)  # a first name and a surname
    elif len(words) == 1 and phrase not in KNOWN and last.isalpha():
        if span[0].text.isupper() and len(last) > 1:
            votes["Person"] -= STRONG
            votes["Organization"] += HINT
        elif not is_word(last):
            of_spelling(last, votes)


def of_lists(phrase: str, votes: Votes) -> None:
    """What a name that everybody knows says; less where it is a word, or somebody's name, too."""
    for known, odd, kind in (
        (places.PLACES, places.PLACE_WORDS, "Place"), (brands.ORGANIZATIONS, brands.BRAND_WORDS, "Organization"),
        (brands.PRODUCTS, brands.BRAND_WORDS, "Object"), (brands.WORKS, brands.BRAND_WORDS, "Media"),
    ):  # fmt: skip
        if phrase in known:
            odd_one = phrase in odd and phrase not in places.PLACES_FIRST
            votes[kind] += FAIR if odd_one or phrase in given.GIVEN else STRONG + FAIR


def of_spelling(word: str, votes: Votes) -> None:
    """What the letters of an unknown name say."""
    likeness = personal(word)
    votes["Person"] += WEAK * (likeness > LIKE) + WEAK * (likeness > VERY_LIKE)
    votes["Person"] -= WEAK * (likeness < -LIKE)
    votes["Place"] += HINT * (likeness < -LIKE) + HINT * (likeness < -VERY_LIKE)


def of_ends(span: Span, words: list[str], votes: Votes) -> None:
    """What the first or last of several words says."""
    first, last = words[0].rstrip("."), words[-1]
    votes["Person"] += CERTAIN if first in lexicon.TITLES and " ".join(words) not in KNOWN else 0
    votes["Project"] += CERTAIN if first == "project" else 0
    votes["Place"] += STRONG if words[0] in places.PLACE_BEGINS else 0
    votes["Organization"] += 0 if "&" not in words else FAIR if last in given.GIVEN else STRONG + FAIR
    votes["Person"] += STRONG if first in AGED and words[1] in given.GIVEN else 0
    votes["Object"] += STRONG if first in brands.PRODUCTS else 0
    for ends, kind in (
        (lexicon.ORGANIZATION_ENDS, "Organization"), (places.PLACE_ENDS, "Place"), (lexicon.VENUES, "Place"),
        (lexicon.EVENT_ENDS, "Event"), (lexicon.MEDIA_ENDS, "Media"),
    ):  # fmt: skip
        if last in ends or (words[0] in ends and words[1] in OF):
            votes[kind] += STRONG + FAIR
    if last in lexicon.EXTENDING and span[-1].text.islower():
        votes[lexicon.EXTENDING[last]] += CERTAIN


def of_nouns(span: Span, votes: Votes) -> None:
    """What nouns that describe the name say."""
    for noun in described_by(span.root, span):
        if kind := kind_of_noun(noun):
            votes[kind] += CERTAIN // 2


def of_role(span: Span, votes: Votes) -> None:
    """What the verb whose subject or object a name is says, and its article."""
    root, head = span.root, span.root.head
    verb = head.lemma_.lower() if head.pos_ == "VERB" else ""
    if root.dep_ in {"nsubj", "nsubjpass"} and verb:
        votes["Person"] += FAIR if verb in cues.PERSON_VERBS else WEAK
    elif root.dep_ == "nsubj" and head.lemma_ == "be":
        votes["Person"] += WEAK * any(child.dep_ in STATES for child in head.children)
        votes["Person"] += FAIR * any(is_age(child) for child in head.children)
    if root.dep_ in {"dobj", "iobj", "dative"}:
        votes["Person"] += FAIR if verb in cues.MEETING else 0
        for verbs, kind in (
            (cues.JOINING, "Organization"), (cues.READING, "Media"), (cues.USING, "Object"),
        ):  # fmt: skip
            votes[kind] += FAIR if verb in verbs else 0
        taken = verb in cues.TAKING and not any(child.dep_ in {"prep", "prt"} and child.lower_ in AWAY_WITH
                                                for child in head.children)  # fmt: skip
        votes["Object"] += FAIR + WEAK if taken and span[0].lower_ not in given.GIVEN else 0
        votes["Place"] += FAIR + HINT if verb in cues.REACHING else 0
    owner = next((child for child in root.children if child.dep_ == "poss" and child.i < span.start), None)
    if owner is not None and owner.lower_ not in {"my", "our"} and span[0].lower_ not in given.GIVEN:
        votes["Person"] -= WEAK
        votes["Object"] += WEAK  # "Ana's Corsa"
    article = next(
        (child.lower_ for child in root.children if child.dep_ in {"det", "poss"} and child.i < span.start), ""
    )
    if article in {"a", "an"}:
        votes["Person"] -= STRONG
        votes["Object"] += FAIR
    elif article in {"the", "my", "our", "this"} and root.dep_ != "appos" and not kin_before(span.doc[span.start - 1]):
        full = len(span) > 1 and article == "the"
        votes["Person"] -= STRONG + FAIR if full and span[0].lower_.rstrip(".") in given.GIVEN else FAIR
        votes["Object"] += FAIR if any(child.lower_ in USED for child in root.lefts) else HINT
        if article == "the" and len(span) == 1 and root.tag_ in {"NNPS", "NNS"} and verb in cues.FOLLOWING:
            votes["Organization"] += STRONG


def of_title(span: Span, votes: Votes) -> None:
    """What a title in lower case before a name says: "mr Adeyemi"."""
    before = neighbour(span, -1)
    word = before.lower_.rstrip(".") if before is not None and before.text[0].islower() else ""
    votes["Person"] += STRONG if word in lexicon.TITLES and word not in kin.KIN else 0


def of_preposition(span: Span, votes: Votes) -> None:
    """What the word before a name says: "in", "at", "with", "to" and others."""
    doc, root = span.doc, span.root
    before, after = neighbour(span, -1), neighbour(span, 1)
    if before is None:
        return
    word, governed = before.lower_, root.dep_ == "pobj"
    owner = after is not None and after.tag_ == "POS"
    mover = root.head.head.lemma_.lower() if governed else ""
    if word in cues.PLACING and governed:
        votes["Place"] += FAIR + WEAK if word == "in" or mover in cues.MOVING else WEAK
        votes["Person"] -= STRONG if word == "in" and not owner else 0
    if word == "in" and not governed and not owner:
        votes["Place"] += STRONG
    if word == "to" and before.i and (governed or root.dep_ != "dobj"):
        front = doc[before.i - 1]
        goes = front.lemma_.lower() in cues.MOVING or front.lower_ in cues.AWAY or mover in cues.MOVING
        votes["Place" if goes else "Person"] += STRONG if goes else WEAK if governed else 0
    elif word == "with" and governed:
        votes["Organization" if mover in cues.DEALING else "Person"] += FAIR
    elif word in {"for", "than", "by"} and governed:
        verb = root.head.head.head if root.head.head.dep_ == "dobj" else root.head.head  # "I drove trucks for X"
        works = word == "for" and verb.lemma_.lower() in cues.EMPLOYED and span[0].lower_ not in given.GIVEN
        votes["Organization" if works else "Person"] += FAIR if works else WEAK
    elif word in {"on", "along", "off", "opposite"} and governed:
        votes["Place"] += WEAK
    elif word in {"ex", "formerly"}:
        votes["Organization"] += FAIR
    elif word == "at" and governed:
        at_name(mover, owner, votes)


def at_name(mover: str, owner: bool, votes: Votes) -> None:
    """What "at" says: "work at X" and "he's at X now" make an organisation, "played at X" a place."""
    works, is_at = mover in cues.WORKING, mover in {"be", "still"}
    votes["Organization"] += STRONG + FAIR if works else FAIR + WEAK if is_at else WEAK
    votes["Place"] += 0 if works else WEAK if is_at else FAIR
    votes["Person"] -= 0 if owner or mover in cues.SHOUTING else STRONG


def of_company(span: Span, votes: Votes) -> None:
    """What stands behind a name: "'s", an age, "and I", "from work", "she called it", a "he" soon after."""
    doc, root = span.doc, span.root
    after = neighbour(span, 1)
    near = doc[span.end : span.end + NEAR]
    if root.dep_ == "conj" and root.head.lower_ in {"i", "me", "he", "she", "you", "him", "her"}:
        votes["Person"] += FAIR
    if after is None:
        return
    behind = neighbour(span, 2)
    if after.tag_ == "POS" and behind is not None:
        house = kind_of_word(behind.lemma_.lower()) == "Organization" and span[0].lower_ not in given.GIVEN
        votes["Organization" if house else "Person"] += STRONG if root.head.lemma_.lower() in kin.KIN else FAIR
    if after.is_digit and 0 < int(after.text) < OLDEST and len(span) == 1:
        votes["Person"] += WEAK
    if behind is not None and after.lower_ == "in" and behind.text[0].isupper() and len(span) == 1:
        votes["Person"] += WEAK
    if behind is not None and after.lower_ in {"and", ","} and behind.lower_ == "i":
        votes["Person"] += FAIR
    if behind is not None and after.lower_ == "from" and behind.lower_ in cues.FROM:
        votes["Person"] += FAIR
    if behind is not None and after.pos_ == "PRON" and behind.lower_ in {"called", "named"}:
        votes["Object"] += STRONG
    if root.dep_ in {"nsubj", "ROOT", "npadvmod", "dobj", "appos"} and any(
        t.lower_ in {"he", "she", "him"} for t in near
    ):
        votes["Person"] += WEAK


def is_age(token: Token) -> bool:
    """Whether what somebody is said to be is an age: "she is 12", "he's five now"."""
    number = token.dep_ in {"attr", "acomp"} and token.pos_ == "NUM" and not list(token.rights)
    return number and (not token.is_digit or 0 < int(token.text) < OLDEST)


def after_sentence(span: Span, votes: Votes) -> None:
    """What the last noun of the sentence before says of a name that stands alone: "a care home. Plas Gwyn in Bala"."""
    sentence, doc = span.sent, span.doc
    if span.start - sentence.start > FRAGMENT or not sentence.start:
        return
    if any(token.pos_ in {"VERB", "AUX"} and token.tag_ not in {"VBN", "VBG"} for token in sentence):
        return
    for token in reversed(doc[max(0, sentence.start - LEFT) : sentence.start]):
        if token.pos_ == "PROPN" or (token.pos_ in {"VERB", "AUX"} and token.tag_ not in {"VBN", "VBG"}):
            return
        if token.pos_ == "NOUN":
            kind = kind_of_noun(token)
            votes[kind or "Concept"] += FAIR if kind else 0
            return


def across_comma(span: Span, votes: Votes) -> None:
    """What nouns across a comma say: "a bakery, Bramley Crust", "Karhu, a small cat"."""
    doc, at = span.doc, span.start - 1
    if at > 0 and doc[at].pos_ == "DET":
        at -= 1
    if at > 0 and doc[at].text in {",", ":", "-", "("} and not doc[at].is_sent_start:
        for token in reversed(doc[max(span.sent.start, at - LEFT) : at]):
            if span.root.dep_ == "nsubj" and span.root.head.i > span.end and token.lemma_.lower() not in kin.ANIMALS:
                break  # a new clause begins with the name
            finite = token.pos_ in {"VERB", "AUX"} and token.tag_ not in {"VBN", "VBG"}
            if finite or (token.pos_ == "PROPN" and token.i == at - 1 and token.dep_ != "pobj"):
                break
            some = any(token.lefts) or (token.tag_ == "NNS" and token.lemma_.lower() in kin.ANIMALS)
            kind = kind_of_noun(token) if token.pos_ == "NOUN" and some else ""
            if kind:
                kept = token.lemma_.lower() in kin.ANIMALS
                votes[kind] += STRONG + FAIR + WEAK if kept else FAIR + WEAK
                break
    if span.end + 2 < len(doc) and doc[span.end].text == "," and doc[span.end + 1].tag_ in {"DT", "PRP$"}:
        right = doc[span.end + 2 : span.end + RIGHT]
        noun = next((token for token in right if token.pos_ == "NOUN" and token.dep_ != "compound"), None)
        kind = kind_of_noun(noun) if noun is not None else ""
        if kind:
            votes[kind] += FAIR


def of_question(question: str) -> Votes:
    """What the name that answers a question is likely to be."""
    low = question.lower()
    if re.search(r"\bwhere(?:abouts)?\b|\bwhich (?:city|town|country|place|part)\b", low):
        return Counter({"Place": STRONG})
    if re.search(r"\bwho(?:'s|m|se)?\b", low):
        return Counter({"Person": STRONG})
    named = re.search(
        r"\b(?:name|called|which|what) (?:(?:is|of|the|your|his|her|kind) )*(\w+)|(\w+)(?:'s)? (?:name|called)\b", low
    )
    kind = kind_of_word(named[1] or named[2]) if named else ""
    return Counter({kind: FAIR}) if kind else Counter()


def described_by(root: Token, span: Span) -> Iterator[Token]:
    """Nouns that say what a name is: "my sister Ana", "Ana, a nurse", "a dog called Bo", "Ana is my sister"."""
    inside = range(span.start, span.end)
    for child in root.children:
        if child.dep_ == "appos" or (
            child.dep_ in {"compound", "nmod"} and child.pos_ == "NOUN" and child.i not in inside
        ):
            yield child
    yield from right_before(span)
    head = root.head
    if root.dep_ in {"appos", "compound"} and head.pos_ in {"NOUN", "PROPN"} and not bears_other(head, span):
        yield head
    if root.dep_ == "oprd" and head.lemma_ in cues.CALLING:
        if head.dep_ == "acl":
            yield head.head
        yield from (
            child for child in head.children
            if child.dep_ in {"nsubjpass", "dobj"} or (child.dep_ == "nsubj" and child.pos_ == "NOUN")
        )  # fmt: skip
    if root.dep_ in {"nsubj", "attr"} and head.lemma_ == "be":
        yield from said_to_be(root)


def bears_other(noun: Token, span: Span) -> bool:
    """Whether another name stands right behind a noun, and nearer: "my cousin Ana share Comet"."""
    at = noun.i + 1
    return at < span.start and noun.doc[at].pos_ == "PROPN" and kind_of_noun(noun) == "Person"


def said_to_be(root: Token) -> Iterator[Token]:
    """What a name is said to be: "Ana is my sister", "my dog's name is Bo"."""
    other = "attr" if root.dep_ == "nsubj" else "nsubj"
    for child in root.head.children:
        if child.dep_ == other:
            yield child
            if child.lemma_ == "name":
                yield from (grand for grand in child.children if grand.dep_ == "poss")


def right_before(span: Span) -> Iterator[Token]:
    """The noun that stands right before a name, or before its "the": "our village Elm", "that band the Wet Hens"."""
    at = span.start - 2 if span.start and span.doc[span.start - 1].lower_ == "the" else span.start - 1
    if at < 0 or span.doc[at].is_sent_end:
        return
    noun = span.doc[at]
    tagged = noun.pos_ == "NOUN" or (noun.pos_ in {"ADJ", "VERB"} and noun.head.i == span.root.i)  # "my parrot/JJ Kiki"
    if tagged and kind_of_word(noun.lower_) and introduced(noun):
        yield noun


def introduced(noun: Token) -> bool:
    """Whether a noun has an article, a possessive or an adjective before it: "our village", "that band"."""
    return any(child.dep_ in {"det", "poss", "amod"} for child in (*noun.lefts, *noun.head.lefts))


def kin_before(before: Token) -> bool:
    """Whether "my sister" stands before a word."""
    return before.lower_ in kin.KIN and any(child.dep_ == "poss" for child in [*before.children, *before.head.children])


def neighbour(span: Span, step: int) -> Token | None:
    """The token before a span (-1), behind it (1), or behind that one (2); None: the text ends."""
    at = span.start + step if step < 0 else span.end + step - 1
    return span.doc[at] if 0 <= at < len(span.doc) else None


def kind_of_noun(noun: Token) -> str:
    """The node type of what an ordinary noun names; empty: no guess."""
    if noun.pos_ == "PROPN" and noun.lower_ not in kin.KIN:
        return ""
    return kind_of_word(noun.lemma_.lower()) or kind_of_word(noun.lower_)


BREEDS = ("hund", "hound", "doodle", "terrier", "spaniel", "sheepdog")
"""Endings of dogs."""
KINDS = (
    (kin.KIN | kin.SHE | kin.HE | things.ROLES | cues.PERSONS | frozenset(kin.PLURALS), "Person"),
    (kin.ANIMALS | things.PETS | things.OWNED_STRONG | cues.TOOLS, "Object"),
    (cues.TOWNS, "Place"),
    (things.MEDIA, "Media"),
    (things.EVENTS - things.WEAK_EVENTS | {"fest", "bonspiel", "fete", "fayre"}, "Event"),
    (things.WORKPLACES | things.GROUPS | cues.FIRMS, "Organization"),
    (cues.PROJECTS, "Project"),
)
"""Nouns by node type; the first that holds one counts."""


def kind_of_word(word: str) -> str:
    """The node type of what a noun means; empty: no guess."""
    found = next((kind for nouns, kind in KINDS if word in nouns), "")
    return found or ("Object" if word.endswith(BREEDS) else "")
