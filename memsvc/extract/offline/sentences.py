"""Facts as sentences of their own: names instead of pronouns."""

from __future__ import annotations

from memsvc.extract.extraction import Change, Entity

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
ENDED = {
    "KNOWS": "{a} no longer knows {b}.",
    "FAMILY_OF": "{a} and {b} are no longer together.",
    "WORKS_AT": "{a} no longer works at {b}.",
    "LIVES_IN": "{a} no longer lives in {b}.",
    "LOCATED_AT": "{a} is no longer at {b}.",
    "OWNS": "{a} no longer owns {b}.",
    "LIKES": "{a} no longer likes {b}.",
    "DISLIKES": "{a} no longer dislikes {b}.",
    "FEELS": "{a} no longer feels {b}.",
    "WANTS": "{a} no longer wants {b}.",
    "USES": "{a} no longer uses {b}.",
    "PART_OF": "{a} is no longer part of {b}.",
    "RELATED_TO": "{a} no longer has to do with {b}.",
}
PAST = {
    "LOCATED_AT": "{a} was at {b}.",
    "PARTICIPATED_IN": "{a} took part in {b}.",
    "FEELS": "{a} felt {b}.",
}
ATTENDS = {
    "studies": ("{a} studies at {b}.", "{a} no longer studies at {b}."),
    "volunteers": ("{a} volunteers at {b}.", "{a} no longer volunteers at {b}."),
}
"""Of WORKS_AT, by what its data calls the relation: while it holds, and when it is over."""
RELATED = {
    "FAMILY_OF": "{b} is {a}'s {relation}.",
    "KNOWS": "{b} is {a}'s {relation}.",
    "RELATED_TO": "{a} is a {relation}.",
}


def sentence(subject: Entity, type_: str, thing: Entity, change: Change, *, past: bool, relation: str = "") -> str:
    """The fact in words: "Tova works at Volvo.", "Ana is Tova's sister."."""
    a, b = called(subject), called(thing)
    if type_ == "WORKS_AT" and relation in ATTENDS:
        form = ATTENDS[relation][change == "ended"]
    elif change == "ended":
        form = ENDED.get(type_, HOLDS.get(type_, ""))
        if type_ == "RELATED_TO" and relation and relation in b:
            form = "{a} is no longer a {relation}."
    elif relation and type_ in RELATED:
        form = "{a} studies {b}." if relation == "studies" else RELATED[type_]
        if type_ == "RELATED_TO" and relation[:1] in "aeiou":
            form = form.replace(" a {", " an {")
        if relation not in b and type_ == "RELATED_TO" and relation != "studies":
            form = HOLDS[type_]
    else:
        form = PAST.get(type_, HOLDS.get(type_, "")) if past else HOLDS.get(type_, "")
    form = form or "{a} " + type_.lower().replace("_", " ") + " {b}."
    if type_ == "WANTS" and thing.type == "Task" and change != "ended":
        form = "{a} wants to {b}."
    text = form.format(a=a, b=b, relation=relation)
    return text[0].upper() + text[1:]


def called(entity: Entity) -> str:
    """An entity's name as it stands in a sentence: "the blue van", "Lidl"."""
    if entity.named or entity.type in {"Task", "Emotion", "Concept"}:
        return entity.name
    return entity.name if entity.name.split(" ")[0].endswith(("'s", "s'")) else f"the {entity.name}"
