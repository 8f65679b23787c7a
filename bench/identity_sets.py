"""What ``bench.identity`` compares: pairs and mentions of public sets, with what is true of them.

Each set is cut in two by a hash of its document, cluster or name: thresholds are chosen on ``dev``, figures come from
``held``. Texts are read for evaluation only; nothing of them gets into results.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal
from uuid import NAMESPACE_OID, UUID, uuid5

import msgspec

from bench.datasets import lines
from bench.harness import data_folder
from memsvc.identity.cards import Card
from memsvc.identity.judging import frequencies, judge
from memsvc.identity.known import Holder, choose
from memsvc.identity.mentions import Mention
from memsvc.identity.names import latin
from memsvc.identity.words import TITLES

Half = Literal["dev", "held"]
HALVES: tuple[Half, Half] = ("dev", "held")
LITBANK_TYPES = {
    "PER": "Person", "FAC": "Place", "LOC": "Place", "GPE": "Place", "ORG": "Organization", "VEH": "Object",
}  # fmt: skip
FEBRL_FIELDS = {
    "street_number": "street_number", "address_1": "street", "address_2": "address_2", "suburb": "suburb",
    "postcode": "postcode", "state": "state",
}  # fmt: skip
LARGEST_BLOCK, NEAREST, GROUP, CONVERSATIONS, ASKED = 60, 20, 8, 3_000, 8


@dataclass(slots=True)
class Found:
    """Comparisons of one half of a set."""

    true: int = 0
    """Pairs or mentions that are to be found."""
    scored: list[tuple[float, float, bool]] = field(default_factory=list)
    """Candidates: our score, the plain string's, whether it is true."""
    automatic: list[bool] = field(default_factory=list)
    """Whether what the judge would merge by itself is true."""
    reached: int = 0
    """True ones among the candidates."""
    reference: list[tuple[float, bool]] = field(default_factory=list)
    """Candidates of the plain string, where they are not ours."""


def half(key: str) -> Half:
    """The half that a document, a cluster or a name belongs to."""
    return HALVES[hashlib.sha256(f"identity/{key}".encode()).digest()[0] % 2]


def records(folder: str, stem: str) -> Iterator[dict[str, Any]]:
    """Rows of a file of a set."""
    return (msgspec.json.decode(line) for line in lines(data_folder(folder), stem))


def trigrams(text: str) -> frozenset[str]:
    """Trigrams as pg_trgm makes them: of each word, with two spaces before and one behind it."""
    words = "".join(sign if sign.isalnum() else " " for sign in text.lower()).split()
    return frozenset(padded[at : at + 3] for word in words for padded in [f"  {word} "] for at in range(len(word) + 1))


def similarity(a: frozenset[str], b: frozenset[str]) -> float:
    """Trigrams that both have, divided by those that either has: pg_trgm's similarity."""
    return len(a & b) / (len(a | b) or 1)


# Records of people ---------------------------------------------------------------------------------------------------


def febrl_card(row: Mapping[str, str]) -> Card:
    """A record without its number and birth date, as a card."""
    name = " ".join(filter(None, (row["given_name"], row["surname"])))
    return Card(
        node_id=uuid5(NAMESPACE_OID, row["dataset"] + row["record_id"]),
        type="Person",
        names=(name,) if name else (),
        attributes={ours: row[theirs] for theirs, ours in FEBRL_FIELDS.items() if row[theirs]},
    )


def blocked(keyed: Iterable[Iterable[str]]) -> set[tuple[int, int]]:
    """Pairs of records that share a key; keys of more than 60 records say too little."""
    blocks: defaultdict[str, list[int]] = defaultdict(list)
    for place, keys in enumerate(keyed):
        for key in set(keys):
            blocks[key].append(place)
    return {pair for block in blocks.values() if len(block) <= LARGEST_BLOCK for pair in combinations(block, 2)}


def _keys(card: Card) -> Iterator[str]:
    words = [word for name in card.names for word in name.split()]
    yield from (f"w{word}" for word in words)
    yield from (f"p{word[:4]}" for word in words)
    values = card.attributes
    yield from (f"{key}={value}" for key, value in values.items() if key not in {"state", "street_number"})
    yield f"s{values.get('street', '')[:4]}{values.get('street_number', '')}"


def febrl() -> dict[Half, Found]:
    """Both record sets, each half of each deduplicated by itself."""
    parts: defaultdict[tuple[str, Half], list[dict[str, str]]] = defaultdict(list)
    for row in records("febrl", "records"):
        parts[row["dataset"], half(row["cluster_id"])].append(row)
    found = {name: Found() for name in HALVES}
    for (_, name), rows in parts.items():
        cards = [febrl_card(row) for row in rows]
        known = frequencies(cards)
        whole = [trigrams(" ".join((*card.names, *card.attributes.values()))) for card in cards]
        sizes = Counter(row["cluster_id"] for row in rows)
        found[name].true += sum(size * (size - 1) // 2 for size in sizes.values())
        for a, b in blocked(map(_keys, cards)):
            same = rows[a]["cluster_id"] == rows[b]["cluster_id"]
            verdict = judge(cards[a], cards[b], known)
            found[name].scored.append((verdict.score, similarity(whole[a], whole[b]), same))
            found[name].reached += same
            if verdict.decision == "same":
                found[name].automatic.append(same)
    return found


# Places --------------------------------------------------------------------------------------------------------------


class _Index:
    """Nearest names by trigrams."""

    def __init__(self, names: Iterable[tuple[str, int]]) -> None:
        self._names = [(trigrams(name), place) for name, place in names]
        self._with: defaultdict[str, list[int]] = defaultdict(list)
        for at, (grams, _) in enumerate(self._names):
            for gram in grams:
                self._with[gram].append(at)

    def nearest(self, name: str) -> list[tuple[float, int]]:
        """The best similarity of each of the 20 nearest places, best first."""
        grams = trigrams(name)
        shared = Counter(at for gram in grams for at in self._with.get(gram, ()))
        best: dict[int, float] = {}
        for at, count in shared.most_common(3 * NEAREST):
            theirs, place = self._names[at]
            best[place] = max(best.get(place, 0.0), count / (len(grams) + len(theirs) - count))
        return sorted(((value, place) for place, value in best.items()), reverse=True)[:NEAREST]


def _regions(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["country"], f"{row['country']} {row['admin1']}"


def _place(row: Mapping[str, Any], names: Sequence[str], kind: str) -> Card:
    node = uuid5(NAMESPACE_OID, f"{kind} {row['entity_id']} {names[0]}")
    return Card(
        node_id=node, type="Place", names=tuple(names),
        facts=frozenset(("LOCATED_AT", "out", uuid5(NAMESPACE_OID, region)) for region in _regions(row)),
    )  # fmt: skip


def places() -> dict[Half, Found]:
    """Cities known by half of their names, in their country and region; of the others some are asked for, with both."""
    rows = list(records("place-aliases", "aliases"))
    draw = random.Random(6)  # the same names every time
    known: list[list[str]] = []
    asked: list[tuple[int, str]] = []
    for place, row in enumerate(rows):
        parts: dict[Half, list[str]] = {"dev": [row["name"]], "held": []}
        for alias in dict.fromkeys(row["aliases"]):
            parts[half(f"{row['entity_id']}/{alias}")].append(alias)
        known.append(parts["dev"])
        asked += [(place, alias) for alias in draw.sample(parts["held"], min(len(parts["held"]), ASKED))]
    cards = [_place(row, names, "known") for row, names in zip(rows, known, strict=True)]
    usual = frequencies(cards)
    ours = _Index((latin(name), place) for place, names in enumerate(known) for name in names)
    plain = _Index((f"{name} {_regions(rows[at])[1]}", at) for at, names in enumerate(known) for name in names)
    found = {name: Found() for name in HALVES}
    for place, alias in asked:
        row = rows[place]
        part = found[half(row["entity_id"])]
        part.true += 1
        mention = _place(row, [alias], "asked")
        judged = [(judge(mention, cards[at], usual), at) for _, at in ours.nearest(latin(alias))]
        part.reached += any(at == place for _, at in judged)
        if judged:
            verdict, best = max(judged, key=lambda one: one[0].score)
            part.scored.append((verdict.score, 0.0, best == place))
            if verdict.decision == "same":
                part.automatic.append(best == place)
        nearest = plain.nearest(f"{alias} {_regions(row)[1]}")
        if nearest:
            part.reference.append((nearest[0][0], nearest[0][1] == place))
    return found


# Nicknames in a conversation -----------------------------------------------------------------------------------------


def nicknames() -> dict[Half, Found]:
    """Conversations of eight people under their full names; one of them, or a stranger, is called by a nickname."""
    known: defaultdict[str, list[str]] = defaultdict(list)
    for row in records("nicknames", "nicknames"):
        known[row["name"]].append(row["nickname"])
    surnames = sorted({row["surname"] for row in records("febrl", "records") if row["surname"].isalpha()})
    draw = random.Random(6)  # the same conversations every time
    names = sorted(known)
    found = {name: Found() for name in HALVES}
    for _ in range(CONVERSATIONS):
        first = draw.sample(names, GROUP + 1)
        people = [f"{name} {draw.choice(surnames)}".title() for name in first]
        stranger = draw.random() < 0.25
        place = GROUP if stranger else draw.randrange(GROUP)
        nickname = draw.choice(known[first[place]])
        part = found[half(first[place])]
        part.true += not stranger
        holders = [
            Holder(card=Card(node_id=uuid5(NAMESPACE_OID, name), type="Person", names=(name,)), here=True)
            for name in people[:GROUP]
        ]
        answer = choose(Mention(key=1, name=nickname.title(), type="Person"), holders)
        met = {rival.node_id for rival in answer.rivals} | {answer.node_id}
        right = holders[place].card.node_id if not stranger else None
        part.reached += right is not None and right in met
        if answer.node_id is not None:
            part.scored.append((answer.confidence, 0.0, answer.node_id == right))
        plain = max(
            (similarity(trigrams(nickname), trigrams(name.split()[0])), at) for at, name in enumerate(people[:GROUP])
        )
        part.reference.append((plain[0], not stranger and plain[1] == place))
    return found


# Names in a text -----------------------------------------------------------------------------------------------------


def _document(mentions: Sequence[Mapping[str, Any]]) -> tuple[dict[tuple[str, str], set[UUID]], set[frozenset[UUID]]]:
    """Nodes that each name of a text was given to, in the order of the text, and pairs that stay for a person."""
    holders: dict[UUID, Holder] = {}
    given: defaultdict[tuple[str, str], set[UUID]] = defaultdict(set)
    doubtful: set[frozenset[UUID]] = set()
    for key, mention in enumerate(mentions):
        node_type, name = LITBANK_TYPES[mention["type"]], mention["surface"]
        answer = choose(Mention(key=key, name=name, type=node_type), list(holders.values()))
        node = answer.node_id or uuid5(NAMESPACE_OID, mention["mention_id"])
        names = holders[node].card.names + answer.learned if node in holders else (name,)
        card = Card(node_id=node, type=holders[node].card.type if node in holders else node_type, names=names)
        holders[node] = Holder(card=card, here=True)
        given[mention["type"], name].add(node)
        doubtful |= {frozenset((node, rival.node_id)) for rival in answer.rivals}
    return given, doubtful


def _plain_words(name: str) -> set[str]:
    return {word for word in name.lower().replace(".", "").split() if word not in TITLES}


def litbank() -> dict[Half, Found]:
    """Pairs of different names of one type in a text: given to one node or not. The reference: they share a word."""
    texts: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for mention in records("litbank-coref", "mentions"):
        if mention["kind"] == "PROP" and mention["cluster_id"]:
            texts[mention["document_id"]].append(mention)
    found = {name: Found() for name in HALVES}
    for document, mentions in texts.items():
        mentions.sort(key=lambda one: (one["sentence"], one["start"]))
        part = found[half(document)]
        gold: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for mention in mentions:
            gold[mention["type"], mention["surface"]].add(mention["cluster_id"])
        given, doubtful = _document(mentions)
        for a, b in combinations(sorted(gold), 2):
            if a[0] != b[0]:
                continue
            same, one = bool(gold[a] & gold[b]), bool(given[a] & given[b])
            part.true += same
            part.reached += same and (one or any(frozenset((x, y)) in doubtful for x in given[a] for y in given[b]))
            if one:
                part.scored.append((1.0, 0.0, same))
            if _plain_words(a[1]) & _plain_words(b[1]):
                part.reference.append((1.0, same))
    return found


# Products, papers, restaurants ---------------------------------------------------------------------------------------


def er_pairs() -> dict[str, dict[Half, Found]]:
    """Labelled pairs of records by set; train is dev, valid is held."""
    found: dict[str, dict[Half, Found]] = {}
    for row in records("er-pairs", "pairs"):
        part = found.setdefault(row["dataset"], {name: Found() for name in HALVES})[
            "dev" if row["split"] == "train" else "held"
        ]
        cards = []
        for side in ("left", "right"):
            values = {key: str(value) for key, value in row[side].items() if value}
            name = next(iter(values.values()), "")
            rest = dict(list(values.items())[1:])
            node = uuid5(NAMESPACE_OID, row["pair_id"] + side)
            cards.append(Card(node_id=node, type="Object", names=(name,), attributes=rest))
        plain = [trigrams(" ".join(map(str, row[side].values()))) for side in ("left", "right")]
        verdict = judge(cards[0], cards[1])
        part.true += row["match"]
        part.scored.append((verdict.score, similarity(*plain), bool(row["match"])))
        if verdict.decision == "same":
            part.automatic.append(bool(row["match"]))
    return found
