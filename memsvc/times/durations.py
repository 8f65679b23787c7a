"""Whether "in a day", "in two weeks" says how long something takes, and not when it is.

"There and back in a day", "read it in two days" and "in zwei Tagen gelesen" do; "I leave in a week" and "it will be
done in a week" tell a day.
"""

from __future__ import annotations

import re

LOOK = 60
"""Characters before and after that are looked at."""
_RETURN = (
    r"there and back(?: again)?|out and back|round trip|hin und (?:wieder )?(?:zurück|her|retour)|hin-? und rückfahrt"
)
_DONE = (
    r"done|finished|completed|built|written|made|solved|sorted|painted|eaten|learned|learnt|covered|fixed|cooked"
    r"|knitted|cured|healed|sold out|paid (?:off|back)|doable|possible|feasible|manageable|erledigt|geschafft|gelesen"
    r"|durchgelesen|gebaut|geschrieben|gemacht|gelernt|gelaufen|gefahren|gewandert|machbar|möglich|schaffbar"
    r"|zu schaffen|zu machen"
)
_IT = r"(?:it|them|that|this|all of it|the (?:whole )?(?:book|thing|lot)|es|ihn|sie|das|das buch|alles)"
_VERBS = (
    r"read|reads|eat|ate|wrote|finish(?:ed)?|built|build|did|learn(?:ed|t)?|watched|binged?|devour(?:ed)?|knit(?:ted)?"
    r"|plan(?:ned)?|cover(?:ed)?|walk(?:ed)?|cycle[d]?|drove|made|painted|solved|managed|las|lese|schaffte|schaffen|schaffe"
    r"|baute|schrieb|machte|plante|lernte|verschlang"
)
_BRIEFLY = r"(?:,|(?: (?:again|just|only|all|nur|alles|schon|auch|even|easily|probably|usually|wohl|meist|locker)))*"
_RETURN_BEFORE = re.compile(rf"\b(?:{_RETURN}){_BRIEFLY} ?$")
_RETURN_AFTER = re.compile(rf",? (?:{_RETURN})\b")
_BEFORE = re.compile(
    rf"\b(?:{_DONE}|(?:{_VERBS}) {_IT}|read (?:(?:the|a|my|his|her|your|this|that|\w+['’]s) )(?:\w+ ){{0,2}}?\w+"
    rf"|read \w+|(?:can|could|kann|können|könnte) (?:\w+ )?(?:do|read|finish|drive|walk|cycle|learn|build|make|cover"
    rf"|write|eat) \w+){_BRIEFLY} ?$"
)
_AFTER = re.compile(rf",? (?:(?:{_DONE})\b|flat\b|straight\b|(?:{_VERBS}) {_IT}\b)")
_ONE_CAN = re.compile(r"\b(?:man|lässt sich) (?:\S+ ){0,6}$")
_INFINITIVE = re.compile(r" (?:machen|lesen|schaffen|bauen|lernen|schreiben|erledigen|laufen|fahren|wandern)\b")
_TO_COME = re.compile(
    r"\b(?:will|won['’]t|shall|must|should|has to|have to|needs? to|going to|due|wird|werden|werde|muss|müssen|soll"
    r"|sollen|sollte)\b|\w['’]ll\b"
)
"""With these, "done in a week" tells a day."""


def is_duration(low: str, start: int, stop: int) -> bool:
    """Whether words such as "in two days" say how long something takes.

    Args:
        low: a text in small letters, with single spaces.
        start: where the words begin, with their "in".
        stop: where they end.
    """
    before, after = low[max(0, start - LOOK) : start], low[stop : stop + LOOK]
    before = re.split(r"[.!?;:\n]", before)[-1]
    after = re.split(r"[.!?;:\n]", after)[0]
    if _RETURN_BEFORE.search(before) or _RETURN_AFTER.match(after):
        return True
    if _TO_COME.search(before) or _TO_COME.search(after):
        return False
    if _ONE_CAN.search(before) and _INFINITIVE.match(after):
        return True
    return _BEFORE.search(before) is not None or _AFTER.match(after) is not None
