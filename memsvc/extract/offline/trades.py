"""What people are by trade, what they study, what they believe, and what they must not eat or suffer from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.extraction import Change
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import LIKELY, Finding, change, kind, listed, named, owning, thing, told, word

if TYPE_CHECKING:
    from spacy.tokens import Token

TRADE_ENDS = tuple(
    things.words("""
        keeper maker writer worker ician ologist smith wright monger trician grapher herd teacher engineer designer
    """)
)
NO_TRADES = frozenset({"matchmaker", "troublemaker", "coworker", "co-worker", "humanitarian"})
ILLNESSES = things.words("""
    asthma diabetes arthritis adhd migraine migraines epilepsy cancer eczema psoriasis hayfever allergy allergies
    anaemia endometriosis fibromyalgia sciatica tinnitus dementia parkinson alzheimer glaucoma gout ibs crohn coeliac
    insomnia dyslexia autism bronchitis covid angina cataracts stroke fibrillation hypertension lupus sclerosis
    scoliosis psychosis hepatitis tendonitis bursitis colitis tonsillitis sinusitis shingles rosacea vertigo apnoea
    ms hiv pcos ptsd ocd copd disease syndrome disorder infection tumour tumor attack seizure seizures palsy
    malaria tuberculosis pneumonia leukaemia leukemia schizophrenia impairment deficiency apnea splints arrhythmia
    osteoporosis hypothyroidism depression anxiety
""")
LOOSE = things.words(
    "student apprentice intern trainee member aide staff volunteer head lead temp porter freshman sophomore"
)
"""Says little without where."""
PRAISED = things.words("good great bad terrible amazing brilliant decent natural excellent lousy awful born")
"""A good dancer need not be one by trade."""
PLAIN = things.words("good great new big bad young old real little first")


def read(clause: Clause) -> Iterator[Finding]:
    """Everything about trades, studies and health in a clause."""
    if clause.said:
        yield from trades(clause)
        yield from diets(clause)
        yield from studies(clause)


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
        praised = any(child.lower_ in PRAISED for child in noun.children)
        if (
            is_trade(noun)
            and not listed(noun, LOOSE)
            and not praised
            and not named(noun)
            and owning(clause, noun) is None
            and noun.tag_ in {"NN", "NNS"}
        ):
            when = any(child.lower_ in {"when", "while", "before", "until"} for child in clause.verb.children)
            yield from trade(clause, noun, clause.people if not when else [])
    for token in clause.own:
        if token.dep_ == "appos" and listed(token, things.ROLES) and not named(token) and owning(clause, token) is None:
            person = clause.reading.person(token.head)
            if person is not None:
                yield from trade(clause, token, [person])


def diets(clause: Clause) -> Iterator[Finding]:
    """I'm allergic to peanuts; she's vegan; he has asthma."""
    if (
        clause.lemma == "be" or clause.verb.lower_ in things.BELIEFS
    ):  # "I'm not vegetarian any more" turns on the adjective
        for oblique in clause.obliques:
            if oblique.prep == "to" and oblique.holder.lower_ in {"allergic", "intolerant"}:
                key = thing(clause, oblique.noun, "Concept")
                yield from told(
                    clause.people, "RELATED_TO", key, clause, LIKELY, change(clause), {"relation": "allergy"}
                )
        for token in clause.complements:
            if token.lower_ in things.BELIEFS:
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
