"""What people want, need, plan, hope for and dream of: things, and tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_frames as frames
from memsvc.extract.offline import lexicon_moods as moods
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline import valence
from memsvc.extract.offline.clauses import Clause, spread
from memsvc.extract.offline.findings import LIKELY, MAYBE, SURE, Finding, listed, owning, phrase, thing, told
from memsvc.extract.offline.reading import Status

if TYPE_CHECKING:
    from spacy.tokens import Token

GOALS = things.words("goal goals plan dream aim ambition hope wish target resolution")
ACQUIRE = frozenset({"buy", "get", "have", "own", "adopt", "find", "purchase", "save", "order", "rent", "acquire"})
"""What is wanted then is the thing rather than the deed."""
CHAT = things.words("""
    ask know say tell hear see talk check let be thank share apologise vent mention point discuss add clarify wish
    make give help show call name die cry scream understand remember admit think feel sound look
""")
DEEDS = things.words("""
    retire emigrate marry remarry divorce graduate qualify travel sing dance swim paint weld ski surf sail drive cook
    knit sew vote adopt volunteer study teach foster climb garden fly dive run code draw freelance compete perform
    busk farm relocate downsize homeschool conceive
""")
"""What says enough by itself to be somebody's wish."""
SHOWN = things.words("photo photos picture pictures pic pics video recipe recipes idea ideas result results link it")
"""What one would love to see, out of politeness."""
BODY = things.words("head hand hands hair feet foot mind heart eye eyes arm arms body finger fingers")
SETTLED = things.words("live move work stay travel buy rent own keep study join")
"""What one would rather do in earnest."""
AWAITED = things.words("hear see know find check learn experience read watch try taste feel start share use take")
"""What one cannot wait to do, out of politeness or for the moment."""
CHANGES = things.words("""
    learn start open move study train quit apply retire build launch become adopt marry volunteer emigrate sell stop
    propose renovate publish found enrol enroll relocate join
""")
"""What one is going to do that is worth knowing before it is done."""
REFLEXIVE = things.words("myself yourself himself herself itself ourselves themselves")
POINTING = things.words("something anything it that this them one so her him me us you with there")
BOUGHT = things.words("panels panel house flat pool kitchen garden extension sofa")
COURSES = things.words("course courses house houses flat flats uni unis university school schools job jobs degree")
WISHED = things.words("like love prefer want kill rather")
POLITE = things.words("""
    help advice information suggestions tips recipe opinion answer idea ideas hand money time sleep rest break coffee
    hug minute moment push reminder clue say info feedback assistance support drink nap life list letter pitch email
    text message draft word words summary reply speech essay reminder prompt explanation translation example word
    encouragement recommendation recommendations insight insights keys fun excuse second lift ride favour favor
    password code date number address distraction
""")


def read(clause: Clause) -> Iterator[Finding]:
    """Everything that is wished in a clause."""
    if clause.asked:
        return
    yield from waited_for(clause)
    if clause.denied:
        return
    yield from goals(clause)
    yield from all_wanted(clause)
    if not clause.people:
        return
    yield from planned(clause)
    yield from longed_for(clause)
    yield from by_frame(clause)
    if wishing(clause):
        yield from tasks(clause)
        yield from wanted(clause)
    yield from eager(clause)


def wishing(clause: Clause) -> bool:
    """Whether the verb wishes, and the wish is so."""
    if clause.modal in {"would", "'d", "d"}:
        rather = any(child.lower_ == "rather" for child in clause.verb.children)
        return (clause.lemma in WISHED - {"want"} or rather) and clause.status is not Status.NOT
    if clause.status is not Status.SO or (clause.modal and clause.modal not in {"will", "'ll", "must"}):
        return False
    if clause.past and clause.lemma in {
        "want",
        "need",
        "hope",
        "plan",
        "wish",
        "mean",
        "intend",
        "try",
        "have",
        "look",
    }:
        return False
    return clause.means(verbs.WANT | verbs.WANT_TO) or clause.lemma == "learn"


def tasks(clause: Clause) -> Iterator[Finding]:
    """I want to learn to weld; thinking of moving; hoping to retire; I'd love to see Japan."""
    would = clause.modal in {"would", "'d", "d"}
    for verb in clause.inner:
        infinitive = any(child.lower_ == "to" and child.dep_ == "aux" for child in verb.children)
        if any(child.dep_ in {"nsubj", "neg"} for child in verb.children):
            continue
        gerund = verb.tag_ == "VBG" and clause.lemma in {
            "consider",
            "contemplate",
            "fancy",
            "plan",
            "think",
            "look",
            "dream",
            "debate",
            "talk",
        }
        if not (gerund or (infinitive and (would or clause.means(verbs.WANT_TO) or clause.lemma == "learn"))):
            continue
        if clause.lemma == "learn" and infinitive and clause.verb.tag_ == "VBG":
            yield from deed(clause, clause.verb, MAYBE)
            continue
        if clause.lemma in {"love", "like", "prefer", "choose"} and not would:
            continue
        if clause.lemma == "have" or (clause.lemma in {"need", "try"} and verb.lemma_ in CHAT):
            continue
        if verb.lemma_ in CHAT and not (
            verb.lemma_ == "be" or (verb.lemma_ in {"make", "see"} and list(objects(verb)))
        ):
            continue
        yield from deed(clause, verb, MAYBE if clause.lemma in {"have", "need", "try", "look", "decide"} else LIKELY)


def objects(verb: Token) -> Iterator[Token]:
    """What a verb is done to."""
    for child in verb.children:
        if child.dep_ == "dobj":
            yield from spread(child)
        elif child.dep_ == "prep" and verb.lemma_ in {"save", "look"} and child.lower_ == "for":
            for noun in child.children:
                if noun.dep_ == "pobj":
                    yield from spread(noun)


def planned(clause: Clause) -> Iterator[Finding]:
    """We're going to get solar panels; one day I'll have a farm; gonna learn Basque: what changes a life."""
    going = clause.parent is not None and clause.infinitive and clause.parent.verb.lower_ == "going"
    some_day = clause.modal in {"will", "'ll"} and any(
        child.dep_ == "npadvmod" and child.lower_ in {"day", "time"} for child in clause.verb.children
    )
    if not (going or some_day) or clause.status is not Status.SO:
        return
    if clause.lemma in ACQUIRE and list(objects(clause.verb)):
        for noun in objects(clause.verb):
            if noun.pos_ in {"NOUN", "PROPN"} and listed(noun, things.OWNED | things.HOMES | BOUGHT):
                yield from told(clause.people, "WANTS", thing(clause, noun), clause, MAYBE)
    elif clause.lemma in CHANGES:
        yield from deed(clause, clause.verb, MAYBE)


def longed_for(clause: Clause) -> Iterator[Finding]:
    """I wish I had a garden; I'd rather live in the country; I'm tempted to buy a boat."""
    if clause.lemma == "wish" and clause.mine and not clause.past:
        for verb in clause.inner:
            yield from wished(clause, verb)
    rather = any(child.lower_ == "rather" for child in clause.verb.children)
    if rather and clause.modal in {"would", "'d", "d"} and clause.lemma in SETTLED | DEEDS:
        yield from deed(clause, clause.verb, MAYBE)
    if clause.lemma in {"tempt", "determine", "set"} and clause.passive and clause.said:
        for verb in clause.inner:
            if verb.lemma_ not in CHAT:
                yield from deed(clause, verb, MAYBE)


def wished(clause: Clause, verb: Token) -> Iterator[Finding]:
    """What "I wish" wishes for oneself: "I had a garden", "I could sing"."""
    mine = any(child.dep_ == "nsubj" and child.lower_ in {"i", "we"} for child in verb.children)
    if not mine or any(child.dep_ == "neg" for child in verb.children):
        return
    if verb.lemma_ == "have" and verb.tag_ == "VBD":
        for noun in objects(verb):
            if not listed(noun, POLITE | things.EMPTY | things.NOT_OWNED):
                yield from told(clause.people, "WANTS", thing(clause, noun), clause, MAYBE)
    elif verb.lemma_ not in CHAT and any(child.lower_ == "could" for child in verb.children):
        yield from deed(clause, verb, MAYBE)


def waited_for(clause: Clause) -> Iterator[Finding]:
    """I can't wait to meet the baby; can't wait for the summer is no wish of that kind."""
    if clause.lemma == "wait" and clause.denied and clause.modal in {"can", "ca", "could", "cannot"}:
        for verb in clause.inner:
            if (
                verb.tag_ == "VB"
                and verb.lemma_ not in CHAT | AWAITED
                and not any(c.dep_ == "nsubj" for c in verb.children)
            ):
                yield from deed(clause, verb, MAYBE)


def all_wanted(clause: Clause) -> Iterator[Finding]:
    """All I want is a quiet house; what I really want is to sing; it's my dream to sail."""
    if clause.lemma != "be" or clause.status is not Status.SO:
        return
    for verb in [*clause.verb.children, *(inner for subject in clause.subjects for inner in subject.children)]:
        wants = verb.dep_ in {"csubj", "relcl"} and verb.lemma_ in {"want", "need"} and verb.tag_ in {"VBP", "VBZ"}
        whose = [key for child in verb.children if child.dep_ == "nsubj" and child.lower_ != "you"
                 and (key := clause.reading.person(child)) is not None]  # fmt: skip
        for noun in clause.complements if wants else ():
            if noun.pos_ in {"NOUN", "PROPN"} and not listed(noun, POLITE | things.EMPTY):
                yield from told(whose, "WANTS", thing(clause, noun), clause, MAYBE)
    for noun in clause.complements:
        if noun.lower_ in GOALS:
            for verb in noun.children:
                if verb.dep_ in {"acl", "xcomp", "relcl"} and verb.tag_ == "VB":
                    for key in deeds(clause, verb):
                        yield from told([owning(clause, noun)], "WANTS", key, clause, LIKELY)


def by_frame(clause: Clause) -> Iterator[Finding]:
    """I've set my heart on a sheepdog; I'm after a desk; I could do with a holiday."""
    for _, noun in valence.filled(clause, frames.WISHING):
        if noun.pos_ not in {"NOUN", "PROPN"} or noun.ent_type_ in {"DATE", "TIME", "PERSON"}:
            continue
        if not listed(noun, POLITE - {"break"} | things.EMPTY | things.TIMES) and clause.reading.person(noun) is None:
            yield from told(clause.people, "WANTS", thing(clause, noun), clause, MAYBE)


def deed(clause: Clause, verb: Token, confidence: float) -> Iterator[Finding]:
    """The wish for a deed, or for the thing that the deed gets."""
    for key in deeds(clause, verb):
        yield from told(clause.people, "WANTS", key, clause, confidence)


def deeds(clause: Clause, verb: Token) -> list[int]:
    """What a wished verb names: the thing it gets, or the deed; nothing where that says too little."""
    got = [thing(clause, noun) for noun in objects(verb) if noun.pos_ in {"NOUN", "PROPN"} and not listed(noun, BODY)]
    if verb.lemma_ in ACQUIRE and any(key is not None for key in got):
        return [key for key in got if key is not None]
    words = phrase(verb).split()
    while len(words) > 1 and words[-1].lower() in REFLEXIVE:
        words.pop()
    name = " ".join(words)
    words = name.lower().split()
    if words[-1] in POINTING or any(child.dep_ == "dobj" and child.lower_ in POINTING for child in verb.children):
        return []
    back = next((child.lower_ for child in verb.children if child.lower_ in {"back", "out", "away", "abroad"}), "")
    if len(words) == 1 and back and verb.lemma_ in {"go", "come", "move", "get", "study", "work", "live"}:
        return [clause.reading.made(f"{name} {back}", "Task", verb)]
    if any(child.lower_ == "your" for noun in objects(verb) for child in noun.children):
        return []  # politeness: "I'd love to see your garden"
    if any(
        token.text == words[-1] and token.dep_ == "amod" for token in verb.subtree if token.text.lower() == words[-1]
    ):
        return []  # cut short: "running a small and tidy farm"
    if verb.lemma_ in {"see", "try", "hear", "share"} and any(listed(noun, SHOWN) for noun in objects(verb)):
        return []
    hollow = [noun for noun in objects(verb) if listed(noun, things.EMPTY) and noun.lower_ != "place"]
    if (len(words) == 1 and verb.lemma_.lower() not in DEEDS) or hollow:
        return []
    return [clause.reading.made(name, "Task", verb)]


def wanted(clause: Clause) -> Iterator[Finding]:
    """I want an air fryer; saving for a van; looking for a flat; she needs new boots; he fancies a dog."""
    nouns: list[Token] = []
    would = clause.modal in {"would", "'d", "d"}
    if clause.means(verbs.WANT_OBJECT) or (would and clause.lemma in {"like", "love", "prefer"}):
        nouns = list(clause.objects)
    near = {clause.verb, *clause.verb.children}
    for oblique in clause.obliques:
        wished = (clause.lemma, oblique.prep) in verbs.WANT_PREP and clause.lemma != "think"
        if wished and oblique.holder in near:
            nouns.append(oblique.noun)
    for noun in nouns:
        mistaken = noun.pos_ == "ADJ" and noun.dep_ in {"dobj", "pobj"}  # "a bigger flat"
        if (
            not (noun.pos_ in {"NOUN", "PROPN"} or mistaken)
            or listed(noun, POLITE | things.EMPTY)
            or noun.ent_type_ in {"DATE", "TIME"}
        ):
            continue
        if clause.lemma in {"look", "think"} and noun.ent_type_ == "PERSON":
            continue
        if clause.lemma in {"look", "search", "hunt"} and owning(clause, noun) == clause.reading.speaker:
            continue  # "looking for my keys"
        if clause.lemma == "look" and not (clause.at("for") or listed(noun, things.OWNED | things.HOMES | COURSES)):
            continue  # "looking at the map"
        key = thing(clause, noun)
        sure = LIKELY if clause.lemma not in {"need", "think", "look"} else MAYBE
        yield from told(clause.people, "WANTS", key, clause, sure)


def eager(clause: Clause) -> Iterator[Finding]:
    """She's keen to learn; I'm dying for a coffee; can't wait to see it; excited for the concert."""
    if clause.lemma != "be" or clause.status is not Status.SO:
        return
    for complement in clause.complements:
        if complement.lower_ in moods.EAGER - {"excited"}:
            for verb in complement.children:
                if verb.dep_ == "xcomp" and verb.pos_ == "VERB" and verb.lemma_ not in CHAT:
                    yield from deed(clause, verb, MAYBE)


def goals(clause: Clause) -> Iterator[Finding]:
    """My goal is to run a marathon; the plan is to sell; my dream is a boat; on my list: Japan."""
    if clause.lemma != "be" or clause.status is not Status.SO:
        return
    for subject in clause.subjects:
        if subject.lower_ not in GOALS:
            continue
        whose = owning(clause, subject)
        person = whose if whose is not None else clause.reading.speaker
        verbs_ = [child for child in clause.verb.children if child.dep_ in {"xcomp", "attr", "acomp", "ccomp", "advcl"}]
        for verb in verbs_ if person is not None else ():
            if verb.pos_ in {"VERB", "AUX"}:
                key: int | None = clause.reading.made(phrase(verb), "Task", verb)
            else:
                key = thing(clause, verb)
            yield from told([person], "WANTS", key, clause, SURE)
