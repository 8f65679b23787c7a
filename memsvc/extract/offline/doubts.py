"""Kinds of findings that are seldom so: they wait for a person, or say nothing, whatever the record of their rule."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_kin as kin
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_works as works
from memsvc.extract.offline.findings import Finding, kind, listed, owner, word

if TYPE_CHECKING:
    from spacy.tokens import Token

    from memsvc.extract.offline.clauses import Clause

AT_WORK = things.words("""
    database databases import imports codebase backlog roadmap pipeline pipelines process release releases feature
    features module modules schema frontend backend deployment ticket tickets project task tasks topic outcome result
    results decision mistake mistakes risk api service
""")
"""Who "owns" these is in charge of them."""
DRAWING = frozenset({"draw", "paint", "sketch", "doodle", "photograph"})
"""Of what is so depicted, a picture is made."""
PATIENTS = things.words("""
    operation surgery op appointment scan mri x-ray xray check-up checkup biopsy transplant dialysis chemo treatment
    rehab funeral exam interview graduation trial hearing
""")
"""Of these a relative's is told as often as one's own."""
OTHERS = things.words("she he her his him hers they their them")
TIED = frozenset({"KNOWS", "FAMILY_OF"})


def doubted(finding: Finding) -> Finding | None:
    """A finding, or what is left of it where it is of a doubtful kind; None: it says nothing."""
    clause, type_ = finding.clause, finding.type
    if type_ in {"LOCATED_AT", "LIVES_IN"} and is_language(finding):
        return None
    if type_ == "OWNS" and (in_charge(clause) or lent(clause)):
        return None
    if type_ == "CREATED" and depicted(clause):
        return None
    if type_ == "PARTICIPATED_IN" and anothers(finding):
        return None
    if type_ == "KNOWS" and finding.data.get("relation") in kin.PERSONS | {"person", "woman", "man"}:
        return replace(finding, data={name: value for name, value in finding.data.items() if name != "relation"})
    if type_ in {"LIKES", "DISLIKES"} and of_the_whole(finding):
        return replace(finding, doubted=True)
    return finding


def is_language(finding: Finding) -> bool:
    """Whether a place is a language: "I'm funny in German"."""
    return finding.clause.reading.whose(finding.object).name.casefold() in things.LANGUAGES


def in_charge(clause: Clause) -> bool:
    """Whether somebody owns something as work: "I own the database and the imports"."""
    return clause.lemma == "own" and any(listed(noun, AT_WORK) for noun in clause.objects)


def lent(clause: Clause) -> bool:
    """Whether something is somebody's for a time only: "it's mine until April"."""
    own = {token.lower_ for token in clause.complements}
    return bool(own & {"mine", "ours", "hers", "his", "theirs"}) and bool(
        {token.lower_ for token in clause.own} & {"until", "till", "til"}
    )


def depicted(clause: Clause) -> bool:
    """Whether what is drawn is no work, but what a work shows: "I leaned over to draw a coot"."""
    return clause.lemma in DRAWING and not any(listed(noun, works.MADE | works.FOUNDED) for noun in clause.objects)


def anothers(finding: Finding) -> bool:
    """Whether "the operation is on Friday" is said in a turn that speaks of somebody else before."""
    clause, reading = finding.clause, finding.clause.reading
    if finding.subject != reading.speaker or clause.mine or kind(clause, finding.object) != "Event":
        return False
    nouns = [token for token in clause.own if word(token) in PATIENTS]
    return any(owner(noun) is None and is_spoken_of(noun) for noun in nouns)


def is_spoken_of(noun: Token) -> bool:
    """Whether somebody else is spoken of before a noun, and the noun not called one's own."""
    before = noun.doc[: noun.i]
    own = any(token.lower_ == word(noun) and any(c.lower_ in {"my", "our"} for c in token.children) for token in before)
    return not own and any(token.lower_ in OTHERS or token.lower_ in kin.FAMILY for token in before)


def of_the_whole(finding: Finding) -> bool:
    """Whether "it" may be what the sentence said before: "I can't come, and I hate it"; it names nothing there."""
    clause = finding.clause
    pronouns = [noun for noun in clause.objects if noun.lower_ == "it"]
    if not pronouns or len(clause.objects) > 1:
        return False
    last = clause.reading.whose(finding.object).name.casefold().rpartition(" ")[2]
    before = clause.verb.doc[clause.verb.sent.start : clause.verb.i]
    verbs = [token for token in before if token.pos_ in {"VERB", "AUX"} and token not in clause.verb.children]
    return bool(verbs) and all(last not in {token.lower_, word(token)} for token in before)
