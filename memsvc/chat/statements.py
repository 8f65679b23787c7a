"""Whether a sentence says what a claim says, or denies it: by its words in their order, nothing is guessed.

Two statements are the same if they have the same words in the same order. "I" of a claim is the owner, "I" of a message
is who says it; "my car" of Ines is "Ines's car". Forms of one verb in the present are one word ("am", "is"), the past
is another. What a message quotes, announces with a colon or hands over with a task is nobody's statement, and of what
others say only English counts, because elsewhere an "I" may hide in the verb.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from memsvc.access.users import FIRST_PERSON
from memsvc.chat.wording import singular, written_out
from memsvc.extract.boilerplate import boilerplate_spans
from memsvc.extract.names import SMALL, WORD, folded, words_of
from memsvc.recall.asks import asks, sets_task

Agreement = Literal["same", "denied"]
Named = dict[tuple[str, ...], str]
"""Who the words of a name stand for."""
OWNER, SPEAKER = "<owner>", "<speaker>"
LEAST_WORDS = 2
NEGATIONS = frozenset(["not", "no", "never", "without"])
PRESENT = {"am": "be", "is": "be", "are": "be", "has": "have", "does": "do"}
PAST_ALIKE = frozenset([
    "beat", "bet", "burst", "cast", "cost", "cut", "hit", "hurt", "let", "put", "quit", "read", "set", "shut", "split",
    "spread", "upset",
])  # fmt: skip
"""Verbs of which "I put" may be past: "Ines puts" is not the same."""
TOKEN = re.compile(rf"\d+(?:[.,:]\d+)+|{WORD.pattern}|[^\w\s.,!…]|_")
"""Words, and signs that make a difference: "C" and "C++", "$5" and "€5"."""
LEAD = re.compile(
    r"\A\s*(?:(?:yes|yeah|yep|yup|no|nope|nah|well|oh|ok|okay|hm+|sure|right|hey|hi|hello)\s*(?:[,!–—]|\s-)\s*"
    r"|(?:no|nope|nah)\s+(?=(?:i|we|he|she|they|it)\b))+",
    re.IGNORECASE,
)
"""What a speaker answers with before the statement: "No, I work at Bosch"."""
FILLER = re.compile(r"(?:\A\s*(?i:also|actually|honestly|indeed|still|now|currently)|\b(?:also|actually|honestly|indeed"
                    r"|still|now|currently))\b,?")  # fmt: skip
"""These make a statement no other one, unless it is negated."""
SENTENCE = re.compile(
    r".+?(?:(?<!\b\w)(?<!\b[DMS][rt])(?<!\bMrs)(?<!\.)\.(?!\.)[\"'”’»)\]]*(?=\s|\Z)|[!?]+[\"'”’»)\]]*(?=\s|\Z)"
    r"|[。！？]+|\Z)",
    re.DOTALL,
)
"""No line break ends one, since a line may be wrapped, or a heading over what somebody else says."""
FOREIGN = re.compile(
    r"\"[^\"]*(?:\"|\Z)|“[^”“]*(?:[”“]|\Z)|„[^“”]*(?:[“”]|\Z)|«[^»]*(?:»|\Z)|»[^«]*(?:«|\Z)|「[^」]*(?:」|\Z)"
    r"|『[^』]*(?:』|\Z)|‘.*?(?:’(?!\w)|\Z)|(?<!\w)'(?=\S).*?'(?!\w)"
    r"|(?:(?<!\d)[:：]|[:：](?!\d))(?![-']?(?:[)(/|*]|[DPpOo](?!\w))).*\Z",
    re.DOTALL,
)
"""Quotations, and all that stands behind a colon; not times, and no smileys."""
UNREAL = re.compile(
    r"\b(?:sentences?|phrases?|frases?|satz|translat\w+|übersetz\w*|tradu[ci]\w+|proofread\w*|grammar"
    r"|quot(?:e|es|ed|ing|ation)|lyrics|headline|prompt|examples?|beispiel\w*|ejemplos?|exempl[eo]s?|esempio|e\.g"
    r"|imagin\w+|pretend\w*|suppos\w+|role-?play\w*|hypothetical\w*|fiction\w*|stor(?:y|ies)|poem|dream\w*"
    r"|jok(?:e|es|ing)|kidding)\b|翻译|翻譯|例如",
    re.IGNORECASE,
)
"""Words of a message whose sentences may be examples, stories or jokes."""
FLOATING = frozenset([
    "you", "your", "yours", "yourself", "here", "du", "dein", "deine", "dir", "dich", "hier", "tu", "ton", "ta", "tes",
    "toi", "vous", "votre", "vos", "usted", "ustedes", "voce", "voces", "jij", "jouw",
])  # fmt: skip
"""Words that mean somebody or something else in every conversation."""
FLOATING_FIRST = frozenset([
    "he", "she", "it", "they", "his", "her", "hers", "their", "its", "him", "them", "this", "that", "these", "those",
    "er", "sie", "es", "il", "elle", "ils", "elles", "ella", "ele", "ela", "lui", "lei", "hij", "zij",
])  # fmt: skip
"""A statement that begins with them does not say whom it is about."""
FLOATING_SIGNS = re.compile("[你您他她它這这]")
MOMENT = frozenset([
    "now", "still", "currently", "presently", "already", "yet", "anymore", "longer", "nowadays", "lately", "recently",
    "just", "soon", "later", "today", "tonight", "yesterday", "tomorrow", "ago", "last", "next", "this", "these",
    "moment", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    "jetzt", "noch", "derzeit", "aktuell", "gerade", "heute", "gestern", "morgen", "ahora", "todavia", "aun",
    "actualmente", "hoy", "ayer", "manana", "maintenant", "encore", "toujours", "actuellement", "aujourd'hui", "hier",
    "demain", "agora", "ainda", "hoje", "ontem", "amanha", "adesso", "ancora", "oggi", "ieri", "domani",
])  # fmt: skip
"""Words by which a statement speaks of the moment at which it is made."""
MOMENT_SIGNS = re.compile("[现現]在|[今昨明]天|目前|[还還]")
ENGLISH = frozenset([
    "the", "is", "are", "has", "have", "does", "of", "and", "with", "his", "her", "their", "lives", "works", "likes",
    "loves", "owns", "to", "were", "will",
])  # fmt: skip
OTHERS_OWN = frozenset([
    "we", "us", "our", "ours", "ourselves", "ich", "mein", "meine", "meinen", "meinem", "meiner", "mir", "mich", "wir",
    "uns", "unser", "unsere", "ik", "mijn", "mij", "wij", "ons", "onze", "je", "j'ai", "j'habite", "j'aime", "mon",
    "ma", "mes", "moi", "nous", "notre", "nos", "yo", "mi", "mis", "mio", "nosotros", "nuestro", "nuestra", "eu", "meu",
    "minha", "meus", "minhas", "nosso", "nossa", "io", "mia", "miei", "mie", "noi", "nostro", "nostra", "jag", "min",
    "mitt", "mina", "jeg", "ja", "moj", "moja", "я", "мои", "мой", "моя", "мы", "id", "ill",
])  # fmt: skip
"""Words for who speaks, other than "I": of somebody else they do not mean whom the claim means."""


@dataclass(frozen=True, slots=True)
class Voice:
    """Who says a message."""

    own_names: Sequence[str]
    """The owner's."""
    speaker: str | None
    """None: the owner; else who it is instead, "" if that is not known."""

    @property
    def names(self) -> list[str]:
        """What who speaks is called."""
        return list(self.own_names) if self.speaker is None else [self.speaker] if self.speaker else []


def agreement(claim: str, text: str, voice: Voice) -> tuple[Agreement, str] | None:
    """What a message says about a claim, with the sentence that says it; None: nothing that is certain."""
    if FLOATING_SIGNS.search(claim) or FOREIGN.search(claim):
        return None
    named = _named(voice)
    wanted = _words(claim, OWNER, named)
    plain = _affirmed(wanted)
    if len(plain) < LEAST_WORDS or wanted[0] in FLOATING_FIRST or FLOATING.intersection(wanted):
        return None
    if voice.speaker is not None and (OTHERS_OWN.intersection(wanted) or not ENGLISH.intersection(_tokens(claim))):
        return None
    me = OWNER if voice.speaker is None else SPEAKER
    for sentence in own_sentences(text):
        said = _words(sentence, me, named)
        if said == wanted:
            return "same", sentence
        if _affirmed(said) == plain and (said == plain) != (wanted == plain):
            return "denied", sentence
    return None


def own_sentences(text: str) -> Iterator[str]:
    """The sentences of a text that its author states: no questions, quotations, examples, and nothing to work on."""
    found = [match for match in SENTENCE.finditer(text) if match[0].strip()]
    if UNREAL.search(text) or any(sets_task(one[0].strip()) for one in found):
        return
    foreign = [*(match.span() for match in FOREIGN.finditer(text)), *boilerplate_spans(text)]
    for one in found:
        if not asks(one[0]) and not any(begin < one.end() and one.start() < end for begin, end in foreign):
            yield one[0].strip()


def speaks_of_its_moment(claim: str) -> bool:
    """Whether a claim has words such as "still", "now" or "yesterday", which another day does not answer for."""
    return bool(MOMENT_SIGNS.search(claim) or MOMENT.intersection(_tokens(claim)))


def _tokens(text: str) -> list[str]:
    plain = re.sub(r"(?<=s)'(?=\s+\w)", "'s", folded(written_out(text)).replace("’", "'"))
    return TOKEN.findall(plain)


def _words(text: str, me: str, named: Named) -> tuple[str, ...]:
    """A statement as it is compared: who is meant instead of "I", "my" and names, one form of verbs in the present."""
    text = LEAD.sub("", text)
    tokens = _tokens(text)
    if not NEGATIONS.intersection(tokens):
        tokens = _tokens(FILLER.sub(" ", written_out(text)))
    made: list[str] = []
    place = 0
    while place < len(tokens):
        who, length = _person(tokens, place, me, named)
        word = who or PRESENT.get(tokens[place], tokens[place])
        follows = tokens[place + 1] if place + 1 < len(tokens) else ""
        if made and made[-1] in (OWNER, SPEAKER) and (verb := singular(word)) not in PAST_ALIKE:
            word = verb
        if not (word == "do" and follows in NEGATIONS):
            made.append(word)
        place += length
    return tuple(made)


def _person(tokens: Sequence[str], place: int, me: str, named: Named) -> tuple[str, int]:
    """Who is meant at a place, and by how many words; "" and one word: nobody that is known."""
    if tokens[place] in ("i", "me", "myself"):
        return me, 1
    if tokens[place] in ("my", "mine"):
        return f"{me}'s", 1
    for name, who in named.items():
        given = tuple(tokens[place : place + len(name)])
        if given == name:
            return who, len(name)
        if given == (*name[:-1], f"{name[-1]}'s"):
            return f"{who}'s", len(name)
    return "", 1


def _named(voice: Voice) -> Named:
    """The names of who may be meant, the longest first; the owner is also called by the first word of a name."""
    own = [name for name in voice.own_names if name not in FIRST_PERSON]
    names = [(tuple(words_of(voice.speaker or "")), SPEAKER)]
    for name in own:
        words = tuple(words_of(name))
        names.append((words, OWNER))
        if words and name[:1].isupper() and words[0] not in SMALL:
            names.append((words[:1], OWNER))
    return dict(sorted(((words, who) for words, who in names if words), key=lambda one: -len(one[0])))


def _affirmed(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in words if word not in NEGATIONS)
