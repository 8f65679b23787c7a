"""Proper names in a text: where they stand and what they are likely to name.

A name is what spaCy finds, what the window knows, and what is capitalised where nothing else explains it. What it names
is voted on: by its words, by the words around it, and, with the least weight, by spaCy, which is often wrong in chats.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from spacy.tokens import Doc, Span, Token

from memsvc.extract.offline import lexicon_kin as kin
from memsvc.extract.offline import lexicon_names as lexicon
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline.vocabulary import is_word

LABELS = {
    "PERSON": "Person", "ORG": "Organization", "GPE": "Place", "LOC": "Place", "FAC": "Place", "PRODUCT": "Object",
    "EVENT": "Event", "WORK_OF_ART": "Media", "LANGUAGE": "Concept", "LAW": "Document", "NORP": "Concept",
}  # fmt: skip
INNER = frozenset(
    [
        "of",
        "the",
        "de",
        "da",
        "di",
        "del",
        "della",
        "von",
        "van",
        "der",
        "den",
        "la",
        "le",
        "du",
        "dos",
        "das",
        "y",
        "e",
        "&",
        "and",
        "'s",
        "in",
        "at",
        "for",
        "zu",
        "na",
        "mBád",
    ]
)
"""Stand inside names, between capitalised words."""
CERTAIN, STRONG, FAIR, WEAK = 10.0, 4.0, 2.0, 1.0
FRONT, REACH = 4, 9
"""Tokens of an answer among which what was asked for stands."""
PERSON_VERBS = frozenset(
    [
        "say",
        "tell",
        "ask",
        "think",
        "know",
        "love",
        "like",
        "hate",
        "want",
        "live",
        "work",
        "study",
        "marry",
        "call",
        "text",
        "phone",
        "email",
        "laugh",
        "cry",
        "smile",
        "cook",
        "bake",
        "teach",
        "learn",
        "visit",
        "invite",
        "help",
        "move",
        "retire",
        "graduate",
        "propose",
        "sing",
        "dance",
        "swim",
        "agree",
        "believe",
        "forget",
        "remember",
        "suggest",
        "promise",
        "insist",
        "joke",
        "argue",
        "apologise",
        "apologize",
        "hope",
        "wish",
        "feel",
        "snore",
        "sleep",
        "eat",
        "drink",
        "wear",
        "bring",
        "borrow",
        "lend",
        "pick",
        "join",
        "reckon",
        "swear",
        "mention",
        "explain",
        "show",
        "send",
        "drive",
        "come",
        "leave",
        "meet",
        "turn",
        "play",
        "run",
        "paint",
        "write",
        "quit",
        "get",
        "go",
        "have",
        "make",
        "do",
        "die",
    ]
)
MEETING = frozenset(
    [
        "meet",
        "call",
        "text",
        "phone",
        "email",
        "ask",
        "tell",
        "see",
        "visit",
        "marry",
        "date",
        "invite",
        "thank",
        "help",
        "hug",
        "kiss",
        "miss",
        "know",
        "love",
        "join",
        "ring",
        "message",
        "adopt",
        "bring",
        "pick",
        "drop",
        "introduce",
        "teach",
        "trust",
    ]
)
WORKING = frozenset(["work", "intern", "volunteer", "study", "teach", "train", "apprentice", "enrol", "enroll", "job", "shift", "role", "position", "year", "degree", "phd", "masters", "course", "student", "professor", "lecturer", "term", "semester", "engineer", "nurse", "manager", "developer", "teacher", "colleague", "start", "gig"])  # fmt: skip
SHOUTING = frozenset(
    [
        "look",
        "shout",
        "laugh",
        "yell",
        "smile",
        "stare",
        "mad",
        "angry",
        "annoyed",
        "swear",
        "scream",
        "furious",
        "wave",
        "bark",
    ]
)
JOINING = frozenset(["join", "quit", "leave", "support", "found"])
READING = frozenset(["read", "watch", "rewatch", "stream", "finish", "reread", "binge", "listen", "see", "hear"])
USING = frozenset(
    [
        "use",
        "install",
        "download",
        "try",
        "open",
        "run",
        "drive",
        "buy",
        "sell",
        "ride",
        "play",
        "wear",
        "charge",
        "fix",
        "repair",
        "learn",
        "code",
        "write",
    ]
)
FROM = frozenset(
    [
        "work",
        "my",
        "the",
        "school",
        "church",
        "uni",
        "next",
        "accounts",
        "hr",
        "upstairs",
        "downstairs",
        "across",
        "down",
    ]
)
PLACING = frozenset(
    ["in", "from", "near", "to", "around", "towards", "through", "outside", "across", "into", "off", "within", "via"]
)
MOVING = frozenset(
    [
        "live",
        "move",
        "go",
        "travel",
        "fly",
        "drive",
        "be",
        "come",
        "return",
        "relocate",
        "head",
        "stay",
        "visit",
        "arrive",
        "land",
        "bear",
        "grow",
        "settle",
        "trip",
        "flight",
        "journey",
        "train",
        "holiday",
        "weekend",
        "way",
        "transfer",
        "commute",
        "ride",
        "excursion",
    ]
)


@dataclass(slots=True)
class Name:
    """A stretch of a text that names something."""

    start: int
    """Its first token."""
    end: int
    """Behind its last."""
    text: str
    votes: Counter[str] = field(default_factory=Counter)
    """What it may be, weighted."""
    head: int = 0
    """The token that its neighbours' grammar is about."""


def find_names(doc: Doc, known: dict[str, str], index: dict[str, set[int]], asked: str = "") -> list[Name]:
    """The names of a text, in order, none inside another.

    Args:
        doc: parsed.
        known: names of the window in normal form, with their types.
        index: for each first word of ``known``, how many words names that begin with it have.
        asked: the question that it may answer.
    """
    taken = [False] * len(doc)
    names: list[Name] = []
    for start, end, kind in known_spans(doc, known, index):
        if not any(taken[start:end]):
            names.append(Name(start, end, doc[start:end].text, Counter({kind: CERTAIN})))
            taken[start:end] = [True] * (end - start)
    for start, end in capital_runs(doc, taken):
        if (
            end < len(doc)
            and doc[end].lower_ in lexicon.EXTENDING
            and doc[end - 1].dep_ in {"compound", "amod", "nmod", "poss"}
        ):
            end += 1
        names.append(Name(start, end, doc[start:end].text))
        taken[start:end] = [True] * (end - start)
    for start, end in lower_names(doc, taken):
        text = doc[start:end].text
        names.append(Name(start, end, text if text in lexicon.PRODUCTS else text.title()))
        taken[start:end] = [True] * (end - start)
    for name in names:
        span = doc[name.start : name.end]
        name.head = span.root.i
        vote(name, span)
        beside(span, name.votes)
        if asked and name.start - span.sent.start <= FRONT and span.sent.start == 0:
            name.votes.update(answering(asked))
    joined(doc, names)
    for name in names:
        decide(name)
    return sorted((name for name in names if name.votes), key=lambda name: name.start)


def joined(doc: Doc, names: list[Name]) -> None:
    """Names that "and" joins are likely of a kind: "Saoirse, Tomi and my sister"."""
    heads = {name.head: name for name in names}
    for name in names:
        for other in doc[name.head].conjuncts:
            kind = (
                kind_of_noun(other)
                if other.i not in heads
                else next(iter(dict(heads[other.i].votes.most_common(1))), "")
            )
            if kind in {"Person", "Place"}:
                name.votes[kind] += WEAK


def decide(name: Name) -> None:
    """Drop votes that were outweighed; a name of which nothing is known is most often a person's."""
    for kind in [kind for kind, weight in name.votes.items() if weight <= 0]:
        del name.votes[kind]
    if not name.votes:
        name.votes["Concept"] = WEAK / 4


def beside(span: Span, add: Counter[str]) -> None:
    """Nouns across a comma: "a bakery, Bramley Crust", "Karhu, a small cat"."""
    doc = span.doc
    at = span.start - 1
    if at > 0 and doc[at].pos_ == "DET":
        at -= 1
    if at > 0 and doc[at].text in {",", ":", "-", "("} and not doc[at].is_sent_start:
        for back in range(at - 1, max(span.sent.start, at - REACH) - 1, -1):
            token = doc[back]
            if (token.pos_ in {"VERB", "AUX"} and token.tag_ not in {"VBN", "VBG"}) or (
                token.pos_ == "PROPN" and back == at - 1 and token.dep_ != "pobj"
            ):
                break
            if token.pos_ == "NOUN":
                kind = kind_of_noun(token)
                if kind and any(
                    child.dep_ in {"det", "poss", "nummod", "compound", "amod"} for child in token.children
                ):
                    add[kind] += FAIR + WEAK
                    break
    if span.end + 2 < len(doc) and doc[span.end].text == "," and doc[span.end + 1].tag_ in {"DT", "PRP$"}:
        noun = next(
            (token for token in doc[span.end + 2 : span.end + 7] if token.pos_ == "NOUN" and token.dep_ != "compound"),
            None,
        )
        if noun is not None and (kind := kind_of_noun(noun)):
            add[kind] += FAIR
    near = doc[span.end : span.end + 12]
    if span.root.dep_ in {"nsubj", "ROOT", "npadvmod", "dobj", "appos"} and any(
        t.lower_ in {"he", "she", "him"} for t in near
    ):
        add["Person"] += WEAK
    if len(near) > 1 and near[0].pos_ == "PRON" and near[1].lower_ in {"called", "named"}:
        add["Object"] += STRONG


def answering(question: str) -> Counter[str]:
    """What the name that answers a question is likely to be."""
    low = question.lower()
    if re.search(r"\bwhere(?:abouts)?\b|\bwhich (?:city|town|country|place|part)\b", low):
        return Counter({"Place": STRONG})
    if re.search(r"\bwho(?:'s|m|se)?\b", low):
        return Counter({"Person": STRONG})
    if match := re.search(
        r"\b(?:name|called|which|what) (?:is |of |the |your |his |her |kind of )*(\w+)|(\w+)(?:'s)? (?:name|called)\b",
        low,
    ):
        kind = kind_of_word(match[1] or match[2])
        return Counter({kind: FAIR}) if kind else Counter()
    return Counter()


def known_spans(doc: Doc, known: dict[str, str], index: dict[str, set[int]]) -> Iterator[tuple[int, int, str]]:
    """Names that the window knows already, also in lower case where they are no common word."""
    low = [token.lower_ for token in doc]
    for start, word in enumerate(low):
        for length in sorted(index.get(word, ()), reverse=True):
            phrase = " ".join(low[start : start + length])
            if phrase in known and start + length <= len(low):
                first = doc[start]
                if first.text[0].islower() and not is_meant(first, phrase):
                    continue
                if first.is_sent_start and phrase in lexicon.NOT_NAMES:
                    continue
                yield start, start + length, known[phrase]
                break


def is_meant(token: Token, phrase: str) -> bool:
    """Whether a known name in lower case is meant as one, "will" and "rose" only where no article or verb is."""
    if is_common(token) or len(phrase) < 3:  # noqa: PLR2004
        return False
    if phrase not in lexicon.ALSO_WORDS and not is_word(phrase.split(maxsplit=1)[0]):
        return True
    return token.tag_ == "NNP" or not any(
        child.dep_ in {"det", "amod", "poss", "nummod", "compound"} for child in token.children
    )


def is_common(token: Token) -> bool:
    """Whether a word in lower case is an ordinary one here."""
    return token.pos_ in {"VERB", "AUX", "ADV", "ADP", "PRON", "DET", "CCONJ", "SCONJ", "PART", "ADJ"}


def is_capital(token: Token) -> bool:
    """Whether a token begins with a capital and may stand in a name."""
    text = token.text
    return text[0].isupper() and text[0].isalpha() and token.lower_ not in {"i", "i'm"} and not token.like_url


def explains_capital(token: Token) -> bool:
    """Whether a token's capital comes from its place, as that of a sentence's first word."""
    before = doc_before(token)
    return (
        token.is_sent_start
        or before is None
        or before.text in {".", "!", "?", ":", '"', "-", "(", "...", "*"}
        or before.is_space
    )


def doc_before(token: Token) -> Token | None:
    """The token before one."""
    return token.doc[token.i - 1] if token.i else None


def capital_runs(doc: Doc, taken: list[bool]) -> Iterator[tuple[int, int]]:
    """Runs of capitalised words, with small words inside ("Bank of Ireland")."""
    at = 0
    while at < len(doc):
        if taken[at] or not starts_name(doc[at]):
            at += 1
            continue
        end = at + 1
        while end < len(doc) and not taken[end]:
            token = doc[end]
            if continues(token):
                end += 1
            elif (
                token.lower_ in INNER
                and end + 1 < len(doc)
                and not taken[end + 1]
                and is_capital(doc[end + 1])
                and not (token.lower_ in {"and", "in", "at", "for", "'s", "&"} and not joins(doc, at, end))
                and doc[end + 1].lower_ not in lexicon.NOT_NAMES
            ):
                end += 2
            else:
                break
        yield at, end
        at = end


def continues(token: Token) -> bool:
    """Whether a token goes on with a name that has begun."""
    if token.is_sent_start:
        return False
    if is_capital(token):
        return token.lower_ not in lexicon.NOT_NAMES or token.lower_ in {"new", "day", "week", "part", "year"}
    return token.like_num and token.text.isdigit() and len(token.text) <= 2 and doc_before(token) is not None and False


def joins(doc: Doc, start: int, at: int) -> bool:
    """Whether "and", "in", "at" joins words of one name: "Moran & Son", "Alice in Wonderland", not "Ana and Tom"."""
    word, after = doc[at].lower_, doc[at + 1].lower_
    if word in {"&"}:
        return True
    if word == "'s":
        return after in lexicon.ORGANIZATION_ENDS or after in lexicon.PLACE_ENDS or after in lexicon.EVENT_ENDS
    if word == "and":
        return after in lexicon.ORGANIZATION_ENDS and doc[start].lower_ not in lexicon.GIVEN
    return False


def starts_name(token: Token) -> bool:
    """Whether a name may begin with a token."""
    if not is_capital(token) or (token.lower_ in lexicon.NOT_NAMES and not is_title(token)):
        return False
    if token.pos_ in {"PRON", "DET", "ADP", "CCONJ", "SCONJ", "AUX", "PART", "INTJ", "PUNCT"} and token.ent_type_ == "":
        return token.lower_ in lexicon.GIVEN
    low = token.lower_
    if is_shouted(token):
        return False
    if explains_capital(token):
        after = token.doc[token.i + 1] if token.i + 1 < len(token.doc) else None
        if low in lexicon.GIVEN or low in lexicon.PLACES or low in lexicon.PRODUCTS or low in lexicon.ORGANIZATIONS:
            return low not in lexicon.ALSO_WORDS or token.pos_ == "PROPN"
        if not is_word(low) and token.pos_ in {"PROPN", "NOUN", "X", "ADJ", "VERB"}:
            return len(low) > 2  # noqa: PLR2004
        if token.tag_ == "NNP" and not token.is_stop:
            return after is not None and ((is_capital(after) and not after.is_sent_start) or after.tag_ == "POS")
        return False
    if token.pos_ in {"NOUN", "PROPN", "X"}:
        return True
    return token.ent_type_ in LABELS or (
        token.pos_ in {"ADJ", "VERB"} and not token.doc[token.sent.start : token.sent.end].text.isupper()
    )


def is_shouted(token: Token) -> bool:
    """Whether a word is in capitals because its neighbours are, or is no name for its length."""
    if not token.text.isupper() or len(token.text) < 3:  # noqa: PLR2004
        return False
    if token.lower_ in lexicon.ORGANIZATIONS:
        return False
    near = [other for other in token.sent if other.is_alpha and len(other) > 1 and other.i != token.i]
    shouting = sum(other.text.isupper() for other in near)
    return is_word(token.lower_) or len(set(token.lower_)) < 3 or (len(near) > 0 and shouting >= 0.5 * len(near))  # noqa: PLR2004


def is_title(token: Token) -> bool:
    """Whether "Dr" or "Auntie" stands before a name."""
    after = token.doc[token.i + 1] if token.i + 1 < len(token.doc) else None
    return token.lower_ in lexicon.TITLES and after is not None and is_capital(after) and not after.is_sent_start


def lower_names(doc: Doc, taken: list[bool]) -> Iterator[tuple[int, int]]:
    """Names typed in lower case: those that are known ones ("ana", "porto"), and what is no word where a name may stand."""
    for token in doc:
        low = token.lower_
        if taken[token.i] or not token.text[0].islower() or low in lexicon.ALSO_WORDS or len(low) < 3:  # noqa: PLR2004
            continue
        if (
            low in LOWER_WORDS
            or low in lexicon.NOT_NAMES
            or low in things.MEDIA
            or low in things.LANGUAGES
            or token.pos_ not in {"PROPN", "NOUN", "X", "ADJ", "VERB"}
        ):
            continue
        if low in lexicon.GIVEN or low in lexicon.PLACES or low in lexicon.ORGANIZATIONS:
            if token.pos_ != "VERB":
                yield token.i, token.i + 1
        elif (low in lexicon.PRODUCTS and not is_word(low) and token.pos_ != "VERB") or (
            token.is_alpha and is_named_here(token) and (not is_word(low) or token.tag_ == "NNP")
        ):
            yield token.i, token.i + 1


def is_named_here(token: Token) -> bool:
    """Whether a name stands where this word does: behind "in" or "with" without article, before "'s", beside "my sister"."""
    doc, before = token.doc, doc_before(token)
    after = doc[token.i + 1] if token.i + 1 < len(doc) else None
    if any(child.dep_ in {"det", "amod", "nummod", "poss"} for child in token.children) or token.tag_ == "NNS":
        return before is not None and kin_before(before)
    if after is not None and after.tag_ == "POS":
        return True
    if before is None:
        return False
    if (
        before.lower_ == "to"
        and before.i
        and doc[before.i - 1].lower_ in {"off", "back", "going", "went", "trip", "moving", "moved"}
    ):
        return True
    if before.lower_ in {"in", "from", "near", "called", "named", "with"}:
        return token.dep_ in {"pobj", "oprd", "attr"}
    return kin_before(before)


def kin_before(before: Token) -> bool:
    """Whether "my sister" stands before a word."""
    return before.lower_ in kin.KIN and any(child.dep_ == "poss" for child in [*before.children, *before.head.children])


LOWER_WORDS = frozenset(
    ["turkey", "china", "rich", "chad", "orange", "apple", "target", "subway", "boots", "shell", "meta", "stripe", "uber", "zoom", "signal", "reading", "nice", "bath", "split", "essen", "hull", "cork", "derby", "phoenix", "mini", "costa", "spar", "jumbo", "coop", "shelter", "rotary", "java", "perth", "lima", "buffalo", "angel", "china", "rome", "ed", "rob", "al", "per", "said", "del", "cher"]
) - {"perth", "lima", "rome"}  # fmt: skip


def vote(name: Name, span: Span) -> None:
    """Weigh what a name may be."""
    words = [token.lower_ for token in span]
    first, last = words[0].rstrip("."), words[-1]
    add = name.votes
    phrase = " ".join(words)
    label = next((token.ent_type_ for token in span if token.ent_type_), "")
    if label == "NORP" or phrase in things.LANGUAGES:
        return
    if label in LABELS:
        doubtful = label == "PERSON" and first not in lexicon.GIVEN and is_word(first)
        doubtful = (
            doubtful
            or label in {"NORP", "LANGUAGE", "LAW"}
            or (label in {"ORG", "PRODUCT", "WORK_OF_ART"} and len(words) == 1)
        )
        doubtful = doubtful or (label == "GPE" and len(words) == 1 and phrase not in lexicon.PLACES)
        add[LABELS[label]] += WEAK / 2 if doubtful else WEAK
    for found, kind in (
        (phrase in lexicon.PLACES, "Place"),
        (phrase in lexicon.ORGANIZATIONS, "Organization"),
        (phrase in lexicon.PRODUCTS or (first in lexicon.PRODUCTS and len(words) > 1), "Object"),
    ):
        if found:
            add[kind] += STRONG
    if first in lexicon.GIVEN and "&" not in words:
        add["Person"] += STRONG if len(words) == 1 or words[1] not in lexicon.ORGANIZATION_ENDS else WEAK
    if first == "project" and len(words) > 1:
        add["Project"] += CERTAIN
    if first in {title.rstrip(".") for title in lexicon.TITLES} and len(words) > 1:
        add["Person"] += CERTAIN
    if len(words) > 1:
        for ends, kind in (
            (lexicon.ORGANIZATION_ENDS, "Organization"), (lexicon.PLACE_ENDS, "Place"),
            (lexicon.EVENT_ENDS, "Event"), (lexicon.MEDIA_ENDS, "Media"),
        ):  # fmt: skip
            if last in ends or (words[0] in ends and words[1] == "of"):
                add[kind] += STRONG + FAIR
        if last in lexicon.VENUES:
            add["Place"] += STRONG + FAIR
    if len(words) == 1 and last.endswith(lexicon.PLACE_SUFFIXES) and not is_word(last):
        add["Place"] += FAIR
    if len(words) == 1 and last.endswith(lexicon.ORGANIZATION_SUFFIXES) and not is_word(last):
        add["Organization"] += STRONG
    if last in things.VEHICLES | things.INSTRUMENTS or first in things.VEHICLES:
        add["Object"] += STRONG
    if "&" in words or any(word.isdigit() for word in words):
        add["Organization" if "&" in words else "Object"] += FAIR
    around(name, span, add)
    if len(words) > 1 and last in lexicon.EXTENDING and span[-1].text.islower():
        add[lexicon.EXTENDING[last]] += CERTAIN


def around(name: Name, span: Span, add: Counter[str]) -> None:  # noqa: C901, PLR0912 - one cue after the other
    """What the words around a name say of it."""
    root, doc = span.root, span.doc
    head = root.head
    before = doc[span.start - 1] if span.start else None
    after = doc[span.end] if span.end < len(doc) else None
    for noun in described_by(root, span):
        kind = kind_of_noun(noun)
        if kind:
            add[kind] += CERTAIN / 2
    if root.dep_ in {"nsubj", "nsubjpass"} and head.pos_ == "VERB":
        add["Person"] += FAIR if head.lemma_.lower() in PERSON_VERBS else WEAK
    if after is not None and after.like_num and after.is_digit and 0 < int(after.text) < 100 and len(span) == 1:  # noqa: PLR2004
        add["Person"] += WEAK
    if root.dep_ == "conj" and head.pos_ == "PRON" and head.lower_ in {"i", "me", "he", "she", "you", "him", "her"}:
        add["Person"] += FAIR
    if root.dep_ in {"dobj", "iobj", "dative"} and head.lemma_ in MEETING:
        add["Person"] += FAIR
    if root.dep_ == "dobj" and head.lemma_ in JOINING:
        add["Organization"] += FAIR
    if before is not None and before.lower_ in {"ex", "ex-", "formerly"}:
        add["Organization"] += FAIR
    if root.dep_ == "dobj" and head.lemma_ in READING:
        add["Media"] += FAIR
    if root.dep_ == "dobj" and head.lemma_ in USING:
        add["Object"] += FAIR
    if before is not None and before.lower_ == "in" and root.dep_ != "pobj" and (after is None or after.tag_ != "POS"):
        add["Place"] += STRONG
    if before is not None and before.lower_ == "to" and before.i and root.dep_ != "pobj":
        goes = doc[before.i - 1].lemma_.lower() in MOVING or doc[before.i - 1].lower_ in {
            "off",
            "back",
            "over",
            "down",
            "up",
        }
        add["Place"] += STRONG if goes else 0
    if before is not None and before.lower_ in PLACING and root.dep_ == "pobj":
        mover = root.head.head.lemma_.lower()
        add["Place"] += FAIR + WEAK if before.lower_ == "in" or mover in MOVING else WEAK
    if before is not None and before.lower_ == "at" and root.dep_ == "pobj":
        holder = root.head.head
        works = holder.lemma_.lower() in WORKING
        add["Organization"] += STRONG + FAIR if works else FAIR + WEAK if holder.lemma_ in {"be", "still"} else WEAK
        add["Place"] += 0 if works else WEAK if holder.lemma_ in {"be", "still"} else FAIR
        if holder.lemma_ not in SHOUTING and (after is None or after.tag_ != "POS"):
            add["Person"] -= STRONG
    if before is not None and before.lower_ in {"on", "along", "off", "opposite"} and root.dep_ == "pobj":
        add["Place"] += WEAK
    if before is not None and before.lower_ == "for" and root.head.head.lemma_.lower() in {"work", "volunteer", "play"}:
        add["Organization"] += FAIR
    if before is not None and before.lower_ in {"with", "to", "for", "than", "by"} and root.dep_ == "pobj":
        mover = root.head.head.lemma_.lower()
        if before.lower_ == "with" and mover in {"start", "interview", "sign", "bank", "work", "insure", "apply"}:
            add["Organization"] += FAIR
        elif before.lower_ == "to" and (mover in MOVING or root.head.head.lower_ in {"off", "back"}):
            add["Place"] += FAIR + WEAK
        elif before.lower_ == "with" and mover == "be":
            add["Organization"] += FAIR
        else:
            add["Person"] += FAIR if before.lower_ == "with" else WEAK
    if after is not None and after.lower_ == "from" and after.i + 1 < len(doc) and doc[after.i + 1].lower_ in FROM:
        add["Person"] += FAIR
    if after is not None and after.tag_ == "POS" and after.i + 1 < len(doc):
        owned = root.head
        add["Person"] += STRONG if owned.lemma_.lower() in kin.KIN else FAIR
    determiner = next(
        (child.lower_ for child in root.children if child.dep_ in {"det", "poss"} and child.i < span.start), ""
    )
    if determiner in {"a", "an"}:
        add["Person"] -= STRONG
        add["Object"] += FAIR
    elif determiner in {"the", "my", "our", "this"} and root.dep_ != "appos" and not kin_before(doc[span.start - 1]):
        add["Person"] -= FAIR
        add["Object"] += WEAK / 2
    if after is not None and after.lower_ in {"and", ","} and after.i + 1 < len(doc) and doc[after.i + 1].lower_ == "i":
        add["Person"] += FAIR


def described_by(root: Token, span: Span) -> Iterable[Token]:
    """Nouns that say what a name is: "my sister Ana", "Ana, a nurse", "a dog called Bo", "Ana is my sister"."""
    for child in root.children:
        if child.i not in range(span.start, span.end) and child.dep_ in {"compound", "nmod"} and child.pos_ == "NOUN":
            yield child
        if child.dep_ == "appos":
            yield child
    if root.dep_ in {"appos", "compound"} and root.head.pos_ in {"NOUN", "PROPN"}:
        yield root.head
    if root.dep_ == "oprd" and root.head.lemma_ in {"call", "name", "christen", "dub", "nickname"}:
        namer = root.head
        if namer.dep_ == "acl":
            yield namer.head
        for child in namer.children:
            if child.dep_ in {"nsubjpass", "dobj"} or (child.dep_ == "nsubj" and child.pos_ == "NOUN"):
                yield child
    if root.dep_ == "nsubj" and root.head.lemma_ == "be":
        for child in root.head.children:
            if child.dep_ == "attr":
                yield child
    if root.dep_ == "attr" and root.head.lemma_ == "be":
        for child in root.head.children:
            if child.dep_ == "nsubj":
                yield child
                if child.lemma_ == "name":
                    yield from (grand for grand in child.children if grand.dep_ == "poss")


def kind_of_noun(noun: Token) -> str:
    """The node type of what an ordinary noun names; empty: no guess."""
    if noun.lower_ == "it":
        return "Object"
    if noun.pos_ == "PROPN" and noun.lower_ not in kin.KIN:
        return ""
    return kind_of_word(noun.lemma_.lower()) or kind_of_word(noun.lower_)


def kind_of_word(word: str) -> str:
    """The node type of what a noun names; empty: no guess."""
    if word in kin.KIN | kin.SHE | kin.HE or word in things.ROLES or word in PERSONS or word in kin.PLURALS:
        return "Person"
    if word in kin.ANIMALS or word in things.PETS or word in things.OWNED_STRONG:
        return "Object"
    if word in TOWNS:
        return "Place"
    if word in things.MEDIA:
        return "Media"
    if word in things.EVENTS and word not in things.WEAK_EVENTS:
        return "Event"
    if word in things.WORKPLACES or word in things.GROUPS or word == "band":
        return "Organization"
    if word in TOOLS:
        return "Object"
    if word in {"project", "startup"}:
        return "Project"
    return ""


PERSONS = frozenset(["man", "woman", "guy", "lady", "girl", "boy", "person", "he", "she", "bloke", "chap", "lad", "lass", "kid", "fella", "gentleman", "human", "dude", "someone", "somebody", "author", "singer", "artist", "newborn"])  # fmt: skip
TOWNS = frozenset(["city", "town", "village", "country", "island", "suburb", "neighbourhood", "neighborhood", "region", "place", "hometown", "district", "street", "area", "beach", "mountain", "lake", "river", "state", "county", "province"])  # fmt: skip
TOOLS = frozenset(
    [
        "app",
        "tool",
        "software",
        "program",
        "phone",
        "language",
        "framework",
        "editor",
        "brand",
        "website",
        "site",
        "boat",
        "ship",
        "car",
        "model",
    ]
)
