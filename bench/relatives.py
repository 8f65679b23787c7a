"""Which nodes of a graph are which persons of a talk, so that it can be counted who is one node.

What somebody is to whom comes from the labels: ``kin`` says it for the owner ("mother", "brother's dog"), and a mention
says it for whoever says it ("my mum" in a turn of Tolga's: Tolga's mother). What two persons would be to the same one
says nothing. A node is a person's where

- a name of it is one of the person's; where several persons have the name, those to whom the node is what it is. If
  that tells none of them, it may be any: it is a node of each;
- it has no name, and is to somebody what the person is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from uuid import UUID

from bench.life import Person, Talk, bare
from bench.life_graph import Graph, Node
from bench.naming import plain
from memsvc.extract.offline.lexicon_kin import BARE, KIN
from memsvc.identity.relations import canonical, same

Role = tuple[str, str]
"""A person's id, and what somebody is to that person, as one word."""
MINE, YOURS = ("my ", "our "), ("your ",)
NOBODYS = "".join(rf"(?<!{word} )" for word in ("my", "our", "your", "his", "her", "their", "'s"))
"""Before a word for a relative, in a pattern: nothing says whose."""
LONGEST_CHAIN = 3
"""Steps from somebody with a name to a node without: "my sister's boss's dog"."""
TITLE = re.compile(r"^(?:dr|mr|mrs|ms|miss|sr|pani|uncle|auntie|aunt)\.? (?=\w)")
BESIDE = re.compile(r"\(.*?\)|^(?:late|former|expected|childhood|future) ")


def roles_of(talk: Talk) -> dict[str, set[Role]]:
    """What each person is to others, by id."""
    told: dict[str, set[Role]] = {one: set() for one in talk.people}
    owner = next(key for key, one in talk.people.items() if one.speaker and _is_called(one, talk.conversation.owner))
    for key, person in talk.people.items():
        told[key] |= set(_of_kin(talk, person, owner))
    certain = Counter(role for roles in told.values() for role in roles)
    siblings = {key for key, one in talk.people.items() if one.kin in {"sister", "brother"}}
    said: dict[str, set[Role]] = {}
    for key, person in talk.people.items():
        own = {relation for whose, relation in told[key] if whose == owner}  # a brother calls them the same
        said[key] = {
            role for role in set(_of_mentions(talk, person)) - set(certain)
            if role[1] not in own or role[0] in siblings
        }  # fmt: skip
    often = certain + Counter(role for roles in said.values() for role in roles)
    return {key: {role for role in told[key] | said[key] if often[role] == 1} for key in told}


def _of_kin(talk: Talk, person: Person, owner: str) -> Iterator[Role]:
    kin = BESIDE.sub("", BESIDE.sub("", person.kin or "").strip()).strip()
    whose, possessive, relation = kin.rpartition("'s ")
    if not possessive:
        yield from [(owner, canonical(kin))] if kin else []
        return
    known = [
        key for key, one in talk.people.items()
        if canonical(one.kin or "") == canonical(whose) or any(_is_called(one, word) for word in whose.split()[-1:])
    ]  # fmt: skip
    if len(known) == 1:
        yield known[0], canonical(relation)


def _of_mentions(talk: Talk, person: Person) -> Iterator[Role]:
    speakers = {
        name: next((key for key, one in talk.people.items() if one.speaker and _is_called(one, name)), None)
        for name in dict.fromkeys(turn.speaker for turn in talk.conversation.turns)
    }
    for mention in map(str.lower, person.mentions):
        words = bare(mention).split()
        relation = bare(mention) if bare(mention) in KIN else words[0] if words and words[0] in KIN else ""
        if not relation:
            continue
        pattern = re.compile(
            (NOBODYS if mention == bare(mention) else "") + r"(?<!\w)" + re.escape(mention) + r"(?!\w)"
        )
        for turn in talk.conversation.turns:
            speaker = speakers[turn.speaker]
            if speaker is None or not pattern.search(turn.text.lower()):
                continue
            others = [one for one in speakers.values() if one not in {speaker, None}]
            if mention.startswith(MINE) or (mention == bare(mention) and relation in BARE):
                yield speaker, canonical(relation)
            elif mention.startswith(YOURS) and len(others) == 1 and others[0] is not None:
                yield others[0], canonical(relation)


def _is_called(person: Person, name: str) -> bool:
    return _plain(name) in {_plain(one) for whole in person.names for one in (whole, whole.split()[0])}


def _plain(name: str) -> str:
    return TITLE.sub("", plain(name))


def nodes_of(talk: Talk, graph: Graph) -> dict[str, list[Node]]:
    """The nodes of each person who has any, by id."""
    roles = roles_of(talk)
    found: dict[UUID, set[str]] = {}
    for node in graph.nodes.values():
        if who := _by_name(talk.people, node):
            found[node.key] = who
    for _ in range(LONGEST_CHAIN):
        sure = {node_id for node_id, who in found.items() if len(who) == 1}
        for node in graph.nodes.values():
            said = [(key, relation) for whose, relation in node.roles for key in found.get(whose, ()) if whose in sure]
            told = {key for key in talk.people if any((who, canonical(word)) in roles[key] for who, word in said)} or {
                key for key in talk.people
                if any(who == one and same(word, other) for who, word in said for one, other in roles[key])
            }  # fmt: skip
            named = found.get(node.key, set())
            if node.type == "Person" and not named and told:
                found[node.key] = told
            elif len(named) > 1 and named & told and not _full_names(talk.people, node, named):
                found[node.key] = named & told
    people: dict[str, list[Node]] = {}
    for node_id, who in found.items():
        for key in who:
            people.setdefault(key, []).append(graph.nodes[node_id])
    return people


def _by_name(people: Mapping[str, Person], node: Node) -> set[str]:
    """Persons with a name of a node, and those who are mentioned as it is called."""
    if not node.named:
        return set()
    names = {_plain(name) for name in node.names}
    whole = {key for key, one in people.items() if names & {_plain(name) for name in one.names}}
    part = {key for key, one in people.items() if any(_is_called(one, name) for name in node.names)}
    mentioned = {key for key, one in people.items() if names & {_plain(bare(mention)) for mention in one.mentions}}
    return whole | part or (mentioned if node.type == "Person" else set())


def _full_names(people: Mapping[str, Person], node: Node, who: set[str]) -> bool:
    """Whether a node has the full names of two persons: it is both of them."""
    names = {_plain(name) for name in node.names}
    return sum(bool({_plain(name) for name in people[key].names if " " in name} & names) for key in who) > 1
