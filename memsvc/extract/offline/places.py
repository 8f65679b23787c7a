"""Where people live, go and are, and where things, firms and events stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.extraction import Change
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause, Oblique
from memsvc.extract.offline.findings import (
    DOUBTFUL,
    LIKELY,
    MAYBE,
    SURE,
    Finding,
    change,
    kind,
    listed,
    named,
    naming,
    owning,
    placed,
    thing,
    told,
)

if TYPE_CHECKING:
    from spacy.tokens import Token

IN = ("in", "at", "on", "near", "by", "outside", "around", "within", "inside", "beside", "opposite", "off", "across")
TO = (
    "to",
    "into",
    "in",
    "at",
    "around",
    "through",
    "over",
    "up",
    "down",
    "via",
    "towards",
    "back to",
    "onto",
    "across",
)
HAVE_HOME = verbs.lemmas("""
    have, get, rent, buy, find, own, lease, share, sign, take, sublet, keep, see, view, move, be
""")
WORDS_FOR_HOME = things.DWELLINGS | things.words("place")
MEET = verbs.lemmas("meet, know, hire, befriend")
LET = things.words("flat apartment place room condo")
HOUSES = things.words(
    "studio boatyard yard workshop barn shed cabin land plot allotment garage stall stand chapel mill"
)
REGIONS = frozenset({"GPE", "LOC"})


def read(clause: Clause) -> Iterator[Finding]:
    """Everything about places in a clause."""
    if not clause.said:
        return
    yield from lives(clause)
    yield from moves(clause)
    yield from homes(clause)
    yield from is_home(clause)
    yield from goes(clause)
    yield from visits(clause)
    yield from stands(clause)


def regions(clause: Clause, nouns: list[Token]) -> list[int]:
    """The places among some nouns that one can live in: named ones, and "the countryside"."""
    found = []
    for noun in nouns:
        key = placed(clause, noun)
        if key is not None and (named(noun) or noun.ent_type_ in REGIONS):
            found.append(key)
    return found


def lives(clause: Clause) -> Iterator[Finding]:
    """I live in Malmö; she's based in Leeds; he grew up in Cork; we come from Peru."""
    over: Change = "ended" if change(clause) == "ended" or clause.past else "holds"
    keys: list[int] = []
    confidence = SURE
    if clause.means(verbs.LIVE) and all(listed(noun, things.DWELLINGS) for noun in clause.objects):
        keys = regions(clause, clause.at("in", "near", "at", "on", "outside", "around"))
        over = change(clause) if clause.passive or "base" in clause.lemma or clause.lemma.startswith("settle") else over
    elif clause.means(verbs.GROW):
        keys, over = regions(clause, clause.at("in", "near", "from", "on", "outside")), "ended"
        confidence = MAYBE if clause.lemma == "bear" else SURE
    elif clause.lemma in {"be", "come", "hail"}:
        keys, confidence = regions(clause, clause.on_verb("from")), LIKELY
        if clause.adverb or (clause.lemma == "come" and (clause.past or clause.verb.tag_ == "VBG")):
            keys = []
    elif clause.lemma == "be" and any(token.lemma_ == "base" for token in clause.complements):
        keys = regions(clause, clause.at("in", "near", "at"))
    for key in keys:
        yield from told(clause.people, "LIVES_IN", key, clause, confidence, over)


def moves(clause: Clause) -> Iterator[Finding]:
    """We moved to Ghent in May; he's relocating from Leeds to York; she left Peru."""
    if not clause.means(verbs.MOVE) or clause.passive or clause.objects:
        return
    to = regions(clause, clause.at("to", "into", "in", "near", "at"))
    came = regions(clause, clause.at("from", "out of"))
    for person in clause.people:
        for key in to:
            yield Finding(person, "LIVES_IN", key, clause, SURE, change(clause))
        for key in came:
            yield Finding(person, "LIVES_IN", key, clause, LIKELY, "ended")


def homes(clause: Clause) -> Iterator[Finding]:
    """Our place in Malmö; a flat in Nantwich; mum's house in Crewe; my sister in Porto; a nurse in Porto."""
    for oblique in clause.obliques:
        meeting = oblique.prep == "from" and oblique.holder == clause.verb and clause.means(MEET)
        if oblique.prep not in {"in", "near", "at", "from", "outside"} or not (
            meeting or oblique.holder.pos_ in {"NOUN", "PROPN", "ADJ", "NUM"}
        ):
            continue
        keys = regions(clause, [oblique.noun])
        if keys and kind(clause, keys[0]) == "Place":
            left = clause.means(verbs.lemmas("give up, leave, sell, move out, vacate")) and listed(
                oblique.holder, WORDS_FOR_HOME
            )
            people = [*clause.people] if left else residents(clause, oblique)
            yield from told(people, "LIVES_IN", keys[0], clause, LIKELY, "ended" if left else change(clause))


def residents(clause: Clause, oblique: Oblique) -> list[int | None]:
    """Who lives at the place of "a flat in Nantwich", "my sister in Porto", "at home in Gentbrugge"."""
    holder, reading = oblique.holder, clause.reading
    family: dict[int, int | None] = {bond.token.i: bond.who for bond in reading.bonds}
    if holder.lower_ == "home" and holder in clause.at("at"):
        return [reading.speaker]
    if listed(holder, WORDS_FOR_HOME):
        whose = owning(clause, holder)
        lets = clause.lemma not in {"have", "own", "buy", "see", "view"} or listed(holder, LET)
        renting = (lets and clause.means(HAVE_HOME)) or clause.verb == holder
        return [whose] if whose is not None else [*clause.people] if renting else []
    if holder.i in family:
        return [family[holder.i]]
    if holder == clause.verb and clause.means(MEET):  # "met a lovely girl, Shabnam, from Burnley"
        return [reading.person(noun) for noun in clause.objects]
    if "us" in {
        noun.lower_ for child in holder.children for noun in child.children
    }:  # "there's four of us in Hyde Park"
        return [reading.speaker]
    if listed(holder, things.ROLES) and holder in clause.complements and clause.lemma == "be":
        return [*clause.people]
    person = holder.ent_type_ == "PERSON" or is_person_noun(holder)
    return [reading.person(holder)] if person and oblique.prep in {"from", "in"} else []


def is_person_noun(noun: Token) -> bool:
    """Whether a common noun means somebody."""
    return noun.lower_ in {"guy", "girl", "woman", "man", "lady", "bloke", "friend", "boy", "lad"}


def is_home(clause: Clause) -> Iterator[Finding]:
    """Home is Lyon now; my hometown is Split; it's home to me."""
    if clause.lemma != "be":
        return
    for subject in clause.subjects:
        if subject.lower_ in {"home", "hometown", "birthplace", "address", "base"}:
            whose = owning(clause, subject)
            person = whose if whose is not None else clause.reading.speaker
            over: Change = "ended" if subject.lower_ in {"hometown", "birthplace"} else change(clause)
            for key in regions(clause, clause.complements + clause.at("in")):
                yield from told([person], "LIVES_IN", key, clause, LIKELY, over)


def goes(clause: Clause) -> Iterator[Finding]:
    """I'm flying to Rome on Friday; got back from Lisbon; we're in Leeds for the weekend; she stayed at the Ritz."""
    going, staying = clause.means(verbs.TRAVEL), clause.means(verbs.STAY)
    brought = clause.means(verbs.lemmas("take, bring, drive, fly")) and any(
        clause.reading.person(noun) is not None for noun in clause.objects
    )
    going = going or brought or (clause.lemma == "be" and clause.adverb in {"off", "away", "over"})
    be = clause.lemma == "be" or clause.verb.pos_ in {"ADP", "ADV"}
    working = clause.means(verbs.WORK_PLAIN)
    if working:
        for noun in clause.at("in"):
            key = placed(clause, noun) if noun.ent_type_ in REGIONS else None
            yield from told(clause.people, "LOCATED_AT", key, clause, MAYBE, change(clause))
        return
    if not (going or staying or be) or (clause.lemma == "get" and clause.objects):
        return
    if be and clause.verb.pos_ != "AUX" and not timed(clause):  # "in Utrecht": of whom or what?
        return
    for oblique in clause.obliques:
        if not whereabouts(clause, oblique, going):
            continue
        key = placed(clause, oblique.noun)
        if key is None:
            continue
        if be and not clause.past and oblique.prep == "at" and kind(clause, key) == "Organization":
            continue
        over: Change = "ended" if oblique.prep in {"from", "out of"} else "holds"
        if be and resides(clause, oblique):
            yield from told(clause.people, "LIVES_IN", key, clause, MAYBE)
            continue
        yield from told(clause.people, "LOCATED_AT", key, clause, LIKELY if named(oblique.noun) else DOUBTFUL, over)


def timed(clause: Clause) -> bool:
    """Whether the clause tells when, or that it is for now."""
    return any(
        token.ent_type_ in {"DATE", "TIME"} or token.lower_ in {"back", "now", "still", "here", "off"}
        for token in clause.own
    )


def resides(clause: Clause, oblique: Oblique) -> bool:
    """Whether "he's in Calgary with his wife" says where somebody lives: of others, now, at no special time."""
    if oblique.prep != "in" or clause.past or oblique.noun.ent_type_ not in REGIONS:
        return False
    if any(token.lower_ == "since" or listed(token, things.DWELLINGS) for token in clause.own):
        return True
    dated = any(token.ent_type_ in {"DATE", "TIME"} and not token.like_num for token in clause.own)
    return not clause.mine and not dated


def whereabouts(clause: Clause, oblique: Oblique, going: bool) -> bool:
    """Whether a prepositional phrase says where the subject of its clause is or goes."""
    holder, verb = oblique.holder, clause.verb
    if oblique.prep in {"from", "out of"}:
        return going and clause.means(
            verbs.lemmas("get, get back, come back, be back, return, fly back, leave, back, fly, arrive")
        )
    if oblique.prep not in (TO if going else IN):
        return False
    if (
        holder == verb
        or holder.pos_ in {"ADV", "ADP"}
        or holder.lower_ in {"back", "over", "home", "off", "away", "trip", "way"}
    ):
        return True
    return holder.pos_ not in {"PROPN", "PRON"} and listed(holder, things.TRIPS | things.TIMES) and going


def visits(clause: Clause) -> Iterator[Finding]:
    """We visited Porto; exploring the old town; trips: my trip to Rome, our move to Ghent, a weekend in Paris."""
    if clause.means(verbs.VISIT):
        for noun in clause.objects:
            regional = noun.ent_type_ in {"GPE", "LOC", "FAC"} or listed(noun, things.PLACES)
            if clause.lemma in {"visit", "revisit", "tour", "explore"}:
                regional = regional or (named(noun) and noun.ent_type_ != "PERSON")
            key = placed(clause, noun) if regional else None
            yield from told(clause.people, "LOCATED_AT", key, clause, LIKELY if named(noun) else DOUBTFUL)
    for oblique in clause.obliques:
        if oblique.prep in {"to", "in", "around", "through", "across", "from"} and listed(oblique.holder, things.TRIPS):
            key = placed(clause, oblique.noun)
            whose = owning(clause, oblique.holder)
            going = (
                whose is not None
                or clause.means(verbs.TAKE_PART - verbs.NOT_TAKING_PART)
                or oblique.holder == clause.verb
            )
            people = [whose] if whose is not None else clause.people if going else []
            if oblique.prep != "from":
                yield from told(people, "LOCATED_AT", key, clause, LIKELY)


def stands(clause: Clause) -> Iterator[Finding]:
    """The concert is at St Mary's; a wedding in Birmingham; a company in Tampere; the Polish club in Hanley."""
    for oblique in clause.obliques:
        holder = oblique.holder
        heading = oblique.prep == "to" and listed(holder, things.TRIPS)
        if (
            not (oblique.prep in IN or heading)
            or holder.pos_ not in {"NOUN", "PROPN"}
            or holder.ent_type_ in {"DATE", "TIME", "PERSON"}
        ):
            continue
        event = listed(holder, things.EVENTS)
        house = listed(
            holder, things.WORKPLACES | things.PLACES | things.HOMES | things.GROUPS
        ) or holder.ent_type_ in {"ORG", "FAC"}
        kept = clause.means(verbs.RUN | verbs.BUY | verbs.HAVE) and holder in clause.objects
        if house and not event and not (named(naming(holder)) or kept or owning(clause, holder) is not None):
            continue
        if not (event or house) or (holder.ent_type_ == "" and named(holder) and not event and not house):
            continue
        where = placed(clause, oblique.noun)
        if where is None:
            continue
        what = thing(clause, holder, "Event" if event else "Organization")
        if what is not None and where != what and kind(clause, what) in {"Event", "Organization", "Place", "Object"}:
            yield Finding(what, "LOCATED_AT", where, clause, LIKELY, "holds")
    yield from bought_in(clause)
    if clause.lemma == "be" or clause.means(
        verbs.HOLD_EVENT | verbs.lemmas("stand, lie, keep, locate, park, base, situate, hang, live, sit")
    ):
        yield from subject_stands(clause)


def bought_in(clause: Clause) -> Iterator[Finding]:
    """We bought a house in Kilkenny; rented half a studio in Poblenou."""
    if not clause.means(HAVE_HOME | verbs.RUN | verbs.lemmas("open, start")) or clause.passive:
        return
    for noun in clause.objects:
        housed = listed(noun, (things.HOMES | things.WORKPLACES | HOUSES) - things.words("home place"))
        wheres = [each for each in clause.on_verb("in", "on", "near") if named(each) and each.i > noun.i]
        where = placed(clause, wheres[0]) if housed and wheres else None
        what = thing(clause, noun) if where is not None else None
        if where is not None and what is not None and what != where and kind(clause, where) == "Place":
            yield Finding(what, "LOCATED_AT", where, clause, LIKELY)


def subject_stands(clause: Clause) -> Iterator[Finding]:
    """What is no person stands somewhere: "the wedding is in Leeds", "the race takes place in York"."""
    for subject in clause.subjects:
        if subject.pos_ not in {"NOUN", "PROPN", "PRON"} or subject.ent_type_ == "PERSON" or subject.lower_ in {
            "i", "we", "he", "she", "they", "you", "who", "this", "that", "there", "everyone", "everything"
        }:  # fmt: skip
            continue
        keys = [placed(clause, noun) for noun in clause.on_verb(*IN)]
        for key in keys:
            what = thing(clause, subject) if key is not None else None
            if (
                key is not None
                and what is not None
                and what != key
                and kind(clause, what) in {"Event", "Organization", "Place", "Object", "Project"}
            ):
                yield Finding(
                    what, "LOCATED_AT", key, clause, LIKELY if subject.pos_ != "PRON" else MAYBE, change(clause)
                )
