"""What people own: animals, vehicles, instruments, homes, devices; and what they no longer own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.extraction import Change
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline import valence
from memsvc.extract.offline.clauses import Clause, spread
from memsvc.extract.offline.findings import (
    DOUBTFUL,
    LIKELY,
    MAYBE,
    SURE,
    Finding,
    change,
    kind,
    listed,
    named,
    owner,
    owning,
    thing,
    told,
)
from memsvc.extract.offline.reading import Status

if TYPE_CHECKING:
    from spacy.tokens import Token

EATEN = things.words("""
    bread milk eggs coffee tea cake pizza sandwich burger wine beer groceries food ice-cream chocolate flowers tickets
    ticket lunch dinner breakfast drink drinks present presents gift gifts ingredients snacks bouquet round stuff
    takeaway fuel petrol gas medicine card cards cookies biscuits
""")
CHERISHED = things.words("""
    cabin cottage allotment greenhouse telescope camera loom kiln lathe hive hives beehives flat house farm orchard
    vineyard boat watch collection tattoo bungalow smoker sewing-machine pottery-wheel tent drone ipad macbook kindle
    garden
""")
"""What "my" makes a possession worth remembering."""
BREEDS = things.words("""
    heeler sheepdog lurcher kelpie pointer setter vizsla cocker tomcat mongrel cross pointer malamute samoyed newfoundland
    weimaraner pomeranian shiba akita doberman boxer dalmatian persian tortie calico cob shetland clydesdale ferret
    stray gander drake bunny degu python boa cockerel bullfinch macaw cockatoo budgie terrapin newt crow jackdaw
""")
BUSINESSES = things.words("""
    bakery shop store restaurant cafe café bar pub farm garage salon brewery vineyard practice studio workshop bookshop
    bookstore brasserie dealership agency company firm business startup consultancy barbershop nursery kiosk stall
    laundrette launderette takeaway diner bistro hostel hotel guesthouse b&b gallery
""")
AIDS = things.words("aids prosthesis wheelchair walker rollator crutches pacemaker licence license pram pushchair buggy")
DAMAGE = frozenset({"crash", "break", "smash", "wreck"})
"""What is so treated is owned still."""
TAKEN = verbs.lemmas("steal, nick, pinch, tow")
INSULTS = things.words("donkey pig cow rat snake chicken goat lamb goose sheep dog hen mouse fish bird cat pussy cross")
NEAR = 8
"""Tokens before a pronoun within which the name that it means stands."""
SWAP = verbs.lemmas("trade, trade in, swap, exchange, part-exchange")
CHANGING_HANDS = frozenset({"inherit", "buy", "take", "adopt", "get", "acquire", "purchase"})
"""What was another's may come to the subject by these: "I inherited my aunt's cello"."""
KEPT = {"Object", "Media", "Place", "Organization", "Document"}


def read(clause: Clause) -> Iterator[Finding]:
    """Everything about possessions in a clause."""
    yield from to_be_sold(clause)
    if clause.asked:
        return
    yield from lost(clause)
    if clause.said:
        yield from had(clause)
        yield from given(clause)
        yield from belonging(clause)
        yield from swapped(clause)
        yield from beside_animals(clause)
        yield from known_vehicles(clause)
        yield from mine(clause)
        yield from gone(clause)
        yield from named_so(clause)
        yield from is_mine(clause)
        yield from animals_named(clause)
        yield from kept_animals(clause)


def ownable(noun: Token, *, any_thing: bool) -> bool:
    """Whether what a noun names can be owned; ``any_thing``: the verb says so, unless the noun denies it."""
    if noun.ent_type_ in {
        "PERSON",
        "DATE",
        "TIME",
        "MONEY",
        "GPE",
        "NORP",
        "EVENT",
        "QUANTITY",
        "CARDINAL",
    } and not listed(noun, things.OWNED):
        return False
    brand = any(child.lower_ in things.VEHICLES for child in noun.children if child.dep_ == "compound")
    if brand or noun.ent_type_ == "PRODUCT":
        return True
    if noun.i + 1 < len(noun.doc) and noun.nbor().lower_ in {"do", "night", "party", "food", "show"}:
        return False  # "the hen do"
    if listed(noun, things.OWNED | BREEDS - {"cross", "boxer", "pointer", "crow", "drake"} | AIDS):
        return not listed(noun, things.EVENTS - things.OWNED)
    if listed(noun, things.NOT_OWNED | things.EMPTY | EATEN | things.EVENTS):
        return False
    return any_thing and noun.pos_ in {"NOUN", "PROPN"}


def had(clause: Clause) -> Iterator[Finding]:
    """I have two cats; we bought a van; she adopted a greyhound; Leo has a bakery; I bought my son a skateboard."""
    bought = clause.means(verbs.BUY_PLAIN) and not clause.passive
    if not (bought or clause.means(verbs.BUY | verbs.HAVE)) or clause.passive or planned(clause):
        return
    for noun in valence.objects(clause):
        whose = owner(noun)
        person_of = owning(clause, noun)
        if whose is not None and person_of not in clause.people and clause.lemma not in CHANGING_HANDS:
            continue
        if listed(noun, things.WORKPLACES):
            if not (clause.lemma == "own" or trade_of_own(clause, noun)):
                continue
        elif not ownable(noun, any_thing=bought):
            continue
        sure = (
            SURE if bought or (clause.lemma in {"have", "own", "get"} and listed(noun, things.OWNED_STRONG)) else LIKELY
        )
        perfect = any(child.lower_ in {"have", "'ve", "has", "'s"} and child.dep_ == "aux" for child in clause.verb.children)
        over: Change = "ended" if clause.lemma == "have" and clause.past and not perfect else change(clause)
        receivers = clause.at("for") if clause.means(verbs.BUY) else []
        for key in kept_as(clause, noun):
            if kind(clause, key) == "Organization" and clause.lemma != "own" and not listed(noun, BUSINESSES):
                continue  # "she had that band"
            for person in recipients(clause, receivers) or clause.people:
                yield Finding(person, "OWNS", key, clause, sure, over)


def kept_as(clause: Clause, noun: Token) -> list[int]:
    """What a noun names that can be owned: the animals themselves where it tells their names."""
    names = names_of(noun) if noun.pos_ == "NOUN" and listed(noun, things.PETS | BREEDS) else []
    keys = [clause.reading.entity(name, "Object") for name in names] or [thing(clause, noun, "Object")]
    return [key for key in keys if key is not None and kind(clause, key) in KEPT]


def planned(clause: Clause) -> bool:
    """Whether it is to happen yet: "we're going to get a dog", "one day I'll have a farm"."""
    going = clause.parent is not None and clause.infinitive and clause.parent.verb.lower_ == "going"
    return going or clause.modal in {"will", "'ll", "would", "'d"}


def trade_of_own(clause: Clause, noun: Token) -> bool:
    """Whether to have a business means to own it: "my wife has a bakery", but not "we have a gym in town"."""
    one = any(child.lower_ in {"a", "an", "own", "two", "three"} for child in noun.children)
    many = any(token.lower_ in {"we", "they", "you"} for token in clause.subjects)
    return one and not many and listed(noun, BUSINESSES) and clause.lemma in {"have", "get", "buy", "inherit", "run"}


def named_so(clause: Clause) -> Iterator[Finding]:
    """We named the puppy Biscuit; I called her Gladys."""
    if clause.means(verbs.lemmas("name, call, christen")) and clause.past:
        nouns = [
            noun for child in clause.verb.children if child.dep_ in {"dobj", "ccomp", "oprd"} for noun in child.subtree
        ]
        for noun in nouns:
            if listed(noun, things.PETS) and noun.pos_ == "NOUN":
                yield from told(clause.people, "OWNS", thing(clause, noun, "Object"), clause, LIKELY)


def recipients(clause: Clause, nouns: list[Token]) -> list[int]:
    """The persons that something was bought for; nobody where it was for the buyers themselves."""
    nouns = [*valence.receivers(clause), *nouns]
    found = [
        clause.reading.person(noun)
        for noun in nouns
        if noun.lower_ not in {"myself", "ourselves", "himself", "herself"}
    ]
    return [key for key in found if key is not None and key not in clause.people]


def given(clause: Clause) -> Iterator[Finding]:
    """Mum gave me her old car; I was given a camera; I gave my guitar to Leo."""
    if not clause.means(verbs.GIVE) or planned(clause):
        return
    to = [key for key in map(clause.reading.person, valence.receivers(clause)) if key is not None]
    if clause.lemma in {"give", "hand", "pass", "gift", "lend", "leave"}:
        to += [key for key in map(clause.reading.person, clause.at("to")) if key is not None]
    if clause.passive:
        to = clause.people
    for noun in valence.objects(clause) if to else ():
        if not ownable(noun, any_thing=clause.lemma in {"gift", "bequeath", "buy"} or named(noun)):
            continue
        key = thing(clause, noun, "Object")
        if key is not None and kind(clause, key) in KEPT:
            yield from told(to, "OWNS" if clause.lemma != "lend" else "USES", key, clause, LIKELY, change(clause))
            if owner(noun) is not None and owning(clause, noun) in clause.people and clause.lemma != "lend":
                yield from told([owning(clause, noun)], "OWNS", key, clause, LIKELY, "ended")


def belonging(clause: Clause) -> Iterator[Finding]:
    """The drill belongs to Bert; the canoe is Leo's; I'm the owner of a caravan; the boat is owned by Ana."""
    pairs: list[tuple[Token, Token]] = []
    if clause.lemma == "belong":
        pairs = [(noun, subject) for noun in clause.on_verb("to") for subject in clause.subjects]
    elif clause.lemma == "own" and clause.passive:
        pairs = [(noun, subject) for noun in clause.at("by") for subject in clause.subjects]
    elif clause.lemma == "be":
        named_owners = [noun for noun in clause.complements if valence.owned_by(noun) is not None]
        pairs = [(noun, subject) for noun in named_owners for subject in clause.subjects]
    if clause.lemma in {"be", "become"}:
        for oblique in clause.obliques:
            if oblique.prep == "of" and oblique.holder.lemma_ in {"owner", "co-owner", "proprietor"}:
                pairs += [(subject, oblique.noun) for subject in clause.subjects]
    for noun, owned in pairs:
        person = clause.reading.person(noun)
        key = thing(clause, owned, "Object") if person is not None else None
        if key is not None and kind(clause, key) in KEPT:
            yield from told([person], "OWNS", key, clause, LIKELY, change(clause))


def swapped(clause: Clause) -> Iterator[Finding]:
    """I traded the car in for a bike; swapped my guitar for a banjo; treated myself to a camera."""
    swaps = clause.means(SWAP) and not clause.passive
    treats: list[Token] = []
    if clause.lemma == "treat" and any(noun.lower_.endswith(("self", "selves")) for noun in clause.objects):
        treats = clause.on_verb("to")
    if clause.means(verbs.lemmas("splash out, splurge")):
        treats = clause.on_verb("on")
    gained = clause.on_verb("for") if swaps else treats
    for noun in gained:
        if ownable(noun, any_thing=swaps):
            key = thing(clause, noun, "Object")
            if key is not None and kind(clause, key) in KEPT:
                yield from told(clause.people, "OWNS", key, clause, LIKELY, change(clause))
    for noun in valence.objects(clause) if gained and swaps else ():
        key = thing(clause, noun, "Object") if ownable(noun, any_thing=True) else None
        if key is not None and kind(clause, key) in KEPT:
            yield from told(clause.people, "OWNS", key, clause, LIKELY, "ended")


def mine(clause: Clause) -> Iterator[Finding]:
    """My van; Tova's guitar; our dog; the bike is mine."""
    if clause.status is not Status.SO:
        return
    gone_now = leaving(clause)
    for noun in clause.own:
        if noun in gone_now or identified(clause, noun):
            continue
        if noun.dep_ == "compound" and noun.head.pos_ == "PROPN" and listed(noun, things.PETS | things.VEHICLES):
            person = owning(clause, noun.head)  # "our dog Rex"
            key = thing(clause, noun.head, "Object") if person is not None else None
            if person is not None and key is not None and kind(clause, key) in KEPT:
                yield Finding(person, "OWNS", key, clause, LIKELY)
        if (
            noun.pos_ not in {"NOUN", "PROPN"}
            or owner(noun) is None
            or not listed(noun, things.OWNED_STRONG | CHERISHED)
        ):
            continue
        if noun.dep_ == "compound" or listed(
            noun,
            things.words("""
                home room place land desk bed bar pool park chair table side switch bass watch sound record golf
                fiesta focus
            """),
        ):
            continue
        if (
            any(
                child.dep_ == "amod" and child.lower_ in {"old", "former", "previous", "dream", "next"}
                for child in noun.children
            )
            and clause.past
        ):
            continue
        person = owning(clause, noun)
        key = thing(clause, noun, "Object") if person is not None else None
        if person is not None and key is not None and kind(clause, key) in KEPT:
            yield Finding(person, "OWNS", key, clause, LIKELY)


def leaving(clause: Clause) -> list[Token]:
    """What a clause says to be given away, lost or gone, so that its "my" tells no possession."""
    if clause.means(verbs.DIE) or (clause.means(verbs.STEAL) and clause.passive):
        return clause.subjects
    if clause.means(verbs.LOSE | verbs.STEAL | verbs.GIVE | SWAP | CHANGING_HANDS) or clause.lemma == "rid":
        return [*valence.objects(clause), *clause.at("of", "with")]
    return []


def identified(clause: Clause, noun: Token) -> bool:
    """Whether a name is said to be it, which is what is owned then: "Biscuit is my dog"."""
    return clause.lemma == "be" and noun in clause.complements and any(named(subject) for subject in clause.subjects)


def is_mine(clause: Clause) -> Iterator[Finding]:
    """Duchess is mine now; the van is hers."""
    if clause.lemma != "be" or clause.status is not Status.SO:
        return
    for complement in clause.complements:
        whose = {"mine": clause.reading.speaker, "ours": clause.reading.speaker}.get(complement.lower_)
        if complement.lower_ in {"hers", "his"}:
            whose = clause.reading.person(complement)
        if listed(complement, things.PETS | things.VEHICLES) and clause.subjects and named(clause.subjects[0]):
            whose = owning(clause, complement)  # "Biscuit is my dog"
        for subject in clause.subjects if whose is not None else ():
            key = thing(clause, subject, "Object")
            if key is not None and kind(clause, key) in KEPT:
                yield from told([whose], "OWNS", key, clause, LIKELY)


def animals_named(clause: Clause) -> Iterator[Finding]:
    """A tortoise called Professor, the cat Pepper, her hens, Mavis and Gladys: an animal with a name is somebody's.

    Whose the possessive says; else of the people who have it, or come with it; else of who speaks.
    """
    if clause.status is not Status.SO or leaving(clause):
        return
    for noun in clause.own:
        if noun.pos_ != "NOUN" or not listed(noun, things.PETS | BREEDS) or noun.dep_ == "compound":
            continue
        names = names_of(noun)
        if not names or identified(clause, noun):
            continue
        person = owning(clause, noun)
        if owner(noun) is not None and person is None:
            continue
        together = clause.means(verbs.HAVE | verbs.BUY | verbs.MOVE | verbs.LIVE) and noun not in clause.subjects
        people = [person] if person is not None else clause.people if together else [clause.reading.speaker]
        for name in names:
            key = clause.reading.entity(name, "Object")
            if key is not None and kind(clause, key) == "Object":
                yield from told(people, "OWNS", key, clause, LIKELY)


def names_of(noun: Token) -> list[Token]:
    """The names behind a noun: in apposition, or behind "called"."""
    for child in noun.children:
        if child.dep_ == "appos" and child.pos_ == "PROPN":
            return spread(child)
        if child.dep_ in {"acl", "relcl"} and child.lemma_ in {"call", "name"}:
            return [name for name in child.children if name.dep_ in {"oprd", "attr", "dobj"} and named(name)]
    after = noun.nbor() if noun.i + 1 < len(noun.doc) else None
    return [after] if after is not None and after.pos_ == "PROPN" and after.dep_ != "compound" else []


def name_before(clause: Clause, pronoun: Token) -> Token | None:
    """The last name before a pronoun that is said to be an animal's."""
    if not (pronoun.head.lemma_ == "be" and any(child.lower_ in {"a", "an"} for each in clause.complements
                                                for child in each.children if not listed(each, INSULTS))):  # fmt: skip
        return None
    before = [name for name in clause.reading.names if pronoun.i - NEAR <= name.start and name.end <= pronoun.i]
    return pronoun.doc[before[-1].head] if before else None


def kept_animals(clause: Clause) -> Iterator[Finding]:
    """Bolek is the neighbour's goose; Admiral is a parrot: an animal with a name is kept, as a rule by who speaks."""
    if clause.lemma != "be" or clause.status is not Status.SO:
        return
    for complement in clause.complements:
        if not listed(complement, things.PETS) or complement.pos_ != "NOUN":
            continue
        whose = owning(clause, complement) if owner(complement) is not None else clause.reading.speaker
        for subject in clause.subjects:
            if subject.lower_ in {"he", "she"} and owner(complement) is None:
                subject = name_before(clause, subject) or subject  # noqa: PLW2901 - "walking Pero, he's a corgi"
            elif clause.reading.person(subject) is not None:
                continue
            key = thing(clause, subject, "Object")
            if key is not None and kind(clause, key) == "Object" and clause.reading.whose(key).named:
                yield from told([whose], "OWNS", key, clause, MAYBE)


def lost(clause: Clause) -> Iterator[Finding]:
    """We sold the van; gave away my guitar; got rid of the car; my bike was stolen; somebody nicked my scooter."""
    if clause.status not in {Status.SO, Status.WAS} or planned(clause):
        return
    people = clause.people
    robbed = clause.means(verbs.STEAL) and not people
    if robbed or (clause.means(verbs.STEAL) and clause.passive):
        nouns = [noun for noun in (clause.subjects if clause.passive else clause.objects) if owner(noun) is not None]
    elif clause.means(verbs.LOSE) and clause.lemma not in DAMAGE and not clause.passive:
        if clause.lemma == "sell" and not (clause.past or any(c.lemma_ == "have" for c in clause.verb.children)):
            return
        nouns = valence.objects(clause) + (clause.at("of") if clause.lemma == "part" else []) + clause.at("with")
        nouns = [noun for noun in nouns if clause.lemma != "sell" or definite(noun) or listed(noun, things.OWNED)]
    elif clause.lemma == "rid":
        nouns = clause.at("of")
    else:
        return
    for noun in nouns:
        if noun.lower_ in {"it", "him", "her", "them"} and clause.lemma in {"sell", "scrap", "rehome", "bin", "dump"}:
            key = clause.reading.entity(noun, "Object")
        elif ownable(noun, any_thing=clause.lemma in {"sell", "scrap", "rehome"} or clause.means(TAKEN)):
            key = thing(clause, noun, "Object")
        else:
            continue
        if clause.passive and clause.lemma != "rid" or not people:
            people = [whose] if (whose := owning(clause, noun)) is not None else []
        sure = DOUBTFUL if noun.pos_ == "PRON" and not said_before(noun) else LIKELY
        if key is not None and kind(clause, key) in KEPT:
            yield from told(people, "OWNS", key, clause, sure, "ended")


def said_before(pronoun: Token) -> bool:
    """Whether a noun that a pronoun may mean stands before it in its sentence."""
    return any(token.pos_ in {"NOUN", "PROPN"} for token in pronoun.doc[pronoun.sent.start : pronoun.i])


def known_vehicles(clause: Clause) -> Iterator[Finding]:
    """The Corsa is on its last legs: a make with "the" is, as a rule, the speaker's."""
    if clause.status is not Status.SO or leaving(clause) or clause.means(verbs.BUY | verbs.LOSE):
        return
    for noun in [*clause.subjects, *clause.objects]:
        make = noun.pos_ == "PROPN" and noun.lower_ in things.VEHICLES and noun.text[0].isupper()
        the = any(child.lower_ == "the" for child in noun.children)
        if make and the and not any(child.dep_ in {"prep", "relcl"} for child in noun.children):
            for key in kept_as(clause, noun):
                yield from told([clause.reading.speaker], "OWNS", key, clause, MAYBE)


def definite(noun: Token) -> bool:
    """Whether a noun has "the", or a possessive, or stands for something known."""
    return owner(noun) is not None or noun.pos_ == "PRON" or any(c.lower_ in {"the", "this", "that"} for c in noun.children)


def to_be_sold(clause: Clause) -> Iterator[Finding]:
    """We're selling the Polo; not selling the boat; if I sold the van: who may sell it owns it still."""
    done = clause.said and clause.past
    if clause.lemma != "sell" or clause.passive or done or any(c.lower_ == "have" for c in clause.verb.children):
        return
    for noun in clause.objects:
        if definite(noun) and listed(noun, things.OWNED_STRONG | things.HOMES) and not listed(noun, EATEN):
            key = thing(clause, noun, "Object")
            if key is not None and kind(clause, key) in KEPT:
                yield from told(clause.people, "OWNS", key, clause, MAYBE)


def beside_animals(clause: Clause) -> Iterator[Finding]:
    """My mother lives in Leeds with a parrot: who is somewhere with an animal keeps it."""
    if clause.means(verbs.lemmas("be, live, sit, stay, move, move in, share") | verbs.MOVE) and clause.said:
        for noun in clause.at("with"):
            counted = any(child.lower_ in {"a", "an", "two", "three", "four", "five"} for child in noun.children)
            if counted and noun.pos_ == "NOUN" and listed(noun, things.PETS | BREEDS) and not names_of(noun):
                key = thing(clause, noun, "Object")
                if key is not None and kind(clause, key) == "Object":
                    yield from told(clause.people, "OWNS", key, clause, MAYBE)


def gone(clause: Clause) -> Iterator[Finding]:
    """Our dog died; we had to put the dog down; we don't have the boat any more."""
    nouns: list[Token] = []
    if clause.means(verbs.DIE):
        nouns = [noun for subject in clause.subjects for noun in spread(subject) if owner(noun) is not None]
    elif clause.lemma == "put" and clause.particle in {"down", "to sleep"}:
        nouns = [noun for noun in clause.objects if listed(noun, things.PETS)]
    for noun in nouns:
        person = owning(clause, noun) if owner(noun) is not None else clause.reading.speaker
        key = thing(clause, noun, "Object") if person is not None and listed(noun, things.OWNED) else None
        if key is not None and kind(clause, key) in KEPT:
            yield from told([person], "OWNS", key, clause, LIKELY, "ended")
