"""What a pattern finds: two entities so related, and the clause that says it. And the words that patterns share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from memsvc.extract.extraction import Change
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline.clauses import Clause, spread
from memsvc.extract.offline.reading import Status

if TYPE_CHECKING:
    from spacy.tokens import Token

NAMES = frozenset({"PERSON", "ORG", "GPE", "LOC", "FAC", "PRODUCT", "EVENT", "WORK_OF_ART"})
SURE, LIKELY, MAYBE, DOUBTFUL = 0.9, 0.75, 0.6, 0.4
"""How sure the author of a rule is of it: the prior, from which ``calibration`` learns how often it is right."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A relation that a clause tells."""

    subject: int
    type: str
    object: int
    clause: Clause
    confidence: float = LIKELY
    change: Change = "holds"
    data: dict[str, Any] = field(default_factory=dict)
    dated: bool = True
    """The times that the clause names are the fact's; not where a phrase tells it by the way ("my sister")."""
    over_at: datetime | None = None
    """When it ended, where that is not what the clause names: what is taken back never was."""
    never: bool = False
    """With ``change`` "ended": it was a plan, and is off. Where nothing is known of it, there is nothing to end."""
    doubted: bool = False
    """It waits for a person, however sure its rule is."""
    rule: str = ""
    """The function that found it, as "places.moves"; set by ``attributed``."""


Pattern = Callable[[Clause], Iterator[Finding]]
"""Reads one clause. Asked of every clause; gives nothing where it has nothing to say."""


def attributed(found: Iterator[Finding]) -> Iterator[Finding]:
    """Findings, each with the name of the rule that it is from; those that have one keep it."""
    for finding in found:
        yield finding if finding.rule else replace(finding, rule=rule_of(found))


def rule_of(found: Iterator[Finding]) -> str:
    """The innermost function that yields at this moment, with its module; helpers of this module are none.

    A generator that waits tells what it delegates to (``gi_yieldfrom``), so no rule has to say its own name.
    """
    rule = ""
    inner: Iterator[Any] | None = found
    while isinstance(inner, GeneratorType) and inner.gi_frame is not None:
        module = str(inner.gi_frame.f_globals["__name__"])
        if module == __name__:
            break
        rule, inner = f"{module.rpartition('.')[2]}.{inner.__name__}", inner.gi_yieldfrom
    return rule


def told(  # noqa: PLR0917 - in the order in which one says it
    people: Iterable[int | None],
    type_: str,
    thing: int | None,
    clause: Clause,
    confidence: float = LIKELY,
    change: Change = "holds",
    data: dict[str, Any] | None = None,
) -> Iterator[Finding]:
    """The same of each of some persons; nothing of nobody, and nothing without a thing."""
    for person in people:
        if person is not None and thing is not None and person != thing:
            yield Finding(person, type_, thing, clause, confidence, change, data or {})


def change(clause: Clause) -> Change:
    """Whether what a clause says still holds."""
    return "ended" if clause.status is Status.WAS else "holds"


def kind(clause: Clause, key: int) -> str:
    """The type of an entity."""
    return clause.reading.whose(key).type


def word(token: Token) -> str:
    """What word lists know a noun by: its lemma in lower case."""
    return str(token.lemma_).lower().rstrip(".")


def listed(token: Token, words: frozenset[str]) -> bool:
    """Whether a noun is in a word list, by itself or as the end of a compound ("half-marathon", "tool box")."""
    own = word(token)
    if own in words or token.lower_ in words or own.rpartition("-")[2] in words:
        return True
    return any(f"{child.lower_}-{own}" in words for child in token.children if child.dep_ in {"compound", "amod"})


def named(token: Token) -> bool:
    """Whether a noun is, or begins with, a proper name."""
    return (
        token.pos_ == "PROPN"
        or token.ent_type_ in NAMES
        or any(child.pos_ == "PROPN" for child in token.children if child.dep_ == "compound")
    )


def naming(token: Token) -> Token:
    """The proper name that stands beside a common noun ("a company in Mississauga, Lakeshore Metal"), or the noun."""
    if token.pos_ in {"PROPN", "PRON"}:
        return token
    for child in token.children:
        if child.dep_ == "appos" and child.pos_ == "PROPN":
            return child
        if child.dep_ == "prep":  # "a company in Mississauga, Lakeshore Metal" hangs on the town
            places = [noun for noun in child.children if noun.dep_ == "pobj" and noun.ent_type_ in {"GPE", "LOC"}]
            after = [
                each for place in places for each in place.children if each.dep_ == "appos" and each.pos_ == "PROPN"
            ]
            if after and after[0].ent_type_ not in {"GPE", "LOC"}:
                return after[0]
    return beside(token) or token


def beside(noun: Token) -> Token | None:
    """The name behind the comma that ends a noun phrase, or behind "called", where the parser saw no apposition."""
    doc, end = noun.doc, noun.right_edge.i + 1
    tree = [token.i for token in noun.subtree]
    for at in (end, noun.i + 1):
        if at + 1 < len(doc) and doc[at].lower_ in {",", "called", "named", "-", ":"} and doc[at + 1].i not in tree:
            first = doc[at + 1] if doc[at + 1].lower_ != "the" or at + 2 >= len(doc) else doc[at + 2]
            stop = first.i
            while stop + 1 < len(doc) and doc[stop + 1].pos_ == "PROPN":
                stop += 1
            closed = stop + 1 >= len(doc) or doc[stop + 1].is_punct or doc[stop + 1].is_space
            if (
                first.pos_ == "PROPN"
                and first.text[0].isupper()
                and closed
                and first.ent_type_ not in {"DATE", "TIME", "PERSON"}
                and first.sent == noun.sent
            ):
                return doc[stop]
    return None


def owner(token: Token) -> Token | None:
    """Whose: "my" in "my van", "Tova" in "Tova's van"."""
    return next((child for child in token.children if child.dep_ == "poss"), None)


def owning(clause: Clause, token: Token) -> int | None:
    """The person whose a thing is."""
    whose = owner(token)
    return clause.reading.person(whose) if whose is not None else None


def thing(clause: Clause, token: Token, *types: str) -> int | None:
    """The entity of a noun that is worth one: no time, no empty word, no pronoun without antecedent."""
    token = naming(token)
    if token.ent_type_ in {"DATE", "TIME", "CARDINAL", "PERCENT", "MONEY", "QUANTITY", "ORDINAL"} and not listed(
        token, things.EVENTS
    ):
        return None
    if word(token) in things.EMPTY and not named(token) and token.pos_ != "PRON":
        return None
    if token.pos_ not in {"NOUN", "PROPN", "PRON", "X", "NUM", "ADJ"}:
        return None
    return clause.reading.entity(token, *types)


def placed(clause: Clause, token: Token) -> int | None:
    """The place that a noun names: a proper name that can be one, or a word for a place."""
    token = naming(token)
    if token.lower_ in things.TIMES or word(token) in things.TIMES:
        return None
    if token.ent_type_ in {"DATE", "TIME", "NORP", "LANGUAGE", "MONEY", "CARDINAL", "PERCENT", "EVENT"}:
        return None
    if named(token) or token.ent_type_ in {"GPE", "LOC", "FAC"} or listed(token, things.PLACES):
        key = clause.reading.entity(token, "Place", "Organization")
        return key if key is not None and kind(clause, key) in {"Place", "Organization"} else None
    return None


def phrase(verb: Token, most: int = 6, *, gerund: bool = False) -> str:
    """A verb with what it needs, as a name: "learn to weld", "bake bread"; without times and side remarks."""
    kept: list[Token] = []
    todo = [verb]
    while todo:
        token = todo.pop()
        kept.append(token)
        todo += [child for child in token.children if child.i > verb.i and keeps(child)]
    kept.sort(key=lambda token: token.i)
    run = [kept[0]]
    for token in kept[1:]:
        if token.i - run[-1].i > 1 and not all(
            verb.doc[i].dep_ in {"det", "poss"} for i in range(run[-1].i + 1, token.i)
        ):
            break
        run.append(token)
    run = run[:most]
    while len(run) > 1 and run[-1].pos_ in {"ADP", "PART", "CCONJ", "DET", "AUX", "SCONJ"} and run[-1].dep_ != "prt":
        run.pop()
    words = [token.text for token in run]
    words[0] = run[0].text if gerund else str(run[0].lemma_)
    return " ".join(words)


def keeps(token: Token) -> bool:
    """Whether a word belongs to the name of what is done."""
    if token.dep_ in {
        "punct",
        "advcl",
        "cc",
        "conj",
        "relcl",
        "ccomp",
        "mark",
        "neg",
        "npadvmod",
        "det",
        "poss",
        "parataxis",
    }:
        return False
    if token.ent_type_ in {"DATE", "TIME"} or (token.dep_ == "advmod" and token.pos_ == "ADV"):
        return False
    if token.dep_ == "prep":
        return not any(child.ent_type_ in {"DATE", "TIME"} or child.lower_ in things.TIMES for child in token.children)
    return True


def each(tokens: list[Token]) -> Iterator[Token]:
    """Every noun of coordinated ones, once."""
    seen: set[int] = set()
    for token in tokens:
        for noun in spread(token):
            if noun.i not in seen:
                seen.add(noun.i)
                yield noun
