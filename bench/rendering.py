"""A clause as a sentence of its own: the author's words, with names for pronouns and dates for relative words.

"I've been allergic to peanuts since I was ten" becomes "Leo has been allergic to peanuts since he was ten.", "she moved
there last month" becomes "Ana moved to Porto in October 2026." Whoever was not found out stays a pronoun;
``Rendered.open`` counts those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memsvc.extract.offline import coreference
from memsvc.extract.offline.lexicon_things import words
from memsvc.extract.offline.turns import FIRST, SECOND, TurnReading
from memsvc.extract.offline.when import told_at
from memsvc.recall.times_in_words import days
from memsvc.times.relative import relative_times

if TYPE_CHECKING:
    from spacy.tokens import Token

    from memsvc.extract.offline.clauses import Clause

LONGEST = 280
"""Signs of a sentence."""
SUBJECTS = frozenset({"nsubj", "nsubjpass"})
POINTING = words("it they them this that these those")
REFLEXIVE = words("myself yourself himself herself themselves ourselves")
OWN = words("mine ours yours hers theirs")
PLURAL = {"am": "are", "'m": "are", "is": "are", "was": "were", "has": "have", "does": "do"}
"""Forms of auxiliaries with "they"."""
WRITTEN_OUT = {"'ve": "have", "'re": "are", "'ll": "will", "'m": "am"}
THIRD = {"am": "is", "are": "is", "have": "has", "do": "does", "were": "was"}
"""Forms of auxiliaries with "she"."""
FORMS = {
    "she": {"subject": "she", "object": "her", "possessive": "her", "reflexive": "herself", "own": "hers"},
    "he": {"subject": "he", "object": "him", "possessive": "his", "reflexive": "himself", "own": "his"},
    "": {"subject": "they", "object": "them", "possessive": "their", "reflexive": "themselves", "own": "theirs"},
}
FILLERS = words("""
    well so yeah yep yes no nope ok okay oh ah hey hi hmm um uh like actually honestly basically anyway anyways also and
    but or then now though lol haha ha btw right sure nah aw aww ooh wow sorry please thanks cheers
""")
CLOSING = FILLERS - words("now then right so no yes also")
BESIDE = frozenset({"cc", "preconj", "parataxis", "discourse", "meta", "dep"})
"""What hangs on a verb and is no part of what it says."""


class Rendered(NamedTuple):
    """A sentence, and how whole it is."""

    text: str
    open: int
    """Pronouns whose meaning was not found out."""
    dated: bool
    """A relative time was replaced by its date."""


def render(clause: Clause) -> Rendered | None:
    """The clause as a sentence; None: nothing that could be one.

    A relative clause gets the noun that it describes as its subject, and one without a subject its speaker.
    """
    tokens = kept(clause)
    if not tokens or any(token.tag_ in {"WP", "WDT", "WP$"} and token.head == clause.verb for token in tokens):
        return None  # "what we fought about" is a part of something else
    made = _Sentence(clause)
    if not any(token.dep_ in SUBJECTS and token.head == clause.verb for token in tokens):
        if not clause.people:
            return None
        made.begin(clause.people[0])
    kept_at = {token.i for token in tokens}
    for token in tokens:
        made.add(token, apart=token.i + 1 not in kept_at)
    text, dated = with_dates("".join(made.pieces), clause)
    text = " ".join(text.replace(" ,", ",").split()).strip(" ,;:-.!\"'")
    if not text or len(text) > LONGEST:
        return None
    return Rendered(f"{text[0].upper()}{text[1:]}.", made.open, dated)


class _Sentence:
    """A sentence while it is being written."""

    def __init__(self, clause: Clause) -> None:
        self.reading: TurnReading = clause.reading  # type: ignore[assignment]
        self.clause = clause
        self.pieces: list[str] = []
        self.named: set[int] = set()
        """Persons who stand there by name already."""
        self.open = 0
        self.agrees: dict[int, str] = {}
        """Finite verbs whose subject was replaced: by "they", or by a name, "she" or "he"."""

    def begin(self, person: int) -> None:
        """Write the subject that the clause leaves out."""
        key = self.reading.whose(person).key
        self.named.add(key)
        self.pieces += [self.reading.cast.title(key), " "]
        verb = finite_verb(self.clause.verb)
        if verb is not None and self.clause.verb.dep_ != "relcl":
            self.agrees[verb.i] = "name"

    def add(self, token: Token, *, apart: bool) -> None:
        """Write a word of the clause.

        Args:
            token: the word.
            apart: the word behind it in the text is left out.
        """
        word = self.pronoun(token) if is_pronoun(token) else None
        if word is not None and token.dep_ in SUBJECTS and token.lower_ in {"i", "we", "you"}:
            verb = finite_verb(token.head)
            if verb is not None and not coordinated(token):
                self.agrees[verb.i] = "they" if word == "they" else "name"
        elif token.i in self.reading.named:
            self.named.add(self.reading.whose(self.reading.named[token.i]).key)
        if word is None:
            word = self.verb(token)
        if word != token.text and self.pieces and not self.pieces[-1].endswith(" ") and token.text.startswith("'"):
            self.pieces.append(" ")  # "I've" is two words now
        self.pieces += [word, " " if token.whitespace_ or apart else ""]

    def pronoun(self, token: Token) -> str | None:
        """The word or name for a pronoun; None: it stays as it is."""
        low = token.lower_
        person = self.reading.person(token)
        if person is None:
            self.open += low in FIRST | SECOND | coreference.HER | coreference.HIM | POINTING
            return None
        key = self.reading.whose(person).key
        role = role_of(token)
        if key in self.named:
            gender = self.reading.cast[key].gender
            return FORMS[gender if gender in FORMS else ""][role]
        self.named.add(key)
        name = self.reading.cast.title(key)
        return f"{name}'s" if role in {"possessive", "own"} else name

    def verb(self, token: Token) -> str:
        """A word as it stands, or in the form that goes with the new subject."""
        subject = self.agrees.get(token.i)
        if subject is None:
            return str(token.text)
        full = WRITTEN_OUT.get(token.lower_, token.lower_)
        if token.lower_ == "'d":
            perfect = token.head.tag_ == "VBN" and not any(child.lemma_ == "have" for child in token.head.children)
            return "had" if perfect else "would"
        if subject == "they":
            return PLURAL.get(full, full)
        if full in THIRD:
            return THIRD[full]
        return third(full) if token.tag_ == "VBP" and full not in {"was", "can", "will"} else full


def third(verb: str) -> str:
    """The third person of a present form: "bakes", "tries", "goes"."""
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    if verb.endswith("y") and len(verb) > 1 and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def role_of(token: Token) -> str:
    """What a pronoun is in its clause: subject, object, possessive, own ("mine"), reflexive."""
    low = token.lower_
    if low in REFLEXIVE:
        return "reflexive"
    if low in {"my", "our", "your", "their", "its", "whose"} or (token.dep_ == "poss" and low not in OWN):
        return "possessive"
    if low in OWN:
        return "own"
    return "subject" if token.dep_ in SUBJECTS and low not in {"me", "us", "him", "them"} else "object"


def kept(clause: Clause) -> list[Token]:
    """The words of a clause that belong to its statement, in order."""
    verb = clause.verb
    subject = min((child.i for child in verb.children if child.dep_ in SUBJECTS), default=verb.i)
    out = {token.i for child in verb.children if is_beside(clause, child, subject) for token in child.subtree}
    tokens = [token for token in verb.subtree if token.i not in out and not token.is_space]
    while tokens and (tokens[0].is_punct or (tokens[0].lower_ in FILLERS and tokens[0].dep_ not in SUBJECTS | {"det"})):
        tokens.pop(0)
    while tokens and (tokens[-1].is_punct or tokens[-1].lower_ in CLOSING):
        tokens.pop()
    return tokens


def is_beside(clause: Clause, child: Token, subject: int) -> bool:
    """Whether what hangs on the verb says something else: another clause, a filler, a word that links."""
    verb = clause.verb
    if child.dep_ == "conj":
        return child.pos_ in {"VERB", "AUX"}
    if child.dep_ in {"ccomp", "nsubj"} and child.i < subject:
        return True  # "Done, I'll book tonight": two sentences with a comma between them
    if child.dep_ == "intj":
        return child.i < verb.i
    relative = verb.dep_ == "relcl" and child.lower_ in {"who", "that", "which"}
    links = child.dep_ == "mark" and child.i < verb.i
    filler = child.dep_ == "advmod" and child.lower_ in FILLERS and child.i < subject
    return child.dep_ in BESIDE or relative or links or filler


def is_pronoun(token: Token) -> bool:
    """Whether a word stands for somebody or something; "My" within a name does not."""
    low = token.lower_
    if token.pos_ not in {"PRON", "DET"} or (token.text[0].isupper() and low != "i" and not token.is_sent_start):
        return False
    return (
        low in FIRST | SECOND | REFLEXIVE | OWN | coreference.HER | coreference.HIM
        or low in {"their", "its"}
        or (low in POINTING and token.dep_ not in {"det", "mark"})
    )


def coordinated(token: Token) -> bool:
    """Whether somebody else is a subject as well: "Ana and I"."""
    return token.dep_ == "conj" or any(child.dep_ == "conj" for child in token.children)


def finite_verb(verb: Token) -> Token | None:
    """The word that agrees with the subject: the first auxiliary, else the verb."""
    helpers = [child for child in verb.children if child.dep_ in {"aux", "auxpass"} and child.tag_ != "TO"]
    first = min(helpers, key=lambda token: token.i, default=verb)
    return first if first.tag_ in {"VBP", "VBD", "VBZ", "MD", "VB"} else None


def with_dates(text: str, clause: Clause) -> tuple[str, bool]:
    """A sentence with dates for its relative words of time, and whether there are any."""
    pieces, done = [], 0
    for time in relative_times(text, told_at(clause)):
        if time.otherwise is not None:
            continue
        told = days(time.begin, time.end)
        before = text[done : time.start]
        pieces += [before, f"{preposition(before, told, about=time.about)}{told}"]
        done = time.stop
    return "".join([*pieces, text[done:]]), bool(pieces)


def preposition(before: str, told: str, *, about: bool) -> str:
    """What a date needs in front of it: "on 3 May 2026", "in May 2026", "from 3 to 9 May 2026"."""
    if about:
        return "about "
    if before.rstrip().endswith(("on", "in", "by", "since", "until", "till", "from", "for", "before", "after")):
        return ""
    if " to " in told:
        return "from "
    return "in " if told[0].isalpha() or told.isdigit() else "on "
