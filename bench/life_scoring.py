"""Figures of what a graph holds of talk between people (``bench/gold/life``).

**Facts.** A sentence says a fact if it names whom the fact is about and has a word of each group of its keys, and one
of the turns that support it is one of the fact's. **Times** are those of the sentences that say a fact, or a part of
it: right if one is right and none is wrong. A day, month or year is right to its precision, on the clock of the place.
With ``~`` it may be off by a fifth of its distance from the talk, or by a year; ``past`` is right where it is over.
Where a fact still holds, an end before the end of the talk is wrong; an end that nobody told is no day, only an end.
**Junk** is what can be told automatically: a Person whom the labels do not know, by name or by a word for a relative;
another node that is called by a pronoun, a finite verb, a function word, a time or a clause, or like a person. The rest
may be junk all the same. **Relatives** are all who are something to the owner; ``bench.relatives`` says which nodes are
theirs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Literal

import msgspec

from bench.gold import FOLDER, PAST
from bench.harness import Outcome
from bench.life import Fact, Talk, bare, says, says_partly
from bench.life_graph import Graph, Node, Told
from bench.matching import begins
from bench.naming import plain
from bench.relatives import nodes_of
from bench.scoring import ratio
from memsvc.extract.offline import pipeline
from memsvc.identity.relations import canonical

GRADED = FOLDER / "life" / "graded.jsonl"
ABOUT, YEAR, SHARE = "~", timedelta(days=365), 0.2
SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "expl"})
FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})
FUNCTION = frozenset({"AUX", "PRON", "DET", "ADV", "INTJ", "PART", "SCONJ", "CCONJ", "ADP"})
"""Parts of speech that alone make no thing. A verb has to be finite: "smoking" and "practice" are things."""
TIME = re.compile(
    r"""(?:(?:last|next|this|every|the|all|mid|early|late)\s+)*
    (?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|today|tomorrow|yesterday|tonight|mornings?|afternoons?|evenings?
    |nights?|weekends?|weeks?|months?|years?|minutes?|hours?|seconds?|days?|spring|summer|autumn|winter
    |january|february|march|april|may|june|july|august|september|october|november|december
    |\d{1,2}(?:[:.]\d\d)?\s?(?:am|pm)?|(?:19|20)\d\d)""",
    re.VERBOSE | re.IGNORECASE,
)


class Grade(msgspec.Struct, frozen=True):
    """What a reader thought of a sentence in a graph."""

    turn: str
    """Talk and turn: ``mara:S1:4``."""
    sentence: str
    grade: Literal["useful", "trivial", "false"]
    times_right: bool = True
    """Its times are right to their precision; also where it has none."""


@dataclass(slots=True)
class Scores:
    """Counts of some talks."""

    counts: Counter[str] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)
    """What is missing, junk or split, in words."""


def grades(path: Path = GRADED) -> dict[tuple[str, str], Grade]:
    """Grades by turn and sentence; none where nobody has graded yet."""
    if not path.exists():
        return {}
    read = (msgspec.json.decode(line, type=Grade) for line in path.read_bytes().splitlines() if line.strip())
    return {(one.turn, one.sentence): one for one in read}


def score(talk: Talk, graph: Graph, graded: Mapping[tuple[str, str], Grade]) -> Scores:
    """Count what a graph holds of a talk."""
    scores = Scores()
    count_facts(talk, graph, scores)
    count_nodes(talk, graph, scores)
    count_relatives(talk, graph, scores)
    for told in graph.told:
        grade = next((one for one in (graded.get(key) for key in keys_of(talk, told)) if one is not None), None)
        scores.counts["told"] += 1
        if grade is not None:
            scores.counts.update(("graded", f"graded.{grade.grade}"))
            scores.counts["graded.times_right"] += grade.times_right
            scores.counts["graded.right"] += grade.times_right and grade.grade != "false"
    return scores


def keys_of(talk: Talk, told: Told) -> list[tuple[str, str]]:
    """Under what a sentence may have been graded: by each of its turns, the first one first."""
    return [(f"{talk.conversation.name}:{turn}", told.sentence) for turn in told.turns]


def count_facts(talk: Talk, graph: Graph, scores: Scores) -> None:
    """Which facts are said, wholly or partly, and whether their times are right."""
    for fact in talk.facts:
        near = [told for told in graph.told if set(told.turns) & set(fact.turns)]
        wholly = [told for told in near if says(told.sentence, fact, talk.people)]
        partly = says_partly([told.sentence for told in near], fact, talk.people)
        if fact.worth:
            scores.counts["worth"] += 1
            scores.counts["said"] += bool(wholly)
            scores.counts["partly"] += bool(wholly) or partly
            if not wholly:
                scores.lines.append(f"- {'partly' if partly else 'missing'} {fact.turns[0]} {fact.sentence}")
        sayers = wholly or [told for told in near if says_partly([told.sentence], fact, talk.people)]
        if (fact.since or fact.until) and sayers:
            count_times(talk, fact, sayers, scores)


def count_times(talk: Talk, fact: Fact, sayers: Sequence[Told], scores: Scores) -> None:
    """Whether those who say a fact give its times."""
    scores.counts["dated"] += 1
    timed = [told for told in sayers if told.since or gives_end(fact, told)]
    if not timed:
        scores.counts["untimed"] += 1
        return
    right = any(is_in_time(talk, fact, told) for told in timed)
    scores.counts.update(timed=1, times_right=right)
    if not right:
        given = "; ".join(f"{told.sentence} {told.since} - {told.until}" for told in timed)
        scores.lines.append(f"! time {fact.turns[0]} {fact.sentence} {fact.since} - {fact.until}: {given}")


def gives_end(fact: Fact, told: Told) -> bool:
    """Whether a sentence gives an end: one that nobody told says no day, only that it is over."""
    return told.until is not None and not (told.until_untold and fact.until not in {None, PAST})


def is_in_time(talk: Talk, fact: Fact, told: Told) -> bool:
    """Whether no time of a sentence is wrong, and one is right."""
    times = {turn.turn_id: turn.session_time for turn in talk.conversation.turns}
    said = times[next(turn for turn in told.turns if turn in times)]
    clock, end = talk.conversation.clocks[told.turns[0]], talk.conversation.ended
    found = []
    if told.since is not None and fact.since is not None:
        found.append(is_at(told.since, fact.since, said, clock))
    if told.until is not None and fact.until == PAST:
        found.append(told.until <= end)
    elif told.until is not None and fact.until is not None and gives_end(fact, told):
        last = told.until - timedelta(microseconds=1)  # an end is the first moment after
        found.append(any(is_at(moment, fact.until, said, clock) for moment in (told.until, last)))
    if told.until is not None and fact.until is None and fact.status == "holds":
        found.append(told.until > end)
    return bool(found) and all(found)


def is_at(moment: datetime, date: str, said: datetime, clock: tzinfo) -> bool:
    """Whether a moment is at a date of the labels.

    Args:
        moment: of a sentence.
        date: a day, month or year; ``~`` in front: about.
        said: when the sentence was said.
        clock: of the place where it was said.
    """
    exact = date.removeprefix(ABOUT)
    if begins(moment, exact, clock) or not date.startswith(ABOUT):
        return begins(moment, exact, clock)
    first, last = span_of(exact, clock)
    off = max(first - moment, moment - last, timedelta())
    return off <= max(abs(said - first) * SHARE, YEAR)


def span_of(date: str, clock: tzinfo) -> tuple[datetime, datetime]:
    """The first moment of a day, month or year, and the first one after it."""
    year, month, day = (int(part) for part in (*date.split("-"), "1", "1")[:3])
    first = datetime(year, month, day, tzinfo=clock)
    days = {4: 366, 7: 31}.get(len(date), 1)
    return first, first + timedelta(days=days)


def count_nodes(talk: Talk, graph: Graph, scores: Scores) -> None:
    """Which nodes are junk, as far as that can be told."""
    known = {node.key for nodes in nodes_of(talk, graph).values() for node in nodes}
    words = {
        canonical(word)
        for one in talk.people.values()
        for word in (one.kin or "", (one.kin or "").rpartition(" ")[2], *map(bare, one.mentions))
    }
    words |= {word.rpartition(" ")[2] for word in words} | {
        (one.kin or "").rpartition(" ")[2] for one in talk.people.values()
    }
    names = {plain(part) for one in talk.people.values() for name in one.names for part in (name, name.split()[0])}
    for node in graph.nodes.values():
        person = node.type == "Person"
        if person:
            junk = node.key not in known and (node.named or canonical(node.names[0]) not in words)
        else:
            junk = is_no_thing(node) or (node.type != "Object" and plain(node.names[0]) in names)
        scores.counts.update(nodes=1, junk=junk)
        scores.counts.update({"people": person, "people.junk": person and junk})
        if junk:
            scores.lines.append(f"+ junk {node.type} {' = '.join(node.names)}")


def is_no_thing(node: Node) -> bool:
    """Whether what a node is called is no thing: a pronoun, a verb, a time, a clause."""
    label = node.names[0]
    if TIME.fullmatch(label):
        return True
    [doc] = pipeline.parse([label])
    words = [token for token in doc if not token.is_punct and not token.is_space]
    clause = any(token.dep_ in SUBJECTS for token in words) and any(token.tag_ in FINITE for token in words)
    if clause or not words:
        return not node.named or not words
    if node.type in {"Task", "Emotion"} or node.named:
        return False
    return all(token.pos_ in FUNCTION or token.tag_ in FINITE for token in words)


def count_relatives(talk: Talk, graph: Graph, scores: Scores) -> None:
    """Who of those who are something to the owner is one node, and nobody else's."""
    found = nodes_of(talk, graph)
    whose = Counter(node.key for nodes in found.values() for node in nodes)
    for key, nodes in found.items():
        person = talk.people[key]
        if person.kin is None:
            continue
        one, alone = len(nodes) == 1, all(whose[node.key] == 1 for node in nodes)
        scores.counts.update({"relatives": 1, "relatives.one": one, "relatives.alone": one and alone})
        if not one or not alone:
            labels = ", ".join(" = ".join(node.names) for node in nodes)
            scores.lines.append(
                f"{'=' if one else '+'} {'shared' if one else 'split'} {person.kin} {person.names}: {labels}"
            )


def figures(name: str, scores: Iterable[Scores], outcome: Outcome) -> None:
    """Add the figures of some talks, below an extractor's name."""
    sums = sum((one.counts for one in scores), Counter[str]())
    found = {
        "facts.recall": ratio(sums["said"], sums["worth"]), "facts.partial": ratio(sums["partly"], sums["worth"]),
        "facts.worth": sums["worth"], "facts.told": sums["told"], "facts.graded": sums["graded"],
        "times": ratio(sums["times_right"], sums["timed"]), "times.n": sums["timed"],
        "times_missing": ratio(sums["untimed"], sums["dated"]), "times_missing.n": sums["dated"],
        "junk_nodes": ratio(sums["junk"], sums["nodes"]), "junk_nodes.n": sums["nodes"],
        "junk_nodes.people": ratio(sums["people.junk"], sums["people"]),
        "relatives": ratio(sums["relatives.one"], sums["relatives"]), "relatives.n": sums["relatives"],
        "relatives.alone": ratio(sums["relatives.alone"], sums["relatives"]),
    }  # fmt: skip
    if graded := sums["graded"]:
        found |= {
            "facts.precision": sums["graded.right"] / graded, "facts.useful": sums["graded.useful"] / graded,
            "facts.times_right": sums["graded.times_right"] / graded,
        }  # fmt: skip
    outcome.figures |= {f"{name}.{key}": value for key, value in found.items()}
