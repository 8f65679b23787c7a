"""Who is whose what: "my sister", "Tova's boss", "a friend of mine"; ``naming`` finds what they are called."""

from __future__ import annotations

from dataclasses import dataclass

from spacy.tokens import Doc, Token

from memsvc.extract.offline import lexicon_kin as kin
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import naming
from memsvc.extract.offline.cast import Cast, Entry, normal, one_word
from memsvc.extract.offline.coreference import Mention
from memsvc.extract.offline.lexicon_given import GIVEN
from memsvc.extract.offline.names import Name
from memsvc.extract.offline.reading import Bond, Status
from memsvc.extract.offline.settling import Settling
from memsvc.identity.relations import PARENTS, apart, canonical

ROLES = (things.ROLES | kin.PERSONS) - kin.PUBLIC
"""With a name beside them, these tell that somebody is known: "the art director, Glenn"."""
NOMINAL = frozenset({"NOUN", "PROPN", "ADJ", "X", "INTJ", "VERB"})
HAVING = frozenset({"have", "get"})
SPOKEN = frozenset({"say", "call", "shout", "become"})
"""What is said, as "mummy", is nobody."""
OLD = frozenset({"opa", "oma", "grandpa", "grandma", "granny", "gran", "granddad", "grandad", "nana", "nan"})
"""With uncles and aunts, these are said before a name by people who are no relatives, too."""
POINTING = frozenset({"that", "this", "a", "the", "no", "every"})


@dataclass(frozen=True, slots=True)
class Relative:
    """What a noun says of somebody."""

    token: Token
    whose: int
    relation: str

    @property
    def plural(self) -> bool:
        """Whether there are several; "mums" in chats is "mum's"."""
        one = canonical(self.relation) in PARENTS
        return not one and (self.token.tag_ in {"NNS", "NNPS"} or self.token.lower_ in kin.PLURALS)

    @property
    def animal(self) -> bool:
        """Whether it is kept, rather than a relative or friend."""
        return self.relation in kin.ANIMALS and self.relation not in kin.KIN

    @property
    def kind(self) -> str:
        """Its node type."""
        return "Object" if self.animal else "Person"

    @property
    def gender(self) -> str:
        """she, he, or not known."""
        return "she" if self.relation in kin.SHE else "he" if self.relation in kin.HE else ""


def bind(reading: Settling) -> None:
    """Find the relatives of a turn, with the names that stand beside them, and note the bonds."""
    for name in reading.names:
        by_name(reading, name)
    for token in reading.doc:
        noun = token.pos_ in NOMINAL and (token.pos_ != "VERB" or any(child.dep_ == "poss" for child in token.lefts))
        if noun and token.i not in reading.named and relation_of(token):
            key = described(reading, token)
            if key is not None:
                reading.persons.append(Mention(token, key))


def by_name(reading: Settling, name: Name) -> None:
    """Note what a name itself says: "Auntie Bisi", "our Danny"."""
    doc, cast = reading.doc, reading.cast
    key = reading.named.get(name.start)
    if key is None or cast[key].kind != "Person":
        return
    before = doc[name.start - 1] if name.start else None
    title = doc[name.start].lower_
    whose = reading.speaker
    if title in kin.FAMILY and name.end - name.start > 1 and not (title in kin.ORDERS and doc[name.start].is_title):
        possessive = next((child for child in doc[name.head].children if child.dep_ == "poss"), None)
        if possessive is not None:
            whose = reading.person(possessive)
        relation = title
    elif before is not None and before.lower_ in {"my", "our"} and owns_nothing(doc, name):
        relation = "relative"
    else:
        return
    entry = cast[key]
    if whose is None or whose == entry.key or entry.relation or is_of_another(cast, entry, whose, relation):
        return
    entry.of, entry.relation = whose, relation
    described_before = cast.by_relation.get((cast.find(whose), one_word(relation)))
    if described_before is not None and not cast[described_before].named:
        cast.merge(described_before, entry.key)
    cast.by_relation.setdefault((cast.find(whose), one_word(relation)), entry.key)
    reading.bonds.append(Bond(doc[name.head], whose, entry.key, relation, family=True))


def is_of_another(cast: Cast, entry: Entry, whose: int, relation: str) -> bool:
    """Whether somebody is known as another's: of "Jonas's aunt Gerlinde", "aunt Gerlinde" is only the name."""
    last = normal(entry.name).rpartition(" ")[2]
    here = [
        other.of
        for other in cast.entries
        if other.relation == relation and other.of is not None and normal(other.name).rpartition(" ")[2] == last
    ]
    known = [of for of, role in cast.roles(entry) if role == relation]
    of = {cast.find(each) for each in (*here, *known)}
    return bool(of) and cast.find(whose) not in of


def owns_nothing(doc: Doc, name: Name) -> bool:
    """Whether a name is the last word of its phrase, and somebody's: "our Danny", not "our Danny's"."""
    after = doc[name.end] if name.end < len(doc) else None
    plain = after is None or (after.tag_ != "POS" and after.pos_ not in {"NOUN", "PROPN"})
    return plain and doc[name.start].lower_ in GIVEN


def relation_of(token: Token) -> str:
    """The relation that a noun names, singular; empty: none."""
    low, lemma, doc, at = token.lower_, token.lemma_.lower(), token.doc, token.i
    if at and doc[at - 1].lower_ in {"fur", "furry", "fluffy"}:
        return ""  # "fur babies" are kept, not born
    if at + 2 < len(doc) and doc[at + 1].text == "-" and f"{low}-{doc[at + 2].lower_}" in kin.KIN:
        return ""  # "co" of "co-worker": its last part speaks for it
    if at + 2 < len(doc) and doc[at + 1].text == "-" and doc[at + 2].lower_ == "in":
        return ""  # "mother" of "mother-in-law"
    if at > 1 and doc[at - 1].text == "-":
        if lemma == "law" and at > 3:  # noqa: PLR2004 - mother - in - law
            return f"{doc[at - 4].lower_}-in-law"
        whole = f"{doc[at - 2].lower_}-{lemma}"
        if whole in kin.KIN:
            return whole
    if low in kin.PLURALS:
        return kin.PLURALS[low]
    if low in kin.CHILDREN and any(child.lower_ in {"my", "our"} or is_parent(child) for child in token.lefts):
        return kin.CHILDREN[low]
    found = next((word for word in (low, lemma) if word in kin.KIN or word in kin.ANIMALS), "")
    found = found or (kin.TWO_WORDS.get((doc[at - 1].lower_, low), "") if at else "")
    return found or (lemma if lemma in ROLES and token.tag_ == "NN" else "")


def is_parent(word: Token) -> bool:
    """Whether somebody is said to be a child of who is named: "Callum is Deirdre's boy"."""
    said = word.head.dep_ == "attr" and word.head.head.lemma_ == "be"
    return said and word.dep_ == "poss" and word.pos_ == "PROPN"


def described(reading: Settling, token: Token) -> int | None:
    """The relative that a noun means: with a possessive, or bare where people say it so ("mom")."""
    relation = relation_of(token)
    whose = holder(reading, token, relation) if relation else None
    follows = reading.named.get(token.i + 1)
    if relation == "ex" and follows is not None and reading.cast[follows].kind != "Person":
        return None  # "she is ex Allegro"
    own = any(child.lower_ == "own" for child in token.lefts)  # "my own boss" is nobody
    if whose is None or own or (is_addressed(token) and relation not in kin.FAMILY):
        return None
    known = reading.known.get(token.i)
    if known is not None:
        return reading.cast.find(known)
    relative = Relative(token, whose, relation)
    names = list(naming.beside(reading, token)) or list(naming.asked_for(reading, token))
    if names:
        key = named(reading, relative, names[0])
        for name in names[1:] if relative.plural else ():
            named(reading, relative, name)
    elif (relation in ROLES and relation not in kin.KIN) or is_sought(token):
        return None
    else:
        key = unnamed(reading, relative)
    reading.note(reading.cast[key], token.i, token.i + 1)
    reading.known[token.i] = key
    return key


def unnamed(reading: Settling, relative: Relative) -> int:
    """A relative, or a group of them, whose name does not stand here."""
    relation, low = relative.relation, relative.token.lower_
    name = relation if not relative.plural else f"{relation}s" if "-" in relation else low
    entry = reading.cast.relative(
        relative.whose, name, name=name, kind=relative.kind, gender=relative.gender, plural=relative.plural
    )
    if not relative.plural or (relation in kin.FAMILY and (low not in kin.ARTICLED or low == "parents")):
        add_bond(reading, relative, entry.key)
    return entry.key


def named(reading: Settling, relative: Relative, name: int) -> int:
    """A name is that of a relative: one entry, with both."""
    cast = reading.cast
    whose, relation = cast.find(relative.whose), relative.relation
    bare = not any(child.dep_ == "poss" for child in relative.token.children)
    if bare and relative.token.lower_ in kin.TITLED | OLD and is_of_another(cast, cast[name], whose, relation):
        return cast[name].key
    entry = told_apart(reading, relative, cast[name])
    if entry.key == whose:
        return entry.key
    if not entry.sure:
        entry.kind, entry.sure = relative.kind, True
    before = cast.related(whose, relation)
    if before is not None and not cast[before].named:
        cast.merge(before, entry.key)
    if entry.of is None:
        entry.of, entry.relation = whose, relation
    entry.gender = entry.gender or relative.gender
    cast.by_relation[whose, one_word(relation)] = entry.key
    add_bond(reading, relative, entry.key)
    return entry.key


def told_apart(reading: Settling, relative: Relative, entry: Entry) -> Entry:
    """The person whom a name right behind a relation means: another one than bears it already, if the role differs.

    "My colleague Tom lives in Rome. My neighbour Tom lives in Pisa." are two; "Tom is my neighbour" is the one.
    """
    cast, token = reading.cast, relative.token
    whose = cast.find(relative.whose)
    name = next(
        (name for name in reading.names if name.start - token.i in {1, 2} and name.start in reading.named), None
    )
    if name is None or (name.start - token.i > 1 and token.nbor().text != ","):
        return entry
    if cast.find(reading.named[name.start]) != entry.key or (entry.kind != "Person" and entry.sure and entry.kind):
        return entry
    roles = cast.roles(entry)
    another = bool(roles) and all(others(cast, role, (whose, relative.relation)) for role in roles)
    if entry.kind and not another and not cast.is_unsure(entry):
        return entry
    other = cast.namesake(entry, whose, relative.relation, relative.kind)
    for each in reading.names:
        if each.start >= name.start and cast.find(reading.named.get(each.start, whose)) == entry.key:
            meant = other if each is name else cast.meant(entry, reading.speaker)
            reading.named.update(dict.fromkeys(range(each.start, each.end), meant.key))
            at = reading.doc[each.head]
            reading.persons[:] = [one for one in reading.persons if one.token.i != at.i]
            if meant.kind:
                reading.persons.append(Mention(at, meant.key))
    return other


def others(cast: Cast, one: tuple[int, str], other: tuple[int, str]) -> bool:
    """Whether what two persons of one name are to whom tells that they are two."""
    if one[0] == other[0]:
        return apart(one[1], other[1])
    family = one[1] in kin.FAMILY or other[1] in kin.FAMILY
    bound = {(who, of) for who in (one[0], other[0]) for of, _ in cast.roles(cast[who])}
    return family and not bound & {(one[0], other[0]), (other[0], one[0])}


def add_bond(reading: Settling, relative: Relative, who: int) -> None:
    """Note a bond, once; what is kept is owned, which is no bond."""
    relation, whose = relative.relation, relative.whose
    former = any(child.lower_.rstrip("-") in kin.FORMER for child in relative.token.lefts)
    over = relation.startswith("ex") or (former and relation not in kin.NOT_OVER)
    verb = relative.token.head
    if relative.token.dep_ == "attr" and verb.lemma_ == "be":
        status = reading.status(verb)
        if status in {Status.NOT, Status.OPEN}:
            return
        over = over or status is Status.WAS
    known = any((bond.whose, bond.who, bond.relation) == (whose, who, relation) for bond in reading.bonds)
    if not relative.animal and not known:
        reading.bonds.append(Bond(relative.token, whose, who, relation, relation in kin.FAMILY, over))


def holder(reading: Settling, token: Token, relation: str) -> int | None:
    """From whom a relation counts: "my", "Tova's", "of mine", or the speaker for "mom"."""
    possessive = possessive_of(reading, token)
    if possessive is not None:
        return reading.person(possessive)
    for child in token.children:
        if child.lower_ == "of" and child.dep_ == "prep":
            for inner in child.children:
                if inner.lower_ in {"mine", "ours"}:
                    return reading.speaker
                if inner.lower_ == "yours":
                    return reading.partner
    if token.dep_ == "dobj" and token.head.lemma_ in HAVING and relation in kin.KIN:
        return who_has(reading, token)
    return reading.speaker if is_own(reading, token, relation) else None


def who_has(reading: Settling, token: Token) -> int | None:
    """Who has a relative or friend: "we have a son", "she's got a boyfriend named Ed"; nobody where it is not so."""
    introduced = any(child.dep_ == "nummod" or child.lower_ in {"a", "an", "one"} for child in token.lefts)
    plain = introduced or token.lower_ in kin.PLURALS
    subject = next((child for child in token.head.children if child.dep_ == "nsubj"), None)
    if not plain or subject is None or reading.status(token.head) is not Status.SO:
        return None
    return reading.person(subject)


def possessive_of(reading: Settling, token: Token) -> Token | None:
    """The word that says from whom: the noun's own, or that of the name or the noun that it is joined to."""
    in_law = token.lower_ == "law" and token.i > 3  # noqa: PLR2004 - "my mother-in-law"
    bearer = token.doc[token.i - 4] if in_law else token
    own = next((child for child in bearer.children if child.dep_ == "poss"), None)
    if own is not None:
        return own
    shared = token.dep_ in {"compound", "nmod", "amod"} and token.head.i in reading.named
    joined = (
        token.dep_ == "conj" and relation_of(token.head) and not any(child.dep_ == "det" for child in token.children)
    )
    if shared or joined:
        return next((child for child in token.head.children if child.dep_ == "poss" and child.i < token.i), None)
    return None


def is_own(reading: Settling, token: Token, relation: str) -> bool:
    """Whether a relation without possessive is the speaker's: "mom", "the wife", "the vet, Catrin"."""
    articles = {child.lower_ for child in token.children if child.dep_ in {"det", "nummod"}}
    if "the" in articles and token.lower_ in kin.ARTICLED:
        return not any(child.lower_ == "of" for child in token.children)
    if articles & {"the", "a", "an", "another", "this", "one"}:
        social = relation in kin.SOCIAL or relation in ROLES
        return social and tells_of_self(token) and next(naming.beside(reading, token), None) is not None
    before = token.doc[token.i - 1] if token.i else None
    if before is not None and (before.lower_ in POINTING or before.dep_ == "poss"):
        return False
    if token.dep_ in {"dobj", "oprd", "ccomp"} and token.head.lemma_ in SPOKEN:
        return False
    if before is not None and before.lemma_ == "say" and token.i + 1 not in reading.named:
        return False  # "she said grandpa come here"
    alone = not any(child.dep_ in {"det", "amod", "compound", "nmod", "nummod"} for child in token.children)
    if relation in kin.KIN and relation not in kin.ANIMALS and token.i + 1 in reading.named:
        return alone or token.dep_ in {"compound", "nmod"}  # "cousin Fergus", "nonno Pasquale"
    if is_addressed(token) or (reading.partner is not None and is_asked(token)):
        return False
    return alone and (token.lower_ in kin.BARE or is_clipped(token, relation))


def is_asked(token: Token) -> bool:
    """Whether a question mark ends the sentence, or the one that goes on in lower case: "anyway. nan ok?"."""
    doc, at = token.doc, token.sent.end
    while at < len(doc) and doc[at - 1].text not in {".", "!", "?"} and doc[at].text[0].islower():
        at = doc[at].sent.end
    return doc[:at].text.rstrip().endswith("?")


def is_sought(token: Token) -> bool:
    """Whether it is asked who somebody is: "so who's our drummer?"."""
    return token.sent.text.rstrip().endswith("?") and any(word.lower_ in {"who", "whose"} for word in token.sent)


def is_addressed(token: Token) -> bool:
    """Whether somebody is called by a word at the end of a sentence: "It is so flat here, lola."."""
    doc, at = token.doc, token.i
    last = at + 1 >= len(doc) or doc[at + 1].is_punct
    mine = at > token.sent.start + 1 and doc[at - 1].tag_ == "PRP$" and doc[at - 2].text == ","
    if mine and token.lower_ in {"friend", "mate", "buddy", "pal"}:
        return last  # "well done, my friend!"
    return last and at > token.sent.start and doc[at - 1].text == "," and token.dep_ in {"npadvmod", "intj", "ROOT"}


def is_clipped(token: Token, relation: str) -> bool:
    """Whether "my" was left out: "wife is from Kherson", "tutor is called Bev", "living with girlfriend"."""
    if relation not in kin.KIN or relation in kin.NOT_BARE or relation in kin.ANIMALS or token.tag_ != "NN":
        return False
    if token.dep_ in {"nsubj", "nsubjpass"}:
        before = token.doc[token.i - 1] if token.i else None
        return token.i == token.sent.start or (before is not None and before.lower_ in {",", "and", "but", "so", "-"})
    return token.dep_ == "pobj" and token.head.lower_ == "with" and relation in kin.FAMILY


def tells_of_self(token: Token) -> bool:
    """Whether a sentence is about who speaks, or at least about nobody else: "the conductor is a woman named Graça"."""
    subjects = [word for word in token.sent if word.dep_ in {"nsubj", "nsubjpass"} and word.head.dep_ == "ROOT"]
    if any(word.lower_ in {"i", "we", "me"} for word in subjects) or token in subjects:
        return True
    return not any(word.pos_ in {"PROPN", "PRON"} and word.lower_ not in {"it", "there", "that"} for word in subjects)
