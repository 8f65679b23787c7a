"""A turn taken apart into clauses: who does what to what, where and with what, whatever way the sentence puts it.

Coordinated subjects and objects are spread, subjects that a clause shares with another are filled in, passives and
relative clauses point to what they are about, and fragments without a verb or a subject are clauses too ("Got a new
bike!", "Back from Rome."). The patterns read clauses and know nothing of the parser's labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from spacy.tokens import Span
from spacy.util import filter_spans

from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.reading import Reading, Status

if TYPE_CHECKING:
    from spacy.tokens import Token

SUBJECTS = frozenset({"nsubj", "nsubjpass"})
OBJECTS = frozenset({"dobj", "obj"})
COMPLEMENTS = frozenset({"attr", "acomp", "oprd"})
HELPERS = frozenset({"aux", "auxpass", "amod", "compound", "neg", "punct"})
SHARING = frozenset({"xcomp", "advcl", "pcomp", "ccomp", "prep"})
"""A clause without a subject that is one of these has that of the clause around it."""
BORDERS = frozenset({"conj", "ccomp", "advcl", "relcl", "parataxis", "acl", "csubj"})
"""Where a clause ends and another begins."""
RELATIVES = frozenset({"who", "whom", "which", "that"})
ADVERBS = frozenset(
    {"back", "over", "home", "up", "out", "down", "away", "along", "off", "in", "around", "by", "together"}
)
LOOSE = frozenset({"over", "down", "around", "along", "back", "out", "round"})
"""Particles that most often say where to, and leave the verb its sense."""
BARE = frozenset(
    {
        "love",
        "hate",
        "need",
        "want",
        "miss",
        "enjoy",
        "adore",
        "prefer",
        "live",
        "work",
        "feel",
        "dislike",
        "loathe",
        "dread",
    }
)
"""Base forms that open a statement with its "I" left out, rather than tell somebody to do something."""
WISHES = verbs.WANT_TO | {"refuse", "fail", "forget", "try", "ask", "offer", "consider", "think", "avoid", "talk"}
MISTAKEN = {"hoping": "hope", "hoped": "hope", "hopes": "hope", "obsessed": "obsess", "hooked": "hook"}
"""Verbs whose lemma the parser gets wrong."""
NAMED = {
    "Person": "PERSON", "Organization": "ORG", "Place": "GPE", "Object": "PRODUCT", "Event": "EVENT",
    "Media": "WORK_OF_ART", "Project": "WORK_OF_ART", "Document": "LAW",
}  # fmt: skip
"""The parser's labels for names of these types."""


class Oblique(NamedTuple):
    """A noun behind a preposition."""

    prep: str
    noun: Token
    holder: Token
    """What the preposition belongs to: the verb, or a noun of the clause."""


def spread(token: Token) -> list[Token]:
    """A noun and those that "and" or "or" puts beside it."""
    found = [token]
    for child in token.children:
        if child.dep_ == "conj" and not predicate(child):
            found += spread(child)
    return found


def predicate(token: Token) -> bool:
    """Whether a token says something of a subject."""
    if token.dep_ in HELPERS:
        return False
    return token.pos_ in {"VERB", "AUX"} or any(child.dep_ in SUBJECTS for child in token.children)


@dataclass(eq=False)
class Clause:
    """A predicate and what belongs to it."""

    reading: Reading
    verb: Token
    """The verb, the copula, or what a fragment turns on."""
    parent: Clause | None = None
    """The clause that this one is a part of or follows."""
    subjects: list[Token] = field(default_factory=list)
    implied: bool = False
    """It leaves out its subject, who speaks."""

    @cached_property
    def lemma(self) -> str:
        return MISTAKEN.get(self.verb.lower_, str(self.verb.lemma_).lower())

    @cached_property
    def particle(self) -> str:
        """As "up" in "give up"; empty where there is none."""
        return next((child.lower_ for child in self.verb.children if child.dep_ == "prt"), "")

    @cached_property
    def adverb(self) -> str:
        """As "back" in "got back"."""
        near = (child for child in self.verb.children if child.dep_ in {"advmod", "prep"} and child.lower_ in ADVERBS)
        return next((child.lower_ for child in near if not any(c.dep_ == "pobj" for c in child.children)), "")

    def means(self, lemmas: frozenset[str]) -> bool:
        """Whether the verb is one of these; a particle counts, an adverb may."""
        if self.particle and self.particle not in LOOSE:
            return f"{self.lemma} {self.particle}" in lemmas
        if self.particle and f"{self.lemma} {self.particle}" in lemmas:
            return True
        return self.lemma in lemmas or (bool(self.adverb) and f"{self.lemma} {self.adverb}" in lemmas)

    @cached_property
    def passive(self) -> bool:
        if any(child.dep_ in {"auxpass", "nsubjpass"} for child in self.verb.children):
            return True
        return self.verb.tag_ == "VBN" and (self.verb.dep_ == "acl" or self.bare_participle)

    @cached_property
    def bare_participle(self) -> bool:
        return self.implied and not any(child.dep_ in {"aux", *OBJECTS} for child in self.verb.children)

    @cached_property
    def past(self) -> bool:
        """The verb, or its helper, is in the past and not in the perfect."""
        if self.verb.tag_ == "VBD":
            return True
        helpers = [child for child in self.verb.children if child.dep_ in {"aux", "auxpass"}]
        return any(helper.tag_ == "VBD" and helper.lower_ != "had" for helper in helpers)

    @cached_property
    def infinitive(self) -> bool:
        return any(child.dep_ == "aux" and child.lower_ == "to" for child in self.verb.children)

    @cached_property
    def modal(self) -> str:
        """As "would"; empty where there is none."""
        modals = (child for child in self.verb.children if child.dep_ == "aux" and child.tag_ == "MD")
        return next((child.lower_ for child in modals), "")

    @cached_property
    def denied(self) -> bool:
        words = {"not", "n't", "nt", "never", "hardly", "no", "n’t"}
        return any(child.dep_ == "neg" or child.lower_ in words for child in self.verb.children)

    @cached_property
    def asked(self) -> bool:
        """It stands in a question or behind an "if"."""
        if str(self.verb.sent).rstrip().endswith("?"):
            return True
        marks = {"if", "unless", "whether", "suppose", "supposing"}
        return any(child.dep_ in {"mark", "advmod"} and child.lower_ in marks for child in self.verb.children)

    @cached_property
    def status(self) -> Status:
        """As the reading has it, and as the verb around this one has it."""
        status = self.reading.status(self.verb)
        if status is Status.SO and self.parent and self.verb.dep_ in {"xcomp", "pcomp"}:
            around = self.parent
            if around.means(verbs.END) and self.verb.tag_ == "VBG":
                return Status.WAS
            if around.means(WISHES) and not (around.lemma == "have" or self.verb.tag_ == "VBG") and self.infinitive:
                return Status.OPEN
            return around.status if around is not self else status
        return status

    @cached_property
    def said(self) -> bool:
        """It is so, or was."""
        return self.status in {Status.SO, Status.WAS}

    # --- who and what -------------------------------------------------------------------------------------------

    @cached_property
    def people(self) -> list[int]:
        """The persons that the subjects are."""
        found: list[int] = []
        for token in self.subjects:
            key = self.reading.person(token)
            if key is None and (name := called(token)) is not None:
                key = self.reading.person(name)
            if key is not None and key not in found:
                found.append(key)
        if not self.subjects and self.implied and self.reading.speaker is not None:
            found.append(self.reading.speaker)
        return found

    @cached_property
    def mine(self) -> bool:
        """The speaker is a subject."""
        return self.reading.speaker is not None and self.reading.speaker in self.people

    @cached_property
    def objects(self) -> list[Token]:
        """Direct objects; of a relative clause, the noun that it describes; of a passive, none."""
        found = [token for child in self.verb.children if child.dep_ in OBJECTS for token in spread(child)]
        for child in self.verb.children:  # the parser takes "make her a quilt" for "make [it that] her quilt"
            if (
                child.dep_ == "ccomp"
                and child.pos_ in {"NOUN", "PROPN"}
                and not any(c.pos_ == "AUX" for c in child.children)
            ):
                found += spread(child)
        found = [
            self.verb.head if token.lower_ in RELATIVES and self.verb.dep_ == "relcl" else token for token in found
        ]
        if not found and self.verb.dep_ == "relcl" and self.subjects and self.verb.head not in self.subjects:
            stranded = any(child.dep_ == "prep" and not list(child.children) for child in self.verb.children)
            adverbial = any(child.lower_ in {"where", "when", "why", "how"} for child in self.verb.children)
            if not stranded and not adverbial:
                found = [self.verb.head]
        return found

    @cached_property
    def receivers(self) -> list[Token]:
        """To whom: "gave her a bike"."""
        small = [token for child in self.verb.children if child.dep_ == "ccomp" and child.pos_ in {"NOUN", "PROPN"}
                 for token in child.children if token.dep_ == "nsubj" and token.pos_ == "PRON"]  # fmt: skip
        told = [child for child in self.verb.children if child.dep_ in {"dative", "iobj"} and child.pos_ != "ADP"]
        return small + [token for child in told for token in spread(child)]

    @cached_property
    def complements(self) -> list[Token]:
        """What the copula says that the subject is."""
        found = [token for child in self.verb.children if child.dep_ in COMPLEMENTS for token in spread(child)]
        return found or ([self.verb] if self.verb.pos_ not in {"VERB", "AUX"} else [])

    @cached_property
    def own(self) -> list[Token]:
        """Its words, without those of clauses within it."""
        found: list[Token] = []
        todo = [self.verb]
        while todo:
            token = todo.pop()
            found.append(token)
            todo += [c for c in token.children if not (c != self.verb and c.dep_ in BORDERS and predicate(c))
                     and not (c.dep_ in {"xcomp", "pcomp"} and predicate(c))]  # fmt: skip
        return sorted(found, key=lambda token: token.i)

    @cached_property
    def obliques(self) -> list[Oblique]:
        """Nouns behind prepositions, in the order of the words."""
        found: list[Oblique] = []
        for token in self.own:
            if token.pos_ not in {"ADP", "SCONJ", "ADV", "PART"} and token.dep_ not in {"prep", "agent", "dative"}:
                continue
            nouns = [
                child
                for child in token.children
                if child.dep_ == "pobj" or (child.dep_ == "pcomp" and child.tag_ == "VBG")
            ]
            prep, holder = token.lower_, token.head
            if holder.dep_ in {"prep", "prt"} or (holder.pos_ in {"ADP", "ADV"} and holder != self.verb):
                outer = holder
                prep = "out of" if outer.lower_ == "out" and prep == "of" else prep
                holder = outer.head
            if not nouns and self.verb.dep_ == "relcl" and token.dep_ == "prep" and not list(token.children):
                nouns = [self.verb.head]
            for noun in nouns:
                nouns_here = (
                    [self.verb.head] if noun.lower_ in RELATIVES and self.verb.dep_ == "relcl" else spread(noun)
                )
                found += [Oblique(prep, each, holder) for each in nouns_here]
        if self.verb.dep_ == "relcl" and any(child.lower_ == "where" for child in self.verb.children):
            found.append(Oblique("in", self.verb.head, self.verb))
        return found

    def at(self, *preps: str) -> list[Token]:
        """The nouns behind any of these prepositions, wherever they stand in the clause."""
        return [oblique.noun for oblique in self.obliques if oblique.prep in preps]

    def on_verb(self, *preps: str) -> list[Token]:
        """Those whose preposition belongs to the verb, its particle or its adverb."""
        heads = {self.verb} | {c for c in self.verb.children if c.dep_ in {"advmod", "prt", "acomp", "oprd", "prep"}}
        return [oblique.noun for oblique in self.obliques if oblique.prep in preps and oblique.holder in heads]

    @cached_property
    def adverbs(self) -> frozenset[str]:
        return frozenset(token.lower_ for token in self.own if token.pos_ in {"ADV", "ADP", "PART"})

    @cached_property
    def inner(self) -> list[Token]:
        """Verbs that complete this one: "learn" in "want to learn", "baking" in "love baking"."""
        found = [
            child for child in self.verb.children if child.dep_ in {"xcomp", "ccomp"} and child.pos_ in {"VERB", "AUX"}
        ]
        for child in self.verb.children:
            if child.dep_ in {"prep", "prt"}:
                found += [each for each in child.children if each.dep_ == "pcomp" and each.pos_ in {"VERB", "AUX"}]
        for verb in list(found):
            found += [child for child in verb.children if child.dep_ == "conj" and child.tag_ == verb.tag_]
        return found

    # --- its words ----------------------------------------------------------------------------------------------

    @cached_property
    def words(self) -> str:
        """The clause as it stands in the text, 200 signs at most."""
        inner = [token for verb in self.inner for token in verb.subtree]
        return quote(self.own + inner, self.reading)


def quote(tokens: list[Token], reading: Reading) -> str:
    """The piece of the text from the first to the last of some words."""
    kept = sorted(tokens, key=lambda token: token.i)
    while len(kept) > 1 and (kept[0].is_punct or kept[0].dep_ == "cc"):
        kept.pop(0)
    while len(kept) > 1 and (kept[-1].is_punct or kept[-1].dep_ == "cc" or kept[-1].is_space):
        kept.pop()
    return reading.words(kept[0], kept[-1])


def clauses(reading: Reading) -> Iterator[Clause]:
    """The clauses of a turn, outer before inner."""
    relabel(reading)
    made: dict[int, Clause] = {}
    before: list[Token] = []
    for sentence in reading.doc.sents:
        todo = [sentence.root]
        while todo:
            token = todo.pop()
            if token == sentence.root or predicate(token):
                clause = Clause(reading, token, parent=around(token, made))
                clause.subjects, clause.implied = subjects(clause, sentence.root)
                if (
                    not clause.subjects
                    and token == sentence.root
                    and token.tag_ == "VBZ"
                    and token.i <= sentence.start + 1
                ):
                    clause.subjects = before  # "She's at school. Wants to be a vet."
                before = clause.subjects or before
                made[token.i] = clause
                yield clause
            todo += reversed(list(token.children))


def relabel(reading: Reading) -> None:
    """Let the parse call names what the reading knows that they are; the parser's own guesses at names are dropped."""
    doc = reading.doc
    taken = {at for name in reading.names for at in range(name.start, name.end)}
    kept = [
        span for span in doc.ents if span.label_ not in NAMED.values() and not taken & set(range(span.start, span.end))
    ]
    for name in reading.names:
        key = reading.entity(doc[name.head])
        label = NAMED.get(reading.whose(key).type, "") if key is not None else ""
        if label:
            kept.append(Span(doc, name.start, name.end, label=label))
    doc.set_ents(filter_spans(kept), default="outside")


def called(noun: Token) -> Token | None:
    """The name in "a woman called Noor"."""
    for child in noun.children:
        if child.dep_ in {"acl", "relcl"} and child.lemma_ in {"call", "name"}:
            return next((name for name in child.children if name.ent_type_ == "PERSON"), None)
    return None


def around(token: Token, made: dict[int, Clause]) -> Clause | None:
    """The nearest clause above a token."""
    for above in token.ancestors:
        if above.i in made:
            return made[above.i]
    return None


def before_and(own: list[Token]) -> list[Token]:
    """Who stands with "and" before "I" where the parser did not see that they belong together: "Leo and I started"."""
    first = min(own, key=lambda token: token.i)
    if first.lower_ not in {"i", "me"} or first.i - first.sent.start < 2 or first.nbor(-1).lower_ not in {"and", "&"}:  # noqa: PLR2004
        return []
    other = first.nbor(-2)
    beside = other.pos_ in {"PROPN", "NOUN"} and other.head == first.head
    return [other] if beside and other not in own else []


def subjects(clause: Clause, root: Token) -> tuple[list[Token], bool]:
    """The subjects of a clause, and whether it leaves out who speaks."""
    verb, parent = clause.verb, clause.parent
    own = [token for child in verb.children if child.dep_ in SUBJECTS for token in spread(child)]
    if own:
        own += before_and(own)
        relative = verb.dep_ == "relcl" and own[0].lower_ in RELATIVES
        return (spread(verb.head) if relative and verb.head.dep_ == "conj" else [verb.head] if relative else own), False
    if any(child.dep_ == "expl" for child in verb.children):
        return [], False
    if any(
        child.dep_ == "auxpass" for child in verb.children
    ):  # the parser lost it: "Last thing, my cousin gets married"
        left = [token for child in verb.lefts for token in child.subtree if token.ent_type_ == "PERSON"]
        of_helper = [token for child in verb.lefts for token in child.children if token.dep_ in SUBJECTS]
        return left[-1:] or of_helper[-1:], False  # "I'm not vegetarian any more"
    if verb.dep_ in {"acl", "relcl"}:
        return ([verb.head], False) if verb.tag_ in {"VBG", "VBN"} else ([], False)
    if verb.dep_ == "conj" and parent and parent.verb == verb.head:
        return parent.subjects, parent.implied
    if verb.dep_ in SHARING and parent and verb != root:
        told = parent.receivers or (
            parent.objects if parent.means(frozenset({"help", "ask", "tell", "let", "make"})) else []
        )
        return told or parent.subjects, parent.implied and not told
    if verb.pos_ not in {"VERB", "AUX"}:
        return [], True
    opens = verb.tag_ in {"VBD", "VBN", "VBG", "VBP", "VBZ"} and verb.tag_ != "VBZ"
    if verb.tag_ in {"VB", "VBP"}:
        opens = verb.lemma_.lower() in BARE and not any(
            child.lower_ in {"do", "please", "to"} for child in verb.children
        )
    return [], opens
