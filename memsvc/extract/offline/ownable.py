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
GROWN = things.words("""
    tree trees orchid orchids rose roses rosebush shrub shrubs hedge herb herbs cactus cacti succulent succulents bonsai
    houseplant houseplants monstera fern ferns vine vines grapevine vegetable-patch veg-patch patch flowerbed flowerbeds
    polytunnel pond compost beehive henhouse coop birdhouse reindeer ewe ewes ram rams bull bulls heifer heifers calf
    calves cattle sow piglet piglets turkey turkeys stallion filly colt mule livestock herd flock
""")
"""What grows or grazes with those who have it."""
TOOLS = things.words("""
    welder sander planer jigsaw bandsaw chisel chisels anvil vice workbench toolbox wheelbarrow ladder compressor
    sprayer strimmer hedge-trimmer rotavator shredder axe spade scythe cultivator plough baler harvester
    excavator digger crane forklift winch trolley wagon cart sledge sleigh snowmobile jetski jet-ski outboard
    panniers saddle harness bridle easel press letterpress typewriter darkroom enlarger spinning-wheel
    overlocker serger pottery-wheel
    metronome amplifier pedalboard stall safe heirloom brooch locket pendant rosary cufflinks medal medals quilt hearth
    fireplace woodburner solar-panels panels jukebox pinball dartboard chessboard sewing-table dresser cabinet rocker
""")
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
    if listed(noun, things.OWNED | BREEDS - {"cross", "boxer", "pointer", "crow", "drake"} | AIDS | GROWN | TOOLS):
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
    if after is not None and after.pos_ == "PROPN" and after.dep_ != "compound":
        return [after]
    return named_next(noun)


def named_next(noun: Token) -> list[Token]:
    """The name that the next sentence begins with: "We have a tortoise. Called Flash"; "the dog. Rex, he's nine"."""
    doc, at = noun.doc, noun.i + 1
    while at < len(doc) and (doc[at].is_punct or doc[at].is_space):
        at += 1
    if at >= len(doc) or at == noun.i + 1 or doc[at].sent == noun.sent:
        return []
    said = doc[at].lower_ in {"called", "named", "name", "names"}
    name = doc[at + 1] if said and at + 1 < len(doc) else doc[at]
    told = said or (name.i + 2 < len(doc) and name.nbor().text == "," and name.nbor(2).lower_ in {"he", "she", "a"})
    return [name] if told and name.pos_ == "PROPN" else []
