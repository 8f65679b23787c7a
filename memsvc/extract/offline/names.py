"""Proper names in a text: where they stand and what they are likely to name.

A name is what spaCy finds, what the window knows, and what is capitalised where nothing else explains it. What it names
is voted on: by its words, by the words around it, and, with the least weight, by spaCy, which is often wrong in chats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from spacy.tokens import Doc, Span, Token

from memsvc.extract.offline import lexicon_kin as kin
from memsvc.extract.offline import lexicon_names as lexicon
from memsvc.extract.offline import lexicon_things as things

LABELS = {
    "PERSON": "Person", "ORG": "Organization", "GPE": "Place", "LOC": "Place", "FAC": "Place", "PRODUCT": "Object",
    "EVENT": "Event", "WORK_OF_ART": "Media", "LANGUAGE": "Concept", "LAW": "Document", "NORP": "Concept",
}  # fmt: skip
INNER = frozenset("of the de da di del della von van der den la le du dos das y e & and 's in at for zu na mBád".split())
"""Stand inside names, between capitalised words."""
CERTAIN, STRONG, FAIR, WEAK = 10.0, 4.0, 2.0, 1.0
PERSON_VERBS = frozenset(
    "say tell ask think know love like hate want live work study marry call text phone email laugh cry smile cook bake"
    " teach learn visit invite help move retire graduate propose sing dance swim agree believe forget remember suggest"
    " promise insist joke argue apologise apologize hope wish feel snore sleep eat drink wear bring borrow lend pick join"
    " reckon swear mention explain show send drive come leave meet turn play run paint write quit get go have make do die".split()
)
MEETING = frozenset(
    "meet call text phone email ask tell see visit marry date invite thank help hug kiss miss know love join ring message"
    " adopt bring pick drop introduce teach trust".split()
)
WORKING = frozenset("work intern volunteer study teach train apprentice enrol enroll job shift role position".split())
READING = frozenset("read watch rewatch stream finish reread binge listen see hear".split())
USING = frozenset("use install download try open run drive buy sell ride play wear charge fix repair learn code write".split())
PLACING = frozenset("in from near to around towards through outside across into off within via".split())
MOVING = frozenset("live move go travel fly drive be come return relocate head stay visit arrive land born grow settle".split())


@dataclass(slots=True)
class Name:
    """A stretch of a text that names something."""

    start: int
    """Its first token."""
    end: int
    """Behind its last."""
    text: str
    votes: Counter[str] = field(default_factory=Counter)
    """What it may be, weighted."""
    head: int = 0
    """The token that its neighbours' grammar is about."""


def find_names(doc: Doc, known: dict[str, str], index: dict[str, set[int]]) -> list[Name]:
    """The names of a text, in order, none inside another.

    Args:
        doc: parsed.
        known: names of the window in normal form, with their types.
        index: for each first word of ``known``, how many words names that begin with it have.
    """
    taken = [False] * len(doc)
    names: list[Name] = []
    for start, end, kind in known_spans(doc, known, index):
        if not any(taken[start:end]):
            names.append(Name(start, end, doc[start:end].text, Counter({kind: CERTAIN})))
            taken[start:end] = [True] * (end - start)
    for start, end in capital_runs(doc, taken):
        names.append(Name(start, end, doc[start:end].text))
        taken[start:end] = [True] * (end - start)
    for start, end in lower_names(doc, taken):
        names.append(Name(start, end, doc[start:end].text.title()))
        taken[start:end] = [True] * (end - start)
    for name in names:
        span = doc[name.start : name.end]
        name.head = span.root.i
        vote(name, span)
    return sorted((name for name in names if name.votes), key=lambda name: name.start)


def known_spans(doc: Doc, known: dict[str, str], index: dict[str, set[int]]) -> Iterator[tuple[int, int, str]]:
    """Names that the window knows already, also in lower case where they are no common word."""
    low = [token.lower_ for token in doc]
    for start, word in enumerate(low):
        for length in sorted(index.get(word, ()), reverse=True):
            phrase = " ".join(low[start : start + length])
            if phrase in known and start + length <= len(low):
                first = doc[start]
                if first.text[0].islower() and (phrase in lexicon.ALSO_WORDS or is_common(first) or len(phrase) < 3):  # noqa: PLR2004
                    continue
                if first.is_sent_start and phrase in lexicon.NOT_NAMES:
                    continue
                yield start, start + length, known[phrase]
                break


def is_common(token: Token) -> bool:
    """Whether a word in lower case is an ordinary one here."""
    return token.pos_ in {"VERB", "AUX", "ADV", "ADP", "PRON", "DET", "CCONJ", "SCONJ", "PART", "ADJ"}


def is_capital(token: Token) -> bool:
    """Whether a token begins with a capital and may stand in a name."""
    text = token.text
    return text[0].isupper() and text[0].isalpha() and token.lower_ not in {"i", "i'm"} and not token.like_url


def explains_capital(token: Token) -> bool:
    """Whether a token's capital comes from its place, as that of a sentence's first word."""
    before = doc_before(token)
    return (
        token.is_sent_start
        or before is None
        or before.text in {".", "!", "?", ":", '"', "-", "(", "...", "*"}
        or before.is_space
    )


def doc_before(token: Token) -> Token | None:
    """The token before one."""
    return token.doc[token.i - 1] if token.i else None


def capital_runs(doc: Doc, taken: list[bool]) -> Iterator[tuple[int, int]]:
    """Runs of capitalised words, with small words inside ("Bank of Ireland")."""
    at = 0
    while at < len(doc):
        if taken[at] or not starts_name(doc[at]):
            at += 1
            continue
        end = at + 1
        while end < len(doc) and not taken[end]:
            token = doc[end]
            if continues(token):
                end += 1
            elif (
                token.lower_ in INNER
                and end + 1 < len(doc)
                and not taken[end + 1]
                and is_capital(doc[end + 1])
                and not (token.lower_ in {"and", "in", "at", "for", "'s", "&"} and not joins(doc, at, end))
                and doc[end + 1].lower_ not in lexicon.NOT_NAMES
            ):
                end += 2
            else:
                break
        yield at, end
        at = end


def continues(token: Token) -> bool:
    """Whether a token goes on with a name that has begun."""
    if token.is_sent_start:
        return False
    if is_capital(token):
        return token.lower_ not in lexicon.NOT_NAMES or token.lower_ in {"new", "day", "week", "part", "year"}
    return token.like_num and token.text.isdigit() and len(token.text) <= 2 and doc_before(token) is not None and False


def joins(doc: Doc, start: int, at: int) -> bool:
    """Whether "and", "in", "at" joins words of one name: "Moran & Son", "Alice in Wonderland", not "Ana and Tom"."""
    word, after = doc[at].lower_, doc[at + 1].lower_
    if word in {"&"}:
        return True
    if word == "'s":
        return after in lexicon.ORGANIZATION_ENDS or after in lexicon.PLACE_ENDS or after in lexicon.EVENT_ENDS
    if word == "and":
        return after in lexicon.ORGANIZATION_ENDS and doc[start].lower_ not in lexicon.GIVEN
    return False


def starts_name(token: Token) -> bool:
    """Whether a name may begin with a token."""
    if not is_capital(token) or token.lower_ in lexicon.NOT_NAMES and not is_title(token):
        return False
    if token.pos_ in {"PRON", "DET", "ADP", "CCONJ", "SCONJ", "AUX", "PART", "INTJ", "PUNCT"} and token.ent_type_ == "":
        return token.lower_ in lexicon.GIVEN
    if explains_capital(token):
        after = token.doc[token.i + 1] if token.i + 1 < len(token.doc) else None
        if token.lower_ in lexicon.GIVEN or token.lower_ in lexicon.PLACES or token.lower_ in lexicon.PRODUCTS:
            return True
        if token.ent_type_ in LABELS and token.pos_ == "PROPN":
            return True
        if token.pos_ == "PROPN" and not token.is_stop:
            return token.tag_ == "NNP" and (after is None or after.lower_ in {"'s", "and", ",", "is", "was"} or is_capital(after)
                                            or after.pos_ in {"VERB", "AUX"})  # fmt: skip
        return False
    if token.pos_ in {"NOUN", "PROPN", "X"}:
        return True
    return token.ent_type_ in LABELS or token.pos_ in {"ADJ", "VERB"} and not token.doc[token.sent.start : token.sent.end].text.isupper()


def is_title(token: Token) -> bool:
    """Whether "Dr" or "Auntie" stands before a name."""
    after = token.doc[token.i + 1] if token.i + 1 < len(token.doc) else None
    return token.lower_ in lexicon.TITLES and after is not None and is_capital(after) and not after.is_sent_start


def lower_names(doc: Doc, taken: list[bool]) -> Iterator[tuple[int, int]]:
    """Names typed in lower case that are no words: "ana", "porto"."""
    for token in doc:
        if taken[token.i] or not token.text[0].islower() or token.lower_ in lexicon.ALSO_WORDS:
            continue
        low = token.lower_
        if low in lexicon.GIVEN or low in lexicon.PLACES or low in lexicon.ORGANIZATIONS:
            if len(low) > 2 and token.pos_ in {"PROPN", "NOUN", "X", "ADJ"} and low not in things.MEDIA and low not in LOWER_WORDS:  # noqa: PLR2004
                yield token.i, token.i + 1


LOWER_WORDS = frozenset(
    "turkey china rich chad orange apple target subway boots shell meta stripe uber zoom signal reading nice bath split"
    " essen hull cork derby phoenix mini costa spar jumbo coop shelter rotary java perth lima buffalo angel china rome"
    " ed rob al per said del cher".split()
) - {"perth", "lima", "rome"}  # fmt: skip


def vote(name: Name, span: Span) -> None:
    """Weigh what a name may be."""
    words = [token.lower_ for token in span]
    first, last = words[0].rstrip("."), words[-1]
    add = name.votes
    phrase = " ".join(words)
    label = next((token.ent_type_ for token in span if token.ent_type_), "")
    if label in LABELS:
        add[LABELS[label]] += WEAK if label not in {"NORP", "LANGUAGE", "LAW"} else WEAK / 2
    for found, kind in (
        (phrase in lexicon.PLACES, "Place"),
        (phrase in lexicon.ORGANIZATIONS, "Organization"),
        (phrase in lexicon.PRODUCTS or (first in lexicon.PRODUCTS and len(words) > 1), "Object"),
        (phrase in lexicon.EVENTS, "Event"),
        (phrase in things.LANGUAGES, "Concept"),
    ):
        if found:
            add[kind] += STRONG
    if first in lexicon.GIVEN and "&" not in words:
        add["Person"] += STRONG if len(words) == 1 or words[1] not in lexicon.ORGANIZATION_ENDS else WEAK
    if first in {title.rstrip(".") for title in lexicon.TITLES} and len(words) > 1:
        add["Person"] += CERTAIN
    if len(words) > 1:
        for ends, kind in (
            (lexicon.ORGANIZATION_ENDS, "Organization"), (lexicon.PLACE_ENDS, "Place"),
            (lexicon.EVENT_ENDS, "Event"), (lexicon.MEDIA_ENDS, "Media"),
        ):  # fmt: skip
            if last in ends or (words[0] in ends and words[1] == "of"):
                add[kind] += STRONG + FAIR
    if last in things.VEHICLES | things.INSTRUMENTS or first in things.VEHICLES:
        add["Object"] += STRONG
    if "&" in words or any(word.isdigit() for word in words):
        add["Organization" if "&" in words else "Object"] += FAIR
    around(name, span, add)
    if not add and span.root.pos_ in {"PROPN", "NOUN"}:
        add["Concept"] += WEAK / 2


def around(name: Name, span: Span, add: Counter[str]) -> None:  # noqa: C901, PLR0912 - one cue after the other
    """What the words around a name say of it."""
    root, doc = span.root, span.doc
    head = root.head
    before = doc[span.start - 1] if span.start else None
    after = doc[span.end] if span.end < len(doc) else None
    for noun in described_by(root, span):
        kind = kind_of_noun(noun)
        if kind:
            add[kind] += CERTAIN / 2
    if root.dep_ in {"nsubj", "nsubjpass"} and head.lemma_.lower() in PERSON_VERBS and head.pos_ == "VERB":
        add["Person"] += FAIR
    if root.dep_ == "conj" and head.pos_ == "PRON" and head.lower_ in {"i", "me", "he", "she", "you", "him", "her"}:
        add["Person"] += FAIR
    if root.dep_ in {"dobj", "iobj", "dative"} and head.lemma_ in MEETING:
        add["Person"] += FAIR
    if root.dep_ == "dobj" and head.lemma_ in READING:
        add["Media"] += FAIR
    if root.dep_ == "dobj" and head.lemma_ in USING:
        add["Object"] += FAIR
    if before is not None and before.lower_ in PLACING and root.dep_ == "pobj":
        mover = root.head.head.lemma_.lower()
        add["Place"] += FAIR + WEAK if before.lower_ == "in" or mover in MOVING else WEAK
    if before is not None and before.lower_ == "at" and root.dep_ == "pobj":
        add["Organization"] += FAIR if root.head.head.lemma_.lower() in WORKING else WEAK
        add["Place"] += WEAK
    if before is not None and before.lower_ == "for" and root.head.head.lemma_.lower() in {"work", "volunteer", "play"}:
        add["Organization"] += FAIR
    if before is not None and before.lower_ in {"with", "to", "for", "than"} and root.dep_ == "pobj" and len(span) == 1:
        add["Person"] += WEAK
    if after is not None and after.tag_ == "POS" and after.i + 1 < len(doc):
        owned = root.head
        add["Person"] += STRONG if owned.lemma_.lower() in kin.KIN else FAIR
    if before is not None and before.lower_ in {"the", "a", "an", "my", "our", "this"} and root.dep_ != "appos":
        add["Person"] -= FAIR
        add["Object"] += WEAK
    if after is not None and after.lower_ in {"and", ","} and after.i + 1 < len(doc) and doc[after.i + 1].lower_ == "i":
        add["Person"] += FAIR
    for kind in [kind for kind, weight in add.items() if weight <= 0]:
        del add[kind]


def described_by(root: Token, span: Span) -> Iterable[Token]:
    """Nouns that say what a name is: "my sister Ana", "Ana, a nurse", "a dog called Bo", "Ana is my sister"."""
    for child in root.children:
        if child.i not in range(span.start, span.end) and child.dep_ in {"compound", "nmod"} and child.pos_ == "NOUN":
            yield child
        if child.dep_ == "appos":
            yield child
    if root.dep_ in {"appos", "compound"} and root.head.pos_ in {"NOUN", "PROPN"}:
        yield root.head
    if root.dep_ == "oprd" and root.head.lemma_ in {"call", "name", "christen", "dub", "nickname"}:
        namer = root.head
        if namer.dep_ == "acl":
            yield namer.head
        for child in namer.children:
            if child.dep_ in {"nsubj", "nsubjpass", "dobj"}:
                yield child
    if root.dep_ == "nsubj" and root.head.lemma_ == "be":
        for child in root.head.children:
            if child.dep_ == "attr":
                yield child
    if root.dep_ == "attr" and root.head.lemma_ == "be":
        for child in root.head.children:
            if child.dep_ == "nsubj":
                yield child
                if child.lemma_ == "name":
                    yield from (grand for grand in child.children if grand.dep_ == "poss")


def kind_of_noun(noun: Token) -> str:
    """The node type of what an ordinary noun names; empty: no guess."""
    if noun.pos_ == "PROPN" and noun.lower_ not in kin.KIN:
        return ""
    for word in (noun.lemma_.lower(), noun.lower_):
        if word in kin.KIN or word in things.ROLES or word in {"man", "woman", "guy", "lady", "girl", "boy", "person", "he", "she"}:
            return "Person"
        if word in kin.ANIMALS or word in things.PETS or word in things.OWNED_STRONG:
            return "Object"
        if word in {"city", "town", "village", "country", "island", "suburb", "neighbourhood", "region", "place", "hometown"}:
            return "Place"
        if word in things.MEDIA or word in {"band", "author"}:
            return "Media" if word in things.MEDIA else "Organization"
        if word in things.EVENTS and word not in things.WEAK_EVENTS:
            return "Event"
        if word in things.WORKPLACES or word in things.GROUPS:
            return "Organization"
        if word in {"app", "tool", "software", "program", "phone", "language", "framework", "editor", "brand"}:
            return "Object"
        if word in {"project", "startup"}:
            return "Project"
    return ""
