"""Whether what a verb says is so: negation, questions, conditions, guesses, irony, reported speech, what is over."""

from __future__ import annotations

import re

from spacy.tokens import Span, Token

from memsvc.extract.offline.denials import is_disowned, is_liar, is_taken_back, is_untrue
from memsvc.extract.offline.lexicon_things import words
from memsvc.extract.offline.reading import Status

WISHED = frozenset({"like", "love", "prefer", "hate", "rather", "adore", "appreciate"})
"""Behind "would" these are wishes, and the wish is so."""
GUESSED = words("would could should might may ought")
UNSURE = words("""
    maybe perhaps possibly probably supposedly allegedly hopefully apparently almost nearly
""")
CONDITIONS = words("if unless whether suppose supposing provided lest once until till")
HYPOTHESES = words("""
    imagine suppose pretend wonder doubt wish hope dream consider contemplate hypothesise bet suspect claim allege joke
    lie fantasise rumour
""")
CONSIDERED = words(
    "think dream talk plan consider speak chance idea thought hope dream instead possibility way point tired"
)
"""Behind these and "of" or "about" a gerund is not so yet."""
WANTING = words("""
    want hope wish wait plan intend aim try attempt like love prefer hate need have ought dream fancy mean long
    yearn consider think dread refuse fail decline forget ask beg tell expect prepare hesitate threaten promise
    offer learn decide agree struggle deserve crave afraid supposed able ready keen eager willing tempted about
    thinking advise recommend suggest encourage persuade allow let avoid remember save choose vow resolve swear
""")
"""What stands behind these as an infinitive is not so yet."""
DONE = words("""
    decide agree learn remember choose manage get start begin continue keep happen love like hate able
""")
"""Behind these a gerund is so."""
ENDING = words("stop quit cease")
ENDED = words("done finished through")
BELIEVING = words("think believe guess reckon figure assume suspect bet feel imagine suppose")
DENIED = words("no none nobody nothing never neither nowhere hardly barely rarely seldom scarcely")
IRONY = re.compile(
    r"\b(?:just kidding|jk|kidding|joking|as if\b(?! \w+ (?:was|were|had))|yeah right|not really though|in my dreams"
    r"|sarcasm|/s|i wish|rumou?r has it|word is)\b"
    r"|^\W*(?:(?:so|but|and|or|well|hey|ok)\W+)*(?:what if|how about|what about|why (?:don't|not)|let's say)\b",
    re.IGNORECASE,
)
PAST_FRAME = re.compile(
    r"\b(?:back (?:when|in the day|then)|when i was (?:a |\d|young|little|small|in|at)|as a (?:kid|child|teenager|boy"
    r"|girl|student)|in my (?:teens|twenties|thirties|youth|childhood)|in those days|growing up|years ago|formerly"
    r"|previously|once upon)\b",
    re.IGNORECASE,
)
OVER = re.compile(r"\b(?:any ?more|any longer|no longer|used to)\b", re.IGNORECASE)
SUPPOSED = re.compile(r"\b(?:supposed to|meant to|about to have|nearly|almost)\b", re.IGNORECASE)
STATING = frozenset(
    {"be", "have", "live", "work", "know", "own", "belong", "speak", "study", "teach", "attend", "play"}
)
BEGUN = words("get manage start begin continue keep happen")
"""Behind these an infinitive is so."""
TELLING = words("say tell know realise realize notice remember mention")
PREDICATES = frozenset({"NOUN", "PROPN", "ADJ", "ADV", "NUM", "ADP"})
COMPLEMENTS = frozenset({"attr", "acomp", "prep", "advmod", "oprd"})
WH = words("what who whom whose which where when why how")


def status_of(verb: Token) -> Status:
    """Whether what this verb or predicate says is so. See ``Reading.status``."""
    if verb.pos_ in PREDICATES and verb.dep_ in COMPLEMENTS and verb.head.pos_ in {"AUX", "VERB"}:
        verb = verb.head
    if is_asked(verb, verb.sent) or IRONY.search(verb.sent.text) or is_taken_back(verb) or is_disowned(verb):
        return Status.OPEN
    return climb(verb)


def climb(verb: Token) -> Status:
    """Judge a verb by itself, then by what it hangs on."""
    own = judged(verb)
    if own is Status.OPEN or verb.head.i == verb.i:
        return own
    above = behind(verb, verb.head)
    if own is Status.NOT:  # "he pretends that he does not like it"
        return Status.OPEN if above is Status.OPEN and verb.dep_ == "ccomp" else own
    return above if above is not None and above is not Status.SO and own is Status.SO else own


def judged(verb: Token) -> Status:
    """What stands around a verb itself."""
    words = {child.lower_ for child in verb.children if child.dep_ not in {"ccomp", "advcl", "relcl", "conj", "xcomp"}}
    clause = clause_text(verb)
    if any(child.dep_ == "neg" for child in verb.children) or is_denied(verb):
        return Status.WAS if OVER.search(clause) else Status.NOT
    if OVER.search(clause) and "used to" not in clause.lower():
        return Status.WAS
    if modal(verb) in GUESSED or any(child.lower_ == "'d" and child.tag_ == "MD" for child in verb.children):
        if verb.lemma_ in WISHED and not has_condition(verb):
            return Status.SO
        return Status.OPEN
    if (
        words & UNSURE
        or words & {"if", "unless"}
        or (words & CONDITIONS and verb.dep_ == "advcl")
        or SUPPOSED.search(clause)
    ):
        return Status.OPEN
    if has_condition(verb) and modal(verb) in {"will", "'ll", "would", "can"}:
        return Status.OPEN
    if is_imperative(verb):
        return Status.OPEN
    past = verb.tag_ in {"VBD", "VBN"} or any(child.lower_ in {"was", "were"} for child in verb.children)
    if PAST_FRAME.search(verb.sent.text) and past and verb.lemma_ in STATING:
        return Status.WAS
    return Status.SO


def behind(verb: Token, head: Token) -> Status | None:
    """What the head of a verb makes of it; None: nothing."""
    if verb.dep_ == "conj":
        return beside(verb, head) if head.pos_ in {"VERB", "AUX"} else None
    if is_untrue(verb, head):
        return Status.OPEN
    if verb.dep_ == "advcl":
        if any(child.lower_ in CONDITIONS for child in verb.children if child.dep_ in {"mark", "advmod"}):
            return Status.OPEN
        purpose = verb.tag_ == "VB" and not has_own_subject(verb)
        return Status.OPEN if purpose and climb(head) is Status.OPEN else None
    if verb.dep_ == "ccomp":
        return reported(verb, head)
    if verb.dep_ == "pcomp":
        return considered(verb, head)
    if verb.dep_ in {"xcomp", "acl"} or (verb.dep_ == "dobj" and verb.tag_ == "VBG"):
        return wanted(verb, head)
    return None


def considered(verb: Token, preposition: Token) -> Status | None:
    """What "thinking of", "without", "instead of" make of a gerund."""
    if preposition.lower_ == "without":
        return Status.NOT
    over = preposition.head
    if over.lemma_.lower() in CONSIDERED or over.lower_ in CONSIDERED:
        return Status.OPEN
    return wanted(verb, over)


def beside(verb: Token, head: Token) -> Status | None:
    """What the verb before "and" makes of one without a subject of its own."""
    if has_own_subject(verb):
        return None
    above = climb(head)
    contrast = verb.tag_ != head.tag_ or any(child.lower_ == "but" for child in head.children)
    return None if above is Status.NOT and contrast else above


def reported(verb: Token, head: Token) -> Status | None:
    """What "I think", "she says", "I wish" make of the clause behind them."""
    lemma = head.lemma_.lower()
    if is_liar(head):
        return Status.OPEN  # "I lied and said I work there"
    if lemma in HYPOTHESES or (verb.tag_ == "VB" and not has_own_subject(verb)):
        return Status.OPEN  # "I wish", "she says move to Ghent"
    if verb.i < head.i and has_own_subject(verb) and lemma not in BELIEVING:
        return None  # "I've got a van, could I park it there": two clauses side by side
    if lemma in BELIEVING:
        return climb(head) if is_speaker(head) else Status.OPEN
    if lemma in TELLING:
        return Status.OPEN if judged(head) in {Status.OPEN, Status.NOT} else None
    if head.pos_ == "ADJ" and head.head.i != head.i and judged(head.head) is Status.NOT:
        return Status.OPEN  # "I'm not sure that I want it"
    return wanted(verb, head)


def wanted(verb: Token, head: Token) -> Status | None:
    """What "want to", "used to", "stopped" and others make of the verb behind them."""
    lemma = head.lemma_.lower()
    infinitive = is_infinitive(verb)
    if lemma == "use" and head.tag_ in {"VBD", "VBN"} and infinitive:
        return Status.WAS
    given_up = lemma == "give" and any(child.dep_ == "prt" and child.lower_ == "up" for child in head.children)
    if (lemma in ENDING or given_up or head.lower_ in ENDED) and verb.tag_ == "VBG":
        return Status.WAS
    if lemma == "go" and head.tag_ == "VBG" and infinitive:
        dropped = any(child.lower_ in {"was", "were"} for child in head.children)  # "I was going to move, but …"
        return Status.OPEN if dropped else climb(head)
    if verb.tag_ == "VB" and not infinitive and lemma in TELLING:
        return Status.OPEN  # "she says move to Ghent"
    if infinitive or (verb.tag_ == "VBG" and lemma in WANTING):
        done = lemma in BEGUN or (lemma in DONE and verb.tag_ == "VBG")
        return climb(head) if done else Status.OPEN
    return climb(head) if head.pos_ in {"VERB", "AUX"} else None


def is_asked(verb: Token, sentence: Span) -> bool:
    """Whether a verb stands in a question: up to the question mark, from the clause that asks on."""
    text = sentence.text.rstrip(' ")\n')
    inverted = any(
        is_inverted(token) for token in sentence if token.pos_ in {"VERB", "AUX"} and not token.dep_.startswith("aux")
    )
    if not text.endswith("?"):
        return is_inverted(verb) and verb.dep_ == "ROOT"
    asking = [token for token in sentence if token.pos_ in {"VERB", "AUX"} and is_inverted(token)]
    if inverted and asking:
        first = min(left_of(token) for token in asking)
        return verb.i >= first or not has_own_subject(verb) or verb in asking
    last = max((token.i for token in sentence if token.text in {",", ";", "-", ":"}), default=-1)
    tail = [token for token in sentence if token.i > last]
    if last > 0 and any(token.lower_ in WH for token in tail[:2]):
        return verb.i > last
    return True


def is_inverted(verb: Token) -> bool:
    """Whether an auxiliary, or "be", stands before its subject, or a question word opens the clause."""
    subject = next((child for child in verb.children if child.dep_ in {"nsubj", "nsubjpass", "expl"}), None)
    if subject is None:
        return False
    first = [child for child in verb.children if child.dep_ in {"aux", "auxpass"}]
    if any(aux.i < subject.i for aux in first) and verb.i > subject.i:
        return not any(
            child.lower_ in {"so", "neither", "nor", "never"} and child.i < subject.i for child in verb.children
        )
    return (
        verb.lemma_ == "be"
        and verb.i < subject.i
        and subject.dep_ != "expl"
        and verb.dep_ == "ROOT"
        and verb.i == verb.sent.start
    )


def left_of(verb: Token) -> int:
    """Where the clause of a verb begins, without clauses that hang on it."""
    return min(
        [child.i for child in verb.children if child.dep_ not in {"advcl", "ccomp", "conj", "parataxis"}] + [verb.i]
    )


def clause_text(verb: Token) -> str:
    """The words that hang on a verb itself, without other clauses."""
    skip = {"ccomp", "advcl", "relcl", "conj", "parataxis"}
    kept = [verb]
    stack = [child for child in verb.children if child.dep_ not in skip]
    while stack:
        token = stack.pop()
        if token.dep_ in skip and token.pos_ in {"VERB", "AUX"}:
            continue
        kept.append(token)
        stack += list(token.children)
    return " ".join(token.text for token in sorted(kept, key=lambda token: token.i))


def modal(verb: Token) -> str:
    """The modal of a verb, in lower case."""
    return next((child.lower_ for child in verb.children if child.tag_ == "MD"), "")


def is_denied(verb: Token) -> bool:
    """Whether "never", "nobody", "no money" deny what a verb says."""
    for child in verb.children:
        if child.lower_ in DENIED and child.dep_ in {"advmod", "neg", "nsubj", "dobj", "attr", "nsubjpass", "pobj"}:
            return True
        if child.dep_ in {"nsubj", "dobj", "attr", "nsubjpass"} and any(
            grand.lower_ == "no" and grand.dep_ == "det" for grand in child.children
        ):
            return True
    return False


def has_condition(verb: Token) -> bool:
    """Whether an if-clause hangs on a verb."""
    return any(
        child.dep_ == "advcl" and any(mark.lower_ in {"if", "unless"} for mark in child.children)
        for child in verb.children
    )


def has_own_subject(verb: Token) -> bool:
    """Whether a verb has a subject of its own."""
    return any(child.dep_ in {"nsubj", "nsubjpass", "expl"} for child in verb.children)


def is_infinitive(verb: Token) -> bool:
    """Whether "to" stands before a verb."""
    return any(child.tag_ == "TO" for child in verb.children)


def is_speaker(verb: Token) -> bool:
    """Whether the subject of a verb is "I" or "we"."""
    return any(child.dep_ == "nsubj" and child.lower_ in {"i", "we"} for child in verb.children)


def is_imperative(verb: Token) -> bool:
    """Whether a verb without subject asks somebody to do something."""
    if verb.tag_ != "VB" or has_own_subject(verb) or verb.dep_ not in {"ROOT", "conj", "ccomp", "parataxis"}:
        return False
    if verb.dep_ == "conj" and (has_own_subject(verb.head) or verb.head.tag_ != "VB"):
        return False
    if any(child.dep_ in {"aux", "auxpass"} and child.lower_ not in {"do", "don't"} for child in verb.children):
        return False
    return verb.dep_ == "ROOT" or verb.i == verb.sent.start
