"""Where people live, lived and come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memsvc.extract.extraction import Change
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import OBJECTS, Clause, Oblique
from memsvc.extract.offline.findings import (
    LIKELY,
    MAYBE,
    SURE,
    Finding,
    change,
    kind,
    listed,
    named,
    owning,
    placed,
    told,
)

if TYPE_CHECKING:
    from spacy.tokens import Token

REGIONS = frozenset({"GPE", "LOC"})
TENANT = verbs.lemmas("rent, sublet, share")
LETTING = verbs.lemmas("rent, lease, keep, share, sublet, sign, get, find, take, let, have")
"""Behind these, a flat is somebody's home."""
LETS = things.words("flat apartment room condo bedsit flatshare houseshare lease sublet tenancy mortgage key keys")
LEAVING = verbs.lemmas("give up, leave, sell, move out, vacate, quit")
HOME_WORDS = things.DWELLINGS | things.words("place neighbourhood neighborhood street building block village")
COMING = verbs.lemmas("""
    come, come down, come up, come over, fly in, fly over, drive down, drive up, drive over, travel, visit, fly, arrive
""")
COMING_HOME = verbs.lemmas("come, move, return, come home, move home")
STARTING = verbs.lemmas("start, begin, do, get, take up")
STUDIES = things.words("masters phd postdoc degree erasmus doctorate apprenticeship traineeship residency")
DAYS = things.words("monday tuesday wednesday thursday friday saturday sunday today tonight yesterday tomorrow weekend")
HOME_NOUNS = things.words("home hometown birthplace address base")
ORIGINS = things.words("hometown birthplace")
MEET = verbs.lemmas("meet, know, hire, befriend")
NEAR = ("in", "near", "at", "on", "outside", "around", "by", "behind", "above", "over")
PASSING = things.words("until till til back holiday trip visit visiting conference airport transit")
"""Beside "she's in Leeds" these say that it is not for long."""
PARTS = things.words("outskirts edge middle centre center heart north south east west suburbs side part bit end area")
YOUTH = things.words("childhood youth teens adolescence twenties thirties forties")
YEARS = things.words("year years yr yrs month months decade decades")
MONTHS = things.words("january february march april may june july august september october november december")
STAYS = things.words("month week weekend night fortnight day holiday summer")
STREETS = things.words("street road avenue lane st rd ave boulevard close crescent terrace square")
PERSON_NOUNS = things.words("guy girl woman man lady bloke friend boy lad mate couple family kid chap")


def read(clause: Clause) -> Iterator[Finding]:
    """Everything about homes in a clause."""
    if not clause.said:
        return
    yield from lives(clause)
    yield from comes_from(clause)
    yield from visits_from(clause)
    yield from comes_home(clause)
    yield from moves(clause)
    yield from homes(clause)
    yield from is_home(clause)
    yield from resides(clause)


def regions(clause: Clause, nouns: list[Token]) -> list[int]:
    """The places among some nouns that one can live in: named ones, and "the countryside"."""
    found = []
    for noun in (part for each in nouns for part in whole(each)):
        key = placed(clause, noun)
        if key is not None and (named(noun) or noun.ent_type_ in REGIONS):
            found.append(key)
    return found


def whole(noun: Token) -> list[Token]:
    """What a part is of: Leeds in "the outskirts of Leeds"."""
    if not listed(noun, PARTS):
        return [noun]
    return [of for child in noun.children if child.lower_ == "of" for of in child.children] or [noun]


def towns(clause: Clause, nouns: list[Token]) -> list[int]:
    """Those of them that are places, not firms."""
    return [key for key in regions(clause, nouns) if kind(clause, key) == "Place"]


def lives(clause: Clause) -> Iterator[Finding]:
    """I live in Malmö; she's based in Leeds; he grew up in Cork; we lived in Bern until 2015."""
    over: Change = "ended" if change(clause) == "ended" or clause.past else "holds"
    keys: list[int] = []
    confidence = SURE
    if clause.means(verbs.LIVE) and all(listed(noun, things.DWELLINGS) for noun in direct(clause)):
        keys = regions(clause, clause.at(*NEAR))
        settled = clause.passive or "base" in clause.lemma or clause.lemma.startswith("settle")
        over = change(clause) if settled else over
    elif clause.means(verbs.GROW) or (clause.lemma == "spend" and any(listed(n, YOUTH) for n in clause.objects)):
        keys, over = regions(clause, clause.at("in", "near", "from", "on", "outside")), "ended"
        confidence = MAYBE if clause.lemma == "bear" else SURE
    elif clause.lemma == "be" and any(token.lemma_ == "base" for token in clause.complements):
        keys = regions(clause, clause.at("in", "near", "at"))
    if not keys and clause.means(verbs.LIVE) and not direct(clause):
        keys, confidence = there(clause, "Place"), MAYBE
    people = clause.people
    if clause.means(verbs.lemmas("raise, bring up")) and clause.objects:
        people = [key for key in map(clause.reading.person, clause.objects) if key is not None]
    for key in keys:
        yield from told(people, "LIVES_IN", key, clause, confidence, over)


def there(clause: Clause, *types: str) -> list[int]:
    """What "there" means beside the verb of a clause, of these types."""
    adverbs = [child for child in clause.verb.children if child.lower_ == "there" and child.dep_ == "advmod"]
    keys = [clause.reading.entity(adverb, *types) for adverb in adverbs]
    return [key for key in keys if key is not None and kind(clause, key) in types]


def direct(clause: Clause) -> list[Token]:
    """The objects that stand behind the verb itself."""
    return [child for child in clause.verb.children if child.dep_ in OBJECTS]


def comes_from(clause: Clause) -> Iterator[Finding]:
    """I'm from Tampere; they come from Peru; originally from Split: the last is over."""
    if clause.lemma not in {"be", "come", "hail"} or clause.adverb:
        return
    arrived = clause.lemma == "come" and clause.past  # "I came from Peru in 2009", but not "from work at six"
    if clause.lemma == "come" and ((arrived and not long_since(clause)) or clause.verb.tag_ == "VBG"):
        return
    over: Change = "ended" if arrived or "originally" in clause.adverbs else change(clause)
    for key in regions(clause, clause.on_verb("from")):
        yield from told(clause.people, "LIVES_IN", key, clause, LIKELY, over)


def long_since(clause: Clause) -> bool:
    """Whether the speaker tells the month or the year of something."""
    when = clause.on_verb("in")
    return clause.mine and any(noun.lower_ in MONTHS or (noun.like_num and len(noun) == len("2009")) for noun in when)


def visits_from(clause: Clause) -> Iterator[Finding]:
    """Our Marisol came from Denver for two weeks; Fergus flew in from Perth: who visits lives there."""
    if clause.mine or clause.adverb == "back" or not clause.means(COMING):
        return
    for key in towns(clause, clause.on_verb("from")):
        yield from told(clause.people, "LIVES_IN", key, clause, MAYBE)


def comes_home(clause: Clause) -> Iterator[Finding]:
    """We came home to Split in May; it's freezing here in Malmö; I started my masters in Lund."""
    words = {token.lower_ for token in clause.own}
    if words & PASSING:
        return
    for oblique in clause.obliques:
        holder, homely = oblique.holder, False
        if oblique.noun.ent_type_ not in REGIONS:
            continue
        if oblique.prep == "to" and clause.means(COMING_HOME) and not dated_closely(clause):
            homely = "home" in {child.lower_ for child in clause.verb.children}
        elif oblique.prep == "in" and listed(holder, STUDIES) and holder in clause.objects:
            homely = clause.means(STARTING)
        people = [*clause.people]
        if oblique.prep == "in" and holder.lower_ == "here":
            homely, people = True, [key for key in (clause.reading.speaker,) if key is not None]
        for key in towns(clause, [oblique.noun]) if homely else ():
            yield from told(people, "LIVES_IN", key, clause, MAYBE, change(clause))


def dated_closely(clause: Clause) -> bool:
    """Whether a clause tells the day, as one does of a visit."""
    return any(token.lower_ in DAYS or token.ent_type_ == "TIME" for token in clause.own)


def moves(clause: Clause) -> Iterator[Finding]:
    """We moved to Ghent in May; he's relocating from Leeds to York; she left Peru for good."""
    helped = any(child.dep_ == "agent" for child in clause.verb.children)
    if clause.means(verbs.MOVE) and not helped and not direct(clause):
        streets = [noun for noun in clause.at("on") if listed(noun, STREETS) and named_street(noun)]
        spent = [oblique.noun for oblique in clause.obliques if listed(oblique.holder, YEARS)]
        after = spent if any(each.dep_ == "prep" and each.lower_ == "after" for each in clause.own) else []
        there_now = clause.at("to", "into", "in", "near", "at", "back to")
        to = regions(clause, [noun for noun in there_now if noun not in spent] + streets)
        came = regions(clause, clause.at("from", "out of") + after)  # "back to Bern after two years in Oslo"
        for person in clause.people:
            for key in to:
                yield Finding(person, "LIVES_IN", key, clause, SURE, change(clause))
            for key in came:
                yield Finding(person, "LIVES_IN", key, clause, LIKELY, "ended")
    elif clause.lemma in {"leave", "flee"} and clause.said:
        for_good = any(oblique.prep == "for" and oblique.noun.lower_ == "good" for oblique in clause.obliques)
        if for_good or clause.lemma == "flee":
            for key in towns(clause, clause.objects):
                yield from told(clause.people, "LIVES_IN", key, clause, LIKELY, "ended")


def named_street(noun: Token) -> bool:
    """Whether a street is told by its name."""
    return named(noun) and any(child.dep_ == "compound" and child.is_alpha for child in noun.children)


def homes(clause: Clause) -> Iterator[Finding]:
    """Our place in Malmö; a flat in Nantwich; mum's house in Crewe; my sister in Porto; a girl from Burnley."""
    leaving = clause.means(LEAVING)
    for oblique in clause.obliques:
        meeting = oblique.prep == "from" and oblique.holder == clause.verb and clause.means(MEET)
        if oblique.prep not in {"in", "near", "at", "from", "outside", "on"} or not (
            meeting or oblique.holder.pos_ in {"NOUN", "PROPN", "ADJ", "NUM"}
        ):
            continue
        keys = towns(clause, [oblique.noun])
        if not keys:
            continue
        left = (leaving and listed(oblique.holder, HOME_WORDS)) or (
            oblique.prep != "at" and had(clause, oblique.holder)
        )
        people = [*clause.people] if left else residents(clause, oblique)
        at_home = oblique.holder.lower_ == "home"  # its times are not the home's, nor those of who is only named
        by_the_way = not left and (at_home or not listed(oblique.holder, HOME_WORDS | LETS))
        for finding in told(people, "LIVES_IN", keys[0], clause, LIKELY, "ended" if left else change(clause)):
            yield replace(finding, dated=not by_the_way)


def residents(clause: Clause, oblique: Oblique) -> list[int | None]:
    """Who lives at the place of "a flat in Nantwich", "my sister in Porto", "at home in Gentbrugge"."""
    holder, reading = oblique.holder, clause.reading
    family: dict[int, int | None] = {bond.token.i: bond.who for bond in reading.bonds}
    if holder.lower_ == "home":
        described = any(child.dep_ in {"det", "amod", "poss", "compound"} for child in holder.children)
        return [reading.speaker] if holder in clause.at("at") and not described else []
    if listed(holder, HOME_WORDS | LETS):
        return dwellers(clause, holder)
    if oblique.prep == "on":
        return []
    if holder.i in family:
        return [family[holder.i]]
    if holder == clause.verb and clause.means(MEET):  # "met a lovely girl, Shabnam, from Burnley"
        return [reading.person(noun) for noun in clause.objects]
    if "us" in {noun.lower_ for child in holder.children for noun in child.children}:  # "four of us in Hyde Park"
        return [reading.speaker]
    lodging = any(listed(noun, LETS) for noun in clause.objects) and holder in clause.at("at", "with")
    if lodging and clause.means(LETTING) and not clause.past:  # "I have a room at my aunt's in Eichstätt"
        return [reading.person(holder), *clause.people]
    person = holder.ent_type_ == "PERSON" or listed(holder, PERSON_NOUNS)
    close = oblique.noun.i - holder.i <= 4  # noqa: PLR2004 - "Osian, from Llanddewi", not across half a sentence
    return [reading.person(holder)] if person and close and oblique.prep in {"from", "in"} else []


def dwellers(clause: Clause, holder: Token) -> list[int | None]:
    """Whose home a flat is: its owner's, that of who rents it; not who views or has one built."""
    whose = owning(clause, holder)
    if whose is not None:
        own = any(child.lower_ == "own" for child in holder.children)
        return [] if own and clause.lemma in {"have", "get", "open", "run"} else [whose]
    if clause.lemma == "be" and holder in clause.on_verb("in") and not clause.past and listed(holder, things.DWELLINGS):
        return [*clause.people]  # "I'm still in the flat on Park Road"
    letting = clause.means(LETTING) and (listed(holder, LETS) or clause.means(TENANT)) and not for_a_while(clause)
    if clause.lemma == "have" or (clause.lemma == "get" and not listed(holder, LETS)):
        house = things.DWELLINGS if clause.mine else LETS
        letting = holder in clause.objects and not clause.past and listed(holder, house)
    fragment = clause.verb == holder and listed(holder, things.DWELLINGS | LETS) and holder.tag_ != "NNS"
    return [*clause.people] if letting or fragment else []


def for_a_while(clause: Clause) -> bool:
    """Whether a flat is found or taken for a time: "a flat in Alfama for the month"; for years is a home."""
    return any(oblique.prep == "for" and listed(oblique.noun, STAYS) for oblique in clause.obliques)


def had(clause: Clause, home: Token) -> bool:
    """Whether a clause says that somebody once had a room."""
    return clause.lemma == "have" and clause.past and home in clause.objects and listed(home, LETS)


def is_home(clause: Clause) -> Iterator[Finding]:
    """Home is Lyon now; my hometown is Split; I call Tampere home."""
    if clause.lemma == "call" and any(child.lower_ == "home" for child in clause.verb.children):
        for key in towns(clause, clause.objects):
            yield from told(clause.people, "LIVES_IN", key, clause, LIKELY, change(clause))
    if clause.lemma != "be":
        return
    for subject in clause.subjects:
        if subject.lower_ in HOME_NOUNS:
            whose = owning(clause, subject)
            person = whose if whose is not None else clause.reading.speaker
            over: Change = "ended" if subject.lower_ in ORIGINS or clause.past else change(clause)
            for key in regions(clause, clause.complements + clause.at("in")):
                yield from told([person], "LIVES_IN", key, clause, LIKELY, over)


def resides(clause: Clause) -> Iterator[Finding]:
    """He's still in Calgary; I've been in Utrecht for six years: in a town, for long or at no special time."""
    remaining = clause.lemma in {"stay", "remain"} and clause.verb.tag_ in {"VBP", "VBZ"} and not dated(clause)
    if (clause.lemma != "be" and not remaining) or clause.past or clause.modal:
        return
    for oblique in clause.obliques:
        if oblique.prep != "in" or oblique.noun.ent_type_ not in REGIONS or oblique.holder != clause.verb:
            continue
        key = placed(clause, oblique.noun)
        if key is not None and (remaining or stays(clause)):
            yield from told(clause.people, "LIVES_IN", key, clause, MAYBE, change(clause))


def stays(clause: Clause) -> bool:
    """Whether "in Calgary" is said of where somebody lives rather than of a journey."""
    words = {token.lower_ for token in clause.own}
    perfect = any(child.lemma_ == "have" for child in clause.verb.children)
    if (perfect and words & YEARS) or ((perfect or clause.mine) and "since" in words):
        return True
    return "since" not in words and not (dated(clause) or clause.mine or words & PASSING)


def dated(clause: Clause) -> bool:
    """Whether a clause tells when."""
    return any(token.ent_type_ in {"DATE", "TIME"} and not token.like_num for token in clause.own)


def origins(found: Sequence[Finding]) -> list[Finding]:
    """Findings of which "from Split" is over where its subject is said to live somewhere else."""
    elsewhere = {
        each.subject for each in found if each.type == "LIVES_IN" and each.change != "ended" and not born(each)
    }
    return [replace(each, change="ended") if born(each) and each.subject in elsewhere else each for each in found]


def born(finding: Finding) -> bool:
    """Whether a finding tells where somebody comes from, and no more."""
    clause = finding.clause
    return finding.type == "LIVES_IN" and clause.lemma in {"be", "come", "hail"} and bool(clause.on_verb("from"))
