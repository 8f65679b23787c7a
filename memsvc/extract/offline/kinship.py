"""Who is whose what: "my sister Ana", "Tova's boss", "Ana is my sister", "his name is Bo"; one person under both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from spacy.tokens import Token

from memsvc.extract.offline import lexicon_kin as kin
from memsvc.extract.offline.coreference import Mention
from memsvc.extract.offline.reading import Bond
from memsvc.extract.offline.votes import kind_of_noun, kind_of_word

if TYPE_CHECKING:
    from memsvc.extract.offline.turns import TurnReading

NEAR = 25
"""Tokens back that an animal is looked for."""
NAMING = frozenset({"call", "name", "christen", "nickname"})


def bind(reading: TurnReading) -> None:
    """Find the relatives of a turn, name them where the turn does, and note the bonds."""
    for token in reading.doc:
        if is_relation(token):
            key = described(reading, token)
            if key is not None:
                reading.persons.append(Mention(token, key))
    for token in reading.doc:
        if token.dep_ == "attr" and token.head.lemma_ == "be":
            said_to_be(reading, token)
        if token.lower_ == "name" or token.lemma_ in NAMING:
            name_by_statement(reading, token)


def said_to_be(reading: TurnReading, noun: Token) -> None:
    """ "He is a parrot" tells what a name is, where nothing else did."""
    subject = next((child for child in noun.head.children if child.dep_ == "nsubj"), None)
    kind = kind_of_noun(noun)
    if subject is None or not kind or noun.i in reading.named:
        return
    key = reading.named.get(subject.i)
    if key is None and subject.lower_ in {"he", "she"}:
        key = reading.living(subject, animals=True)
    elif key is None and subject.lower_ in {"it", "that"}:
        key = next((one for at, one in sorted(reading.named.items(), reverse=True) if at < subject.i), None)
    if key is not None and not reading.cast[key].sure and reading.cast[key].named:
        entry = reading.cast[key]
        if entry.kind in {"Person", "Concept", "Object"} or kind in {"Place", "Organization"}:
            entry.kind = kind
            entry.sure = kind_of_word(noun.lemma_.lower()) == "Object"
            reading.known = {at: known for at, known in reading.known.items() if known != key}


def is_relation(token: Token) -> bool:
    """Whether a token is a noun for what somebody is to somebody."""
    return relation_of(token) != "" and token.pos_ in {"NOUN", "PROPN", "ADJ", "X", "INTJ", "VERB"}


def relation_of(token: Token) -> str:
    """The relation that a noun names, singular; empty: none."""
    low, lemma = token.lower_, token.lemma_.lower()
    doc, at = token.doc, token.i
    if at + 2 < len(doc) and doc[at + 1].text == "-" and f"{low}-{doc[at + 2].lower_}" in kin.KIN:
        return ""  # "co" of "co-worker"; its last part speaks for it
    if at >= 2 and doc[at - 1].text == "-":
        whole = f"{doc[at - 2].lower_}-{lemma}"
        if whole in kin.KIN:
            return whole
        if lemma == "law" and at >= 4:  # noqa: PLR2004 - mother - in - law
            return f"{doc[at - 4].lower_}-in-law"
    if low in kin.PLURALS:
        return kin.PLURALS[low]
    for word in (low, lemma):
        if word in kin.KIN or word in kin.ANIMALS:
            return word if word != low or not low.endswith("s") or word in kin.KIN else word
    return kin.TWO_WORDS.get((doc[at - 1].lower_, low), "") if at else ""


def described(reading: TurnReading, token: Token) -> int | None:
    """The relative that a noun means: with a possessive, or bare where people say it so ("mom")."""
    if token.i in reading.named and reading.cast[reading.named[token.i]].kind == "Person" and not relation_of(token):
        return reading.named[token.i]
    relation = relation_of(token)
    if not relation:
        return None
    whose = holder(reading, token, relation)
    if whose is None:
        return None
    known = reading.known.get(token.i)
    if known is not None:
        return reading.cast.find(known)
    low = token.lower_
    plural = token.tag_ in {"NNS", "NNPS"} or low in kin.PLURALS
    animal = relation in kin.ANIMALS and relation not in kin.KIN
    gender = "she" if relation in kin.SHE else "he" if relation in kin.HE else ""
    names = list(names_beside(reading, token)) or list(name_asked_for(reading, token))
    cast = reading.cast
    kind = "Object" if animal else "Person"
    if plural:
        keys = [name_relative(reading, key, whose, relation, kind, gender, token) for key in names]
        if not keys:
            group = f"{relation}s" if "-" in relation else low
            entry = cast.relative(whose, group, name=group, kind=kind, gender="", plural=True)
            keys = [entry.key]
            if low not in kin.ARTICLED or low == "parents":
                add_bond(reading, token, whose, entry.key, relation)
        key = keys[0]
    elif names:
        key = name_relative(reading, names[0], whose, relation, kind, gender, token)
    else:
        entry = cast.relative(whose, relation, name=relation, kind=kind, gender=gender, plural=False)
        key = entry.key
        add_bond(reading, token, whose, key, relation)
    reading.note(cast[key], token.i, token.i + 1)
    reading.known[token.i] = key
    return key


def name_relative(
    reading: TurnReading, name: int, whose: int, relation: str, kind: str, gender: str, token: Token
) -> int:
    """A name is that of a relative: one entry, with both."""
    cast = reading.cast
    entry = cast[name]
    whose = cast.find(whose)
    if entry.key == whose:
        return entry.key
    if not entry.sure:
        entry.kind, entry.sure = kind, True
    unnamed = cast.by_relation.get((whose, relation))
    if unnamed is not None and not cast[unnamed].named:
        cast.merge(unnamed, entry.key)
    entry = cast[name]
    entry.of, entry.relation = (whose, relation) if entry.of is None else (entry.of, entry.relation)
    entry.gender = entry.gender or gender
    cast.by_relation[whose, relation] = entry.key
    add_bond(reading, token, whose, entry.key, relation)
    return entry.key


def add_bond(reading: TurnReading, token: Token, whose: int, who: int, relation: str) -> None:
    """Note a bond, once."""
    former = any(child.lower_.rstrip("-") in kin.FORMER for child in token.lefts)
    over = relation.startswith("ex") or (former and relation not in kin.NOT_OVER)
    if relation in kin.ANIMALS and relation not in kin.KIN:
        return  # what one keeps is owned
    bond = Bond(token, whose, who, relation, relation in kin.FAMILY, over)
    if not any((one.whose, one.who, one.relation) == (whose, who, relation) for one in reading.bonds):
        reading.bonds.append(bond)


def holder(reading: TurnReading, token: Token, relation: str) -> int | None:
    """From whom a relation counts: "my", "Tova's", "of mine", or the speaker for "mom"."""
    for child in token.children:
        if child.dep_ == "poss":
            return reading.person(child)
        if child.lower_ == "of" and child.dep_ == "prep":
            for inner in child.children:
                if inner.lower_ in {"mine", "ours"}:
                    return reading.speaker
                if inner.lower_ in {"yours"}:
                    return reading.partner
                if inner.lower_ in {"his", "hers"}:
                    return reading.person(inner)
    if token.dep_ in {"compound", "nmod"} and token.head.i in reading.named:
        for child in token.head.children:
            if child.dep_ == "poss" and child.i < token.i:
                return reading.person(child)
    if token.dep_ == "conj":
        for child in token.head.children:
            if child.dep_ == "poss" and is_relation(token.head) and not any(c.dep_ == "det" for c in token.children):
                return reading.person(child)
    determiners = {child.lower_ for child in token.children if child.dep_ in {"det", "nummod"}}
    if "the" in determiners and token.lower_ in kin.ARTICLED:
        return reading.speaker
    if determiners & {"the", "a", "an", "another"} and relation in kin.SOCIAL and tells_of_self(token):
        return reading.speaker if next(names_beside(reading, token), None) is not None else None
    if token.dep_ in {"dobj", "oprd", "ccomp"} and token.head.lemma_ in {"say", "call", "shout", "become"}:
        return None
    alone = not any(child.dep_ in {"det", "amod", "compound", "nmod"} for child in token.children)
    before = token.doc[token.i - 1].lower_ if token.i else ""
    if before in {"that", "this", "a", "the", "no", "every"}:
        return None
    if (
        alone
        and not determiners
        and token.lower_ in kin.BARE
        and not (token.i and token.doc[token.i - 1].dep_ == "poss")
    ):
        return reading.speaker
    return None


def tells_of_self(token: Token) -> bool:
    """Whether a sentence is about who speaks, or about nobody."""
    subjects = [word for word in token.sent if word.dep_ in {"nsubj", "nsubjpass"} and word.head.dep_ == "ROOT"]
    return not subjects or any(word.lower_ in {"i", "we", "me"} for word in subjects) or token in subjects


def names_beside(reading: TurnReading, token: Token) -> Iterator[int]:
    """Keys of names that a relation's noun stands with: apposed, compounded, or said to be it."""
    doc, named, cast = reading.doc, reading.named, reading.cast
    seen: set[int] = set()

    def fits(other: Token) -> bool:
        if other.i not in named or named[other.i] in seen:
            return False
        kind = cast[named[other.i]].kind
        return (kind in {"Person", "Object", "Concept", "Place", "Organization", "Media"}
                and (kind == "Person" or not cast[named[other.i]].sure))  # fmt: skip

    starts: list[Token] = [child for child in token.children if child.dep_ == "appos"]
    if token.dep_ in {"compound", "nmod", "appos"}:
        starts.append(token.head)
    if token.i + 1 < len(doc) and doc[token.i + 1].i in named:
        starts.append(doc[token.i + 1])
    if token.i + 2 < len(doc) and doc[token.i + 1].text == "," and doc[token.i + 2].i in named:
        end = next(at for at in range(token.i + 2, len(doc) + 1) if at not in named)
        if (end >= len(doc) or doc[end].lower_ not in {"and", "or", "&"}) and any(
            c.dep_ == "poss" for c in token.children
        ):
            starts.append(doc[token.i + 2])
    if token.dep_ == "attr" and token.head.lemma_ == "be":
        starts += [child for child in token.head.children if child.dep_ == "nsubj"]
        pronoun = next((child for child in starts if child.dep_ == "nsubj" and child.lower_ in {"he", "she"}), None)
        key = reading.living(pronoun, animals=True) if pronoun is not None else None
        if key is not None and cast[key].named:
            seen.add(key)
            yield key
    if token.dep_ in {"nsubj", "nsubjpass"} and token.head.lemma_ == "be":
        starts += [child for child in token.head.children if child.dep_ == "attr"]
    for start in starts:
        if fits(start):
            seen.add(named[start.i])
            yield named[start.i]
            for other in start.conjuncts if token.tag_ in {"NNS", "NNPS"} else ():
                if fits(other):
                    seen.add(named[other.i])
                    yield named[other.i]


def name_asked_for(reading: TurnReading, token: Token) -> Iterator[int]:
    """ "Who is Zik?" - "My daughter.": the only person of the question."""
    if not reading.earlier or token.sent.start > NEAR or token.dep_ not in {"ROOT", "attr"}:
        return
    before = reading.earlier[0]
    if token.dep_ == "attr" and not any(child.lower_ in {"he", "she", "that"} for child in token.head.children):
        return
    last = list(before.doc.sents)[-1]
    others = {before.cast.find(mention.key) for mention in before.persons if mention.token.i >= last.start}
    others -= {before.cast.find(key) for key in (reading.speaker, reading.partner) if key is not None}
    if last.text.rstrip().endswith("?") and len(others) == 1:
        key = others.pop()
        if before.cast[key].named and not before.cast[key].relation:
            yield key


def name_by_statement(reading: TurnReading, token: Token) -> None:
    """ "her name is Ana", "my sister is called Ana", "a dog named Bo"."""
    cast = reading.cast
    holder_token: Token | None = None
    name: Token | None = None
    if token.lower_ == "name" and token.head.lemma_ == "be":
        holder_token = next((child for child in token.children if child.dep_ == "poss"), None)
        name = next(
            (child for child in token.head.children if child.dep_ in {"attr", "nsubj"} and child.i in reading.named),
            None,
        )
    elif token.lemma_ in NAMING:
        name = next(
            (child for child in token.children if child.dep_ in {"oprd", "attr", "dobj"} and child.i in reading.named),
            None,
        )
        holder_token = (
            token.head
            if token.dep_ == "acl"
            else next(
                (
                    child
                    for dep in ("nsubjpass", "dobj", "nsubj")
                    for child in token.children
                    if child.dep_ == dep and child is not name
                ),
                None,
            )
        )
    if name is None or holder_token is None or holder_token.i == name.i:
        return
    entry = cast[reading.named[name.i]]
    if holder_token.lower_ in {"i", "my", "me", "we", "our"}:
        if holder_token.lower_ in {"my", "me"} and reading.speaker is not None and entry.known is None:
            cast.merge(entry.key, reading.speaker)
        return
    key = (
        animal_before(reading, holder_token)
        if holder_token.lower_ in {"his", "her", "its", "it", "he", "she"}
        else None
    )
    if key is None:
        key = reading.entity(holder_token)
    if key is not None and not cast[key].named:
        if not entry.sure:
            entry.kind, entry.sure = cast[key].kind, cast[key].sure or cast[key].kind == "Object"
        cast.merge(key, entry.key)
        reading.persons.append(Mention(name, entry.key))


def animal_before(reading: TurnReading, pronoun: Token) -> int | None:
    """The animal without a name that the sentence before spoke of: "a cat who sleeps in it. His name is …"."""
    for place in (reading, *reading.earlier[:1]):
        stop = pronoun.i if place is reading else len(place.doc)
        for token in reversed(place.doc[max(0, stop - NEAR) : stop]):
            if token.pos_ in {"NOUN", "PROPN"} and token.lemma_.lower() in kin.ANIMALS and token.i not in place.named:
                return place.entity(token)
            if token.i in place.named and place.cast[place.named[token.i]].kind == "Person" and place is reading:
                return None
    return None
