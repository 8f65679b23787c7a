"""What "yes" and "no" say: the question before, as a statement of who answers, is put into the answer.

"Do you live in Utrecht?" - "Yes." becomes "Yes. I live in Utrecht."; "Are you still at Aldi?" - "No." becomes "No. I am
no longer at Aldi.". Questions about wishes and offers ("Do you want …?") and those with "or" or "not" are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.ellipsis import SUBJECTS, Put, third
from memsvc.extract.offline.lexicon_kin import KIN

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

OH = r"\W*(?:oh |well |ha(?:ha)?,? )?"
CLOSE = r"\W*(?:$|[.,!;\n])"
END = rf"(?={CLOSE})"
"""Behind a word that stands for a whole clause."""
YES = re.compile(
    rf"{OH}(?:yes|yeah|yep|yup|yea|correct|exactly|indeed|absolutely|definitely|of course|that's right"
    rf"|(?P<who>I|we) (?:still )?(?P<verb>do|am|are|did|have)(?: indeed| still)?{END}|still (?:do|am){END})"
    r"\b(?! please)(?:\W+(?:yes|yeah|indeed|(?P<again>I|s?he|they|we) (?:still )?"
    rf"(?P<verb_again>do|does|am|is|are|did|has|have)){END})?\W*",
    re.IGNORECASE,
)
NO = re.compile(
    rf"{OH}(?:(?:no|nope|nah)\b(?:\W+(?P<not>not)\b)?|not\b(?=(?: any ?more| any longer)\b)"
    rf"|(?:no\W+)?I (?:do not|don't|am not|did not|didn't)(?={CLOSE}| any))"
    r"(?P<over> (?:any ?more|any longer|longer)(?! than)\b)?\W*",
    re.IGNORECASE,
)
AGAINST = re.compile(
    r"\b(?:no|used to|no longer|any ?more|until|till|not|wish|kind of|sort of|almost|nearly|if|unless|once|provided"
    r"|as long as|depend(?:s|ing)|maybe|perhaps|probably|hopefully|formerly|previously|before)\b|n't\b",
    re.IGNORECASE,
)
"""In the rest of an answer, these take back its "yes", put it under a condition, or tell of other times."""
ELLIPSIS = re.compile(
    r"(\w+) (?:do|does|am|is|are|did|was|were|has|have)(?P<too> too| as well| also)?\W*(?:$|[.,!;\n])", re.IGNORECASE
)
"""A clause that leaves out what was asked: "my wife does"."""
STATES = verbs.LIVE | verbs.WORK | verbs.lemmas("be, have, own, use, study, like, love")
"""In the perfect, and not going on, these may be long over: "Have you ever worked at Bosch?"."""
LEAVING = verbs.MOVE | verbs.END_WORK | verbs.lemmas("leave, stop, sell, quit")
"""What who tells of it in the past has left behind."""
ASKED_FOR = frozenset(
    {"want", "need", "mean", "think", "remember", "prefer", "know", "mind", "wish", "plan", "look", "feel"}
)
"""Verbs of questions that offer something, or ask for an opinion: "yes" asks for it."""
MINE = {"you": "I", "your": "my", "yours": "mine", "yourself": "myself", "u": "I", "ur": "my"}
ANYTHING = frozenset({"anything", "something", "anyone", "someone", "anybody", "somebody", "anywhere", "somewhere"})
OF_ASKER = frozenset({"i", "me", "my", "we", "us", "our", "mine"})
TAGS = frozenset({"then", "now", "already", "yet", "too", "again", "also", "ever"})


class Statement(NamedTuple):
    """A question as who answers would say it."""

    subject: str
    helper: str
    """As "am", "did"; empty where none is needed."""
    rest: str
    """Verb first, where that is not the helper."""
    still: bool
    stem: str
    """The rest up to its last preposition, with it: "work at"."""
    verb: str
    """Lemma of what is asked about."""

    def yes(self) -> str:
        """That it is so."""
        return " ".join(filter(None, (self.subject, self.helper, self.rest)))

    def no_longer(self) -> str:
        """That it was so and is over."""
        return " ".join(filter(None, (self.subject, self.helper, "no longer", self.rest)))


def answers(doc: Doc, question: Doc) -> Iterator[Put]:
    """What a turn that answers yes or no says with it.

    Args:
        doc: the answer, parsed.
        question: the turn of somebody else before it.
    """
    last = next((sent for sent in reversed(list(question.sents)) if any(token.is_alpha for token in sent)), None)
    said = stated(last) if last is not None and last.text.rstrip().endswith("?") else None
    if said is None:
        return
    if (yes := YES.match(doc.text)) is not None:
        said = with_named(doc, yes.end(), said)
        if said is not None and echoes(yes, said) and not is_limited(doc, yes.end(), said):
            yield put(doc, yes, said.yes())
    elif (no := NO.match(doc.text)) is not None:
        place = begin_of_place(doc, no.end(), said.stem) if said.stem and not said.still and not no["not"] else None
        if place is not None and is_fragment(doc, no.end()):
            yield Put(no.end(), " ".join(filter(None, (said.subject, said.helper, place))) + " ", no.start(), no.end())
        elif no["over"] or says_no(doc, no, said):
            if said.still and (elsewhere := place_since(doc, no.end(), said.stem)):
                over = f"{said.no_longer()}.\n{said.subject} {elsewhere} "
                yield Put(no.end(), over, no.start(), no.end())
            else:
                yield put(doc, no, said.no_longer())


def with_named(doc: Doc, at: int, said: Statement) -> Statement | None:
    """A question about anything as a statement about what the answer names: "Allergic to anything?" - "Yes, nuts."."""
    front, _, last = said.rest.rpartition(" ")
    if last.lower() not in ANYTHING:
        return said
    first = next((token for token in doc if token.idx >= at and token.is_alpha), None)
    named = first is not None and first.pos_ in {"NOUN", "PROPN", "ADJ", "DET", "PRON"} and is_fragment(doc, at)
    return said._replace(rest=front) if named and front else None


def place_since(doc: Doc, at: int, stem: str) -> str | None:
    """The verb for a fragment that names another place behind a time: "No, since May in Pisa"; None: it names none."""
    verb, _, preposition = stem.rpartition(" ")
    rest = [token for token in doc if token.idx >= at]
    behind = any(token.lower_ == preposition and token.nbor().pos_ == "PROPN" for token in rest[:-1])
    return verb if verb and behind and is_fragment(doc, at) else None


def echoes(yes: re.Match[str], said: Statement) -> bool:
    """Whether the "I do" of an answer is of whom, and of when, the question was."""
    for who, verb in ((yes["who"], yes["verb"]), (yes["again"], yes["verb_again"])):
        if who is not None and not agrees(who, said.subject):
            return False
        if verb is not None and (verb.lower() == "did") != (said.helper in {"did", "was", "were"}):
            return False  # "Do you live in Rome?" - "I did."
    return True


def agrees(pronoun: str, subject: str) -> bool:
    """Whether a pronoun of an answer may mean the subject of the question."""
    return (pronoun.lower() in {"i", "we"}) == (subject.lower() in {"i", "we"})


def is_limited(doc: Doc, at: int, said: Statement) -> bool:
    """Whether the rest of an answer takes back, limits or gives to somebody else what its "yes" says."""
    rest = doc.text[at:]
    if AGAINST.search(rest) or any(
        not clause["too"] and not agrees(clause[1], said.subject) for clause in ELLIPSIS.finditer(rest)
    ):
        return True
    tokens = [token for token in doc if token.idx >= at]
    return any(token.lower_ == "but" for token in tokens) and any(token.tag_ == "VBD" for token in tokens)


def says_no(doc: Doc, no: re.Match[str], said: Statement) -> bool:
    """Whether behind a "no" stands nothing, since when, or a clause that says how it is over or what is so instead."""
    rest = [token for token in doc if token.idx >= no.end() and not token.is_space]
    words = [token for token in rest if token.is_alpha or token.like_num]
    if not words:
        return said.still and not no["not"]
    if no["not"] or is_fragment(doc, no.end()):
        return said.still and words[0].lower_ == "since" and any(token.ent_type_ == "DATE" for token in words)
    subject = words[0] if words[0].lower_ in {"i", "we", "he", "she", "they"} else None
    if subject is None or not agrees(subject.lower_, said.subject) or subject.dep_ not in SUBJECTS:
        return False
    verb = subject.head
    own = {token.lower_ for token in verb.subtree}
    denied = any(child.dep_ == "neg" for child in verb.children)
    if own & {"still", "yes", "if"} or (denied and not own & {"anymore", "more", "longer"}):
        return False
    leaves = (verb.tag_ in {"VBD", "VBN"} or verb.lower_ == "quit") and verb.lemma_ in LEAVING
    instead = verb.lemma_ == said.verb and "there" not in own and any(token.pos_ == "PROPN" for token in verb.subtree)
    return denied or (said.still and (leaves or instead))


def put(doc: Doc, answer: re.Match[str], statement: str) -> Put:
    """The statement behind the yes or no: before what dates it, else as a sentence of its own."""
    end, word = answer.end(), len(answer[0].rstrip(" .,!;-\n"))
    rest = doc.text[end:]
    if rest and is_fragment(doc, end):
        return Put(end, f"{statement} ", 0, max(word, 1))
    return Put(end, f"\n{statement}.\n", 0, max(word, 1))


def is_fragment(doc: Doc, at: int) -> bool:
    """Whether what follows a sign says no more than when, or where: "since May", "in Galway"."""
    rest = [token for token in doc if token.idx >= at and not token.is_space]
    first = next((token for token in rest if token.is_alpha), None)
    return (
        first is not None and first.sent.end >= doc[-1].i and not any(token.pos_ in {"VERB", "AUX"} for token in rest)
    )


def begin_of_place(doc: Doc, at: int, stem: str) -> str | None:
    """What to put before a fragment that names another place than the question did; None: it names none."""
    first = next((token for token in doc if token.idx >= at and token.is_alpha), None)
    if first is None:
        return None
    verb, _, preposition = stem.rpartition(" ")
    if first.lower_ == preposition:
        return verb
    return stem if first.pos_ == "PROPN" else None


def stated(question: Span) -> Statement | None:
    """A question that can be answered by yes or no, as a statement; None: it is another one."""
    words = [token for token in question if not token.is_space]
    while words and (words[-1].is_punct or words[-1].lower_ in {"right", "correct", "then"}):
        words.pop()
    verb = asking_verb(words)
    if verb is None or any(token.lower_ in OF_ASKER | {"or", "any"} or token.dep_ == "neg" for token in words):
        return None
    subject = next((child for child in verb.children if child.dep_ in SUBJECTS), None)
    if subject is None or any(token.tag_ in {"WP", "WDT", "WRB", "WP$"} for token in words):
        return None
    if verb.lemma_ in ASKED_FOR or any(child.tag_ == "MD" for child in verb.children):
        return None
    helper = next((child for child in verb.lefts if child.dep_ in {"aux", "auxpass"} and child.i < subject.i), None)
    if helper is None and verb.lemma_ == "be" and verb.i < subject.i:
        helper = verb
    if is_of_the_past(helper, verb, words) or is_whose_relative(verb):
        return None
    apart = [child.left_edge.i for child in subject.rights if child.dep_ == "appos"] if helper == verb else []
    who = [token for token in subject.subtree if not apart or token.i < apart[0]]  # "Is your brother a nurse?"
    behind = [token for token in words if token.i > who[-1].i]
    still = any(token.lower_ == "still" for token in behind)
    behind = [token for token in behind if token.lower_ != "still"]
    while behind and behind[-1].lower_ in TAGS:
        behind.pop()
    if not behind or subject.lower_ in {"it", "this", "that", "there"}:
        return None
    return Statement(
        turned(who), *with_helper(helper, verb, subject, behind), still=still, stem=stem_of(verb, behind),
        verb=verb.lemma_,
    )  # fmt: skip


def is_of_the_past(helper: Token | None, verb: Token, words: list[Token]) -> bool:
    """Whether a question asks for what was once, so that "yes" does not tell what is so now."""
    if helper is None or helper.lemma_ == "be":
        return False
    perfect = helper.lemma_ == "have" and helper != verb and verb.tag_ != "VBG"
    states = verb.lemma_ in STATES and not any(
        child.dep_ == "aux" and child.lower_ == "been" for child in verb.children
    )
    once = any(token.lower_ == "ever" for token in words)
    inner = any(child.dep_ == "xcomp" and child.tag_ == "VBG" for child in verb.children)
    return once or (perfect and states) or (helper.lower_ == "did" and inner)


def is_whose_relative(verb: Token) -> bool:
    """Whether it is asked whose relative somebody is: "Are you Anna's brother?"."""
    return verb.lemma_ == "be" and any(
        child.lower_ in KIN and any(each.dep_ == "poss" and each.pos_ == "PROPN" for each in child.children)
        for child in verb.children
    )


def asking_verb(words: list[Token]) -> Token | None:
    """The verb of the question: what has a subject."""
    if not words:
        return None
    root = words[0].sent.root
    inner = [child for child in root.children if child.dep_ == "ccomp"]  # "You work at Aldi, right?"
    return next((verb for verb in (root, *inner) if any(child.dep_ in SUBJECTS for child in verb.children)), None)


def with_helper(helper: Token | None, verb: Token, subject: Token, behind: list[Token]) -> tuple[str, str]:
    """The helper of the statement, and what follows it."""
    rest = turned(behind)
    you = subject.lower_ in {"you", "u"}
    if helper is None:
        return "", rest
    if helper.lemma_ == "do" and helper.lower_ != "did" and behind[0] == verb:
        return "", rest if helper.lower_ == "do" else turned([*behind], {verb.i: third(verb.lemma_)})
    plain = {"are": "am", "were": "was"}.get(helper.lower_, helper.lower_) if you else helper.lower_
    return plain, rest


def turned(tokens: list[Token], instead: dict[int, str] | None = None) -> str:
    """Words as who answers would say them: "my sister" for "your sister"."""
    changed = instead or {}
    text = "".join(
        changed.get(
            token.i, (MINE.get(token.lower_, token.text) if token.lower_ != "you" or token.dep_ in SUBJECTS else "me")
        )
        + token.whitespace_
        for token in tokens
    )
    return text.strip()


def stem_of(verb: Token, behind: list[Token]) -> str:
    """The statement's verb up to the preposition of its place; empty where it has none, or more."""
    places = [child for child in verb.rights if child.dep_ == "prep" and child.lower_ in {"in", "at", "for", "to"}]
    if len(places) != 1 or places[0] not in behind:
        return ""
    return turned([token for token in behind if token.i <= places[0].i])
