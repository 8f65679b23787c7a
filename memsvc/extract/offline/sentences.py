"""Facts as sentences of their own: names instead of pronouns."""

from __future__ import annotations

import re

from memsvc.extract.extraction import Change, Entity
from memsvc.extract.offline import lexicon_kin as kin
from memsvc.extract.offline import lexicon_places as places
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline.lexicon_kin import PARTNERS
from memsvc.extract.offline.lexicon_things import BELIEFS, words

HOLDS = {
    "KNOWS": "{a} knows {b}.",
    "FAMILY_OF": "{a} and {b} are family.",
    "WORKS_AT": "{a} works at {b}.",
    "LIVES_IN": "{a} lives in {b}.",
    "LOCATED_AT": "{a} is at {b}.",
    "PARTICIPATED_IN": "{a} takes part in {b}.",
    "OWNS": "{a} owns {b}.",
    "LIKES": "{a} likes {b}.",
    "DISLIKES": "{a} dislikes {b}.",
    "FEELS": "{a} feels {b}.",
    "WANTS": "{a} wants {b}.",
    "CREATED": "{a} made {b}.",
    "USES": "{a} uses {b}.",
    "PART_OF": "{a} is part of {b}.",
    "ABOUT": "{a} is about {b}.",
    "CAUSED_BY": "{a} comes from {b}.",
    "DEPENDS_ON": "{a} depends on {b}.",
    "RELATED_TO": "{a} has to do with {b}.",
}
PAST = {
    "KNOWS": "{a} knew {b}.",
    "FAMILY_OF": "{a} and {b} were together.",
    "WORKS_AT": "{a} worked at {b}.",
    "LIVES_IN": "{a} lived in {b}.",
    "LOCATED_AT": "{a} was at {b}.",
    "PARTICIPATED_IN": "{a} took part in {b}.",
    "OWNS": "{a} owned {b}.",
    "LIKES": "{a} liked {b}.",
    "DISLIKES": "{a} disliked {b}.",
    "FEELS": "{a} felt {b}.",
    "WANTS": "{a} wanted {b}.",
    "USES": "{a} used {b}.",
    "PART_OF": "{a} was part of {b}.",
    "ABOUT": "{a} was about {b}.",
    "CAUSED_BY": "{a} came from {b}.",
    "DEPENDS_ON": "{a} depended on {b}.",
    "RELATED_TO": "{a} had to do with {b}.",
}
"""Of what is over: so it is right in its own time as well as afterwards."""
MOMENTS = frozenset({"LOCATED_AT", "PARTICIPATED_IN", "FEELS"})
"""Told in the past, these are over; the rest may go on ("I met Ana in May")."""
RELATIONS = {
    ("WORKS_AT", "studies"): ("{a} studies at {b}.", "{a} studied at {b}."),
    ("WORKS_AT", "volunteers"): ("{a} volunteers at {b}.", "{a} volunteered at {b}."),
    ("RELATED_TO", "studies"): ("{a} studies {b}.", "{a} studied {b}."),
    ("RELATED_TO", "allergy"): ("{a} is allergic to {b}.", "{a} was allergic to {b}."),
    ("RELATED_TO", "intolerance"): ("{a} is intolerant to {b}.", "{a} was intolerant to {b}."),
    ("RELATED_TO", "illness"): ("{a} has {b}.", "{a} had {b}."),
}
"""By what the data call the relation: while it holds, and when it is over."""
SUFFERED = words("stroke attack seizure accident crash miscarriage operation surgery breakdown concussion")
"""Nobody takes part in these: people have them."""
TOWARDS = re.compile(r"\b(to|at|in|from|into|near) (\w+)$")
"""The end of what is to be done, with its place or event."""
NO_ARTICLE = words("home school work church bed town college university uni hospital court sea prison lunch dinner")
COUNTED = things.EVENTS | things.DWELLINGS | things.PLACES
AREAS = places.PLACES
"""One is in these; at others."""
SEVERAL = frozenset(kin.PLURALS) | {f"{word}s" for word in kin.KIN}
VERBS = {"is": "are", "was": "were", "has": "have", "lives": "live", "works": "work", "takes": "take", "owns": "own",
         "likes": "like", "dislikes": "dislike", "feels": "feel", "wants": "want", "uses": "use", "knows": "know",
         "studies": "study", "volunteers": "volunteer", "depends": "depend", "comes": "come"}  # fmt: skip
"""Behind several."""
TIES = frozenset({"FAMILY_OF", "KNOWS"})


def sentence(
    subject: Entity, type_: str, thing: Entity, change: Change, *, past: bool, relation: str = "", born: bool = False
) -> str:
    """The fact in words: "Tova works at Volvo.", "Ana is Tova's sister."; in the past tense where it is over.

    Args:
        subject: whom or what it is about.
        type_: an edge type.
        thing: its other end.
        change: whether it holds.
        past: it is told in the past.
        relation: what the other end is to the subject.
        born: a home is told as the place of birth.
    """
    a, b = called(subject), called(thing)
    if type_ in {"WANTS", "RELATED_TO"} and thing.type in {"Task", "Concept"}:
        b = with_article(b, whole=type_ == "RELATED_TO" and not relation)
    over = change == "ended"
    relation = relation.removeprefix("ex-").removeprefix("ex ") if over else relation
    if over and type_ == "LIVES_IN" and born:
        form = "{a} was born in {b}."
    elif (type_, relation) in RELATIONS:
        form = RELATIONS[type_, relation][over]
    elif type_ in TIES and relation and not (over and (relation in PARTNERS or relation == "ex")):
        unnamed = not thing.named and (thing.relation == relation or is_several(thing))
        kind = thing.name if is_several(thing) else f"{article(relation)} {relation}"
        form = f"{{a}} has {kind}." if unnamed else f"{{b}} is {{a}}'s {relation}."
        form = form.replace(" has ", " had ").replace(" is ", " was ") if over else form
    elif type_ == "RELATED_TO" and relation and relation in b:
        form = "{a} was " if over else "{a} is "
        form += "{b}." if b in BELIEFS else f"{article(b)} {{b}}."
    elif over or (past and type_ in MOMENTS):
        form = PAST.get(type_, HOLDS.get(type_, ""))
    else:
        form = HOLDS.get(type_, "")
    form = form or "{a} " + type_.lower().replace("_", " ") + " {b}."
    if type_ == "WANTS" and thing.type == "Task":
        form = "{a} wanted to {b}." if over else "{a} wants to {b}."
    if type_ in {"PARTICIPATED_IN", "RELATED_TO"} and b.rpartition(" ")[2] in SUFFERED:
        b = b.removeprefix("the ")
        form = f"{{a}} {'had' if past or over else 'has'} {'' if b == 'surgery' else article(b)} {{b}}."
        form = form.replace("  ", " ")
    form = put_right(form, subject, type_, thing)
    text = form.format(a=a, b=b)
    return text[0].upper() + text[1:]


def put_right(form: str, subject: Entity, type_: str, thing: Entity) -> str:
    """A form with "in" before a town or country, and with the verb of several."""
    if type_ == "LOCATED_AT" and thing.named and thing.name.casefold() in AREAS:
        form = form.replace(" at {b}", " in {b}")
    if not is_several(subject) or not form.startswith("{a} "):
        return form
    verb, space, rest = form.removeprefix("{a} ").partition(" ")
    return f"{{a}} {VERBS.get(verb, verb)}{space}{rest}"


def is_several(entity: Entity) -> bool:
    """Whether an entity without a name is several people: "cousins", "Jonas's parents"."""
    last = entity.name.rpartition(" ")[2].lower()
    return not entity.named and entity.type == "Person" and last in SEVERAL


def with_article(name: str, *, whole: bool) -> str:
    """What is to be done, or what something has to do with, with the article that its name leaves out."""
    if whole and name in COUNTED - NO_ARTICLE:
        return f"the {name}"
    found = TOWARDS.search(name)
    if found is None or found[2] not in COUNTED - NO_ARTICLE:
        return name
    return f"{name[: found.start(2)]}the {found[2]}"


def article(noun: str) -> str:
    """The indefinite article that goes with a noun."""
    return "an" if noun[:1].lower() in "aeiou" else "a"


def called(entity: Entity) -> str:
    """An entity's name as it stands in a sentence: "the blue van", "Lidl"."""
    firm = entity.type == "Organization" and entity.name.rpartition(" ")[2][:1].isupper()
    if entity.named or firm or entity.type in {"Task", "Emotion", "Concept"}:
        return entity.name
    return entity.name if entity.name.split(" ")[0].endswith(("'s", "s'")) else f"the {entity.name}"
