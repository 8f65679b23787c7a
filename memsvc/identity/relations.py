"""Words for relations between people: "mom" and "my mother" are the same relation."""

from __future__ import annotations

import re

from memsvc.identity.names import latin

_SAME: dict[str, str] = {
    "mother": "mom mum mam mummy mommy mammy mama mamma mami maman mutti ma ammi amma",
    "father": "dad daddy da papa papi vati pa pop pops abbu appa baba bapu tata tato tatko",
    "sister": "sis",
    "brother": "bro",
    "grandmother": "grandma granny nana gran nan",
    "grandfather": "grandpa granddad grandad gramps",
    "wife": "missus",
    "husband": "hubby",
    "partner": "significantother spouse",
    "girlfriend": "gf",
    "boyfriend": "bf",
    "child": "kid",
    "daughter": "girl",
    "son": "boy",
    "aunt": "auntie aunty",
    "boss": "manager supervisor",
    "colleague": "coworker workmate",
    "roommate": "flatmate housemate",
    "friend": "buddy pal mate",
    "neighbor": "neighbour",
    "doctor": "gp physician",
}
CANONICAL = {word: name for name, words in _SAME.items() for word in words.split()} | {name: name for name in _SAME}
MARRIED = frozenset({"wife", "husband", "partner"})
COUPLES = MARRIED | {"girlfriend", "boyfriend", "fiance", "fiancee"}
SIBLINGS = frozenset({"sister", "brother", "sibling", "twin"})
PARENTS = frozenset({"mother", "father"})
"""People have one of each, and share them with their siblings."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


GENERAL = _words("""
    friend bestfriend bestie acquaintance relative child baby twin toddler youngest eldest oldest parent sibling
""")
"""They say so little of somebody that another word may be said of the same person."""
FEW = COUPLES | SIBLINGS | _words("son daughter child grandmother grandfather") | PARENTS
"""Who is called so without a name is hardly another one each time, though people may have several."""
MUTUAL = _words("friend colleague neighbor roommate classmate teammate bandmate cousin twin")
"""Whoever is this to somebody calls that person the same."""
ALIKE = (
    _words("boss colleague employee assistant intern trainee apprentice director foreman lead"),
    _words("teacher tutor professor lecturer mentor coach trainer instructor principal advisor"),
    _words("wife husband partner girlfriend boyfriend fiance fiancee bride groom"),
)
"""Of each of these, one person may be several."""
OPENING = re.compile(r"^(?:my|our|your|his|her|their|the|a|an|older|younger|elder|big|little|best|old|new|dear)\s+")


def canonical(relation: str) -> str:
    """Return one word for a relation: sister for "My older sister", mother for "mom"; unknown words are kept."""
    word = latin(relation.replace("-", ""))
    while (shorter := OPENING.sub("", word)) != word:
        word = shorter
    word = word.replace(" ", "")
    return CANONICAL.get(word, word)


def same(a: str, b: str) -> bool:
    """Whether two words name the same relation; a wife or a husband is also a partner."""
    one, two = canonical(a), canonical(b)
    return bool(one) and (one == two or ("partner" in {one, two} and {one, two} <= MARRIED))


def turned(a: str, b: str) -> bool:
    """Whether somebody to whom another is ``a`` may be ``b`` to that other: who has a husband is a wife or partner."""
    one, two = canonical(a), canonical(b)
    return {one, two} <= COUPLES or (one == two and one in MUTUAL)


def apart(a: str, b: str) -> bool:
    """Whether two words for what a person is to somebody tell two people apart: "my colleague", "my neighbour"."""
    one, two = canonical(a), canonical(b)
    if not one or not two or {one, two} & GENERAL or one.endswith(two) or two.endswith(one):
        return False
    return not any({one, two} <= words for words in ALIKE)
