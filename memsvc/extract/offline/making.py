"""What people make: build, bake, write, found, organise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import LIKELY, MAYBE, SURE, Finding, kind, listed, named, owner, owning, thing
from memsvc.extract.offline.reading import Status
from memsvc.extract.offline.usage import PROGRAMMING
from memsvc.extract.offline.votes import kind_of_noun

if TYPE_CHECKING:
    from spacy.tokens import Token

MADE = (
    things.MEDIA
    | things.GROUPS
    | things.WORKPLACES
    | things.words("""
        cake bread loaf sourdough pie cookies biscuits jam soup stew curry wine beer cider mead cheese pickles kimchi
        jumper sweater scarf hat socks mittens blanket quilt cushion cushions dress shirt costume table chair shelf
        shelves bench bookcase shed treehouse fence deck pond garden greenhouse website app site bot script program
        tool library package plugin model map database dashboard spreadsheet budget playlist mix track beat drawing
        painting portrait sketch mural sculpture pot pots bowl bowls mug mugs vase card cards poster logo flyer zine
        business company startup charity club group channel blog podcast newsletter course workshop campaign petition
        fund prototype robot drone boat canoe guitar kite dollhouse birdhouse nest-box hive oven wall house cabin
        extension kitchen game level mod film video documentary short series collection exhibition concert festival
        party event conference meetup tournament dish recipe lasagne lasagna tart muffins brownies pancakes dumplings
        pasta sauce sausage candle candles soap jewellery jewelry earrings necklace bracelet bag basket rug tapestry
        toy toys puppet doll speech lecture thesis proposal report paper poem novel book story song album tune piece
        symphony sonata opera play script screenplay comic sours stouts cordial syrup chutney marmalade granola fudge
    """)
)
NOT_MADE = (
    things.EMPTY
    | PROGRAMMING
    | things.LANGUAGES
    | things.words("""
        sense decision money mistake noise progress friend friends plan plans trouble effort difference change changes
        call choice appointment fun excuse mess point sure bed job career life living move peace progress dent
        comeback debut way family home conversation relationship day work start list note notes message email letter
        dinner lunch breakfast coffee tea promise deal deposit payment pact living fool habit routine step use profit
        impression jokes mistakes calls offers suggestions comments excuses things ends amends sounds memories
        connections adjustments improvements rules demands efforts payments arrangements reservations cuts waves
    """)
)
START = verbs.lemmas("start, open, form, launch, establish, begin, set up, run")


def read(clause: Clause) -> Iterator[Finding]:
    """She makes cushions; I wrote an app; they founded a choir; the shed that dad built; a song by Ana."""
    if clause.status not in {Status.SO, Status.WAS} or not clause.means(verbs.CREATE):
        return
    plain = clause.means(verbs.CREATE_PLAIN)
    people = clause.people
    nouns = clause.objects
    if clause.passive:
        people = [key for noun in clause.at("by") if (key := clause.reading.person(noun)) is not None]
        nouns = clause.subjects
    for noun in nouns:
        if not creatable(clause, noun, plain):
            continue
        key = thing(clause, noun)
        if key is None or kind(clause, key) in {"Person", "Place", "Emotion"}:
            continue
        for person in people:
            if person != key:
                yield Finding(person, "CREATED", key, clause, SURE if plain else LIKELY)
    yield from named_so(clause)


def creatable(clause: Clause, noun: Token, plain: bool) -> bool:
    """Whether a noun can name what the verb made."""
    if listed(noun, NOT_MADE) and not listed(noun, MADE):
        return False
    if noun.pos_ == "PRON":
        return plain and noun.lower_ in {"it", "them", "that", "one"}
    if noun.ent_type_ in {"PERSON", "GPE", "DATE", "TIME", "MONEY", "CARDINAL", "NORP"} and not listed(noun, MADE):
        return False
    if clause.lemma in {"write", "film", "draw"} and clause.receivers:
        return listed(noun, MADE)
    if owner(noun) is not None and clause.lemma in {"film", "draw", "develop", "grow"} and not listed(noun, MADE):
        return False
    if clause.means(START) and not plain:
        return listed(
            noun,
            things.GROUPS
            | things.WORKPLACES
            | things.MEDIA
            | things.words("""
                business company startup club channel garden project campaign petition shop charity
            """),
        )
    if clause.lemma in {
        "create",
        "develop",
        "build",
        "produce",
        "establish",
        "invent",
        "plan",
        "construct",
        "form",
        "publish",
        "write",
        "compose",
        "draft",
        "author",
        "film",
        "design",
    }:
        return listed(noun, MADE | things.OWNED | things.HOMES) or named(noun)
    if clause.lemma in {"plant", "record", "grow", "make", "bake", "cook"} and not clause.receivers:
        concrete = kind_of_noun(noun) in {"Object", "Media"} or clause.lemma in {"plant", "record"}
        concrete = concrete or (kind_of_noun(noun) == "" and noun.tag_ == "NNS" and clause.lemma == "make")
        if concrete and noun.pos_ == "NOUN" and owner(noun) is None:
            return True
    return plain or listed(noun, MADE)


def named_so(clause: Clause) -> Iterator[Finding]:
    """My novel, my blog: what is somebody's own work."""
    for noun in clause.own:
        own_work = listed(
            noun,
            things.words("novel blog podcast thesis dissertation memoir newsletter startup screenplay zine"),
        )
        if noun.pos_ == "NOUN" and own_work and not named(noun):
            person = owning(clause, noun)
            key = thing(clause, noun) if person is not None else None
            if person is not None and key is not None:
                yield Finding(person, "CREATED", key, clause, MAYBE)
