"""What people are to each other, as facts: "my sister Ana" says FAMILY_OF though no sentence asserts it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from memsvc.extract.extraction import Entity, Fact
from memsvc.extract.names import folded
from memsvc.extract.window import OWNER, Window

SOCIAL = ("FAMILY_OF", "KNOWS")
KIN = frozenset([
    "mother", "father", "mom", "mum", "mommy", "mummy", "dad", "daddy", "parent", "sister", "brother", "sibling",
    "twin", "son", "daughter", "child", "kid", "baby", "wife", "husband", "spouse", "partner", "fiance", "fiancee",
    "bride", "groom", "grandmother", "grandfather", "grandma", "grandpa", "granny", "gran", "nan", "grandparent",
    "grandson", "granddaughter", "grandchild", "aunt", "auntie", "uncle", "niece", "nephew", "cousin", "godmother",
    "godfather", "godson", "goddaughter", "stepmother", "stepfather", "stepsister", "stepbrother", "stepson",
    "stepdaughter", "stepmom", "stepdad", "half-sister", "half-brother", "mother-in-law", "father-in-law",
    "sister-in-law", "brother-in-law", "son-in-law", "daughter-in-law", "ex-wife", "ex-husband", "widow", "widower",
])  # fmt: skip
"""Words for relatives, folded; for anybody else KNOWS is said."""


def is_kin(relation: str) -> bool:
    """Whether a word for what somebody is to another names a relative: "little sister" does."""
    words = folded(relation).split()
    return bool(words) and words[-1] in KIN


def name_in(window: Window, entity: Entity) -> str:
    """What somebody is called in a sentence."""
    if entity.known is not None and (entity.known == OWNER or not entity.named):
        return window.candidates[entity.known].label
    return entity.name


def with_relations(window: Window, entities: Mapping[int, Entity], facts: Iterable[Fact]) -> list[Fact]:
    """The facts, and those that descriptions of people say: who is whose sister, boss, friend.

    ``data.relation`` of FAMILY_OF and KNOWS says what the object is to the subject. A fact of the extractor between the
    two that lacks it gets it.
    """
    found = list(facts)
    for entity in entities.values():
        if not entity.relation or entity.of is None or entity.type != "Person":
            continue
        subject = entities[entity.of]
        if subject.type != "Person":
            continue
        ours = [
            place
            for place, fact in enumerate(found)
            if fact.type in SOCIAL and {fact.subject, fact.object} == {subject.key, entity.key}
        ]
        for place in ours:
            fact = found[place]
            if fact.object == entity.key and not fact.data.get("relation"):
                data = {**fact.data, "relation": entity.relation}
                found[place] = msgspec.structs.replace(fact, data=data)
        if not ours and entity.quote:
            found.append(_relation(window, subject, entity))
    return found


def _relation(window: Window, subject: Entity, entity: Entity) -> Fact:
    whose, who = name_in(window, subject), name_in(window, entity)
    plain = not entity.named and folded(who) in {folded(entity.relation), ""}
    sentence = f"{whose} has a {entity.relation}." if plain else f"{who} is {whose}'s {entity.relation}."
    return Fact(
        subject=subject.key,
        type="FAMILY_OF" if is_kin(entity.relation) else "KNOWS",
        object=entity.key,
        sentence=sentence,
        turn=entity.turn,
        quote=entity.quote,
        data={"relation": entity.relation},
        confidence=0.9,
    )
