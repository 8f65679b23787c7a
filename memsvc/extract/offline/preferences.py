"""What people like and dislike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_moods as moods
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause, Oblique, spread
from memsvc.extract.offline.findings import (
    LIKELY,
    MAYBE,
    SURE,
    Finding,
    change,
    listed,
    owning,
    phrase,
    thing,
    told,
    word,
)
from memsvc.extract.offline.reading import Status

if TYPE_CHECKING:
    from spacy.tokens import Token

LIKED_PREPS = ("into", "about", "of", "on", "with", "for", "to", "by")
HOBBIES = verbs.lemmas("""
    read, watch, collect, knit, crochet, sew, paint, draw, bake, brew, garden, follow, support, eat, drink, swim, run,
    jog, cycle, climb, sing, dance, hike, fish, ski, surf, sail, skate, row, listen, play, carve, quilt, meditate,
    box, bird, grow, keep bees
""")
TASTES = verbs.lemmas("read, watch, collect, eat, drink, follow, support, listen, play, grow")
OUTRIGHT = dict(
    pair.split(":")
    for pair in things.words("""
        read:reading knit:knitting crochet:crochet sew:sewing paint:painting draw:drawing bake:baking brew:brewing
        garden:gardening swim:swimming run:running jog:jogging cycle:cycling climb:climbing sing:singing
        dance:dancing hike:hiking fish:fishing ski:skiing surf:surfing sail:sailing skate:skating row:rowing
        box:boxing meditate:meditation boulder:bouldering pot:pottery birdwatch:birdwatching kayak:kayaking
        embroider:embroidery quilt:quilting weave:weaving
    """)
)
"""Hobbies by their verbs."""
HABITUAL = 0.55
ABLE = frozenset({"can", "ca", "could", "cannot"})
LOOSE_LIKES = frozenset({"get", "fall", "warm", "live", "heart", "obsess", "delight", "revel"})
"""These mean that something is liked only with a preposition: "get into", "live for"."""
PASSING = things.words("""
    news weather idea timing deadline pic pics picture pictures photo photos shot view views energy enthusiasm feeling
    goal goals attitude words support advice story response reaction moment graphics experience result results offer
    plan suggestion question answer message job work progress dedication passion memory memories smile outfit
""")
"""What is praised politely."""
SHORT = 4
FEW = 10
"""Words of a clause that says nothing else."""
GREETINGS = things.words("""
    hear see know meet have think say be get idea way sound look thought luck job stuff
""")


def read(clause: Clause) -> Iterator[Finding]:
    """Everything about likes and dislikes in a clause."""
    yield from by_verb(clause)
    yield from by_adjective(clause)
    yield from favourites(clause)
    yield from habits(clause)
    yield from judged(clause)


def targets(clause: Clause, nouns: list[Token]) -> Iterator[int]:
    """The entities of what is liked; of actions ("baking bread") as well."""
    for noun in nouns:
        if noun.tag_ == "VBG" and noun.pos_ in {"VERB", "AUX"}:
            yield from action(clause, noun)
        elif (
            word(noun) not in GREETINGS | PASSING
            and not any(child.lower_ == "your" for child in noun.children)
            and noun.lower_ not in {"you", "me", "myself", "it", "that", "this", "them"}
        ):
            key = thing(clause, noun)
            if key is not None:
                yield key
        elif noun.lower_ in {"it", "them"}:
            key = clause.reading.entity(noun)
            if key is not None:
                yield key


def action(clause: Clause, verb: Token) -> Iterator[int]:
    """What is gladly done: "baking", "swimming in the sea"; of "doing yoga", the yoga."""
    if verb.tag_ != "VBG":
        return
    if verb.lemma_ in {"do", "go"}:
        inner = [child for child in verb.children if child.dep_ in {"dobj", "xcomp", "advcl"}]
        yield from targets(
            clause, [child for child in inner if child.pos_ in {"NOUN", "PROPN"} or child.tag_ == "VBG"][:1]
        )
    elif verb.lemma_ not in {"be", "have", "get", "see", "hear", "know", "think", "use"}:
        name = phrase(verb, SHORT, gerund=True)
        if not any(token.pos_ == "PROPN" for token in verb.subtree):
            name = name.lower()
        yield clause.reading.made(name, "Concept", verb)


def by_verb(clause: Clause) -> Iterator[Finding]:
    """I love baking; she hates coriander; I don't like Mondays; he can't stand Kotlin."""
    if clause.asked or (clause.modal and clause.modal not in ABLE | {"will"}):
        return
    type_ = verdict(clause)
    if not type_ or (
        clause.lemma in LOOSE_LIKES and type_ == "LIKES" and not clause.at("into", "for", "to", "over", "in")
    ):
        return
    nouns = list(clause.objects)
    if not nouns and clause.lemma in LOOSE_LIKES | {"geek", "nerd", "care", "deal"}:
        nouns = clause.on_verb("into", "for", "to", "over", "in", "with", "about")
    if not nouns:
        nouns = [verb for verb in clause.inner if verb.tag_ == "VBG" and not has_subject(verb)]
        small = [child for child in clause.verb.children if child.dep_ in {"xcomp", "ccomp"} and child.pos_ == "NOUN"]
        nouns += [noun for child in small for noun in spread(child)]
    confidence = LIKELY if clause.lemma in {"miss", "rate", "fancy", "get", "fear", "regret"} else SURE
    for key in targets(clause, nouns):
        yield from told(clause.people, type_, key, clause, confidence, change(clause))


def verdict(clause: Clause) -> str:
    """The type of edge that a verb of liking or disliking means here; empty: none."""
    unbearable = clause.modal in ABLE and clause.means(verbs.UNBEARABLE)
    if clause.status is Status.NOT and clause.lemma in {"do", "eat", "drink"} and refused_kind(clause):
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
            (noun.tag_ == "NNS" or clause.lemma in {"eat", "drink"}) and not listed(noun, things.EMPTY)
            for noun in kinds
        )
    )


def has_subject(verb: Token) -> bool:
    """Whether a verb has a subject of its own."""
    return any(child.dep_.startswith("nsubj") for child in verb.children)


def by_adjective(clause: Clause) -> Iterator[Finding]:
    """She's really into climbing; I'm a big fan of jazz; he is obsessed with trains; I'm sick of rain."""
    taken = clause.verb.lower_ in moods.FOND | moods.AVERSE and clause.verb.tag_ == "VBN"  # "I'm obsessed with"
    state = (
        clause.means(verbs.lemmas("be, get, become, go, feel, grow")) or clause.verb.pos_ in {"ADJ", "NOUN"} or taken
    )
    denied = clause.status is Status.NOT or (clause.denied and clause.status is Status.OPEN)
    if not state or clause.asked or not (clause.said or denied):
        return
    found = [("LIKES", noun) for noun in clause.on_verb("into")] if clause.lemma in {"be", "get"} else []
    for oblique in clause.obliques:
        type_ = attitude(oblique)
        if type_ and (oblique.holder != clause.verb or clause.verb.pos_ in {"ADJ", "NOUN"} or taken):
            found.append((type_, oblique.noun))
    for complement in clause.complements:
        if complement.lower_ in {"lover", "person"} or listed(
            complement,
            moods.FANS - things.words("person nut"),
        ):
            found += [("LIKES", child) for child in complement.children if child.dep_ == "compound"]
    for type_, noun in found:
        if denied and type_ == "DISLIKES":
            continue
        for key in targets(clause, [noun]):
            yield from told(clause.people, "DISLIKES" if denied else type_, key, clause, LIKELY, change(clause))


def attitude(oblique: Oblique) -> str:
    """What an adjective or noun with its preposition says of what follows: "fond of", "a fan of", "sick of"."""
    holder, prep = oblique.holder.lower_, oblique.prep
    if holder in moods.AVERSE - {"allergic"} and prep in {"of", "to", "with", "by"}:
        return "DISLIKES"
    if holder in {"mad", "excited"}:
        return "LIKES" if prep == "about" else ""
    fond = holder in moods.FOND and prep in LIKED_PREPS
    return "LIKES" if fond or (holder in moods.FANS and prep == "of") else ""


def habits(clause: Clause) -> Iterator[Finding]:
    """What people do of themselves, again and again: she reads crime novels, I knit, he's taken up pottery."""
    if clause.status is not Status.SO or clause.asked or clause.modal:
        return
    plain = clause.verb.tag_ in {"VBP", "VBZ"} and not any(
        child.dep_ in {"aux", "auxpass"} for child in clause.verb.children
    )
    if plain and clause.means(HOBBIES) and (not clause.objects or clause.means(TASTES)):
        nouns = [
            noun
            for noun in clause.objects
            if noun.pos_ in {"NOUN", "PROPN"} and noun.ent_type_ not in {"DATE", "TIME", "PERSON"}
        ]
        nouns += clause.on_verb("to") if clause.lemma == "listen" else []
        if nouns and not any(listed(noun, things.EMPTY) for noun in nouns):
            for key in targets(clause, nouns):
                yield from told(clause.people, "LIKES", key, clause, HABITUAL)
        elif not clause.objects and clause.lemma in OUTRIGHT and clause.people:
            name = OUTRIGHT[clause.lemma]
            yield from told(clause.people, "LIKES", clause.reading.made(name, "Concept", clause.verb), clause, HABITUAL)
    begun = clause.means(verbs.lemmas("take up, get into, get back into, start, begin, go, get, be"))
    for token in [*clause.objects, *clause.on_verb("to", "into"), *clause.inner] if begun else []:
        if token.lower_ in OUTRIGHT.values() and clause.people and (clause.lemma != "go" or clause.adverb == "back"):
            yield from told(clause.people, "LIKES", clause.reading.made(token.lower_, "Concept", token), clause, MAYBE)
    if clause.means(verbs.lemmas("take up")):
        for key in targets(clause, clause.objects):
            yield from told(clause.people, "LIKES", key, clause, LIKELY)


def favourites(clause: Clause) -> Iterator[Finding]:
    """Jazz is my favourite; my favourite band is Low; my hobby is knitting."""
    if clause.lemma != "be" or not clause.said or clause.asked:
        return
    sides = [clause.subjects, clause.complements]
    for side, other in (sides, sides[::-1]):
        for noun in side:
            adjectives = {child.lower_ for child in noun.children if child.dep_ in {"amod", "compound"}} | {noun.lower_}
            if adjectives & {"favourite", "favorite", "fave", "fav", "hobby", "passion", "hobbies"} and noun.pos_ in {
                "NOUN",
                "ADJ",
                "PROPN",
            }:
                whose = owning(clause, noun)
                for key in targets(clause, [each for each in other if each != noun]) if whose is not None else ():
                    yield from told([whose], "LIKES", key, clause, SURE, change(clause))


def judged(clause: Clause) -> Iterator[Finding]:
    """Anglesey was unreal; the manager is a pillock; stouts, they're terrible."""
    speaker = clause.reading.speaker
    if speaker is None or clause.asked or clause.status not in {Status.SO, Status.WAS} or not clause.subjects:
        return
    if clause.lemma not in {"be", "taste", "smell"} or clause.modal:
        return
    words = {token.lower_ for token in clause.complements} | {
        child.lower_ for token in clause.complements for child in token.children if child.dep_ == "amod"
    }
    type_ = "LIKES" if words & moods.PRAISE else "DISLIKES" if words & moods.BLAME else ""
    if not type_ or any(
        child.lower_ in {"too", "not", "as", "how"}
        for token in [clause.verb, *clause.complements]
        for child in token.children
    ):
        return
    for noun in clause.subjects:
        if noun.lower_ in {"which", "that", "this", "what"}:
            continue
        if noun.pos_ == "PRON" and noun.lower_ not in {"it", "they", "he", "she"}:
            continue
        if clause.reading.person(noun) in {speaker, clause.reading.partner} and clause.reading.person(noun) is not None:
            continue
        if listed(noun, things.EMPTY | PASSING) or any(child.lower_ in {"your", "which"} for child in noun.children):
            continue
        key = thing(clause, noun)
        if key is not None and key != speaker:
            yield Finding(speaker, type_, key, clause, MAYBE if noun.pos_ != "PRON" else 0.5)
