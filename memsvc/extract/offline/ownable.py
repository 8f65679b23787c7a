"""What can be owned, and which of its names counts; what a clause says to come and to go. For all that read owning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline import valence
from memsvc.extract.offline.clauses import Clause, spread
from memsvc.extract.offline.findings import (
    kind,
    listed,
    named,
    thing,
)

if TYPE_CHECKING:
    from spacy.tokens import Token

EATEN = things.words("""
    bread milk eggs coffee tea cake pizza sandwich burger wine beer groceries food ice-cream chocolate flowers tickets
    ticket lunch dinner breakfast drink drinks present presents gift gifts ingredients snacks bouquet round stuff
    takeaway fuel petrol gas medicine card cards cookies biscuits
""")
KEPT = {"Object", "Media", "Place", "Organization", "Document"}
BREEDS = things.words("""
    heeler sheepdog lurcher kelpie pointer setter vizsla cocker tomcat mongrel cross pointer malamute samoyed
    newfoundland weimaraner pomeranian shiba akita doberman boxer dalmatian persian tortie calico cob shetland
    clydesdale ferret stray gander drake bunny degu python boa cockerel bullfinch macaw cockatoo budgie terrapin newt
    crow jackdaw
""")
BUSINESSES = things.words("""
    bakery shop store restaurant cafe café bar pub farm garage salon brewery vineyard practice studio workshop
    bookshop bookstore brasserie dealership agency company firm business startup consultancy barbershop nursery kiosk
    stall laundrette launderette takeaway diner bistro hostel hotel guesthouse b&b gallery
""")
AIDS = things.words(
    "aids prosthesis wheelchair walker rollator crutches pacemaker licence license pram pushchair buggy"
)
SWAP = verbs.lemmas("trade, trade in, swap, exchange, part-exchange")
CHANGING_HANDS = frozenset({"inherit", "buy", "take", "adopt", "get", "acquire", "purchase"})
"""What was another's may come to the subject by these: "I inherited my aunt's cello"."""


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
    if names_event(noun):
        return False
    if listed(noun, things.OWNED | BREEDS - {"cross", "boxer", "pointer", "crow", "drake"} | AIDS):
        return not listed(noun, things.EVENTS - things.OWNED)
    if listed(noun, things.NOT_OWNED | things.EMPTY | EATEN | things.EVENTS):
        return False
    return any_thing and noun.pos_ in {"NOUN", "PROPN"}


def names_event(noun: Token) -> bool:
    """Whether a noun belongs to the name of an event or ware: "the hen do", "dog food"."""
    return noun.i + 1 < len(noun.doc) and noun.nbor().lower_ in {"do", "night", "party", "food", "show"}


def kept_as(clause: Clause, noun: Token) -> list[int]:
    """What a noun names that can be owned: the animals themselves where it tells their names."""
    names = names_of(noun) if noun.pos_ == "NOUN" and listed(noun, things.PETS | BREEDS) else []
    keys = [clause.reading.entity(name, "Object") for name in names] or [thing(clause, noun, "Object")]
    return [key for key in keys if key is not None and kind(clause, key) in KEPT]


def planned(clause: Clause) -> bool:
    """Whether it is to happen yet: "we're going to get a dog", "one day I'll have a farm"."""
    going = clause.parent is not None and clause.infinitive and clause.parent.verb.lower_ == "going"
    return going or clause.modal in {"will", "'ll", "would", "'d"}


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


def names_of(noun: Token) -> list[Token]:
    """The names behind a noun: in apposition, or behind "called"."""
    for child in noun.children:
        if child.dep_ == "appos" and child.pos_ == "PROPN":
            return spread(child)
        if child.dep_ in {"acl", "relcl"} and child.lemma_ in {"call", "name"}:
            return [name for name in child.children if name.dep_ in {"oprd", "attr", "dobj"} and named(name)]
    after = noun.nbor() if noun.i + 1 < len(noun.doc) else None
    return [after] if after is not None and after.pos_ == "PROPN" and after.dep_ != "compound" else []
