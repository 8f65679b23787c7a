"""What somebody or something is called: "my sister Ana", "her name is Ana", "a cat … his name is Bo"."""

from __future__ import annotations

from collections.abc import Iterator

from spacy.tokens import Token

from memsvc.extract.offline import lexicon_cues as cues
from memsvc.extract.offline import lexicon_kin as kin
from memsvc.extract.offline.coreference import Mention
from memsvc.extract.offline.settling import Settling
from memsvc.extract.offline.votes import CERTAIN, STRONG, kind_of_noun, kind_of_word

FAR = 8
"""Tokens behind a noun among which its name stands."""
NEAR = 25
"""Tokens back that an animal is looked for, and from the start within which a question is answered."""
SELF = frozenset({"i", "my", "me", "we", "our"})


def read_statements(reading: Settling) -> None:
    """Learn from a turn's statements what things are called and what names are."""
    for token in reading.doc:
        if token.dep_ == "attr" and token.head.lemma_ == "be":
            said_to_be(reading, token)
        if token.lower_ == "name" or token.lemma_ in cues.CALLING:
            said_to_be_called(reading, token)


def beside(reading: Settling, noun: Token) -> Iterator[int]:
    """Keys of names that a noun stands with: apposed, compounded, or said to be it; of a plural, all of a list."""
    named, cast = reading.named, reading.cast
    seen: set[int] = set()
    for start in neighbours(reading, noun):
        for word in (start, *(start.conjuncts if noun.tag_ in {"NNS", "NNPS"} else ())):
            key = named.get(word.i)
            if key is None and word.lower_ in {"he", "she"} and word.dep_ == "nsubj":
                key = reading.living(word, animals=True)
            entry = cast[key] if key is not None else None
            if entry is None or key in seen or not entry.named:
                continue
            if entry.kind == "Person" or not (entry.sure or entry.votes[entry.kind] >= STRONG):
                seen.add(entry.key)
                yield entry.key


def neighbours(reading: Settling, noun: Token) -> Iterator[Token]:
    """Words that may be a noun's name by where they stand."""
    doc, named = noun.doc, reading.named
    if noun.i + 1 in named and doc[noun.i + 1].pos_ == "PROPN":
        yield doc[noun.i + 1]
    yield from (child for child in noun.children if child.dep_ == "appos")
    yield from called(noun)
    if noun.dep_ in {"compound", "nmod", "appos"}:
        yield noun.head
    if noun.i + 1 in named:
        yield doc[noun.i + 1]
    if noun.i + 2 in named and any(child.dep_ == "poss" for child in noun.children):
        end = next(at for at in range(noun.i + 2, len(doc) + 1) if at not in named)
        after = doc[end].lower_ if end < len(doc) else "."
        if doc[noun.i + 1].text == "," and after not in {"and", "or", "&"}:
            yield doc[noun.i + 2]
        elif doc[noun.i + 1].text == "?" and after in {".", "!", ","}:
            yield doc[noun.i + 2]  # "my sister? Silke."
    yield from behind_comma(reading, noun)
    if noun.head.lemma_ == "be" and noun.dep_ in {"attr", "nsubj", "nsubjpass"}:
        other = "nsubj" if noun.dep_ == "attr" else "attr"
        yield from (child for child in noun.head.children if child.dep_ == other)


def called(noun: Token) -> Iterator[Token]:
    """What a participle behind a noun says it is called: "a guy called Ed", "my physio, a bloke named Ed"."""
    for bearer in (noun, *(child for child in noun.children if child.dep_ == "appos")):
        for child in bearer.children:
            if child.dep_ == "acl" and child.lemma_ in cues.CALLING:
                yield from (grand for grand in child.children if grand.dep_ in {"oprd", "attr", "dobj"})


def behind_comma(reading: Settling, noun: Token) -> Iterator[Token]:
    """The name behind what is said of an unknown person: "a lady from Peru, Ana, …", "my mate from school, Ed"."""
    doc, named = noun.doc, reading.named
    unknown = any(child.lower_ in {"a", "an", "this", "one", "another"} for child in noun.lefts)
    of_mine = any(child.dep_ == "poss" for child in noun.lefts) and doc[min(noun.i + 1, len(doc) - 1)].pos_ == "ADP"
    clipped = noun.dep_ == "nsubj" and noun.head.lemma_ == "be" and noun.lower_ in kin.FAMILY
    if not (unknown or of_mine or clipped):
        return
    for at in range(noun.i + 1, min(noun.i + FAR, len(doc) - 1)):
        if at in named and doc[at - 1].text != ",":
            if doc[at].dep_ in {"nsubj", "nsubjpass"}:
                return
            continue
        if doc[at].text == "," and at + 1 in named and doc[at + 1].dep_ not in {"nsubj", "nsubjpass"}:
            yield doc[at + 1]
            return
        if doc[at].text in {".", ",", "!", "?", ";"}:
            return


LEAST_SAID = 2
"""Words of a sentence that only says whose what somebody is: "My daughter."."""
MEANT = 6
"""Words of one that says so with "I mean" or "you know"."""


def asked_for(reading: Settling, noun: Token) -> Iterator[int]:
    """The only person of the question, or the sentence, before: "Who is Zik?" - "My daughter."."""
    if noun.sent.start and only_says(noun):
        stop = noun.sent.start
        start = noun.doc[stop - 1].sent.start
        said = {reading.cast.find(key) for at, key in reading.named.items() if start <= at < stop}
        if len(said) == 1:
            entries = [reading.cast[key] for key in said]
            yield from (each.key for each in entries if each.kind == "Person" and not each.relation)
        return
    if not reading.earlier or noun.sent.start > NEAR or noun.dep_ not in {"ROOT", "attr"}:
        return
    if noun.dep_ == "attr" and not any(child.lower_ in {"he", "she", "that"} for child in noun.head.children):
        return
    before, cast = reading.earlier[0], reading.cast
    last = list(before.doc.sents)[-1]
    asked = {cast.find(mention.key) for mention in before.persons if mention.token.i >= last.start}
    asked -= {cast.find(key) for key in (reading.speaker, reading.partner) if key is not None}
    if last.text.rstrip().endswith("?") and len(asked) == 1:
        yield from (key for key in asked if cast[key].named and not cast[key].relation)


def only_says(noun: Token) -> bool:
    """Whether a sentence only says whose what somebody is: "My daughter.", "My boss I mean."."""
    length = sum(token.is_alpha for token in noun.sent) - 2 * (noun.lower_ == "law")  # "My brother-in-law."
    if noun.dep_ == "ROOT" and length <= LEAST_SAID:
        return True
    verbs = {token.lemma_ for token in noun.sent if token.pos_ in {"VERB", "AUX"}}
    own = any(child.lower_ in {"my", "our"} for child in noun.children)
    return own and length <= MEANT and bool(verbs) and verbs <= {"mean", "know"}


def said_to_be(reading: Settling, noun: Token) -> None:
    """Let "he is a parrot" tell what a name is, where nothing else did."""
    cast = reading.cast
    subject = next((child for child in noun.head.children if child.dep_ == "nsubj"), None)
    kind = kind_of_noun(noun)
    if subject is None or not kind or noun.i in reading.named:
        return
    key = reading.named.get(subject.i)
    if key is None and subject.lower_ in {"he", "she"}:
        key = reading.living(subject, animals=True)
    elif key is None and subject.lower_ in {"it", "that"}:
        key = next((one for at, one in sorted(reading.named.items(), reverse=True) if at < subject.i), None)
    if key is None or cast[key].sure or not cast[key].named or cast[key].votes["Person"] >= CERTAIN:
        return
    entry = cast[key]
    if entry.kind in {"Person", "Concept", "Object"} or kind in {"Place", "Organization"}:
        entry.kind = kind
        entry.sure = kind_of_word(noun.lemma_.lower()) == "Object"
        reading.known = {at: known for at, known in reading.known.items() if known != key}


def said_to_be_called(reading: Settling, token: Token) -> None:
    """Name what "her name is Ana", "my sister is called Ana", "a dog named Bo", "they call me Bee" name."""
    cast = reading.cast
    pair = name_and_bearer(reading, token)
    if pair is None:
        return
    name, bearer = pair
    entry = cast[reading.named[name.i]]
    if bearer.lower_ in SELF:
        if is_a_slip(token, bearer):
            return
        if bearer.lower_ in {"my", "me"} and reading.speaker is not None and entry.known is None:
            cast.merge(entry.key, reading.speaker)
        return
    key = animal_before(reading, bearer) if bearer.pos_ == "PRON" else None
    if key is None:
        key = reading.entity(bearer)
    if key is None or cast[key].named:
        return
    if not entry.sure:
        entry.kind, entry.sure = cast[key].kind, cast[key].sure or cast[key].kind == "Object"
    cast.merge(key, entry.key)
    reading.persons.append(Mention(name, entry.key))


def is_a_slip(verb: Token, bearer: Token) -> bool:
    """Whether a verb of calling names nobody: "let me call Raymond", or once somebody else: "she called me Joan"."""
    if verb.lemma_ not in cues.CALLING:
        return False
    callers = [child for child in verb.children if child.dep_ == "nsubj" and child.i != bearer.i]
    one = any(child.tag_ in {"NN", "NNP"} or child.lower_ in {"she", "he"} for child in callers)
    return bearer.dep_ == "nsubj" or (verb.tag_ == "VBD" and one)


def name_and_bearer(reading: Settling, token: Token) -> tuple[Token, Token] | None:
    """The name that a verb of calling, or "name is", gives, and the word for who bears it."""
    verb = token.head if token.lower_ == "name" and token.head.lemma_ == "be" else token
    places = {"attr", "nsubj"} if verb is not token else {"oprd", "attr", "dobj"}
    name = next((child for child in verb.children if child.dep_ in places and child.i in reading.named), None)
    if name is None:
        return None
    bearer: Token | None
    if verb is not token:
        bearer = next((child for child in token.children if child.dep_ == "poss"), None)
    elif token.dep_ == "acl":
        bearer = token.head
    else:
        roles = ("nsubjpass", "dobj", "nsubj")
        found = [child for role in roles for child in token.children if child.dep_ == role and child.i != name.i]
        bearer = found[0] if found else None
    return (name, bearer) if bearer is not None and bearer.i != name.i else None


def animal_before(reading: Settling, pronoun: Token) -> int | None:
    """The animal without a name that the sentence before spoke of: "a cat who sleeps in it. His name is …"."""
    for place in (reading, *reading.earlier[:1]):
        if place.speaker not in {None, reading.speaker} and not place.doc.text.rstrip().endswith("?"):
            break  # what the other of two people keeps is not spoken of
        stop = pronoun.i if place is reading else len(place.doc)
        for token in reversed(place.doc[max(0, stop - NEAR) : stop]):
            if token.pos_ in {"NOUN", "PROPN"} and token.lemma_.lower() in kin.ANIMALS and token.i not in place.named:
                return place.entity(token)
            if token.i in place.named and place.cast[place.named[token.i]].kind == "Person" and place is reading:
                return None
    return None
