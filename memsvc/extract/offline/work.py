"""Where people work, study and volunteer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memsvc.extract.extraction import Change
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.attendance import STUDY_PLACES, attendance, frequents
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import (
    LIKELY,
    MAYBE,
    NAMES,
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
)
from memsvc.extract.offline.homes import YEARS, there
from memsvc.extract.offline.reading import Reading, Status
from memsvc.extract.offline.trades import is_trade
from memsvc.graph.operations import BESIDE

if TYPE_CHECKING:
    from spacy.tokens import Token

SHOPPED_AT = things.words("""
    shop store restaurant cafe café bar pub hotel bank library museum theatre theater gym supermarket pharmacy salon
    zoo airport station garden garden-centre spa resort diner bistro vet vets dentist dentist's hairdresser barber
    hospital clinic practice surgery garage
""")
"""Who is "at the bank" need not work there."""
HIRE = verbs.lemmas("hire, employ, recruit, take on, poach, headhunt, appoint, contract, bring in, promote, transfer")
OFFER = verbs.lemmas("offer, give, get")
POSTED = verbs.lemmas("transfer, move, post, second, assign, send, put, promote, rehire, reassign")
"""In the passive, with a place of work behind "to" or "in"."""
HELP_AT = verbs.lemmas("help, help out, volunteer, assist, do, cover, sub, fill in, pitch in, work, temp, muck in")
DUTIES = things.words("""
    shift shifts saturday saturdays sunday sundays weekend weekends night nights morning mornings evening evenings hour
    hours account accounts book books payroll admin reception marketing security delivery deliveries cleaning catering
    bit week front lights sound maintenance gardening accounting bookkeeping round rounds
""")
"""What one does for a firm: "I do the accounts for a brewery", "she does Saturdays at a salon"."""
SERVICES = things.words("army navy police marines military")
DEPARTMENTS = things.words("department team division section branch faculty ward unit")
CLASSES = things.words("class course training lesson lessons")
"""These are held at libraries and halls, where nobody who attends them works."""
PRACTISED = things.words("law medical dental vet veterinary gp doctor dentist private group physio family legal")
WORKED_ON = things.words("farm ranch railway railways ward ship ferry rig rigs plantation estate")
"""Where one works "on"; otherwise it is what the work is about."""
DO_FOR = verbs.lemmas("""
    do, drive, deliver, write, design, sell, code, program, edit, translate, clean, cook, run, handle, manage, teach,
    coach, consult, fix, build, test, inspect, fly, sail, model, photograph, cut, serve, wait, stack, tend, guard,
    repair, maintain, nurse, sew, weld, pack, cashier, bake, brew, look after, lecture, research
""")
COLLEAGUES = things.words("boss manager supervisor colleague coworker co-worker workmate foreman director lead")
TEACHERS = things.words("tutor teacher professor lecturer principal supervisor headteacher classmate")
LONG = things.words("year yr month shift job placement semester term")
MY_FIRM = things.words("employer company firm workplace school uni university college work office agency outfit")
NOTICE = things.words("notice resignation")
POSITIONS = things.JOBS | things.words("offer contract scholarship traineeship apprentice seat desk lecturer")
SPOTS = things.words("spot place day week night")
"""Jobs only where "at" stands behind them."""
JOB_VERBS = verbs.lemmas("""
    have, get, land, start, take, accept, find, lose, quit, leave, hold, do, begin, finish, love, enjoy, be offer,
    offer, secure, win, bag, score, keep, manage, juggle, snag, resign
""")
JOB_LOST = verbs.lemmas("lose, quit, leave, finish, give up, resign, pack in, jack in")
JOB_ENDS = verbs.lemmas("end, finish, expire, run out, stop, finish up")
OFFERED = verbs.lemmas("offer, be offer, get offer, promise")
TAKING = frozenset({"accept", "take", "start", "sign"})
ONCE = frozenset({"before", "formerly", "previously"})
"""Without a verb, these tell of work that was: "before that at Lidl"."""
PERSON_NOUNS = things.words("girl guy woman man lady bloke lad")


def read(clause: Clause) -> Iterator[Finding]:
    """Everything about work in a clause."""
    yield from ended(clause)
    if clause.verb.pos_ not in {"VERB", "AUX"} and any(token.lower_ in ONCE for token in clause.own):
        return
    if not clause.said:
        yield from supposed(clause)
    else:
        yield from at_work(clause)
        if is_only_offered(clause):
            return
        yield from hired(clause)
        yield from taken(clause)
        yield from at_places(clause)
        yield from inside(clause)
        yield from duties(clause)
        yield from by_noun(clause)
        yield from my_firm(clause)
        yield from fragments(clause)
        yield from by_person(clause)
        yield from runs(clause)


def is_only_offered(clause: Clause) -> bool:
    """Whether a job is offered in a clause, and nothing behind it says that it was taken."""
    if not clause.means(OFFERED) or not any(listed(noun, POSITIONS) for noun in offered(clause)):
        return False
    after = (token for token in clause.reading.doc[clause.verb.i + 1 :] if token.pos_ == "VERB")
    return not any(
        token.lemma_ in TAKING and clause.reading.status(token) is Status.SO and token.tag_ != "VBG" for token in after
    )


def offered(clause: Clause) -> list[Token]:
    """What is offered; of a passive as well, where the parser may call it anything."""
    return [*clause.objects, *(child for child in clause.verb.children if child.dep_ in {"nsubjpass", "oprd", "attr"})]


def employer(clause: Clause, noun: Token, loose: bool) -> int | None:
    """The organisation that a noun is; ``loose``: after "at", nearly anything is one."""
    noun = naming(noun)
    alone = not any(child.dep_ == "compound" for child in noun.children)
    what_for = loose and noun.lower_ in {"place", "joint"} and not alone  # "the noodle place"
    no_firm = noun.lower_ in things.TIMES or listed(noun, things.EVENTS | things.JOBS)
    if (no_firm and not what_for) or (noun.lower_ == "home" and alone):
        return None
    several = noun.tag_ == "NNS" and not loose and not named(noun)  # "for coastal stations"
    if several or (noun.lower_ == "practice" and not alone and not is_surgery(noun)):
        return None
    if noun.ent_type_ in {"GPE", "LOC", "LANGUAGE", "NORP", "PERSON"} and not loose:
        return None
    if not (named(noun) or listed(noun, things.WORKPLACES) or what_for):
        return None
    if noun.pos_ in {"VERB", "ADV", "ADJ"} and noun.ent_type_ in NAMES:  # a name that the parser takes for a verb
        key = clause.reading.entity(noun, "Organization")
    else:
        key = thing(clause, noun, "Organization")
    if what_for:
        key = clause.reading.made(" ".join([*(c.lower_ for c in noun.lefts if c.dep_ == "compound"), noun.lower_]),
                                  "Organization", noun)  # fmt: skip
    if key is None and loose and noun.pos_ == "PROPN" and noun.ent_type_ in {"GPE", "LOC", "FAC"}:
        return clause.reading.made(phrase_of(noun), "Organization", noun)  # "in my second year at Leeds"
    return key if key is not None and kind(clause, key) == "Organization" else None


def is_surgery(practice: Token) -> bool:
    """Whether a practice is a doctor's, or the like, rather than a band's."""
    return any(child.dep_ == "compound" and child.lower_ in PRACTISED for child in practice.children)


def phrase_of(noun: Token) -> str:
    """A proper name with its parts."""
    return " ".join(token.text for token in [*(c for c in noun.lefts if c.dep_ == "compound"), noun])


def working(clause: Clause, people: Iterable[int | None], noun: Token, confidence: float, *, loose: bool = False,
            over: Change | None = None) -> Iterator[Finding]:  # fmt: skip
    """That persons work at what a noun names."""
    if frequents(clause, noun):
        return
    how = attendance(clause, noun)
    data = {"relation": how, BESIDE: True} if how else {}
    key = employer(clause, noun, loose)
    yield from told(people, "WORKS_AT", key, clause, confidence, over or change(clause), data)


def firm(noun: Token) -> bool:
    """Whether a noun means a place of work: a name that is an organisation's, or a word for one."""
    return noun.ent_type_ == "ORG" or listed(noun, things.WORKPLACES)


def institution(noun: Token) -> bool:
    """Whether a name with "the" may be a hospital's or a firm's: "a nurse in the Royal"."""
    the = any(child.lower_ == "the" for child in noun.children)
    return the and named(noun) and noun.ent_type_ not in {"GPE", "LOC", "NORP", "DATE", "TIME", "EVENT", "PERSON"}


def at_work(clause: Clause) -> Iterator[Finding]:
    """I work at Lidl; she was hired by Volvo; they teach in a primary school."""
    if not clause.means(verbs.WORK):
        return
    plain = clause.means(verbs.WORK_PLAIN) or clause.passive
    preps = ("at", "for", "with", "by") if plain else ("at", "for")
    nouns = [(noun, prep == "at") for prep in preps for noun in clause.at(prep)]
    nouns += [(noun, False) for noun in clause.at("in") if firm(noun)]
    nouns += [(noun, False) for noun in clause.at("on") if listed(noun, WORKED_ON)]
    over: Change = "ended" if change(clause) == "ended" or (clause.past and not clause.passive) else "holds"
    if plain and not nouns:
        for key in there(clause, "Organization"):
            yield from told(clause.people, "WORKS_AT", key, clause, MAYBE, over)
    if not plain and clause.past:
        nouns = [(noun, loose) for noun, loose in nouns if named(noun)]
    for noun, loose in nouns:
        yield from working(clause, clause.people, noun, SURE if plain else MAYBE, loose=loose and plain, over=over)


def hired(clause: Clause) -> Iterator[Finding]:
    """Spotify hired me; they took her on at the mill; Volvo offered him a job; I was transferred to the Royal Stoke."""
    if clause.passive or clause.lemma == "get":
        offered = clause.means(OFFER) and any(listed(noun, POSITIONS) for noun in clause.objects)
        by = clause.at("by") if clause.means(HIRE) or offered else []
        to = clause.at("to", "in", "at") if clause.means(POSTED | HIRE) and clause.passive else []
        for noun in [*by, *(noun for noun in to if firm(noun))]:
            yield from working(clause, clause.people, noun, LIKELY)
        return
    people = [clause.reading.person(noun) for noun in clause.objects]
    if clause.means(verbs.lemmas("offer, give")) and any(listed(noun, POSITIONS) for noun in clause.objects):
        people = [clause.reading.person(noun) for noun in clause.receivers]
    elif not clause.means(HIRE):
        return
    firms = [noun for noun in clause.subjects if firm(noun)]
    for noun in firms or [noun for noun in clause.at("at", "in", "to") if firm(noun)]:
        yield from working(clause, people, noun, LIKELY)


def taken(clause: Clause) -> Iterator[Finding]:
    """I accepted an offer from Google: who takes one works there."""
    if clause.means(verbs.lemmas("accept, take, sign")) and any(listed(noun, POSITIONS) for noun in clause.objects):
        for noun in clause.at("from"):
            yield from working(clause, clause.people, noun, LIKELY)


def at_places(clause: Clause) -> Iterator[Finding]:
    """I'm at Wolt; started at Reaktor; got into Keele; joined Monzo; she goes to St Joachim."""
    nouns: list[tuple[Token, float]] = []
    if (clause.lemma == "be" and not clause.past) or clause.verb.pos_ in {"ADP", "ADV"}:
        nouns += [(noun, MAYBE) for noun in employers_at(clause)]
        staying = "still" in clause.adverbs or any(token.lower_ in {"since", "now"} for token in clause.own)
        nouns += [(noun, MAYBE) for noun in clause.on_verb("with") if firm(noun)]
        nouns += [(noun, MAYBE) for noun in clause.on_verb("at") if staying and firm(noun)]
    elif clause.verb.ent_type_ in {"DATE", "TIME"} or listed(clause.verb, things.TIMES | things.JOBS):
        long = any(token.lemma_.lower() in LONG for token in clause.own)
        nouns += [(noun, MAYBE) for noun in clause.at("at") if long and listed(noun, things.WORKPLACES)]
        in_year = clause.verb.lemma_ == "year"
        nouns += [(noun, MAYBE) for noun in clause.at("in", "with", "at") if in_year and firm(noun)]
    elif clause.means(verbs.lemmas("start, begin, enrol, enroll, accept, get in, continue, end up, get hired")):
        nouns += [(noun, LIKELY) for noun in clause.at("at", "with")]
    elif clause.means(verbs.lemmas("go, get into, get, return, go back, get back, transfer, head back, switch")):
        back = clause.adverb == "back" or clause.means(verbs.lemmas("return, transfer"))
        nouns += [(noun, LIKELY) for noun in clause.at("to", "into", "at") if listed(noun, STUDY_PLACES)]
        nouns += [(noun, MAYBE) for noun in clause.at("to") if back and firm(noun) and not listed(noun, SHOPPED_AT)]
    elif clause.means(verbs.lemmas("join, rejoin, attend")):
        firms = [noun for noun in clause.objects if firm(noun)]
        nouns += [(noun, LIKELY) for noun in firms if clause.lemma != "attend" or listed(noun, STUDY_PLACES)]
    over: Change = "ended" if clause.lemma == "go" and clause.past else change(clause)
    for noun, confidence in nouns:
        if not listed(noun, things.GROUPS) or listed(noun, STUDY_PLACES):
            yield from working(clause, clause.people, noun, confidence, loose=confidence > MAYBE, over=over)


def employers_at(clause: Clause) -> list[Token]:
    """Where somebody is who is there for work or study: "I'm at Wolt", "she's at the conservatory"."""
    found = [noun for noun in clause.on_verb("at") if listed(noun, STUDY_PLACES) or (
        named(noun) and noun.ent_type_ not in {"GPE", "LOC", "EVENT", "PERSON", "DATE", "TIME"})]  # fmt: skip
    here = [oblique for oblique in clause.obliques if oblique.prep == "at" and oblique.holder == clause.verb]
    return found + [oblique.noun for oblique in here if clause.verb.pos_ != "AUX" and named(oblique.noun)]


def duties(clause: Clause) -> Iterator[Finding]:
    """I help out at the food bank; she does Saturdays in a salon; I do the accounts for a brewery."""
    if clause.passive or not clause.people or clause.modal:
        return
    duty = any(listed(noun, DUTIES) or noun.ent_type_ in {"DATE", "TIME"} for noun in clause.objects)
    helping = clause.means(HELP_AT) and (duty or not clause.objects)
    over: Change = "ended" if clause.past else change(clause)
    for oblique in clause.obliques:
        at = oblique.prep in {"at", "in", "for", "with"} and firm(oblique.noun)
        near = oblique.holder == clause.verb or oblique.holder in clause.objects
        if at and near and helping and not clause.means(verbs.WORK_PLAIN):
            yield from working(clause, clause.people, oblique.noun, MAYBE, over=over)
        elif at and near and clause.lemma == "do" and listed(oblique.noun, STUDY_PLACES) and clause.objects:
            yield from working(clause, clause.people, oblique.noun, MAYBE, over=over)  # "does law at the university"
        elif at and near and clause.means(DO_FOR) and not clause.past and serves(oblique.prep, oblique.noun):
            yield from working(clause, clause.people, oblique.noun, MAYBE)


def serves(prep: str, noun: Token) -> bool:
    """Whether what is done for, or at, a firm is done as its work: "drives for Grab", "cuts hair at Salon Rosa"."""
    return prep == "for" or (prep == "at" and named(noun) and noun.ent_type_ == "ORG")


def ended(clause: Clause) -> Iterator[Finding]:
    """Quit Bramley Crust; left Google; was laid off from Wolt; retired from the post office."""
    notice = clause.means(verbs.lemmas("hand, hand in, give, submit, tender, put in")) and any(
        listed(noun, NOTICE) for noun in clause.objects
    )
    if not (notice or clause.means(verbs.END_WORK)) or clause.status not in {Status.SO, Status.WAS}:
        return
    leaving = clause.means(verbs.lemmas("quit, leave, resign, drop out"))
    nouns = [noun for noun in clause.objects if firm(noun) or (named(noun) and leaving)]
    if clause.lemma == "leave":
        nouns = [noun for noun in nouns if noun.ent_type_ in {"ORG", ""} and not listed(noun, SHOPPED_AT)]
    next_ = min((noun.i for noun in clause.on_verb("for")), default=len(clause.reading.doc))  # "for a job at Lidl"
    nouns += clause.at("from", "out of") if not notice else []
    nouns += [noun for noun in clause.at("at", *([] if notice else ["by"])) if noun.i < next_]
    jobs = [noun for noun in clause.objects if listed(noun, things.JOBS | NOTICE)]
    nouns += [
        child for job in jobs for prep in job.children if prep.lower_ in {"at", "with"} for child in prep.children
    ]
    for noun in nouns:
        yield from working(clause, clause.people, noun, LIKELY, loose=True, over="ended")


def by_noun(clause: Clause) -> Iterator[Finding]:
    """A nurse at Keele; my job at Lidl; backend at Wolt; 9 years in a hospital; my boss at the bakery."""
    for oblique in clause.obliques:
        inner = oblique.prep == "in" and not firm(oblique.noun)
        if oblique.prep not in {"at", "with", "for", "in"} or (inner and not institution(oblique.noun)):
            continue
        near = [oblique.holder] if oblique.holder != clause.verb else [*clause.complements, *clause.objects]
        for holder in near:
            role, job = listed(holder, things.ROLES), listed(holder, POSITIONS)
            job = job and not inner and not (oblique.prep in {"for", "in"} and listed(holder, SPOTS))
            if not (role or job) or holder.pos_ not in {"NOUN", "PROPN", "ADJ"} or holder.i > oblique.noun.i:
                continue
            if listed(holder, CLASSES) and listed(oblique.noun, things.WORKPLACES - STUDY_PLACES):
                continue
            over: Change = "ended" if job and job_over(clause, holder) else change(clause)
            people = holders(clause, holder, role)
            if over == "ended" and not people and last(holder) and clause.reading.speaker is not None:
                people = [clause.reading.speaker]
            yield from working(clause, people, oblique.noun, LIKELY, loose=oblique.prep == "at", over=over)


def job_over(clause: Clause, job: Token) -> bool:
    """Whether a clause says that a job is over: lost, ended, run out; or tells its last day."""
    if job in clause.subjects:
        return clause.said and (clause.means(JOB_ENDS) or last(job))
    return (job in clause.objects and clause.means(JOB_LOST)) or last(job)


def supposed(clause: Clause) -> Iterator[Finding]:
    """I'd lose my job at the mill: what is only thought of does not touch that there is a job."""
    if clause.denied:
        return
    for oblique in clause.obliques:
        holder = oblique.holder
        if oblique.prep not in {"at", "with"} or not holder.lower_.startswith("job") or holder.tag_ != "NN":
            continue
        described = any(child.pos_ == "ADJ" for child in holder.children)  # "my dream job at Google"
        whose = owning(clause, holder) if not described else None
        yield from working(clause, [whose], oblique.noun, MAYBE, loose=True, over="holds")


def inside(clause: Clause) -> Iterator[Finding]:
    """She's in the army; I'm in the press office at Volvo; he was at Nokia for ten years."""
    if clause.lemma != "be" or clause.modal:
        return
    over: Change = "ended" if clause.past else change(clause)
    for noun in clause.on_verb("in"):
        if listed(noun, SERVICES) and noun.ent_type_ not in {"GPE", "EVENT"}:
            yield from working(clause, clause.people, noun, LIKELY, over=over)
    for oblique in clause.obliques:
        if oblique.prep in {"at", "of"} and listed(oblique.holder, DEPARTMENTS) and firm(oblique.noun):
            yield from working(clause, clause.people, oblique.noun, LIKELY, over=over)
    if clause.past and any(token.lower_ in YEARS for token in clause.own):
        for noun in clause.on_verb("at"):
            if noun.ent_type_ == "ORG" or listed(noun, STUDY_PLACES):
                yield from working(clause, clause.people, noun, MAYBE, over="ended")


def last(job: Token) -> bool:
    """Whether a noun is a last day or shift."""
    return any(child.lower_ in {"last", "final"} for child in job.children) and job.tag_ in {"NN", "NNP"}


def my_firm(clause: Clause) -> Iterator[Finding]:
    """My employer is Bosch; our firm, Halden & Co; the company I work for is called Vincit."""
    for noun in clause.own:
        whose = owning(clause, noun) if listed(noun, MY_FIRM) and noun.pos_ == "NOUN" else None
        if whose is None:
            continue
        name = naming(noun)
        names = [name] if name != noun else []
        if clause.lemma == "be" and noun in clause.subjects:
            names += [each for each in clause.complements if each.ent_type_ == "ORG"]
        for each in names:
            yield from working(clause, [whose], each, LIKELY)


def fragments(clause: Clause) -> Iterator[Finding]:
    """New job - Bosch; postdoc, marine institute; still in the institute: nobody else is spoken of."""
    tokens = clause.own
    if clause.verb.pos_ in {"VERB", "AUX"} or any(
        token.ent_type_ == "PERSON" or token.dep_ in {"nsubj", "poss"} or token.lower_ in {"no", "not", "like"}
        for token in tokens
    ):
        return
    job = any(listed(token, things.JOBS) or is_trade(token) for token in tokens if token.pos_ in {"NOUN", "PROPN"})
    still = any(token.lower_ == "still" for token in tokens)
    begun = any(token.lower_ in {"from", "since", "starting"} for token in tokens) and any(
        token.ent_type_ == "DATE" for token in tokens
    )
    for noun in tokens:
        job = job or (begun and named(noun) and listed(noun, things.WORKPLACES))
        study = still and listed(noun, STUDY_PLACES) and noun.dep_ == "pobj"
        if (study or (job and noun.dep_ != "compound" and firm(noun))) and clause.reading.speaker is not None:
            yield from working(clause, [clause.reading.speaker], noun, MAYBE, over="holds")


def by_person(clause: Clause) -> Iterator[Finding]:
    """Catrin from Ystwyth Vets; Prof. Tezel, at Cerrahpaşa; she became a telephonist at the PTT."""
    for oblique in clause.obliques:
        holder = oblique.holder
        if oblique.prep not in {"from", "at"} or oblique.noun.lower_ in things.TIMES:
            continue
        somebody = holder.ent_type_ == "PERSON" or listed(holder, PERSON_NOUNS)
        people = [clause.reading.person(holder)] if somebody else []
        if clause.lemma in {"be", "become"} and oblique.prep == "at" and holder in [clause.verb, *clause.complements]:
            indefinite = [noun for noun in clause.complements if any(c.lower_ in {"a", "an"} for c in noun.children)]
            people = [*clause.people] if indefinite and named(oblique.noun) else people
        if people and firm(oblique.noun):
            yield from working(clause, people, oblique.noun, MAYBE, over="holds")


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
    if not clause.means(verbs.RUN | verbs.lemmas("own, have, buy, found, set up, open, co-found")) or clause.passive:
        return
    if any(token.lower_ in {"you", "u"} for token in clause.subjects):  # as a rule anybody
        return
    for noun in clause.objects:
        if any(child.lower_ in {"your", "yours"} for child in noun.children):
            continue
        of_own = any(child.lower_ in {"own", "a", "my", "our", "an"} for child in noun.children)
        if (clause.lemma != "have" or of_own) and listed(
            noun, things.WORKPLACES - things.words("garden garage studio workshop practice kitchen")
        ):
            key = thing(clause, noun, "Organization")
            over: Change = "ended" if clause.past and clause.lemma in {"have", "run"} else change(clause)
            yield from told(clause.people, "WORKS_AT", key, clause, LIKELY, over)


def colleagues(found: Sequence[Finding], readings: Iterable[Reading]) -> Iterator[Finding]:
    """Where those work of whom somebody with a place of work says "my boss", or with a school "my tutor"."""
    at = {each.subject: each for each in found if each.type == "WORKS_AT" and each.change == "holds"}
    told_of = {each.subject for each in found if each.type == "WORKS_AT"}
    for reading in readings:
        for bond in reading.bonds:
            works = at.get(bond.whose)
            if (
                works is None
                or bond.over
                or not reading.whose(bond.who).named
                or bond.who in told_of
                or reading.index < 0
            ):
                continue
            name = reading.whose(works.object).name.casefold().split()
            if bond.relation in (TEACHERS if STUDY_PLACES & set(name) else COLLEAGUES):
                told_of.add(bond.who)
                clause = Clause(reading, bond.token)
                yield replace(works, subject=bond.who, clause=clause, confidence=MAYBE, dated=False, rule="", data={})
