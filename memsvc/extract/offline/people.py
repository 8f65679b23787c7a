"""Who is whose relative, friend or colleague, and who met, married or left whom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.extraction import Change
from memsvc.extract.offline import lexicon_cues as cues
from memsvc.extract.offline import lexicon_kin as kin
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import DOUBTFUL, LIKELY, MAYBE, SURE, Finding, change, kind
from memsvc.extract.offline.lexicon_names import TITLES
from memsvc.extract.offline.reading import Reading, Status

if TYPE_CHECKING:
    from spacy.tokens import Token

PARTNERS = frozenset({"marry", "engage", "divorce", "date", "separate", "see"})
COUPLED = frozenset({"married", "engaged", "together", "dating", "divorced", "separated"})
ACQUAINTED = kin.PERSONS | kin.ACQUAINTANCE | frozenset({"resident", "patient", "someone", "somebody", "volunteer"})
"""Before a name in apposition: "there's a boy, Abdi", "I have one resident, Mr Dyck"."""
FROM = 6
"""Tokens behind a name among which it is said where somebody is known from."""
ME = frozenset({"me", "us", "i", "we"})
TOGETHER = verbs.KNOW | verbs.TRAVEL | verbs.TAKE_PART | verbs.STAY | cues.COMPANY


def read(clause: Clause) -> Iterator[Finding]:
    """Everything about who knows whom in a clause."""
    yield from bonds(clause)
    yield from mentioned(clause)
    yield from parted(clause)
    if clause.said:
        yield from wed(clause)
        yield from met(clause)
        yield from introduced(clause)
        yield from together(clause)


def bonds(clause: Clause) -> Iterator[Finding]:
    """What phrases say: my sister, Tova's boss, a friend of mine."""
    words = {token.i for token in clause.own}
    for bond in clause.reading.bonds:
        if bond.token.i in words and bond.whose != bond.who:
            type_ = "FAMILY_OF" if bond.family else "KNOWS"
            over: Change = "ended" if bond.over else "holds"
            yield Finding(bond.whose, type_, bond.who, clause, SURE, over, {"relation": bond.relation}, dated=False)


def others(clause: Clause, nouns: list[Token]) -> list[int]:
    """The persons among some nouns that are no subjects of the clause."""
    singular = [noun for noun in nouns if noun.tag_ != "NNS"]
    found = [clause.reading.person(noun) for noun in singular]
    return [key for key in found if key is not None and key not in clause.people]


def wed(clause: Clause) -> Iterator[Finding]:
    """She married Tom; I'm engaged to Ana; they are dating."""
    complements = {token.lower_ for token in clause.complements} | {
        token.lower_ for token in clause.own if token.tag_ == "VBN"
    }
    partner = others(clause, clause.objects + clause.at("to", "with"))
    if clause.means(verbs.lemmas("marry, wed, remarry, date, propose")) or complements & COUPLED or (
        clause.lemma in {"go", "see"} and clause.adverb == "out"
    ):  # fmt: skip
        if not (clause.means(verbs.WED) or clause.lemma in {"be", "get"}):
            return
        both = clause.people[:2]
        if not partner and complements & COUPLED and len(both) == len(clause.people) == 2:  # noqa: PLR2004 - a couple
            yield Finding(both[0], "FAMILY_OF", both[1], clause, LIKELY, change(clause), {"relation": "partner"})
        if not partner:
            wed_to = [oblique.noun for oblique in clause.obliques
                      if oblique.prep == "to" and oblique.holder.lower_ in COUPLED]  # fmt: skip
            found = [clause.reading.entity(noun, "Person") for noun in wed_to if noun.text[0].isupper()]
            partner = [key for key in found if key is not None and kind(clause, key) == "Person"]
        for person in clause.people:
            for other in partner:
                yield Finding(person, "FAMILY_OF", other, clause, LIKELY, change(clause), {"relation": "partner"})


def parted(clause: Clause) -> Iterator[Finding]:
    """Me and Craig split; I broke up with Dan; she left him."""
    if clause.status not in {Status.SO, Status.WAS}:
        return
    named_parting = clause.means(verbs.lemmas("divorce, split, split up, break up, separate, dump"))
    dissolved = clause.lemma in {"be", "get"} and any(token.lower_ in {"divorced", "separated"} for token in clause.own)
    if not (named_parting or dissolved):
        return
    partner = others(clause, clause.objects + clause.at("with", "from"))
    pairs = [(person, other) for person in clause.people for other in partner]
    if not partner and len(clause.people) == 2:  # noqa: PLR2004 - a couple
        first, second = clause.people
        pairs = [(second, first) if second == clause.reading.speaker else (first, second)]
    for person, other in pairs:
        yield Finding(person, "FAMILY_OF", other, clause, LIKELY, "ended", {"relation": "partner"})


def met(clause: Clause) -> Iterator[Finding]:
    """I met Shabnam at uni; hung out with Joe; I know a guy called Ed."""
    if not clause.means(verbs.KNOW):
        return
    told_so = clause.means(verbs.lemmas("meet, know, befriend"))
    for person in clause.people:
        for other in others(clause, clause.objects + clause.at("with", "into", "to")):
            if told_so or not acquainted(clause, person, other):
                yield Finding(person, "KNOWS", other, clause, sure_of(clause, person, other))


def introduced(clause: Clause) -> Iterator[Finding]:
    """There's a Dave on my team; now I get a Ruud: who is introduced so is known from now on."""
    speaker = clause.reading.speaker
    for noun in clause.complements + clause.objects:
        article = any(child.lower_ in {"a", "this"} and child.dep_ == "det" for child in noun.children)
        if speaker is not None and article and noun.ent_type_ == "PERSON" and noun.pos_ == "PROPN":
            key = clause.reading.person(noun)
            if key is not None and key != speaker and not acquainted(clause, speaker, key):
                yield Finding(speaker, "KNOWS", key, clause, LIKELY)
        if speaker is not None and (clause.lemma == "be" or clause.mine) and noun.lower_ in ACQUAINTED:
            for child in noun.children:
                key = clause.reading.person(child) if child.dep_ == "appos" and child.pos_ == "PROPN" else None
                if key is not None and key != speaker and not acquainted(clause, speaker, key):
                    yield Finding(speaker, "KNOWS", key, clause, LIKELY)


def together(clause: Clause) -> Iterator[Finding]:
    """Me and Antti run it; I went climbing with Mina: who does things together knows each other."""
    if any(token.tag_ == "NNS" for token in clause.subjects):
        return  # "my pals and I"
    people = [key for key in clause.people if kind(clause, key) == "Person"]
    with_whom = others(clause, clause.at("with")) if clause.means(TOGETHER) else []
    for index, person in enumerate(people):
        for other in people[index + 1 :] + with_whom:
            if person != other and not acquainted(clause, person, other):
                yield Finding(person, "KNOWS", other, clause, sure_of(clause, person, other), dated=False)


def sure_of(clause: Clause, person: int, other: int) -> float:
    """How sure it is that two who do something together are no relatives, and both persons."""
    return LIKELY if clause.reading.speaker in {person, other} else DOUBTFUL


def acquainted(clause: Clause, person: int, other: int) -> bool:
    """Whether it is known already what two are to each other."""
    reading = clause.reading
    for key in {person, other} - {reading.speaker, reading.partner}:
        entity = reading.whose(key)
        if entity.known is not None or entity.relation.lower().rpartition(" ")[2] in kin.FAMILY:
            return True
    return False


def mentioned(clause: Clause) -> Iterator[Finding]:
    """Whom somebody calls by the first name in a chat they know, as a rule; relatives are no acquaintances."""
    speaker = clause.reading.speaker
    if speaker is None or (clause.lemma in cues.CALLING and not clause.said):
        return
    heads = {name.head for name in clause.reading.names}
    for token in clause.own:
        if token.i not in heads:
            continue
        key = clause.reading.person(token)
        if key is None or key in {speaker, clause.reading.partner}:
            continue
        entity = clause.reading.whose(key)
        relative = entity.of == speaker and entity.relation.lower().rpartition(" ")[2] in kin.FAMILY
        new = entity.known is None and entity.type == "Person" and entity.named
        with_me = token.dep_ == "pobj" and token.head.lower_ == "with" and clause.mine and clause.means(TOGETHER)
        dealt = with_me or (clause.lemma in cues.DEALT and any(word.lower_ in ME for word in clause.own))
        if new and not relative and (first_name(entity.name) or comes_from(token) or dealt):
            inside = clause.verb.dep_ in {"acl", "relcl"} and clause.parent is not None and clause.parent.mine
            near = inside or (
                bool(clause.subjects)
                and (clause.mine or any(word.lower_ in ME for word in clause.own))
                and token not in clause.complements
            )
            near = near or comes_from(token) or (titled(entity.name) and token.dep_ != "poss")
            sure = MAYBE if near else DOUBTFUL
            yield Finding(speaker, "KNOWS", key, clause, sure, dated=False)


def comes_from(name: Token) -> bool:
    """Whether it is said where somebody is known from: "Oksana, from my maths class", "Dai next door"."""
    behind = [token.lower_ for token in name.doc[name.i + 1 : name.i + FROM]]
    if behind[:2] == ["next", "door"] or behind[:1] in (["upstairs"], ["downstairs"]):
        return True
    behind = behind[1:] if behind[:1] == [","] else behind
    return behind[:1] in (["from"], ["at"]) and any(word in cues.SHARED for word in behind[1:])


def titled(name: str) -> bool:
    """Whether somebody is called by a title."""
    return " " in name and name.split(maxsplit=1)[0].lower().rstrip(".") in TITLES


def first_name(name: str) -> bool:
    """Whether somebody is called as acquaintances are: by one name, or with a title."""
    return " " not in name or titled(name)


def partners(reading: Reading) -> Iterator[Finding]:
    """The two of a chat between two people know each other."""
    if reading.speaker is not None and reading.partner is not None and len(reading.doc):
        clause = Clause(reading, next(iter(reading.doc.sents)).root)
        yield Finding(reading.speaker, "KNOWS", reading.partner, clause, MAYBE, dated=False)


def loose_bonds(reading: Reading, taken: set[int]) -> Iterator[Finding]:
    """Bonds that stand in no clause: "No, from my sister Naima in Mechelen."."""
    for bond in reading.bonds:
        if bond.token.i not in taken and bond.whose != bond.who:
            clause = Clause(reading, bond.token)
            over: Change = "ended" if bond.over else "holds"
            type_ = "FAMILY_OF" if bond.family else "KNOWS"
            yield Finding(bond.whose, type_, bond.who, clause, LIKELY, over, {"relation": bond.relation}, dated=False)
