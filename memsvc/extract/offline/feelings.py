"""What people feel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_moods as moods
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import DOUBTFUL, LIKELY, SURE, Finding, change

if TYPE_CHECKING:
    from spacy.tokens import Token

FEELING = verbs.lemmas("feel, be, get, become, grow, seem, stay, remain, make, leave")
POLITE = frozenset({"you", "your", "hear", "glad", "sorry", "welcome"})
NEGATIONS = frozenset({"not", "n't", "never", "no", "less"})


def read(clause: Clause) -> Iterator[Finding]:
    """I'm so proud; feeling a bit lonely; she was gutted; it makes me nervous; a lot of anxiety."""
    if (
        not clause.said
        or clause.asked
        or clause.denied
        or polite(clause)
        or of_another(clause)
        or (clause.modal and clause.modal not in {"will", "'ll"})
    ):
        return
    if clause.lemma in {"be", "fall"} and any(noun.lower_ == "love" for noun in clause.on_verb("in")) and clause.people:
        key = clause.reading.made("in love", "Emotion", clause.verb)
        for person in clause.people:
            yield Finding(person, "FEELS", key, clause, LIKELY)
    yield from in_phrases(clause)
    itself = clause.verb.lower_ in moods.EMOTIONS and (clause.verb.pos_ == "ADJ" or clause.verb.tag_ == "VBN")
    if clause.means(FEELING) or itself:
        people = felt_by(clause)
        for token in adjectives(clause):
            if people and fits(clause, token):
                key = clause.reading.made(token.lower_, "Emotion", token)
                for person in people:
                    sure = DOUBTFUL if clause.past and not clause.mine else SURE if clause.lemma == "feel" else LIKELY
                    yield Finding(person, "FEELS", key, clause, sure, change(clause))
    elif (
        clause.lemma in {"panic", "worry", "stress"}
        and clause.verb.pos_ == "VERB"
        and clause.subjects
        and clause.people
    ):
        key = clause.reading.made(
            {"panic": "panicking", "worry": "worried", "stress": "stressed"}[clause.lemma], "Emotion", clause.verb
        )
        for person in clause.people:
            yield Finding(person, "FEELS", key, clause, LIKELY)


def of_another(clause: Clause) -> bool:
    """Whether it is said of whom the clause does not name, or foreseen of another: "very pleased with herself"."""
    selves = {"herself", "himself", "themselves", "yourself"}
    if clause.implied and not clause.subjects and any(token.lower_ in selves for token in clause.verb.sent):
        return True
    return clause.modal in {"will", "'ll"} and not clause.mine


def in_phrases(clause: Clause) -> Iterator[Finding]:
    """I'm over the moon; she's on edge; I've got anxiety; he suffers from homesickness; still grieving."""
    for oblique in clause.obliques:
        name = moods.PHRASES.get((oblique.prep, oblique.noun.lemma_.lower()), "")
        if name and clause.lemma in {"be", "feel", "get"} and oblique.holder == clause.verb:
            yield from felt(clause, name, oblique.noun)
    nouns = clause.objects if clause.lemma in {"have", "get", "feel"} and not clause.past else []
    for noun in nouns:
        if noun.lower_ in moods.MOODS - {"peace", "calm", "hope", "fear", "pride", "shock", "surprise"}:
            yield from felt(clause, noun.lower_, noun)
    if clause.verb.lower_ in {"grieving", "panicking", "mourning", "despairing", "freaking"} and not clause.objects:
        yield from felt(clause, clause.verb.lower_, clause.verb)


def felt(clause: Clause, name: str, token: Token) -> Iterator[Finding]:
    """That the subjects feel so."""
    for person in clause.people:
        key = clause.reading.made(name, "Emotion", token)
        yield Finding(person, "FEELS", key, clause, LIKELY, change(clause))


def polite(clause: Clause) -> bool:
    """Whether it is a phrase of conversation: "glad to hear that", "so happy for you"."""
    words = {token.lower_ for token in clause.verb.subtree}
    return bool(words & POLITE) and clause.lemma != "feel"


def felt_by(clause: Clause) -> list[int]:
    """Who feels it: the subjects, or whom it makes feel so."""
    if clause.lemma in {"make", "leave"}:
        inner = [child for child in clause.verb.children if child.dep_ in {"ccomp", "xcomp", "oprd"}]
        named = [token for child in inner for token in child.children if token.dep_ == "nsubj"] or clause.objects
        return [key for key in map(clause.reading.person, named) if key is not None]
    return clause.people


def adjectives(clause: Clause) -> list[Token]:
    """The words for feelings that the clause says of somebody."""
    found: list[Token] = []
    todo = list(clause.complements) + [
        c for c in clause.verb.children if c.dep_ in {"advmod", "dobj", "ccomp", "xcomp", "oprd"}
    ]
    participle = clause.verb.tag_ == "VBN" and (clause.passive or clause.implied) and not clause.objects
    if clause.verb.lower_ in moods.EMOTIONS and (clause.verb.pos_ == "ADJ" or participle):
        todo.append(clause.verb)
    while todo:
        token = todo.pop()
        if token.lower_ in moods.EMOTIONS or (clause.lemma == "feel" and token.lower_ in moods.MOODS):
            found.append(token)
        todo += [child for child in token.children if child.dep_ == "conj" and child not in todo]
    return list(dict.fromkeys(found))


def fits(clause: Clause, token: Token) -> bool:
    """Whether the word is a feeling here: "I feel blue", but not "the van is blue"."""
    if any(child.lower_ in NEGATIONS for child in token.children):
        return False
    if token.lower_ in moods.NOT_MOODS and clause.lemma != "feel":
        return False
    toward = [noun.lower_ for child in token.children if child.dep_ == "prep" for noun in child.children]
    if "you" in toward:
        return False
    reason = [child for child in token.children if child.dep_ == "ccomp"]
    if token.lower_ in {"appreciated", "loved", "motivated", "inspired"} and clause.lemma not in {"feel", "be"}:
        return False
    if token.lower_ == "appreciated" and not clause.subjects:
        return False
    if token.lower_ == "afraid" and reason and clause.mine:  # "I'm afraid I can't"
        return False
    if token.lower_ in {"happy", "glad"} and any(child.dep_ == "xcomp" for child in token.children):
        return False  # "happy to help"
    if token.lower_ in {"content", "cross", "sorry", "glad", "pleased"} and token.pos_ != "ADJ":
        return False
    return not (token.lower_ in {"tired", "sick", "scared", "bored", "excited", "afraid"} and any(
        child.lower_ == "of" and child.dep_ == "prep" for child in token.children))  # fmt: skip
