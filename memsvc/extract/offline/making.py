"""What people make: build, bake, write, found, organise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline import valence
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
        cookbook music letter toy toys puppet doll speech lecture thesis proposal report paper poem novel book story song album tune piece
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
        recommendations recommendation models connections adjustments improvements rules demands efforts payments arrangements reservations cuts waves
    """)
)
AUTHORS = frozenset("""
    author writer founder cofounder co-founder creator designer inventor composer maker builder architect editor
    producer co-author coauthor illustrator
""".split())
OWN_WORKS = things.words("""
    novel blog podcast thesis dissertation memoir newsletter startup screenplay zine painting paintings sculpture poem
    poems album ep manuscript webcomic
""")
OTHERS_WORKS = things.words("painting paintings sculpture poem poems novel blog podcast thesis dissertation memoir album")
"""What "my", and what "Rosa's", makes a work of that person."""
RUN_WORKS = things.words("blog podcast newsletter zine vlog webshop webcomic")
CRAFTED = things.words("""
    quilt jumper sweater scarf hat blanket painting portrait sculpture mural novel thesis dissertation manuscript
    screenplay cardigan socks shed deck treehouse boat canoe dollhouse puzzle tapestry rug model poem song album
""") - things.words("puzzle album song novel")
WRITTEN = things.words("novel book album song play script game app paper memoir screenplay website zine podcast ep comic")
NOT_GROWN = things.words("""
    hair beard moustache mustache business company audience nails impatient interest love confidence balls pair
    following list up part tail
""")
NOT_BUILT = things.words("""
    confidence relationship relationships trust muscle muscles team rapport career life habit habits reputation bond
    bonds strength stamina skills skill knowledge wall walls bridge bridges network future case tolerance immunity
""")
OF_ONE = frozenset({"a", "an", "our", "my", "his", "her", "their", "own", "the", "this"})
LATER = 22
"""Tokens behind what is made, within which its name is looked for."""
DRAWN_SHUT = things.words("curtain curtains blind blinds line lines conclusion conclusions attention breath crowd bath gun")
START = verbs.lemmas("start, open, form, launch, establish, begin, set up, run")


def read(clause: Clause) -> Iterator[Finding]:
    """She makes cushions; I wrote an app; they founded a choir; the shed that dad built; a song by Ana."""
    if clause.status not in {Status.SO, Status.WAS} or clause.asked:
        return
    yield from authors(clause)
    yield from own_works(clause)
    yield from finished(clause)
    if not clause.means(verbs.CREATE):
        return
    plain = clause.means(verbs.CREATE_PLAIN)
    people = clause.people
    nouns = valence.objects(clause)
    if clause.passive:
        people = [key for noun in clause.at("by") if (key := clause.reading.person(noun)) is not None]
        nouns = clause.subjects
    for noun in nouns:
        name = named_later(noun)
        if name is None and not creatable(clause, noun, plain):
            continue
        key = thing(clause, name or noun)
        if key is None or kind(clause, key) in {"Person", "Place", "Emotion"}:
            continue
        for person in people:
            if person != key:
                yield Finding(person, "CREATED", key, clause, SURE if plain else LIKELY)


def named_later(noun: Token) -> Token | None:
    """The name that the text gives what is made soon after: "we're making one, it's called Goblin"; or None."""
    if noun.lower_ not in {"one", "something", "thing", "it"} and not listed(noun, MADE):
        return None
    for token in noun.doc[noun.i + 1 : noun.i + LATER]:
        if token.lemma_ in {"call", "name", "title"} and token.tag_ == "VBN":
            pronoun = any(child.lower_ in {"it", "which"} for child in token.children)
            name = next((child for child in token.children if child.dep_ in {"oprd", "attr", "dobj"}), None)
            if pronoun and name is not None and named(name):
                return name
    return None


def creatable(clause: Clause, noun: Token, plain: bool) -> bool:
    """Whether a noun can name what the verb made."""
    if listed(noun, NOT_MADE) and not listed(noun, MADE):
        return False
    if noun.pos_ == "PRON":
        key = clause.reading.entity(noun) if clause.means(START) and noun.lower_ == "it" else None
        founded = key is not None and kind(clause, key) in {"Organization", "Project", "Media"}
        return founded or (plain and noun.lower_ in {"it", "them", "that", "one"})
    if noun.ent_type_ in {"PERSON", "GPE", "DATE", "TIME", "MONEY", "CARDINAL", "NORP"} and not listed(noun, MADE):
        return False
    if clause.lemma == "grow":
        return owner(noun) is None and noun.pos_ == "NOUN" and not listed(noun, NOT_GROWN | things.EMPTY)
    if clause.lemma in {"write", "film", "draw"} and clause.receivers:
        return listed(noun, MADE)
    if clause.lemma == "translate":
        return noun.ent_type_ != "LANGUAGE" and listed(noun, MADE | things.words("cookbook poetry novel book manual"))
    if listed(noun, DRAWN_SHUT) and clause.lemma in {"draw", "make", "film"}:
        return False
    if owner(noun) is not None and clause.lemma in {"film", "draw", "develop"} and not listed(noun, MADE):
        return False
    if clause.means(START) and not plain and not any(child.lower_ in OF_ONE for child in noun.children):
        return False  # "he started nursery"
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
    if clause.lemma in {"throw", "host", "arrange", "plan", "put"}:
        return listed(noun, things.EVENTS) and not listed(noun, things.TRIPS | things.WEAK_EVENTS)
    if noun.lower_ == "letter":
        return clause.lemma == "write"
    if clause.lemma == "set":
        return listed(noun, MADE) and not listed(noun, things.EVENTS)
    indefinite = noun.tag_ == "NNS" or any(child.lower_ in {"a", "an"} for child in noun.children)
    if clause.lemma in {"build", "construct", "assemble", "carve", "weld", "knit", "sew"} and indefinite:
        return noun.pos_ == "NOUN" and not listed(noun, NOT_BUILT)
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


def authors(clause: Clause) -> Iterator[Finding]:
    """I'm the author of a book; she's the founder of Lumen; Leo is the creator of the game."""
    if clause.lemma not in {"be", "become"}:
        return
    for oblique in clause.obliques:
        if oblique.prep == "of" and oblique.holder.lemma_.lower() in AUTHORS:
            key = thing(clause, oblique.noun)
            if key is not None and kind(clause, key) not in {"Person", "Place", "Emotion"}:
                for person in clause.people:
                    yield Finding(person, "CREATED", key, clause, LIKELY)


def own_works(clause: Clause) -> Iterator[Finding]:
    """My novel, my blog, Rosa's new painting: what is somebody's own work."""
    for noun in clause.own:
        works = OWN_WORKS if owner(noun) is not None and owner(noun).lower_ in {"my", "our"} else OTHERS_WORKS  # type: ignore[union-attr]
        if noun.pos_ == "NOUN" and listed(noun, works) and not named(noun) and noun.dep_ != "compound":
            person = owning(clause, noun)
            key = thing(clause, noun) if person is not None else None
            if person is not None and key is not None:
                yield Finding(person, "CREATED", key, clause, MAYBE)
    if clause.lemma in {"run", "have", "host", "keep"} and clause.said:
        for noun in clause.objects:
            if listed(noun, RUN_WORKS):
                key = thing(clause, noun)
                for person in clause.people if key is not None else ():
                    yield Finding(person, "CREATED", key, clause, LIKELY if clause.lemma == "run" else MAYBE)  # type: ignore[arg-type]


def finished(clause: Clause) -> Iterator[Finding]:
    """I finished the quilt; working on a novel: of things that one makes rather than reads or attends."""
    nouns: list[Token] = []
    if clause.means(verbs.lemmas("finish, complete, finish off")) and not clause.passive:
        nouns = [noun for noun in clause.objects if listed(noun, CRAFTED)]
    elif clause.means(verbs.lemmas("work")):
        nouns = [noun for noun in clause.on_verb("on") if listed(noun, CRAFTED | WRITTEN) and owner(noun) is None
                 or listed(noun, CRAFTED)]  # fmt: skip
    for noun in nouns:
        key = thing(clause, noun)
        if key is not None and kind(clause, key) not in {"Person", "Place", "Emotion", "Organization"}:
            for person in clause.people:
                yield Finding(person, "CREATED", key, clause, MAYBE)
