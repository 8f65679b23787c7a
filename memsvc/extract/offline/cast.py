"""Whom and what a window speaks of: one entry each, however often and by whatever words it is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from memsvc.extract.extraction import Entity
from memsvc.extract.offline.lexicon_given import HE, SHE
from memsvc.extract.offline.lexicon_kin import FAMILY
from memsvc.extract.offline.lexicon_names import TITLES, VENUES
from memsvc.extract.offline.lexicon_places import PLACES
from memsvc.extract.window import Candidate, Window
from memsvc.identity.relations import PARENTS, SIBLINGS, apart, canonical

FIRMS = frozenset({"Organization", "Event", "Project", "Media"})
LEAST_SHORT, LEAST_LONGER = 3, 2
"""Letters of a name's short form, and how many the full one has more: "Mags" and "Margaret" are none, "Ben" is one."""
LEAST_PERSON, LEAST_PLACE = 8, 4
"""Votes that a name needs."""
FIRM = 16
"""By so many votes a name's type is certain enough."""


@dataclass(slots=True)
class Entry:
    """An entity while it is being found out."""

    key: int
    name: str
    kind: str
    named: bool
    known: int | None = None
    aliases: list[str] = field(default_factory=list)
    of: int | None = None
    relation: str = ""
    turn: int = 0
    quote: str = ""
    gender: str = ""
    """she, he, or not known."""
    sure: bool = False
    """The type is certain."""
    plural: bool = False
    votes: Counter[str] = field(default_factory=Counter)
    """What a name may be, weighted; see ``names``."""
    spoken: bool = False
    """A turn to be read names it."""


class Cast:
    """The entities of a window."""

    def __init__(self, window: Window) -> None:
        """Begin with nobody; candidates enter when they are spoken of."""
        self.entries: list[Entry] = []
        self.same: dict[int, int] = {}
        self.by_name: dict[str, int] = {}
        self.by_relation: dict[tuple[int, str], int] = {}
        self.namesakes: dict[str, list[int]] = {}
        """Names of several persons, told apart by what they are to whom; the first of each is nobody certain.

        It has no type where this window told them apart, and is a person where the graph did.
        """
        self.described: dict[str, list[tuple[str, int]]] = {}
        """Unnamed things by their nouns: what they were called, and their keys."""
        self.window = window
        self.candidates: dict[str, list[Candidate]] = {}
        self.candidate_keys: dict[int, int] = {}
        for candidate in window.candidates:
            for name in (candidate.label, *candidate.aliases):
                found = self.candidates.setdefault(normal(name), [])
                if candidate not in found:
                    found.append(candidate)

    def find(self, key: int) -> int:
        """The entry that a key stands for, after merges."""
        while key in self.same:
            key = self.same[key]
        return key

    def __getitem__(self, key: int) -> Entry:
        return self.entries[self.find(key)]

    def add(self, name: str, kind: str, *, named: bool = True, **more: object) -> Entry:
        """A new entry, whatever others there are."""
        entry = Entry(len(self.entries), name, kind, named, **more)  # type: ignore[arg-type]
        self.entries.append(entry)
        return entry

    def candidate(self, number: int) -> Entry:
        """The entry of something that is known."""
        if number not in self.candidate_keys:
            candidate = self.window.candidates[number]
            entry = self.add(candidate.label, candidate.type, known=number, sure=True)
            self.candidate_keys[number] = entry.key
            for name in (candidate.label, *candidate.aliases):
                self.by_name.setdefault(normal(name), entry.key)
        return self[self.candidate_keys[number]]

    def named(self, name: str, kind: str, *, sure: bool = False) -> Entry:
        """The entry of a proper name, made where it is new.

        A first name or surname that only one person bears here means that person, a full name the one whose first name
        was said.
        """
        normed = normal(name)
        key = self.by_name.get(normed)
        if key is not None:
            return self[key]
        known = [one for one in self.candidates.get(normed, []) if kind in {one.type, ""} or not sure]
        if len(known) > 1 and {one.type for one in known} == {"Person"}:
            return self.one_of(name, known)
        described = name.islower() and {one.type for one in known} <= {known[0].type} - {"Person"} if known else False
        if len(known) == 1 or described:  # one of several weddings is no new one
            return self.candidate(known[0].number)
        if kind == "Person":
            longer = [one for one in self.bearers(normed) if not self.has_another(one, normed)]
            if len(longer) == 1:
                entry = self[longer[0]]
                if len(name) > len(entry.name):
                    entry.aliases.append(entry.name)
                    entry.name = name
                elif name not in entry.aliases:
                    entry.aliases.append(name)
                self.by_name[normed] = entry.key
                return entry
        elif len(longer := self.longer(normed)) == 1:
            entry = self[longer[0]]
            entry.aliases.append(name)
            self.by_name[normed] = entry.key
            return entry
        entry = self.add(name, kind, sure=sure)
        self.by_name[normed] = entry.key
        return entry

    def one_of(self, name: str, known: Sequence[Candidate]) -> Entry:
        """A new entry of a name that several known persons bear; ``meant`` and ``namesake`` tell who is meant."""
        entry = self.add(name, "Person", sure=True)
        normed = normal(name)
        self.by_name[normed] = entry.key
        self.namesakes[normed] = [entry.key, *(self.candidate(one.number).key for one in known)]
        return entry

    def speaking(self, name: str, turn: int) -> int:
        """The key of somebody whose words stand, under this name, in another's message."""
        entry = self.named(name, "Person", sure=True)
        entry.sure = True
        if turn >= 0 and not entry.spoken:
            entry.spoken, entry.turn, entry.quote = True, turn, name
        return entry.key

    def longer(self, normed: str) -> list[int]:
        """What is no person and has this name with more words: "Brightwater Press", "St Ann's Villa"."""
        if normed in PLACES:
            return []
        found = {
            self.find(key) for other, key in self.by_name.items()
            if self[key].named and (
                (other.startswith(f"{normed} ") and self[key].kind in FIRMS)
                or (
                    (other.endswith(f"'s {normed}") or (other.endswith(f" {normed}") and other.split()[0] in VENUES))
                    and self[key].kind != "Person"
                )
            )
        }  # fmt: skip
        return sorted(found)

    def knows(self, name: str) -> bool:
        """Whether a name, or a part of one, was heard before."""
        normed = normal(name)
        return normed in self.by_name or normed in self.candidates or len(self.bearers(normed)) == 1

    def bearers(self, normed: str) -> list[int]:
        """Persons of whose name this is the first part, or who bear the first part of this one."""
        found = set()
        for other, key in self.by_name.items():
            entry = self[key]
            if entry.kind == "Person" and entry.named and part_of(normed, other):
                found.add(entry.key)
        for other, candidates in self.candidates.items():
            if other not in self.by_name and part_of(normed, other):
                found.update(self.candidate(one.number).key for one in candidates if one.type == "Person")
        return sorted(found)

    def has_another(self, key: int, normed: str) -> bool:
        """Whether somebody has another surname than a full name: "Mary Burke" is not Mary Conneely."""
        first, *rest = without_title(normed)
        full = [without_title(normal(name)) for name in (self[key].name, *self[key].aliases)]
        return bool(rest) and any(name[0] == first and name[1:] and name[-1] != rest[-1] for name in full)

    def relative(self, whose: int, relation: str, *, name: str, kind: str, gender: str, plural: bool) -> Entry:
        """The entry of "my sister"; a second one of the same relation is the same, and siblings have one mother."""
        whose, word = self.find(whose), one_word(relation)
        key = self.related(whose, relation)
        if key is not None:
            return self[self.by_relation.setdefault((whose, word), key)]
        known = [
            one for one in self.window.candidates
            if not plural and any(self[each].known == 0 for each in self.sharing(whose, word))
            and word in map(one_word, one.relations)
        ]  # fmt: skip
        if len(known) == 1:
            entry = self.candidate(known[0].number)
        else:
            entry = self.add(
                name, kind, named=False, of=whose, relation=relation, gender=gender, plural=plural, sure=True
            )
        entry.of, entry.relation = whose, relation
        entry.gender = entry.gender or gender
        self.by_relation[whose, word] = entry.key
        return entry

    def related(self, whose: int, relation: str) -> int | None:
        """The key of who is this to somebody, as far as it was heard."""
        word = one_word(relation)
        return next((self.by_relation[each, word] for each in self.sharing(whose, word)
                     if (each, word) in self.by_relation), None)  # fmt: skip

    def sharing(self, whose: int, word: str) -> list[int]:
        """Somebody, and all who have the same relatives of a kind: siblings have one mother."""
        return [self.find(whose), *(self.siblings(whose) if word in PARENTS else ())]

    def siblings(self, key: int) -> list[int]:
        """Sisters and brothers of somebody, as far as they are known here."""
        key, owner = self.find(key), self.candidate_keys.get(0)
        pairs = [(self.find(of), self.find(who)) for (of, word), who in self.by_relation.items() if word in SIBLINGS]
        if owner is not None:
            pairs += [
                (self.find(owner), self.find(who)) for number, who in self.candidate_keys.items()
                if any(one_word(role) in SIBLINGS for role in self.window.candidates[number].relations)
            ]  # fmt: skip
        return sorted({one for pair in pairs if key in pair for one in pair} - {key})

    def roles(self, entry: Entry) -> list[tuple[int, str]]:
        """What a person is to whom, as far as it is known: keys and relations."""
        told = [(self.find(entry.of), entry.relation)] if entry.of is not None and entry.relation else []
        if entry.known is None:
            return told
        candidate, keys = self.window.candidates[entry.known], self.candidate_keys
        said = [*((0, role) for role in candidate.relations), *candidate.roles]
        return told or [(self.find(keys[number]), role) for number, role in dict.fromkeys(said) if number in keys]

    def is_unsure(self, entry: Entry) -> bool:
        """Whether an entry stands for a name that several known persons bear."""
        same = self.namesakes.get(normal(entry.name))
        return same is not None and bool(entry.kind) and self.find(same[0]) == entry.key

    def namesake(self, entry: Entry, whose: int, relation: str, kind: str) -> Entry:
        """The person, or animal, of a name that is this to somebody; another than whom the name meant until now.

        From now on the bare name means whoever is something to who says it, if that is only one of them.
        """
        same = self.namesakes.setdefault(normal(entry.name), [self.add(entry.name, "", sure=True).key])
        if entry.key not in same:
            same.append(entry.key)
        for key in same[1:]:
            if any(of == whose and not apart(role, relation) for of, role in self.roles(self[key])):
                return self[key]
        other = self.add(entry.name, kind, sure=True, of=whose, relation=relation, votes=entry.votes)
        same.append(other.key)
        return other

    def meant(self, entry: Entry, speaker: int | None) -> Entry:
        """Whom a bare name means in somebody's mouth, where several bear it; the first entry: that is not certain."""
        same = self.namesakes.get(normal(entry.name))
        if same is None or entry.key not in {self.find(key) for key in same}:
            return entry
        own = [key for key in same[1:] if any(of == speaker for of, _ in self.roles(self[key]))]
        return self[own[0] if len(own) == 1 else same[0]]

    def merge(self, description: int, name: int) -> int:
        """A description and a name turn out to mean the same; the name's entry stays."""
        description, name = self.find(description), self.find(name)
        if description == name:
            return name
        gone, stays = self.entries[description], self.entries[name]
        if gone.named and gone.name not in {stays.name, *stays.aliases}:
            stays.aliases.append(gone.name)
        stays.aliases += [alias for alias in gone.aliases if alias not in {stays.name, *stays.aliases}]
        if stays.of is None or not stays.relation:
            stays.of, stays.relation = gone.of, gone.relation
        stays.gender = stays.gender or gone.gender
        stays.known = stays.known if stays.known is not None else gone.known
        if not stays.sure:
            stays.kind, stays.sure = gone.kind, gone.sure
        if gone.spoken and (not stays.spoken or gone.turn < stays.turn):
            stays.turn, stays.quote = gone.turn, gone.quote
        stays.spoken = stays.spoken or gone.spoken
        self.same[description] = name
        return name

    def title(self, key: int) -> str:
        """A name for sentences: "Tova", "Tova's sister"."""
        entry = self[key]
        if entry.named or entry.of is None or entry.name.startswith(f"{self[entry.of].name}'s"):
            return entry.name
        return f"{self.title(entry.of)}'s {entry.name}" if self.find(entry.of) != entry.key else entry.name

    def as_kind(self, entry: Entry, kinds: Sequence[str]) -> bool:
        """Let a name of uncertain type be what a sentence needs it to be; whether it can be."""
        if not kinds or entry.kind in kinds:
            return True
        if entry.sure or (entry.named and entry.votes[entry.kind] - max(entry.votes[kind] for kind in kinds) >= FIRM):
            return False
        entry.kind = next((kind for kind, _ in entry.votes.most_common() if kind in kinds), kinds[0])
        return True

    def doubt(self) -> None:
        """Take a name for somebody's only where more than one weak vote says so.

        In gold conversations a quarter of such persons were any; most were firms, places and events. What is a place
        by its spelling only may be anything.
        """
        for entry in self.entries:
            if not entry.named or entry.sure or entry.relation or entry.known is not None:
                continue
            if entry.kind == "Person" and entry.votes["Person"] < LEAST_PERSON:
                entry.kind = "Organization"
            elif entry.kind == "Place" and entry.votes["Place"] < LEAST_PLACE:
                entry.kind = "Concept"

    def extracted(self, used: Iterable[int]) -> list[Entity]:
        """What the extraction gives: the named ones that turns to be read name, the relatives, and those of facts."""
        wanted = {self.find(key) for key in used}
        for entry in self.entries:
            if entry.key == self.find(entry.key) and entry.spoken and entry.named and entry.kind not in {"Concept", ""}:
                wanted.add(entry.key)
        for key in list(wanted):
            of = self.entries[key].of
            if of is not None:
                wanted.add(self.find(of))
        return [self.entity(key) for key in sorted(wanted)]

    def entity(self, key: int) -> Entity:
        """An entry as what extractors give."""
        entry = self[key]
        of = None if entry.of is None else self.find(entry.of)
        if of == entry.key:
            of = None
        return Entity(
            key=entry.key,
            name=entry.name,
            type=entry.kind,
            known=entry.known,
            named=entry.named,
            aliases=tuple(dict.fromkeys(alias for alias in entry.aliases if alias != entry.name)),
            of=of,
            relation=entry.relation if of is not None else "",
            turn=max(entry.turn, 0),
            quote=entry.quote,
        )


def one_word(relation: str) -> str:
    """One word for what a relative is called: mother for "mum"; of grandparents people have several."""
    word = canonical(relation)
    return relation if word.startswith("grand") or relation not in FAMILY else word


def untitled(one: str, other: str) -> tuple[str, str]:
    """Two names, in normal form, without the title that both have: "mr. schuler" and "mr. lorne schuler"."""
    first, _, rest = one.partition(" ")
    begin, _, behind = other.partition(" ")
    same = first.rstrip(".") == begin.rstrip(".") and first.rstrip(".") in TITLES
    return (rest, behind) if same and rest and behind else (one, other)


def without_title(name: str) -> list[str]:
    """The words of a name in normal form, behind a title: "dr. hanley" is "hanley"."""
    words = name.split(" ")
    return words[1:] if len(words) > 1 and words[0].rstrip(".") in TITLES else words


def part_of(one: str, other: str) -> bool:
    """Whether one of two names, in normal form, is the first name or surname of the other, or its short form."""
    short, long = sorted(untitled(one, other), key=len)
    if long.startswith(f"{short} ") or (" " not in short and long.endswith(f" {short}")):
        return True
    if " " in short or len(short) < LEAST_SHORT or len(long) < len(short) + LEAST_LONGER:
        return False
    if long.startswith(f"{short}s "):
        return False  # "gertis ferdl" is Gerti's
    return long.split(" ")[0].startswith(short) and not (
        (short in SHE - HE and long in HE - SHE) or (short in HE - SHE and long in SHE - HE)
    )


def normal(name: str) -> str:
    """A name as it is compared."""
    return " ".join(name.casefold().replace("’", "'").split())
