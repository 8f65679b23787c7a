"""What denies a clause from outside it: "It's false that …", "…, but I don't", "Just kidding!" behind it."""

from __future__ import annotations

import re

from spacy.tokens import Doc, Span, Token

from memsvc.extract.offline.lexicon_things import words

FALSE = words(
    "false untrue wrong lie myth rumour rumor nonsense rubbish joke fiction hoax unlikely impossible mistaken bs"
)
"""What is said to be one of these is not so."""
TRUE = words("true so right correct case accurate")
"""Nor is what is said not to be one of these."""
PRETENDING = words("lie pretend joke kid bluff fib")
OPENING = r"^\W*(?:(?:no|nope|nah|ok|okay|oh|ah|ha|haha+|hehe+|lol|sorry|but|well|actually|wait|so|just)\b\W*){0,4}"
_CORE = (
    r"(?:(?:I(?: am|'m| was|'s)? ?)?(?:just|only|totally|obviously)? ?(?:kidding|joking|jk|j/k|messing|teasing|lying"
    r"|pulling your leg|bluffing|trolling)"
    r"|I (?:lied|made (?:that|it|this|all of that|all of it) up|take (?:that|it|this|all of that) back)"
    r"|(?:(?:that|it|this)(?:'s| is| was) )?(?:all |just |only |of course )?(?:an? (?:joke|lie|fib|prank)|not true"
    r"|untrue|false|nonsense|rubbish|made up)"
    r"|april fools?'?|scratch that|ignore that"
    r"|(?:they|he|she)(?:'re|'s| are| is) (?:all |totally |completely )?(?:wrong|mistaken|lying))"
)
TAKEN_BACK = re.compile(
    OPENING + _CORE + rf"(?:\W+(?:and )?{_CORE})*"
    r"(?:\W+(?:sorry|lol|haha+|of course|obviously|about (?:that|it)|with you|you|all|guys|please|my bad)\b)*\W*$",
    re.IGNORECASE,
)
"""A sentence that takes back the one before it and says nothing else."""


def takes_back(sentence: Span) -> bool:
    """Whether a sentence does nothing but take back what was said before it."""
    return TAKEN_BACK.match(sentence.text.strip()) is not None


def begins_taking_back(doc: Doc) -> bool:
    """Whether the first words of a turn take back what the turn before said."""
    first = next((sentence for sentence in doc.sents if any(token.is_alpha for token in sentence)), None)
    if first is None:
        return False
    if takes_back(first):
        return True
    after = doc[first.end].sent if first.end < len(doc) else None
    interjection = sum(token.is_alpha for token in first) == 1  # "Haha. Just kidding!"
    return interjection and after is not None and takes_back(after)


def is_taken_back(verb: Token) -> bool:
    """Whether the sentence behind that of a verb takes it back."""
    doc, end = verb.doc, verb.sent.end
    return end < len(doc) and takes_back(doc[end].sent)


def is_disowned(verb: Token) -> bool:
    """Whether a later clause of the sentence denies a verb without saying it again: "…, but I don't"."""
    subject = subject_of(verb)
    doc, end = verb.doc, verb.sent.end
    if end < len(doc) and doc[end].lower_ in {
        "but",
        "though",
        "although",
        "except",
    }:  # where the parser ends a sentence
        end = doc[end].sent.end
    for other in doc[verb.i + 1 : end]:
        if other.pos_ not in {"AUX", "VERB"} or other.dep_ in {"aux", "auxpass"}:
            continue
        if is_bare_denial(other) and subject is not None:
            denier = subject_of(other)
            if denier is not None and denier.lower_ == subject.lower_:
                return True
        if (
            other.dep_ in {"relcl", "conj", "ccomp", "parataxis", "advcl", "ROOT"}
            and other != verb
            and denies_truth(other)
        ):
            return refers_back(other)
    return False


def subject_of(verb: Token) -> Token | None:
    """The subject beside a verb."""
    return next((child for child in verb.children if child.dep_ in {"nsubj", "nsubjpass"}), None)


def is_bare_denial(verb: Token) -> bool:
    """Whether a clause says no more than "I don't", "I never did"."""
    denied = any(child.dep_ == "neg" or child.lower_ in {"never", "n't", "not"} for child in verb.children)
    kept = {"nsubj", "neg", "punct", "cc", "aux", "advmod", "mark", "intj"}
    bare = all(child.dep_ in kept or child.i < verb.i for child in verb.children)
    return verb.lemma_ in {"do", "be", "have", "will", "can"} and denied and bare


def denies_truth(verb: Token) -> bool:
    """Whether a clause says that something is not true: "that's false", "which is not the case"."""
    if verb.lemma_ != "be":
        return False
    said = {child.lower_ for child in verb.children if child.dep_ in {"acomp", "attr", "advmod"}}
    negative = any(child.dep_ == "neg" or child.lower_ in {"not", "n't"} for child in verb.children)
    return bool(said & TRUE) if negative else bool(said & FALSE)


def refers_back(verb: Token) -> bool:
    """Whether the subject of a clause is the sentence before it."""
    subject = subject_of(verb)
    return subject is not None and subject.lower_ in {"which", "that", "this", "it"}


def is_untrue(verb: Token, head: Token) -> bool:
    """Whether a clause hangs on words that deny it: "It's not like I …", "It's false that I …", "no way I …"."""
    if verb.dep_ in {"acl", "relcl", "ccomp"} and head.pos_ == "NOUN":
        if head.lower_ in {"way", "chance", "truth"} and any(child.lower_ == "no" for child in head.lefts):
            return True
        return head.lower_ in FALSE and subject_of(verb) is not None
    over = head.head if verb.dep_ == "pcomp" or head.pos_ == "ADJ" else head
    if over.lemma_ != "be" or verb.dep_ not in {"ccomp", "advcl", "csubj", "pcomp", "relcl", "acl"}:
        return False
    marks = {child.lower_ for child in verb.lefts if child.dep_ in {"mark", "prep", "advmod"}}
    if verb.dep_ == "advcl" and not marks & {"that", "like", "if", "as", "though"}:
        return False
    empty = verb.dep_ == "csubj" or any(
        child.dep_ in {"nsubj", "expl"} and child.lower_ in {"it", "that"} for child in over.children
    )
    negative = any(child.dep_ == "neg" or child.lower_ in {"not", "n't"} for child in over.children)
    return empty and (negative or denies_truth(over))


def is_liar(head: Token) -> bool:
    """Whether who says something lies while saying it: "I lied and said …", "I said as a joke that …"."""
    verbs = [head, head.head] if head.dep_ in {"conj", "advcl", "xcomp"} else [head]
    return any(verb.lemma_ in PRETENDING and verb.pos_ == "VERB" for verb in verbs)
