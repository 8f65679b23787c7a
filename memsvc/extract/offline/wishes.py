"""What people want, need, plan, hope for and dream of: things, and tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_moods as moods
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause, spread
from memsvc.extract.offline.findings import LIKELY, MAYBE, SURE, Finding, listed, owning, phrase, thing, told
from memsvc.extract.offline.reading import Status

if TYPE_CHECKING:
    from spacy.tokens import Token

GOALS = things.words("goal goals plan dream aim ambition hope wish target resolution")
ACQUIRE = frozenset({"buy", "get", "have", "own", "adopt", "find", "purchase", "save", "order", "rent", "acquire"})
"""What is wanted then is the thing rather than the deed."""
CHAT = things.words("""
    ask know say tell hear see talk check let be thank share apologise vent mention point discuss add clarify wish
    make give help show die cry scream understand remember admit think feel sound look
""")
VAGUE = things.words("""
    create make move work start continue keep improve grow change leave stay succeed share play eat join write use
    take put do go try meet
""")
WISHED = things.words("like love prefer want kill rather")
POLITE = things.words("""
    help advice information suggestions tips recipe opinion answer idea ideas hand money time sleep rest break coffee
    hug minute moment push reminder clue say info feedback assistance support drink nap
""")


def read(clause: Clause) -> Iterator[Finding]:
    """Everything that is wished in a clause."""
    if clause.asked or clause.denied:
        return
    yield from goals(clause)
    if not clause.people:
        return
    if wishing(clause):
        yield from tasks(clause)
        yield from wanted(clause)
    yield from eager(clause)


def wishing(clause: Clause) -> bool:
    """Whether the verb wishes, and the wish is so."""
    if clause.modal in {"would", "'d", "d"}:
        return clause.lemma in WISHED and clause.status is not Status.NOT
    if clause.status is not Status.SO or (clause.modal and clause.modal not in {"will", "'ll", "must"}):
        return False
    if clause.past and clause.lemma in {
        "want",
        "need",
        "hope",
        "plan",
        "wish",
        "mean",
        "intend",
        "try",
        "have",
        "look",
    }:
        return False
    return clause.means(verbs.WANT | verbs.WANT_TO) or clause.lemma == "learn"


def tasks(clause: Clause) -> Iterator[Finding]:
    """I want to learn to weld; thinking of moving; hoping to retire; I'd love to see Japan."""
    would = clause.modal in {"would", "'d", "d"}
    for verb in clause.inner:
        infinitive = any(child.lower_ == "to" and child.dep_ == "aux" for child in verb.children)
        if any(child.dep_ == "nsubj" for child in verb.children):
            continue
        gerund = verb.tag_ == "VBG" and clause.lemma in {
            "consider",
            "contemplate",
            "fancy",
            "plan",
            "think",
            "look",
            "dream",
            "debate",
        }
        if not (gerund or (infinitive and (would or clause.means(verbs.WANT_TO) or clause.lemma == "learn"))):
            continue
        if clause.lemma == "learn" and infinitive and clause.verb.tag_ == "VBG":
            yield from deed(clause, clause.verb, MAYBE)
            continue
        if clause.lemma in {"love", "like", "prefer", "choose"} and not would:
            continue
        if clause.lemma == "have" or (clause.lemma in {"need", "try"} and verb.lemma_ in CHAT):
            continue
        if verb.lemma_ in CHAT and not (
            verb.lemma_ == "be" or (verb.lemma_ in {"make", "see"} and list(objects(verb)))
        ):
            continue
        yield from deed(clause, verb, MAYBE if clause.lemma in {"have", "need", "try", "look", "decide"} else LIKELY)


def objects(verb: Token) -> Iterator[Token]:
    """What a verb is done to."""
    for child in verb.children:
        if child.dep_ == "dobj":
            yield from spread(child)
        elif child.dep_ == "prep" and verb.lemma_ in {"save", "look"} and child.lower_ == "for":
            for noun in child.children:
                if noun.dep_ == "pobj":
                    yield from spread(noun)


def deed(clause: Clause, verb: Token, confidence: float) -> Iterator[Finding]:
    """The wish for a deed, or for the thing that the deed gets."""
    keys: list[int | None] = []
    if verb.lemma_ in ACQUIRE and list(objects(verb)):
        keys = [thing(clause, noun) for noun in objects(verb) if noun.pos_ in {"NOUN", "PROPN"}]
    else:
        name = phrase(verb)
        if " " not in name and verb.lemma_ in VAGUE:
            return
        if name.split()[-1].lower() in {"it", "that", "this", "them", "one", "so"} and len(name.split()) < 3:  # noqa: PLR2004
            return
        if " " in name or verb.lemma_ not in CHAT | {"do", "go", "try", "get", "come"}:
            keys = [clause.reading.made(name, "Task", verb)]
    for key in keys:
        yield from told(clause.people, "WANTS", key, clause, confidence)


def wanted(clause: Clause) -> Iterator[Finding]:
    """I want an air fryer; saving for a van; looking for a flat; she needs new boots; he fancies a dog."""
    nouns: list[Token] = []
    would = clause.modal in {"would", "'d", "d"}
    if clause.means(verbs.WANT_OBJECT) or would:
        nouns = list(clause.objects)
    near = {clause.verb, *clause.verb.children}
    for oblique in clause.obliques:
        wished = (clause.lemma, oblique.prep) in verbs.WANT_PREP and clause.lemma != "think"
        if wished and oblique.holder in near:
            nouns.append(oblique.noun)
    for noun in nouns:
        mistaken = noun.pos_ == "ADJ" and noun.dep_ in {"dobj", "pobj"}  # "a bigger flat"
        if (
            not (noun.pos_ in {"NOUN", "PROPN"} or mistaken)
            or listed(noun, POLITE | things.EMPTY)
            or noun.ent_type_ in {"DATE", "TIME"}
        ):
            continue
        if clause.lemma in {"look", "think"} and noun.ent_type_ == "PERSON":
            continue
        key = thing(clause, noun)
        sure = LIKELY if clause.lemma not in {"need", "think", "look"} else MAYBE
        yield from told(clause.people, "WANTS", key, clause, sure)


def eager(clause: Clause) -> Iterator[Finding]:
    """She's keen to learn; I'm dying for a coffee; can't wait to see it; excited for the concert."""
    if clause.lemma != "be" or clause.status is not Status.SO:
        return
    for complement in clause.complements:
        if complement.lower_ in moods.EAGER:
            for verb in complement.children:
                if verb.dep_ == "xcomp" and verb.pos_ == "VERB" and verb.lemma_ not in CHAT:
                    yield from deed(clause, verb, MAYBE)


def goals(clause: Clause) -> Iterator[Finding]:
    """My goal is to run a marathon; the plan is to sell; my dream is a boat; on my list: Japan."""
    if clause.lemma != "be" or clause.status is not Status.SO:
        return
    for subject in clause.subjects:
        if subject.lower_ not in GOALS:
            continue
        whose = owning(clause, subject)
        person = whose if whose is not None else clause.reading.speaker
        verbs_ = [child for child in clause.verb.children if child.dep_ in {"xcomp", "attr", "acomp", "ccomp", "advcl"}]
        for verb in verbs_ if person is not None else ():
            if verb.pos_ in {"VERB", "AUX"}:
                key: int | None = clause.reading.made(phrase(verb), "Task", verb)
            else:
                key = thing(clause, verb)
            yield from told([person], "WANTS", key, clause, SURE)
