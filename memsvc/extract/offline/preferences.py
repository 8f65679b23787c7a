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
    named,
    owning,
    phrase,
    thing,
    told,
    word,
)
from memsvc.extract.offline.reading import Status
from memsvc.extract.offline.usage import GAMES

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
HOBBY = things.words("hobby passion pastime hobbies")
SPANS = frozenset("""
    monday tuesday wednesday thursday friday saturday sunday weekend morning winter summer spring autumn christmas
    halloween eid diwali easter january february november december
""".split())
HABITUAL = 0.55
ABLE = frozenset({"can", "ca", "could", "cannot"})
GLADLY = frozenset({"like", "love", "enjoy", "prefer", "hate", "adore"})
PASTIMES = frozenset("""
    yoga pilates karate judo aikido taekwondo ballet crossfit gymnastics archery fencing zumba tai-chi parkour
    athletics origami pottery ceramics calligraphy woodwork sudoku crosswords capoeira salsa tango bouldering
    spinning swimming climbing hiking running cycling fishing dancing skating surfing birding birdwatching
""".split())
LOOSE_LIKES = frozenset({"get", "fall", "warm", "live", "heart", "obsess", "delight", "revel"})
"""These mean that something is liked only with a preposition: "get into", "live for"."""
PASSING = things.words("""
    news weather idea timing deadline pic pics picture pictures photo photos shot view views energy enthusiasm feeling
    goal goals attitude words support advice story response reaction moment graphics experience result results offer
    plan suggestion question answer message job work progress dedication thanks passion memory memories smile outfit
""")
"""What is praised politely."""
REPORTED = frozenset({"say", "tell", "think", "reckon", "claim", "believe", "swear", "insist", "ask", "write"})
SHORT = 4
FEW = 10
"""Words of a clause that says nothing else."""
SHOWN = things.words("""
    life sunset signature taste time sound look smell quote point success future way reminder mindset spirit combination
""")
"""What one praises or blames without liking or disliking it for good."""
JUDGED = things.words("place person guy woman man girl friend boss neighbour neighbor teacher team town city food")
GREETINGS = things.words("""
    hear see know meet have think say be get idea way sound look thought luck job stuff
""")


def read(clause: Clause) -> Iterator[Finding]:
    """Everything about likes and dislikes in a clause."""
    yield from by_verb(clause)
    yield from by_frame(clause)
    yield from misread(clause)
    yield from by_adjective(clause)
    yield from favourites(clause)
    yield from habits(clause)
    yield from judged(clause)


def targets(clause: Clause, nouns: list[Token]) -> Iterator[int]:
    """The entities of what is liked; of actions ("baking bread") as well."""
    for noun in map(valence.measured, nouns):
        if noun.tag_ == "VBG" and noun.pos_ in {"VERB", "AUX"}:
            yield from action(clause, noun)
        elif noun.lower_ in {"it", "them", "there"}:
            key = clause.reading.entity(noun)
            if key is not None and key != clause.reading.partner:
                yield key
        elif noun.lower_.rstrip("s") in SPANS:  # days and seasons are times elsewhere
            yield clause.reading.made(noun.text if noun.text[0].isupper() else noun.lower_, "Concept", noun)
        elif (
            (word(noun) not in GREETINGS | PASSING or (word(noun) == "job" and owning(clause, noun) is not None))
            and not any(child.lower_ == "your" for child in noun.children)
            and noun.lower_ not in {"you", "me", "myself", "that", "this"}
        ):
            usable = noun.pos_ != "ADJ" or named(noun) or listed(noun, things.HOMES)  # "flat"
            key = thing(clause, noun) if usable else None
            if key is not None and key != clause.reading.partner:
                yield key


def empty(noun: Token) -> bool:
    """Whether a noun says nothing by itself: "it", "things"."""
    return noun.pos_ == "PRON" or (listed(noun, things.EMPTY) and valence.measured(noun) == noun)


def action(clause: Clause, verb: Token) -> Iterator[int]:
    """What is gladly done: "baking", "swimming in the sea"; of "doing yoga", the yoga."""
    if verb.tag_ != "VBG" or any(child.dep_ == "dobj" and empty(child) for child in verb.children):
        return
    if verb.lemma_ in {"do", "go"}:
        inner = [child for child in verb.children if child.dep_ in {"dobj", "xcomp", "advcl"}]
        yield from targets(
            clause, [child for child in inner if child.pos_ in {"NOUN", "PROPN"} or child.tag_ == "VBG"][:1]
        )
    elif verb.lemma_ not in {"be", "have", "get", "see", "hear", "know", "think", "use"}:
        name = phrase(verb, SHORT, gerund=True)
        last = name.split()[-1]
        if any(token.pos_ in {"ADJ", "DET"} and token.text == last for token in verb.subtree):
            return  # cut short: "making new and powerful models"
        if not any(token.pos_ == "PROPN" for token in verb.subtree):
            name = name.lower()
        yield clause.reading.made(name, "Concept", verb)


def by_verb(clause: Clause) -> Iterator[Finding]:
    """I love baking; she hates coriander; I don't like Mondays; he can't stand Kotlin."""
    if clause.asked or (clause.modal and clause.modal not in ABLE | {"will", "wo"}):
        return
    type_ = verdict(clause)
    if not type_ or (
        clause.lemma in LOOSE_LIKES and type_ == "LIKES" and not clause.at("into", "for", "to", "over", "in")
    ):
        return
    nouns = list(clause.objects)
    if not nouns and clause.lemma in LOOSE_LIKES | {"geek", "nerd", "care", "deal"}:
        nouns = clause.on_verb("into", "for", "to", "over", "in", "with", "about")
    if nouns and nouns[0].lower_ == "it" and clause.adverb == "" and "there" in clause.adverbs:
        nouns = [token for token in clause.own if token.lower_ == "there"]  # "loved it there"
    if not nouns:
        nouns = [verb for verb in clause.inner if verb.tag_ == "VBG" and not has_subject(verb)]
        small = [child for child in clause.verb.children if child.dep_ in {"xcomp", "ccomp"} and child.pos_ == "NOUN"]
        nouns += [noun for child in small for noun in spread(child)]
    gladly = [] if nouns or clause.lemma not in GLADLY or clause.modal else [
        verb for verb in clause.inner if verb.tag_ == "VB" and not has_subject(verb)
    ]  # fmt: skip
    for verb in gladly:  # "I like to cook"
        if verb.lemma_ not in GREETINGS:
            key = clause.reading.made(phrase(verb, SHORT), "Concept", verb)
            yield from told(clause.people, type_, key, clause, LIKELY, change(clause))
    if nouns:  # "I love the light, and skiing": the parser lets "skiing" hang on the verb
        nouns += [c for c in clause.verb.children if c.dep_ == "conj" and c.pos_ == "NOUN" and not predicate(c)]
    nouns += [verb for noun in nouns for verb in noun.children if verb.dep_ == "conj" and verb.tag_ == "VBG"]
    confidence = LIKELY if clause.lemma in {"miss", "rate", "fancy", "get", "fear", "regret"} else SURE
    for noun in nouns:
        # what "it" means is a guess where it stands in another sentence
        for key in targets(clause, [noun]):
            guessed = noun.lower_ in {"it", "them"} and not (nearby(noun) and clause.reading.whose(key).named)
            sure = DOUBTFUL if guessed else confidence
            yield from told(clause.people, turned(type_, noun), key, clause, sure, change(clause))


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


def misread(clause: Clause) -> Iterator[Finding]:
    """I enjoy gardening, where the parser takes "enjoy" for an auxiliary; can't stop playing Zelda."""
    if clause.verb.tag_ == "VBG" and not clause.asked:
        for child in clause.verb.children:
            type_ = {"hate": "DISLIKES", "dislike": "DISLIKES", "enjoy": "LIKES", "love": "LIKES", "like": "LIKES"}.get(
                child.lemma_.lower() if child.dep_ == "aux" else "", ""
            )
            if type_ and not clause.denied:
                people = clause.people or [key for token in child.children if token.dep_ == "nsubj"
                                           and (key := clause.reading.person(token)) is not None]  # fmt: skip
                yield from told(people, type_, next(action(clause, clause.verb), None), clause, LIKELY)
    doing = [child for child in clause.verb.children if child.dep_ == "aux" and child.lower_ in {"do", "does"}]
    if doing and clause.verb.lower_ in PASTIMES and clause.said and not clause.asked:  # "I do karate"
        for noun in spread(clause.verb):
            key = clause.reading.made(noun.lower_, "Concept", noun) if clause.people else None
            yield from told(clause.people, "LIKES", key, clause, HABITUAL)
    helped = any(child.dep_ == "aux" for child in clause.verb.children)
    if clause.verb.lower_ == "like" and clause.verb.tag_ == "IN" and helped:  # taken for the preposition
        for key in targets(clause, clause.at("like")) if clause.said or clause.status is Status.NOT else ():
            yield from told(clause.people, "LIKES" if clause.said else "DISLIKES", key, clause, LIKELY)
    if clause.lemma == "find" and clause.said and not clause.asked:  # "rosehip tea, which I find loathsome"
        words = {token.lower_ for token in clause.complements}
        type_ = "LIKES" if words & moods.PRAISE else "DISLIKES" if words & moods.BLAME else ""
        for key in targets(clause, clause.objects) if type_ else ():
            yield from told(clause.people, type_, key, clause, LIKELY)
    if clause.denied and clause.modal in ABLE and clause.lemma in {"stop", "resist", "quit"}:
        for verb in clause.inner:
            games = [child for child in verb.children if child.dep_ == "dobj"] if verb.lemma_ in TASTES else []
            for key in targets(clause, games):
                yield from told(clause.people, "LIKES", key, clause, MAYBE)


def has_subject(verb: Token) -> bool:
    """Whether a verb has a subject of its own."""
    return any(child.dep_.startswith("nsubj") for child in verb.children)


def by_adjective(clause: Clause) -> Iterator[Finding]:
    """She's really into climbing; I'm a big fan of jazz; he is obsessed with trains; I'm sick of rain."""
    unlike = clause.status is Status.NOT
    if clause.lemma == "be" and (clause.said or unlike) and not clause.asked:  # "padel is my thing"
        for noun in clause.complements:
            if noun.lower_ in {"thing", "jam"} and owning(clause, noun) is not None:
                for key in targets(clause, clause.subjects):
                    yield from told([owning(clause, noun)], "DISLIKES" if unlike else "LIKES", key, clause, MAYBE)
    taken = clause.verb.lower_ in moods.FOND | moods.AVERSE and clause.verb.tag_ == "VBN"  # "I'm obsessed with"
    state = clause.verb.lower_ == "into" or (
        clause.means(verbs.lemmas("be, get, become, go, feel, grow")) or clause.verb.pos_ in {"ADJ", "NOUN"} or taken
    )
    denied = clause.status is Status.NOT or (clause.denied and clause.status is Status.OPEN)
    denied = denied or (clause.verb.lower_ == "into" and clause.denied)
    if not state or clause.asked or not (clause.said or denied):
        return
    found = [("LIKES", noun) for noun in clause.on_verb("into")] if clause.lemma in {"be", "get"} else []
    if clause.verb.lower_ == "into" or (clause.verb.lower_ in {"big", "massively"} and clause.implied):
        found += [("LIKES", noun) for noun in clause.on_verb("into")]  # "not really into football", "big into techno"
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
    for holder in clause.complements:  # "addicted to liquorice", which the parser takes for an infinitive
        if holder.lower_ in moods.FOND | moods.AVERSE:
            found += [("LIKES" if holder.lower_ in moods.FOND else "DISLIKES", verb) for verb in holder.children
                      if verb.dep_ == "xcomp" and verb.tag_ == "VB" and holder.lower_ in {"addicted", "partial"}]  # fmt: skip
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
    progressive = clause.verb.tag_ == "VBG" and any(noun in clause.objects for noun in clause.objects
                                                    if valence.measured(noun) != noun)  # fmt: skip
    plain = clause.verb.tag_ in {"VBP", "VBZ"} and not any(
        child.dep_ in {"aux", "auxpass"} for child in clause.verb.children
    )
    if (plain or progressive or often(clause)) and clause.means(HOBBIES):
        yield from tastes(clause)
    if plain and clause.lemma in {"go", "do", "practise", "practice", "play"}:
        yield from pastimes(clause)
    begun = clause.means(verbs.lemmas("take up, get into, get back into, start, begin, go, get, be"))
    for token in [*clause.objects, *clause.on_verb("to", "into"), *clause.inner] if begun else []:
        if token.lower_ in OUTRIGHT.values() and clause.people and (clause.lemma != "go" or clause.adverb == "back"):
            yield from told(clause.people, "LIKES", clause.reading.made(token.lower_, "Concept", token), clause, MAYBE)
    if clause.means(verbs.lemmas("take up")):
        for key in targets(clause, clause.objects):
            yield from told(clause.people, "LIKES", key, clause, LIKELY)


def often(clause: Clause) -> bool:
    """Whether a verb whose form leaves its time open is said to be done much: "I read a lot of sci-fi"."""
    if clause.verb.lower_ != clause.lemma:
        return False
    return any(valence.measured(noun) != noun for noun in clause.objects)


def tastes(clause: Clause) -> Iterator[Finding]:
    """What is read, eaten, listened to again and again; or the doing itself where nothing is named."""
    nouns = [noun for noun in map(valence.measured, clause.objects)
             if (noun.pos_ in {"NOUN", "PROPN"} or named(noun)) and noun.ent_type_ not in {"DATE", "TIME", "PERSON"}]  # fmt: skip
    nouns += clause.on_verb("to") if clause.lemma == "listen" else []
    if nouns and clause.means(TASTES) and not any(listed(noun, things.EMPTY) for noun in nouns):
        for key in targets(clause, nouns):
            yield from told(clause.people, "LIKES", key, clause, HABITUAL)
    elif not clause.objects and clause.lemma in OUTRIGHT and clause.people and not (going(clause) or clause.particle):
        name = OUTRIGHT[clause.lemma]
        yield from told(clause.people, "LIKES", clause.reading.made(name, "Concept", clause.verb), clause, HABITUAL)


def going(clause: Clause) -> bool:
    """Whether it is a way to get somewhere: "I cycle to work"."""
    return bool(clause.on_verb("to", "from")) or any(verb.lower_ == "work" for verb in clause.inner)


def pastimes(clause: Clause) -> Iterator[Finding]:
    """I go climbing on Thursdays; we play a lot of chess; Ana does yoga."""
    doing = [verb for verb in clause.inner if verb.tag_ == "VBG" and verb.lower_ in {*OUTRIGHT.values(), *PASTIMES}]
    if clause.lemma == "go":
        for verb in doing:
            name = verb.lower_
            yield from told(clause.people, "LIKES", clause.reading.made(name, "Concept", verb), clause, HABITUAL)
        return
    for noun in map(valence.measured, clause.objects):
        if noun.lower_ in PASTIMES or (clause.lemma == "play" and noun.lower_ in GAMES):
            key = clause.reading.made(noun.lower_, "Concept", noun) if clause.people else None
            yield from told(clause.people, "LIKES", key, clause, HABITUAL)


def favourites(clause: Clause) -> Iterator[Finding]:
    """Jazz is my favourite; my favourite band is Low; my hobby is knitting; favourite food: ramen."""
    if not clause.said or clause.asked:
        return
    if clause.verb.pos_ == "NOUN" and clause.implied and favourite(clause.verb):
        others = [child for child in clause.verb.children if child.dep_ == "appos"]
        for key in targets(clause, others):
            yield from told(clause.people, "LIKES", key, clause, LIKELY)
    if clause.verb.tag_ == "VBG" and any(listed(noun, HOBBY) for noun in clause.subjects):
        for noun in clause.subjects:  # "my hobby is knitting", which the parser takes for what it does
            yield from told([owning(clause, noun)], "LIKES", next(action(clause, clause.verb), None), clause, LIKELY)
    if clause.lemma != "be":
        return
    sides = [clause.subjects, [*clause.complements, *(each for each in clause.inner if each.tag_ == "VBG")]]
    for side, other in (sides, sides[::-1]):
        for noun in side:
            type_ = favourite(noun)
            if type_ and noun.pos_ in {"NOUN", "ADJ", "PROPN"}:
                whose = owning(clause, noun)
                others = [each for each in other if each != noun and each.pos_ != "PRON"]
                for key in targets(clause, others) if whose is not None else ():
                    yield from told([whose], type_, key, clause, SURE, change(clause))


def favourite(noun: Token) -> str:
    """LIKES of "favourite band" or "hobby", DISLIKES of "least favourite subject"; empty: neither."""
    near = {child.lower_: child for child in noun.children if child.dep_ in {"amod", "compound", "advmod"}}
    near[noun.lower_] = noun
    guilty = noun.lower_ == "pleasure" and "guilty" in near
    if guilty:
        return "LIKES"
    found = near.keys() & {"favourite", "favorite", "fave", "fav", "hobby", "passion", "hobbies", "passions", "pastime"}
    least = "least" in near or any(child.lower_ == "least" for each in near.values() for child in each.children)
    return "" if not found else "DISLIKES" if least else "LIKES"


def judged(clause: Clause) -> Iterator[Finding]:
    """Anglesey was unreal; the manager is a pillock; stouts, they're terrible; I find opera boring."""
    speaker = clause.reading.speaker
    if speaker is None or clause.asked or clause.status not in {Status.SO, Status.WAS} or not clause.subjects:
        return
    participle = clause.verb.tag_ in {"VBG", "VBN"} and clause.verb.lower_ in moods.PRAISE | moods.BLAME
    found = clause.parent is not None and clause.parent.lemma in {"find", "think", "consider"}
    small = found and clause.verb.pos_ in {"ADJ", "VERB", "NOUN"} and clause.verb.dep_ in {"ccomp", "xcomp", "dobj"}
    if not (clause.lemma in {"be", "taste", "smell"} or participle or small) or clause.modal:
        return
    judges = clause.parent.people if small and clause.parent is not None else [speaker]
    said = [*clause.complements, *([clause.verb] if participle or small else [])]
    words = {token.lower_ for token in said} | {
        child.lower_ for token in said for child in token.children
        if child.dep_ == "amod" and listed(token, things.MEDIA | things.PLACES | things.ROLES | JUDGED)
    }  # fmt: skip
    type_ = "LIKES" if words & moods.PRAISE else "DISLIKES" if words & moods.BLAME else ""
    if clause.parent is not None and clause.parent.lemma in REPORTED and not clause.parent.mine:
        return  # what others think
    if not type_ or any(
        child.lower_ in {"too", "not", "as", "how"} for token in [clause.verb, *said] for child in token.children
    ):
        return
    for noun in clause.subjects:
        if not judgeable(clause, noun):
            continue
        key = thing(clause, noun)
        for judge in judges:
            if key is not None and key != judge:
                yield Finding(judge, type_, key, clause, MAYBE if noun.pos_ != "PRON" else 0.5)


def talked_with(clause: Clause) -> bool:
    """Whether the clause speaks to a person, of what that one told."""
    return clause.reading.partner is not None


def judgeable(clause: Clause, noun: Token) -> bool:
    """Whether what is praised or blamed is something that one likes or dislikes: no idea, no weather, not oneself."""
    if noun.lower_ in {"which", "that", "this", "what"}:
        return False
    if any(child.lower_ in {"that", "this", "these", "those"} for child in noun.children) and talked_with(clause):
        return False  # politeness about what the other shows or tells
    if noun.pos_ == "PRON" and noun.lower_ not in {"it", "they", "he", "she"}:
        return False
    if clause.reading.person(noun) in {clause.reading.speaker, clause.reading.partner} - {None}:
        return False
    return not listed(noun, things.EMPTY - {"place"} | PASSING | SHOWN) and not any(
        child.lower_ in {"your", "which"} for child in noun.children
    )
