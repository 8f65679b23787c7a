"""What people like and dislike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_frames as frames
from memsvc.extract.offline import lexicon_moods as moods
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline import valence
from memsvc.extract.offline.clauses import Clause, Oblique, predicate, spread
from memsvc.extract.offline.findings import (
    DOUBTFUL,
    LIKELY,
    MAYBE,
    SURE,
    Finding,
    change,
    listed,
    owning,
    phrase,
    told,
)
from memsvc.extract.offline.lexicon_tastes import GLADLY, GREETINGS, LOOSE_LIKES, SPANS
from memsvc.extract.offline.liking import SHORT, has_subject, targets
from memsvc.extract.offline.reading import Status

if TYPE_CHECKING:
    from spacy.tokens import Token

LIKED_PREPS = ("into", "about", "of", "on", "with", "for", "to", "by")
STATES = verbs.lemmas("be, get, become, go, feel, grow")
ABLE = frozenset({"can", "ca", "could", "cannot"})
FEW = 10
"""Words of a clause that says nothing else."""


def read(clause: Clause) -> Iterator[Finding]:
    """Everything about likes and dislikes in a clause."""
    yield from by_verb(clause)
    yield from by_frame(clause)
    yield from by_adjective(clause)
    yield from my_thing(clause)


def by_verb(clause: Clause) -> Iterator[Finding]:
    """I love baking; she hates coriander; I don't like Mondays; he can't stand Kotlin; I like to cook."""
    if clause.asked or (clause.modal and clause.modal not in ABLE | {"will", "wo"}):
        return
    type_ = verdict(clause)
    bare = type_ == "LIKES" and clause.lemma in LOOSE_LIKES and not clause.at("into", "for", "to", "over", "in")
    if not type_ or bare:
        return
    confidence = LIKELY if clause.lemma in {"miss", "rate", "fancy", "get", "fear", "regret"} else SURE
    nouns = judged_nouns(clause)
    for noun in nouns:
        # what "it" means is a guess where it stands in another sentence
        for key in targets(clause, [noun]):
            guessed = noun.lower_ in {"it", "them"} and not (nearby(noun) and clause.reading.whose(key).named)
            sure = DOUBTFUL if guessed else confidence
            yield from told(clause.people, turned(type_, noun), key, clause, sure, change(clause))
    if not nouns and clause.lemma in GLADLY and not clause.modal:
        for verb in clause.inner:
            infinitive = verb.tag_ == "VB" and any(child.tag_ == "TO" for child in verb.children)
            if infinitive and not has_subject(verb) and verb.lemma_ not in GREETINGS:
                key = clause.reading.made(phrase(verb, SHORT), "Concept", verb)
                yield from told(clause.people, type_, key, clause, LIKELY, change(clause))


def judged_nouns(clause: Clause) -> list[Token]:
    """What a verb of liking is about: objects, nouns behind its preposition, gerunds."""
    nouns = list(clause.objects)
    if nouns and nouns[0].lower_ == "it" and clause.adverb == "" and "there" in clause.adverbs:
        return [token for token in clause.own if token.lower_ == "there"]  # "loved it there"
    if not nouns and clause.lemma in LOOSE_LIKES | {"geek", "nerd", "care", "deal"}:
        nouns = clause.on_verb("into", "for", "to", "over", "in", "with", "about")
    if not nouns:
        nouns = [verb for verb in clause.inner if verb.tag_ == "VBG" and not has_subject(verb)]
        small = [child for child in clause.verb.children if child.dep_ in {"xcomp", "ccomp"} and child.pos_ == "NOUN"]
        return nouns + [noun for child in small for noun in spread(child)]
    # "I love the sea, and surfing": the parser lets "surfing" hang on the verb
    late = [
        each for each in clause.verb.children if each.dep_ == "conj" and each.pos_ == "NOUN" and not predicate(each)
    ]
    gerunds = [verb for noun in nouns for verb in noun.children if verb.dep_ == "conj" and verb.tag_ == "VBG"]
    return nouns + late + gerunds


def turned(type_: str, noun: Token) -> str:
    """The type for one of several nouns: the other one behind "but not"."""
    before = noun.doc[noun.left_edge.i - 1].lower_ if noun.left_edge.i else ""
    if noun.dep_ == "conj" and before == "not":
        return "DISLIKES" if type_ == "LIKES" else "LIKES"
    return type_


def nearby(pronoun: Token) -> bool:
    """Whether a noun that a pronoun may mean stands before it in its sentence."""
    return any(token.pos_ in {"NOUN", "PROPN"} for token in pronoun.doc[pronoun.sent.start : pronoun.i])


def by_frame(clause: Clause) -> Iterator[Finding]:
    """I can't live without coffee; she has a soft spot for pugs; heights freak me out; opera bores me."""
    for type_, table in (("LIKES", frames.LIKING), ("DISLIKES", frames.DISLIKING)):
        for frame, noun in valence.filled(clause, table):
            if frame.holder == "love" and clause.reading.person(noun) is not None:
                continue  # two people, and a feeling
            for key in targets(clause, [noun]):
                yield from told(clause.people, type_, key, clause, LIKELY, change(clause))
    if clause.lemma == "look" and "forward" in {token.lower_ for token in clause.verb.children} and not clause.past:
        for noun in clause.on_verb("to") if clause.said else []:
            if noun.lower_.rstrip("s") in SPANS and noun.lower_.endswith("s"):
                for key in targets(clause, [noun]):
                    yield from told(clause.people, "LIKES", key, clause, MAYBE)
    if clause.said and not clause.past and not clause.passive and not clause.asked:
        yield from done_to(clause)


def done_to(clause: Clause) -> Iterator[Finding]:
    """Heights freak me out; coriander makes me gag; cooking relaxes Ana: what it does is told in the present."""
    pleasing, displeasing = clause.means(frames.PLEASING), clause.means(frames.DISPLEASING)
    people = [key for key in map(clause.reading.person, clause.objects) if key is not None]
    if clause.lemma == "make":
        inner = [child for child in clause.verb.children if child.dep_ in {"ccomp", "xcomp"}]
        words = {verb.lemma_.lower() for verb in inner} | {verb.lower_ for verb in inner}
        pleasing, displeasing = bool(words & moods.MAKES_GLAD), bool(words & moods.MAKES_SICK)
        people += [key for verb in inner for token in verb.children if token.dep_ == "nsubj"
                   and (key := clause.reading.person(token)) is not None]  # fmt: skip
    if not (pleasing or displeasing) or clause.denied or clause.modal:
        return
    for subject in clause.subjects:
        if subject.pos_ in {"NOUN", "PROPN"} or subject.tag_ == "VBG":
            for key in targets(clause, [subject]):
                yield from told(people, "LIKES" if pleasing else "DISLIKES", key, clause, MAYBE)


def verdict(clause: Clause) -> str:
    """The type of edge that a verb of liking or disliking means here; empty: none."""
    unbearable = clause.modal in ABLE and clause.means(verbs.UNBEARABLE)
    if clause.status is Status.NOT and clause.lemma in {"do", "eat", "drink", "touch"} and refused_kind(clause):
        return "DISLIKES"
    refuses = clause.parent is not None and clause.parent.lemma == "refuse" and clause.parent.said
    if refuses and clause.verb.dep_ == "xcomp" and clause.lemma in {"eat", "drink", "wear", "touch"}:
        return "DISLIKES"
    if clause.denied and (unbearable or clause.lemma == "care"):
        return "DISLIKES"
    if clause.denied and clause.lemma in {"mind", "fear", "regret", "miss", "rate", "admire"}:
        return ""
    if clause.means(verbs.LIKE):
        refused = clause.status is Status.NOT and clause.lemma in {"like", "enjoy", "love", "fancy", "dig"}
        return "LIKES" if clause.said else "DISLIKES" if refused else ""
    return "DISLIKES" if clause.said and clause.means(verbs.DISLIKE) and clause.lemma != "mind" else ""


def refused_kind(clause: Clause) -> bool:
    """Whether what is not done or eaten is a kind of thing: "I don't do eggs", "she doesn't eat pork"."""
    plain = not clause.past and not any(token.lower_ in {"anymore", "yet", "today", "now"} for token in clause.own)
    kinds = [noun for noun in clause.objects if noun.pos_ == "NOUN" and not any(
        child.dep_ in {"det", "poss", "amod", "nummod"} for child in noun.children)]  # fmt: skip
    return (
        plain
        and len(clause.own) < FEW
        and any(
            (noun.tag_ == "NNS" or clause.lemma in {"eat", "drink", "touch"}) and not listed(noun, things.EMPTY)
            for noun in kinds
        )
    )


def my_thing(clause: Clause) -> Iterator[Finding]:
    """Chess is my thing; karaoke isn't my thing."""
    unlike = clause.status is Status.NOT
    if clause.lemma != "be" or clause.asked or not (clause.said or unlike):
        return
    for noun in clause.complements:
        if noun.lower_ in {"thing", "jam"} and owning(clause, noun) is not None:
            for key in targets(clause, clause.subjects):
                yield from told([owning(clause, noun)], "DISLIKES" if unlike else "LIKES", key, clause, MAYBE)


def by_adjective(clause: Clause) -> Iterator[Finding]:
    """She's really into climbing; I'm a big fan of jazz; he is obsessed with trains; I'm sick of rain."""
    into = clause.verb.lower_ == "into"  # "not really into football"
    taken = clause.verb.lower_ in moods.FOND | moods.AVERSE and clause.verb.tag_ == "VBN"  # "I'm obsessed with"
    state = into or taken or clause.means(STATES) or clause.verb.pos_ in {"ADJ", "NOUN"}
    denied = clause.status is Status.NOT or (clause.denied and clause.status is Status.OPEN)
    denied = denied or (into and any(token.lower_ == "not" for token in clause.own))
    if not state or clause.asked or not (clause.said or denied):
        return
    for type_, noun in attitudes(clause, taken=taken):
        if denied and type_ == "DISLIKES":
            continue
        for key in targets(clause, [noun]):
            yield from told(clause.people, "DISLIKES" if denied else type_, key, clause, LIKELY, change(clause))


def attitudes(clause: Clause, *, taken: bool) -> Iterator[tuple[str, Token]]:
    """What the adjectives and nouns of a clause say of others: LIKES or DISLIKES, and what."""
    fragment = clause.verb.lower_ == "into" or (clause.verb.lower_ in {"big", "massively"} and clause.implied)
    if fragment or clause.lemma in {"be", "get"}:
        groups = things.GROUPS | things.WORKPLACES  # "got into the orchestra"
        yield from (("LIKES", noun) for noun in clause.on_verb("into") if not listed(noun, groups))
    for oblique in clause.obliques:
        type_ = attitude(oblique)
        if type_ and (oblique.holder != clause.verb or clause.verb.pos_ in {"ADJ", "NOUN"} or taken):
            yield type_, oblique.noun
    for holder in clause.complements:
        if holder.lower_ in {"lover", "person"} or listed(holder, moods.FANS - {"person", "nut"}):
            yield from [("LIKES", child) for child in holder.children if child.dep_ == "compound"][-1:]
        if holder.lower_ in {"addicted", "partial"}:  # "to liquorice", which the parser takes for an infinitive
            yield from (("LIKES", verb) for verb in holder.children if verb.dep_ == "xcomp" and verb.tag_ == "VB")


def attitude(oblique: Oblique) -> str:
    """What an adjective or noun with its preposition says of what follows: "fond of", "a fan of", "sick of"."""
    holder, prep = oblique.holder.lower_, oblique.prep
    if holder in moods.AVERSE - {"allergic"} and prep in {"of", "to", "with", "by"}:
        return "DISLIKES"
    if holder in {"mad", "excited"}:
        return "LIKES" if prep == "about" else ""
    fond = holder in moods.FOND and prep in LIKED_PREPS
    return "LIKES" if fond or (holder in moods.FANS and prep == "of") else ""
