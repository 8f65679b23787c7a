"""What ended, told without saying again what: "I quit", "I don't live there any more", "the course got cancelled".

A clause that ends something is held against what was found before in the same window.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from spacy.tokens import Span, Token

from memsvc.extract.offline import lexicon_kin as kin
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause, clauses, spread
from memsvc.extract.offline.denials import begins_taking_back
from memsvc.extract.offline.events import CANCEL, called_off
from memsvc.extract.offline.findings import LIKELY, MAYBE, Finding, listed, word
from memsvc.extract.offline.reading import Reading, Status
from memsvc.extract.offline.when import span

QUIT = verbs.lemmas("quit, resign, retire, hand in, pack in, jack in, walk out")
"""Of a job, where nothing else is named."""
DISMISS = verbs.lemmas("fire, sack, lay off, let go, dismiss, axe")
JOBS = things.words("job work notice resignation position post")
DROP = verbs.lemmas(
    "drop, drop out, pull out, back out, quit, give up, withdraw, bail, bail out, pack in, skip, leave, sell"
)
ENDS_BY = {
    "WORKS_AT": verbs.END_WORK | verbs.END,
    "LIVES_IN": verbs.lemmas("leave, move out, sell, give up, move away, flee"),
    "PARTICIPATED_IN": DROP,
    "LOCATED_AT": verbs.lemmas("leave, cancel, skip"),
}
"""With these, to name what was found is to end it."""
TAKING = verbs.lemmas("take, accept, start, get, land, choose, do")
OF_THE_LIVING = frozenset({"WORKS_AT", "LIVES_IN", "OWNS", "USES", "LOCATED_AT"})
DEATH = verbs.lemmas("die, pass away, perish")
MEAT = things.words("meat beef pork chicken steak bacon ham sausage sausages lamb turkey burger burgers duck mince")
FISH = things.words("fish seafood salmon tuna prawns shrimp")
FROM_ANIMALS = things.words("cheese milk egg eggs dairy butter yoghurt yogurt cream honey")
DIETS = {
    "vegan": MEAT | FISH | FROM_ANIMALS, "vegetarian": MEAT | FISH, "veggie": MEAT | FISH, "pescatarian": MEAT,
}  # fmt: skip
"""What who keeps to a diet does not eat."""
LEFT = QUIT | verbs.lemmas("leave, stop, finish, move, move out, move away")
"""In the past and with nothing else, when one stopped being there."""
STAYED = {"WORKS_AT": verbs.WORK, "LIVES_IN": verbs.LIVE}


SIGNS = frozenset(
    lemma.split(" ")[0]
    for lemmas in (QUIT, DISMISS, DEATH, CANCEL, verbs.END_WORK, *ENDS_BY.values())
    for lemma in lemmas
) | {"off", "let", "fall", "pass", "no", "never", "not", "anymore", "longer", "instead", "all"}
"""Words without one of which nothing ends."""


def read_changes(reading: Reading, before: Sequence[Finding]) -> Iterator[Finding]:
    """What a turn ends of what was found before.

    Args:
        reading: the turn.
        before: what was found in the window up to this turn, in its order.
    """
    if not before or not any(
        token.lemma_.lower() in SIGNS or token.lower_ == "again" or token.dep_ == "neg" for token in reading.doc
    ):
        return
    holding = [one for one in before if one.change != "ended" and one.type in ENDS_BY]
    over = [one for one in before if one.change == "ended" and one.clause.reading is reading and one.type in STAYED]
    for clause in clauses(reading):
        yield from keeps_to(clause, holding)
        yield from dies(clause, before)
        yield from dates(clause, over)
        yield from eats_again(clause, before)
        for old in reversed(holding):
            if ends(clause, old):
                confidence = min(LIKELY, max(old.confidence, MAYBE))
                off = old.type in {"PARTICIPATED_IN", "LOCATED_AT"} and not old.clause.past and cancelled(clause, old)
                yield replace(old, clause=clause, change="ended", never=off, rule="", confidence=confidence)
                break


def keeps_to(clause: Clause, holding: Sequence[Finding]) -> Iterator[Finding]:
    """The move that is off where somebody stays "after all", and the job in whose place another is taken "instead"."""
    words = {token.lower_ for token in clause.own}
    after_all, instead = {"after", "all"} <= words, "instead" in words and "of" not in words
    if not (after_all or instead) or not clause.said or clause.denied:
        return
    type_ = ""
    if clause.means(verbs.lemmas("stay, remain, keep, live, stay put")):
        type_ = "LIVES_IN"
    elif instead and clause.means(TAKING) and any(listed(noun, JOBS) for noun in clause.objects):
        type_ = "WORKS_AT"
    for old in reversed(holding):
        if old.type == type_ and old.subject in clause.people and stands_before(old, clause):
            since = span(old.clause, old.type, old.change).since if old.dated else None
            plan = since is not None and since > clause.reading.now
            if not mentions(clause, old) and (plan or type_ == "WORKS_AT"):
                yield replace(old, clause=clause, change="ended", never=plan, rule="", confidence=LIKELY)
            return


def withdrawn(reading: Reading) -> Span | None:
    """The last clause that the same person said before, where a turn begins with taking it back: "Just kidding!".

    None where somebody else asked something between, or said something of this person: it may be that.
    """
    if not begins_taking_back(reading.doc):
        return None
    for before in reading.earlier:
        if not before.heard and before.speaker == reading.speaker:
            sents = (sent for sent in reversed(list(before.doc.sents)) if any(token.is_alpha for token in sent))
            return next(map(last_clause, sents), None)
        if any(token.lower_ in {"?", "you"} and (token.is_punct or token.dep_ == "nsubj") for token in before.doc):
            return None
    return None


def last_clause(sentence: Span) -> Span:
    """What a sentence says last: from its last verb with a subject of its own that belongs to the first by "and"."""
    joined = [verb for verb in sentence.root.conjuncts if any(child.dep_ == "nsubj" for child in verb.children)]
    start = min((child.left_edge.i for child in joined[-1].lefts), default=joined[-1].i) if joined else sentence.start
    return sentence.doc[start : sentence.end]


def stands_in(finding: Finding, sentence: Span) -> bool:
    """Whether a sentence says what was found; not who "my boss" is, which it only presupposes."""
    clause, verb = finding.clause, finding.clause.verb
    presupposed = not finding.dated and clause.lemma != "be" and finding.object in clause.people
    return not presupposed and finding.clause.reading.doc is sentence.doc and sentence.start <= verb.i < sentence.end


def take_back(reading: Reading, before: Sequence[Finding]) -> Iterator[Finding]:
    """What a turn takes back that was read in a window before: over since it began to be said.

    Args:
        reading: the turn.
        before: what was found up to this turn.
    """
    sentence = withdrawn(reading)
    clause = next(clauses(reading), None)
    for old in before:
        if sentence is not None and clause is not None and stands_in(old, sentence) and old.change != "ended":
            begin = span(old.clause, old.type, old.change)[0] if old.dated else None
            over = begin or old.clause.reading.now
            yield replace(old, clause=clause, change="ended", rule="", confidence=LIKELY, over_at=over)


def dies(clause: Clause, before: Sequence[Finding]) -> Iterator[Finding]:
    """What is over with somebody's death: their marriage, home, work and belongings; kinship is not."""
    passed = clause.lemma == "pass" and not clause.mine and not clause.objects and not clause.obliques
    if not (clause.means(DEATH) or passed) or clause.status not in {Status.SO, Status.WAS} or not clause.past:
        return
    whose = clause.reading.whose
    people = {whose(key).key for key in clause.people}  # "grandma" may have turned out to be "Grandma Else"
    for old in before:
        wed = old.type == "FAMILY_OF" and old.data.get("relation") in kin.PARTNERS
        gone = whose(old.subject).key in people or (wed and whose(old.object).key in people)
        if gone and old.change != "ended" and (wed or old.type in OF_THE_LIVING):
            yield replace(old, clause=clause, change="ended", rule="", dated=True)


def eats_again(clause: Clause, before: Sequence[Finding]) -> Iterator[Finding]:
    """The diet that is over with what somebody eats again: "I eat meat again" of a vegetarian."""
    if not clause.said or clause.denied or "again" not in clause.adverbs:
        return
    eaten = {word(noun) for verb in (clause.verb, *clause.inner) for noun in foods(verb)}
    for old in before:
        diet = DIETS.get(old.data.get("relation", ""), frozenset())
        if old.type == "RELATED_TO" and old.subject in clause.people and eaten & diet and old.change != "ended":
            yield replace(old, clause=clause, change="ended", rule="")


def foods(verb: Token) -> list[Token]:
    """What is eaten or drunk."""
    if verb.lemma_.lower() not in {"eat", "drink", "have"}:
        return []
    return [noun for child in verb.children if child.dep_ == "dobj" for noun in spread(child)]


def dates(clause: Clause, over: Sequence[Finding]) -> Iterator[Finding]:
    """When ended what the words before said is over: "I no longer work there, I left in May"."""
    if not (clause.past and clause.said and clause.means(LEFT)) or clause.objects:
        return
    for old in over:
        if old.clause.verb.i < clause.verb.i and old.subject in clause.people:
            yield replace(old, clause=clause, rule="")


def ends(clause: Clause, old: Finding) -> bool:
    """Whether a clause ends what was found."""
    if clause.status is Status.OPEN or clause.asked or not stands_before(old, clause):
        return False
    theirs = old.subject in clause.people
    if old.type == "WORKS_AT" and clause.said and leaves_work(clause, old):
        return True
    if theirs and clause.status in {Status.WAS, Status.NOT} and old.type in STAYED and clause.means(STAYED[old.type]):
        return "there" in {token.lower_ for token in clause.own} or mentions(clause, old)
    if old.type in {"PARTICIPATED_IN", "LOCATED_AT"}:
        return cancelled(clause, old)
    return theirs and clause.said and clause.means(ENDS_BY[old.type]) and mentions(clause, old)


def stands_before(old: Finding, clause: Clause) -> bool:
    """Whether something was found before a clause: "I don't work there any more, I work at Aldi" ends no Aldi."""
    return old.clause.verb.doc is not clause.verb.doc or old.clause.verb.i < clause.verb.i


def leaves_work(clause: Clause, old: Finding) -> bool:
    """Whether somebody loses or leaves a job that the clause does not name."""
    named = [noun for noun in clause.objects if not listed(noun, JOBS)]
    dismissed = clause.means(DISMISS)
    if dismissed and not clause.passive and clause.objects:
        return any(clause.reading.person(noun) == old.subject for noun in clause.objects)
    if clause.lemma == "let" and not clause.passive:  # "they let me go"
        return any(child.lower_ == "go" and any(clause.reading.person(each) == old.subject for each in child.children)
                   for child in clause.verb.children)  # fmt: skip
    fired = dismissed and (clause.passive or clause.lemma == "get")
    quits = clause.means(QUIT) and not named and not clause.at("at", "from")
    return old.subject in clause.people and (fired or quits)


def cancelled(clause: Clause, old: Finding) -> bool:
    """Whether a clause says that an event, or a journey, does not take place, or not with who meant to go."""
    if clause.said and called_off(clause) and mentions(clause, old):
        return True
    if old.subject not in clause.people or not mentions(clause, old):
        return False
    if clause.said:
        return old.type == "PARTICIPATED_IN" and clause.means(DROP)
    going = clause.means(verbs.TRAVEL | verbs.TAKE_PART - verbs.NOT_TAKING_PART)
    return clause.status is Status.NOT and going and not clause.past and not old.clause.past


def mentions(clause: Clause, old: Finding) -> bool:
    """Whether a clause names the object of what was found, by the last word of its name."""
    last = clause.reading.whose(old.object).name.casefold().rpartition(" ")[2]
    return any(last in {token.lower_, word(token)} for token in clause.own if token.pos_ in {"NOUN", "PROPN", "X"})
