"""Where people work, study and volunteer, and what they are by trade."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.extraction import Change
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import (
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
    thing,
    told,
    word,
)
from memsvc.extract.offline.reading import Status

if TYPE_CHECKING:
    from spacy.tokens import Token

STUDY_PLACES = things.words("""
    school university uni college academy conservatory kindergarten nursery institute polytechnic
""")
START_ORG = verbs.lemmas("join, rejoin, attend, quit, leave")
TRADE_ENDS = tuple(
    things.words("""
        keeper maker writer worker ician ologist smith wright monger trician grapher herd teacher engineer designer
    """)
)
NO_TRADES = frozenset({"matchmaker", "troublemaker", "coworker", "co-worker", "humanitarian"})
BELIEFS = things.words("""
    vegan vegetarian veggie pescatarian coeliac celiac diabetic asthmatic dyslexic autistic deaf blind catholic muslim
    jewish buddhist atheist retired unemployed pregnant sober teetotal dyspraxic colourblind colorblind left-handed
""")
ILLNESSES = things.words("""
    asthma diabetes arthritis adhd migraine migraines epilepsy cancer eczema psoriasis hayfever allergy allergies
    anaemia endometriosis fibromyalgia sciatica tinnitus dementia parkinson alzheimer glaucoma gout ibs crohn coeliac
    insomnia dyslexia autism bronchitis covid angina cataracts stroke
""")
NOTICE = things.words("notice resignation")
PLAIN = things.words("good great new big bad young old real little first")
JOB_VERBS = verbs.lemmas("""
    have, get, land, start, take, accept, find, lose, quit, leave, hold, do, begin, finish, love, enjoy
""")


def read(clause: Clause) -> Iterator[Finding]:
    """Everything about work in a clause."""
    yield from ended(clause)
    if clause.said:
        yield from at_work(clause)
        yield from at_places(clause)
        yield from by_noun(clause)
        yield from fragments(clause)
        yield from by_person(clause)
        yield from runs(clause)
        yield from trades(clause)
        yield from diets(clause)
        yield from studies(clause)


def employer(clause: Clause, noun: Token, loose: bool) -> int | None:
    """The organisation that a noun is; ``loose``: after "at", nearly anything is one."""
    noun = naming(noun)
    if noun.lower_ in things.TIMES or listed(noun, things.EVENTS | things.JOBS | things.words("home")):
        return None
    if noun.ent_type_ in {"GPE", "LOC", "LANGUAGE", "NORP", "PERSON"} and not loose:
        return None
    if not (named(noun) or listed(noun, things.WORKPLACES)):
        return None
    key = thing(clause, noun, "Organization")
    if key is None and loose and noun.pos_ == "PROPN" and noun.ent_type_ in {"GPE", "LOC", "FAC"}:
        return clause.reading.made(phrase_of(noun), "Organization", noun)  # "in my second year at Leeds"
    return key if key is not None and kind(clause, key) == "Organization" else None


def phrase_of(noun: Token) -> str:
    """A proper name with its parts."""
    return " ".join(token.text for token in [*(c for c in noun.lefts if c.dep_ == "compound"), noun])


def at_work(clause: Clause) -> Iterator[Finding]:
    """I work at Lidl; she was hired by Volvo; they teach in a primary school."""
    if not clause.means(verbs.WORK):
        return
    plain = clause.means(verbs.WORK_PLAIN) or clause.passive
    preps = ("at", "for", "with", "by") if plain else ("at", "for")
    nouns = [(noun, oblique == "at") for oblique in preps for noun in clause.at(oblique)]
    nouns += [(noun, False) for noun in clause.at("in", "on")
              if listed(noun, things.WORKPLACES) or noun.ent_type_ == "ORG"]  # fmt: skip
    for noun, loose in nouns:
        key = employer(clause, noun, loose and plain)
        if key is None:
            continue
        over: Change = "ended" if change(clause) == "ended" or (clause.past and not clause.passive) else "holds"
        yield from told(clause.people, "WORKS_AT", key, clause, SURE if plain else MAYBE, over)


def at_places(clause: Clause) -> Iterator[Finding]:
    """I'm at Wolt; started at Reaktor; got into Keele; joined Monzo; she goes to St Joachim."""
    nouns: list[tuple[Token, float]] = []
    if (clause.lemma == "be" and not clause.past) or clause.verb.pos_ in {"ADP", "ADV"}:
        nouns += [(noun, MAYBE) for noun in employers_at(clause)]
        nouns += [(noun, MAYBE) for noun in clause.on_verb("with") if noun.ent_type_ == "ORG"]
    elif clause.verb.ent_type_ in {"DATE", "TIME"} or listed(clause.verb, things.TIMES | things.JOBS):
        nouns += [(noun, MAYBE) for noun in clause.at("at") if listed(noun, things.WORKPLACES)]
        nouns += [(noun, MAYBE) for noun in clause.at("in", "with") if clause.verb.lemma_ == "year" and (
            listed(noun, things.WORKPLACES) or noun.ent_type_ == "ORG")]  # fmt: skip
    elif clause.means(verbs.lemmas("start, begin, enrol, enroll, accept, get in, continue, end up, get hired")):
        nouns += [(noun, LIKELY) for noun in clause.at("at", "with")]
    elif clause.means(verbs.lemmas("go, get into, get, apply")):
        nouns += [(noun, LIKELY) for noun in clause.at("to", "into", "at") if listed(noun, STUDY_PLACES)
                  and clause.lemma != "apply"]  # fmt: skip
    elif clause.means(verbs.lemmas("join, rejoin, attend")):
        nouns += [
            (noun, LIKELY) for noun in clause.objects if listed(noun, things.WORKPLACES) or noun.ent_type_ == "ORG"
        ]
    for noun, confidence in nouns:
        if listed(noun, things.GROUPS) and not listed(noun, STUDY_PLACES):
            continue
        key = employer(clause, noun, loose=confidence > MAYBE)
        yield from told(clause.people, "WORKS_AT", key, clause, confidence, change(clause))


def employers_at(clause: Clause) -> list[Token]:
    """Where somebody is who is there for work or study: "I'm at Wolt", "she's at the conservatory"."""
    found = [noun for noun in clause.on_verb("at") if listed(noun, STUDY_PLACES) or (
        named(noun) and noun.ent_type_ not in {"GPE", "LOC", "EVENT", "PERSON", "DATE", "TIME"})]  # fmt: skip
    here = [oblique for oblique in clause.obliques if oblique.prep == "at" and oblique.holder == clause.verb]
    return found + [oblique.noun for oblique in here if clause.verb.pos_ != "AUX" and named(oblique.noun)]


def ended(clause: Clause) -> Iterator[Finding]:
    """Quit Bramley Crust; left Google; was laid off from Wolt; retired from the post office."""
    notice = clause.means(verbs.lemmas("hand, hand in, give, submit, tender")) and any(
        listed(noun, NOTICE) for noun in clause.objects
    )
    if not (notice or clause.means(verbs.END_WORK)) or clause.status not in {Status.SO, Status.WAS}:
        return
    nouns = [
        noun for noun in clause.objects if noun.ent_type_ == "ORG" or listed(noun, things.WORKPLACES) or named(noun)
    ]
    if clause.lemma == "leave":
        nouns = [noun for noun in nouns if noun.ent_type_ not in {"GPE", "LOC", "PERSON"}]
    nouns += clause.at("from", "at", "by") if not notice else clause.at("at")
    jobs = [noun for noun in clause.objects if listed(noun, things.JOBS | NOTICE)]
    nouns += [
        child for job in jobs for prep in job.children if prep.lower_ in {"at", "with"} for child in prep.children
    ]
    for noun in nouns:
        key = employer(clause, noun, loose=True)
        yield from told(clause.people, "WORKS_AT", key, clause, LIKELY, "ended")


def by_noun(clause: Clause) -> Iterator[Finding]:
    """A nurse at Keele; my job at Lidl; backend at Wolt; 9 years in a hospital; my boss at the bakery."""
    for oblique in clause.obliques:
        if oblique.prep not in {"at", "with", "for", "in"}:
            continue
        near = [oblique.holder] if oblique.holder != clause.verb else [*clause.complements, *clause.objects]
        for holder in near:
            role, job = listed(holder, things.ROLES), listed(holder, things.JOBS)
            if not (role or job) or holder.pos_ not in {"NOUN", "PROPN", "ADJ"} or holder.i > oblique.noun.i:
                continue
            key = employer(clause, oblique.noun, loose=oblique.prep == "at")
            if key is None or (oblique.prep != "at" and kind(clause, key) != "Organization"):
                continue
            yield from told(holders(clause, holder, role), "WORKS_AT", key, clause, LIKELY, change(clause))


def fragments(clause: Clause) -> Iterator[Finding]:
    """New job - Bosch; postdoc, marine institute; still in the institute: nobody else is spoken of."""
    tokens = clause.own
    if clause.verb.pos_ in {"VERB", "AUX"} or any(
        token.ent_type_ == "PERSON" or token.dep_ in {"nsubj", "poss"} or token.lower_ in {"no", "not", "from", "like"}
        for token in tokens
    ):
        return
    job = any(listed(token, things.JOBS) or is_trade(token) for token in tokens if token.pos_ in {"NOUN", "PROPN"})
    still = any(token.lower_ == "still" for token in tokens)
    for noun in tokens:
        study = still and listed(noun, STUDY_PLACES) and noun.dep_ == "pobj"
        firm = job and noun.dep_ != "compound" and (noun.ent_type_ == "ORG" or listed(noun, things.WORKPLACES))
        if (study or firm) and clause.reading.speaker is not None:
            key = employer(clause, noun, loose=False)
            yield from told([clause.reading.speaker], "WORKS_AT", key, clause, MAYBE)


def by_person(clause: Clause) -> Iterator[Finding]:
    """Catrin from Ystwyth Vets; Prof. Tezel, at Cerrahpaşa; she became a telephonist at the PTT."""
    for oblique in clause.obliques:
        holder = oblique.holder
        if oblique.prep not in {"from", "at"} or oblique.noun.lower_ in things.TIMES:
            continue
        somebody = holder.ent_type_ == "PERSON" or holder.lower_ in {
            "girl",
            "guy",
            "woman",
            "man",
            "lady",
            "bloke",
            "lad",
        }
        people = [clause.reading.person(holder)] if somebody else []
        if clause.lemma in {"be", "become"} and oblique.prep == "at" and holder in [clause.verb, *clause.complements]:
            indefinite = [noun for noun in clause.complements if any(c.lower_ in {"a", "an"} for c in noun.children)]
            people = [*clause.people] if indefinite and named(oblique.noun) else people
        at_org = oblique.noun.ent_type_ == "ORG" or listed(oblique.noun, things.WORKPLACES)
        key = employer(clause, oblique.noun, loose=False) if people and at_org else None
        yield from told(people, "WORKS_AT", key, clause, MAYBE)


def holders(clause: Clause, noun: Token, role: bool) -> list[int]:
    """Who has the job, or is the nurse, that a noun names."""
    whose = owning(clause, noun)
    if whose is not None:
        described = clause.reading.person(noun) if role else None
        return [whose] if described is None else [whose, described]
    if noun in clause.complements or (clause.means(JOB_VERBS) and noun in clause.objects) or noun == clause.verb:
        return clause.people
    if noun.dep_ == "appos":
        person = clause.reading.person(noun.head)
        return [person] if person is not None else []
    if clause.lemma == "be" and any(oblique.noun == noun for oblique in clause.obliques):
        return clause.people
    if clause.means(verbs.WORK) and noun in clause.at("as"):
        return clause.people
    return []


def runs(clause: Clause) -> Iterator[Finding]:
    """I own a small fabric shop; she runs the bakery; we've got a farm."""
    if not clause.means(verbs.RUN | verbs.lemmas("own, have, buy")) or clause.passive:
        return
    for noun in clause.objects:
        of_own = any(child.lower_ in {"own", "a", "my", "our", "an"} for child in noun.children)
        if (clause.lemma != "have" or of_own) and listed(
            noun, things.WORKPLACES - things.words("garden garage studio workshop practice kitchen")
        ):
            key = thing(clause, noun, "Organization")
            over: Change = "ended" if clause.past and clause.lemma == "have" else change(clause)
            yield from told(clause.people, "WORKS_AT", key, clause, LIKELY, over)


def trades(clause: Clause) -> Iterator[Finding]:
    """I'm a welder; he works as a nurse; Ana, a teacher."""
    nouns = (
        [noun for noun in clause.complements if clause.verb.pos_ in {"VERB", "AUX"} and clause.subjects]
        if clause.lemma in {"be", "become"}
        else []
    )
    if clause.means(verbs.WORK | verbs.lemmas("start, train, qualify, retrain, serve, volunteer, hire")):
        nouns += clause.at("as")
    for noun in nouns:
        if is_trade(noun) and not named(noun) and owning(clause, noun) is None and noun.tag_ in {"NN", "NNS"}:
            when = any(child.lower_ in {"when", "while", "before", "until"} for child in clause.verb.children)
            yield from trade(clause, noun, clause.people if not when else [])
    for token in clause.own:
        if token.dep_ == "appos" and listed(token, things.ROLES) and not named(token) and owning(clause, token) is None:
            person = clause.reading.person(token.head)
            if person is not None:
                yield from trade(clause, token, [person])


def diets(clause: Clause) -> Iterator[Finding]:
    """I'm allergic to peanuts; she's vegan; he has asthma."""
    if clause.lemma == "be":
        for oblique in clause.obliques:
            if oblique.prep == "to" and oblique.holder.lower_ in {"allergic", "intolerant"}:
                key = thing(clause, oblique.noun, "Concept")
                yield from told(
                    clause.people, "RELATED_TO", key, clause, LIKELY, change(clause), {"relation": "allergy"}
                )
        for token in clause.complements:
            if token.lower_ in BELIEFS:
                key = clause.reading.made(token.lower_, "Concept", token) if clause.people else None
                yield from told(
                    clause.people, "RELATED_TO", key, clause, LIKELY, change(clause), {"relation": token.lower_}
                )
    elif clause.lemma == "have":
        for noun in clause.objects:
            if listed(noun, ILLNESSES):
                key = thing(clause, noun, "Concept")
                yield from told(
                    clause.people, "RELATED_TO", key, clause, LIKELY, change(clause), {"relation": "illness"}
                )


def is_trade(noun: Token) -> bool:
    """Whether a noun names what somebody is by trade: a known one, or one that sounds so ("bookkeeper")."""
    own = word(noun)
    return listed(noun, things.ROLES) or (own.endswith(TRADE_ENDS) and own not in NO_TRADES)


def trade(clause: Clause, noun: Token, people: list[int]) -> Iterator[Finding]:
    """What a noun says that persons are by trade."""
    over: Change = "ended" if clause.past and clause.lemma == "be" else change(clause)
    before = [child for child in noun.lefts if child.dep_ in {"compound", "amod"}]
    parts = [child.lower_ for child in before if child.pos_ in {"NOUN", "ADJ", "PROPN"} and child.lower_ not in PLAIN]
    key = clause.reading.made(" ".join([*parts, word(noun)]), "Concept", noun) if people else 0
    yield from told(people, "RELATED_TO", key, clause, LIKELY, over, {"relation": word(noun)})


def studies(clause: Clause) -> Iterator[Finding]:
    """Studying geology; doing a masters in maths."""
    nouns: list[Token] = []
    if clause.means(verbs.lemmas("study, major, minor")):
        nouns = clause.objects + clause.at("in")
    for oblique in clause.obliques:
        if oblique.prep == "in" and listed(
            oblique.holder, things.words("degree masters master phd bachelor diploma course ba ma bsc msc")
        ):
            nouns.append(oblique.noun)
    for noun in nouns:
        if (
            noun.pos_ not in {"NOUN", "PROPN", "ADJ"}
            or listed(noun, things.EVENTS | things.PLACES)
            or noun.ent_type_ in {"GPE", "DATE"}
        ):
            continue
        key = thing(clause, noun, "Concept")
        if key is not None and kind(clause, key) == "Concept":
            yield from told(clause.people, "RELATED_TO", key, clause, LIKELY, change(clause), {"relation": "studies"})
