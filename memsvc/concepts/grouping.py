"""Things of a memory -> groups of siblings under the word that people have for them, and groups of groups.

The word comes from what texts say, from the table of kinds, from the noun at the end of several names, from siblings
that are described alike, or from a language model. A thing stands in one group: the narrowest kind that has enough of
this user's things; what is alone goes up to the next wider kind. A word that may mean several kinds is decided by the
type of its node, by words said beside it, and by the user's other things; else it stands nowhere.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from uuid import UUID

import msgspec

from memsvc.concepts.lexicon import THINGS, Lexicon, Sense
from memsvc.concepts.said import EMPTY, phrases_about, word_in
from memsvc.concepts.words import folded, head_of, singular

LEAST, LEAST_UNUSUAL = 2, 4
"""Members of a group; of one for which people rather say the wider word."""
ALIVE = frozenset({"animal"})
"""Fields to which a Person may belong, where texts say so: pets."""
HEADED = frozenset({"Object", "Concept", "Event", "Media", "Place", "Organization"})
"""Types whose names end with what they are."""
ALIKE = 2
"""Described siblings of one kind that a thing without a word needs."""
USUAL_TYPE, OTHER_TYPE, CUE, COMPANY, MOST_COMPANY = 1.0, 0.6, 1.0, 0.5, 3
"""What the type of a node, a word beside it, and each of so many others of a kind say for a sense."""
CLEAR = 0.25
"""How much the best sense must be ahead."""


class Thing(msgspec.Struct, frozen=True, kw_only=True):
    """A node that may have siblings."""

    node_id: UUID
    name: str
    type: str
    texts: Sequence[tuple[UUID | None, str]] = ()
    """Passages in which it is mentioned, with their texts; its description has no passage."""


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """A parent and its children."""

    word: str
    things: Sequence[UUID]
    """In the order of their ids."""
    groups: Sequence[str]
    """Words of narrower groups, in the order of the alphabet."""
    by_model: bool = False
    """Only a model gave the word."""


def grouped(
    things: Sequence[Thing],
    lexicon: Lexicon,
    near: Iterable[tuple[UUID, UUID]] = (),
    told: Mapping[UUID, str] | None = None,
) -> list[Group]:
    """Return the groups of things, narrower ones first.

    Args:
        things: all of a user's.
        lexicon: the table of kinds.
        near: pairs of things that are described alike.
        told: words that a model gave to things; used where nothing else says what they are.
    """
    words, wider = words_of(things, lexicon, near, told or {})
    given = {word for node, word in (told or {}).items() if words.get(node) == word}
    return [
        msgspec.structs.replace(one, by_model=one.word in given and one.word not in lexicon.names)
        for one in _stacked(words, wider, lexicon)
    ]


def words_of(
    things: Sequence[Thing], lexicon: Lexicon, near: Iterable[tuple[UUID, UUID]], told: Mapping[UUID, str]
) -> tuple[dict[UUID, str], dict[str, str]]:
    """Return the word of each thing that has one, and of words that the table lacks the wider ones."""
    found: dict[UUID, str] = {}
    said = {thing.node_id: _said(thing, lexicon) for thing in things}
    new = Counter(word for words in said.values() for word, known in words.items() if not known)
    senses = {thing.node_id: _senses(thing, lexicon) for thing in things}
    company = Counter(sense.kind for some in senses.values() for sense in some)
    for thing in things:
        words = said[thing.node_id]
        known = [word for word, in_table in words.items() if in_table and _fits(thing, word, lexicon, said=True)]
        fresh = sorted(
            word for word, in_table in words.items()
            if not in_table and new[word] >= LEAST and thing.type != "Person" and word != folded(thing.name)
        )  # fmt: skip
        word = _deepest(known, lexicon) or _sense(thing, senses[thing.node_id], company, lexicon)
        if word or fresh:
            found[thing.node_id] = word or fresh[0]
    found |= _by_heads([one for one in things if one.node_id not in found])
    found |= _described(things, found, near)
    found |= {node: word for node, word in told.items() if node not in found}
    wider: dict[str, str] = {}
    by_name = {singular(folded(thing.name)): thing for thing in things}
    for word in {word for word in found.values() if word not in lexicon.kinds}:
        above = [sense.kind for sense in lexicon.senses(word) if not sense.needs_cue]
        named = by_name.get(word)
        if len(above) == 1:
            wider[word] = above[0]
        elif named is not None and named.node_id in found:
            wider[word] = found[named.node_id]
    return found, wider


def _said(thing: Thing, lexicon: Lexicon) -> dict[str, bool]:
    """What texts say that a thing is, and whether the table has the word."""
    found: dict[str, bool] = {}
    for _, text in thing.texts:
        for phrase, may_be_new in phrases_about(thing.name, text):
            word = word_in(phrase, lexicon)
            if word is not None and (word[1] or may_be_new):
                found[word[0]] = word[1]
    return found


def _fits(thing: Thing, kind: str, lexicon: Lexicon, *, said: bool = False) -> bool:
    """Whether a node of this type may be of a kind."""
    root = lexicon.roots[lexicon.kinds[kind].root]
    if thing.type == "Person":
        return said and root.word in ALIVE
    return thing.type in root.types or (thing.type in THINGS and not THINGS.isdisjoint(root.types))


def _senses(thing: Thing, lexicon: Lexicon) -> list[Sense]:
    return [sense for sense in lexicon.senses(thing.name) if _fits(thing, sense.kind, lexicon)]


def _sense(thing: Thing, senses: Sequence[Sense], company: Mapping[str, int], lexicon: Lexicon) -> str | None:
    """The kind that a name means; None: it has none, or may mean several."""
    beside = {word for _, text in thing.texts for word in _plain_words(text)} - set(folded(thing.name).split())
    scores: list[tuple[float, str]] = []
    for sense in senses:
        root = lexicon.roots[lexicon.kinds[sense.kind].root]
        cued = not beside.isdisjoint(root.cues)
        if sense.needs_cue and not cued:
            continue
        score = USUAL_TYPE if thing.type == root.types[0] else OTHER_TYPE
        score += CUE * cued + COMPANY * min(MOST_COMPANY, company[sense.kind] - 1)
        scores.append((score, sense.kind))
    scores.sort(reverse=True)
    if len(scores) > 1 and scores[0][0] - scores[1][0] < CLEAR:
        return None
    return scores[0][1] if scores else None


def _plain_words(text: str) -> list[str]:
    return [word.strip(".,;:!?\"'()") for word in folded(text).split()]


def _deepest(words: Collection[str], lexicon: Lexicon) -> str | None:
    """The narrowest of some kinds, all of which hold; None where they are of several fields."""
    ranked = sorted(words, key=lambda word: (-lexicon.kinds[word].depth, word))
    return ranked[0] if ranked and len({lexicon.kinds[word].root for word in ranked}) == 1 else None


def _by_heads(things: Sequence[Thing]) -> dict[UUID, str]:
    """The noun at the end of several names of nodes of one type."""
    heads: dict[tuple[str, str], list[Thing]] = defaultdict(list)
    for thing in things:
        words = head_of(thing.name)
        last = singular(words[-1]) if len(words) > 1 and thing.type in HEADED else ""
        plain = thing.name.split()[-1:] == [thing.name.split()[-1].lower()] if thing.name.split() else False
        if plain and len(last) > LEAST and last.isalpha() and last not in EMPTY:
            heads[thing.type, last].append(thing)
    return {
        thing.node_id: head
        for (_, head), some in heads.items()
        if len({folded(one.name) for one in some}) >= LEAST
        for thing in some
    }


def _described(
    things: Sequence[Thing], found: Mapping[UUID, str], near: Iterable[tuple[UUID, UUID]]
) -> dict[UUID, str]:
    """The word of siblings that are described alike, for things that have none."""
    types = {thing.node_id: thing.type for thing in things}
    votes: dict[UUID, Counter[str]] = defaultdict(Counter)
    for pair in near:
        for one, other in (pair, pair[::-1]):
            if one not in found and other in found and types.get(one) == types.get(other) != "Person":
                votes[one][found[other]] += 1
    return {
        node: counted.most_common(1)[0][0]
        for node, counted in votes.items()
        if node in types and counted.most_common(1)[0][1] >= ALIKE and len(counted) == 1
    }


def _stacked(words: Mapping[UUID, str], wider: Mapping[str, str], lexicon: Lexicon) -> list[Group]:
    """Groups with enough members, narrower ones first; what is alone goes up."""
    direct: dict[str, set[UUID]] = defaultdict(set)
    for node, word in words.items():
        direct[word].add(node)
    inner: dict[str, set[str]] = defaultdict(set)
    groups: list[Group] = []
    todo = {_height(word, wider, lexicon): set[str]() for word in direct}
    for word in direct:
        todo[_height(word, wider, lexicon)].add(word)
    while todo:
        height = max(todo)
        for word in sorted(todo.pop(height)):
            own, within = direct[word], inner[word]
            kind = lexicon.kinds.get(word)
            root = word in lexicon.roots
            least = LEAST_UNUSUAL if kind is not None and not kind.usual else LEAST
            stands = len(within) >= LEAST if root else len(own) + len(within) >= least
            above = None if root else _above(word, wider, lexicon)
            if stands:
                groups.append(Group(word=word, things=sorted(own if not root else ()), groups=sorted(within)))
            if above is not None:
                if stands:
                    inner[above].add(word)
                else:
                    direct[above] |= own
                    inner[above] |= within
                todo.setdefault(_height(above, wider, lexicon), set()).add(above)
    return groups


def _above(word: str, wider: Mapping[str, str], lexicon: Lexicon) -> str | None:
    """The next wider word; None: there is none."""
    if word in lexicon.kinds:
        return lexicon.kinds[word].parent
    above = wider.get(word)
    return above if above is not None and _height(above, wider, lexicon) < _height(word, wider, lexicon) else None


def _height(word: str, wider: Mapping[str, str], lexicon: Lexicon) -> int:
    """How many words are above a word; those that the texts put in a circle stand side by side."""
    seen, height = {word}, 0
    while word not in lexicon.roots:
        if word in lexicon.kinds:
            return height + lexicon.kinds[word].depth
        if (above := wider.get(word)) is None:
            return height
        if above in seen:
            return 0
        seen.add(above)
        word, height = above, height + 1
    return height
