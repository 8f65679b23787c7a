"""How extraction from talk between people is judged: what is said, when, what is junk, who is one node."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import msgspec
import pytest

from bench.gold import Conversation, Labels, Said
from bench.harness import Outcome
from bench.life import Fact, Person, Talk, says, says_partly
from bench.life_graph import Graph, Node, Told
from bench.life_sample import drawn
from bench.life_scoring import Grade, figures, grades, score
from bench.relatives import nodes_of

BEGAN = datetime(2024, 5, 4, 18, tzinfo=UTC)
LINES = (
    ("Ana", "my mum is in Porto since March"),
    ("Ben", "your mum? mine never leaves Leeds"),
    ("Ana", "mum says hi. Tom from work as well"),
    ("Ben", "my brother Tom never says hi"),
)
PEOPLE = (
    Person("p1", ["Ana"], [], None, speaker=True),
    Person("p2", ["Ben"], [], "husband", speaker=True),
    Person("p3", [], ["my mum", "mum", "your mum"], "mother"),
    Person("p4", ["Tom"], ["tom from work"], "colleague"),
    Person("p5", ["Tom"], ["my brother tom"], "brother-in-law"),
)


def fact(sentence: str, *keys: list[str], about: str = "p3", turn: str = "1", **more: str | None) -> Fact:
    """A fact that is worth keeping."""
    times = {"since": None, "until": None, "status": "holds", **more}
    return Fact(id="f", sentence=sentence, about=[about], keys=list(keys), turns=[turn], worth=True, **times)  # type: ignore[arg-type]


def talk(*facts: Fact) -> Talk:
    """The talk above, with some facts."""
    turns = [
        Said("talk", "S1", BEGAN + timedelta(minutes=place), str(place + 1), speaker, "user", text)
        for place, (speaker, text) in enumerate(LINES)
    ]
    return Talk(Conversation("talk", turns, Labels([], [], [])), {one.id: one for one in PEOPLE}, facts)


def node(name: str, *roles: tuple[UUID, str], kind: str = "Person", named: bool = True) -> Node:
    """A node of a graph."""
    return Node(uuid4(), kind, (name,), named, roles)


def graph(*nodes: Node, told: tuple[Told, ...] = ()) -> Graph:
    """A graph of some nodes."""
    return Graph({one.key: one for one in nodes}, told)


def shares(talk_: Talk, graph_: Graph, graded: tuple[Grade, ...] = ()) -> dict[str, float]:
    """The figures of one talk."""
    outcome = Outcome("extract")
    figures("x", [score(talk_, graph_, {(one.turn, one.sentence): one for one in graded})], outcome)
    return {key.removeprefix("x."): value for key, value in outcome.figures.items()}


def test_a_fact_is_said_by_its_person_and_a_word_of_each_group() -> None:
    people = {one.id: one for one in PEOPLE}
    wanted = fact("Ana's mother lives in Porto.", ["live", "in porto"], ["porto"])
    assert says("Ana's mum lives in Porto.", wanted, people)
    assert not says("Ana lives in Porto.", wanted, people)
    assert not says("Ana's mum likes Porto.", wanted, people)


def test_two_sentences_together_may_say_a_part_of_a_fact() -> None:
    people = {one.id: one for one in PEOPLE}
    wanted = fact("Ana's mother lives in Porto.", ["live"], ["porto"])
    assert says_partly(["Ana likes Porto.", "Ana has a mum."], wanted, people)
    assert not says_partly(["Ana likes Porto."], wanted, people)
    assert not says_partly(["Ana has a mum."], wanted, people)


def test_only_what_a_turn_of_the_fact_says_counts() -> None:
    wanted = talk(fact("Ana's mother lives in Porto.", ["porto"]))
    here, elsewhere = (Told("Ana's mum lives in Porto.", (turn,), None, None) for turn in ("1", "2"))
    assert shares(wanted, graph(told=(here,)))["facts.recall"] == 1
    assert shares(wanted, graph(told=(elsewhere,)))["facts.recall"] == 0


@pytest.mark.parametrize(
    ("since", "until", "given", "right"),
    [
        ("2024-03", None, (datetime(2024, 3, 9, tzinfo=UTC), None), 1),
        ("2024-03", None, (datetime(2024, 4, 9, tzinfo=UTC), None), 0),
        ("~2014", None, (datetime(2012, 6, 1, tzinfo=UTC), None), 1),
        ("~2014", None, (datetime(2010, 6, 1, tzinfo=UTC), None), 0),
        (None, "past", (None, BEGAN), 1),
        (None, "past", (None, BEGAN + timedelta(days=90)), 0),
        ("2024-03", None, (datetime(2024, 3, 9, tzinfo=UTC), BEGAN), 0),
        ("2024-03-09", "2024-03-09", (datetime(2024, 3, 9, tzinfo=UTC), datetime(2024, 3, 10, tzinfo=UTC)), 1),
    ],
)
def test_times_are_right_to_the_precision_of_the_label(
    since: str | None, until: str | None, given: tuple[datetime | None, datetime | None], right: int
) -> None:
    told = Told("Ana's mum lives in Porto.", ("1",), *given)
    found = shares(talk(fact("Ana's mother lives in Porto.", ["porto"], since=since, until=until)), graph(told=(told,)))
    assert (found["times"], found["times.n"], found["times_missing"]) == (right, 1, 0)


@pytest.mark.parametrize(("until", "times", "missing"), [("2024-03-09", 0, 1), ("past", 1, 0), (None, 1, 0)])
def test_an_end_that_nobody_told_says_only_that_it_is_over(until: str | None, times: int, missing: int) -> None:
    told = Told("Ana's mum lives in Porto.", ("1",), None, BEGAN, until_untold=True)
    since = None if until else "2024-03"
    found = shares(talk(fact("Ana's mother lives in Porto.", ["porto"], since=since, until=until)), graph(told=(told,)))
    assert (found["times.n"], found["times_missing"]) == (times, missing)
    if times:
        assert found["times"] == (until == "past")


def test_a_dated_fact_without_a_time_is_missing_one() -> None:
    told = Told("Ana's mum lives in Porto.", ("1",), None, None)
    found = shares(talk(fact("Ana's mother lives in Porto.", ["porto"], since="2024-03")), graph(told=(told,)))
    assert (found["times.n"], found["times_missing"]) == (0, 1)


def test_junk_is_what_is_no_person_and_no_thing() -> None:
    good = (
        node("Ana"),
        node("mum", named=False),
        node("practice", kind="Event", named=False),
        node("Porto", kind="Place"),
    )
    junk = (node("Flight"), node("Tom", kind="Organization"), node("saturdays", kind="Object", named=False))
    found = shares(talk(), graph(*good, *junk, node("it", kind="Object", named=False)))
    assert found["junk_nodes"] == 4 / 8
    assert found["junk_nodes.people"] == 1 / 3


def test_who_says_my_mum_tells_whose_mother_it_is() -> None:
    ana, ben = node("Ana"), node("Ben")
    hers, his = (node("mum", (one.key, "mum"), named=False) for one in (ana, ben))
    assert nodes_of(talk(), graph(ana, ben, hers, his))["p3"] == [hers]


def test_one_mother_under_two_words_is_two_nodes() -> None:
    ana = node("Ana")
    mothers = (node("mum", (ana.key, "mum"), named=False), node("mother", (ana.key, "mother"), named=False))
    assert shares(talk(), graph(ana, mothers[0]))["relatives"] == 1
    assert shares(talk(), graph(ana, *mothers))["relatives"] == 0


def test_namesakes_are_told_apart_by_what_they_are_to_whom() -> None:
    ana, ben = node("Ana"), node("Ben")
    colleague, brother = node("Tom", (ana.key, "colleague")), node("Tom", (ben.key, "brother"))
    found = nodes_of(talk(), graph(ana, ben, colleague, brother))
    assert (found["p4"], found["p5"]) == ([colleague], [brother])
    assert shares(talk(), graph(ana, ben, colleague, brother))["relatives.alone"] == 1
    assert shares(talk(), graph(ana, ben, node("Tom")))["relatives.alone"] == 1 / 3


def test_precision_is_of_the_sentences_that_have_a_grade() -> None:
    told = tuple(Told(sentence, ("1",), None, None) for sentence in ("a", "b", "c"))
    graded = (Grade("talk:1", "a", "useful"), Grade("talk:1", "b", "false", times_right=False))
    found = shares(talk(), graph(told=told), graded)
    assert (found["facts.graded"], found["facts.precision"], found["facts.useful"]) == (2, 0.5, 0.5)
    assert "facts.precision" not in shares(talk(), graph(told=told))


def test_grades_are_optional(tmp_path: Path) -> None:
    path = tmp_path / "graded.jsonl"
    assert grades(path) == {}
    path.write_bytes(msgspec.json.encode(Grade("talk:1", "a", "trivial")) + b"\n")
    assert grades(path)["talk:1", "a"].grade == "trivial"


def test_a_sample_is_drawn_with_the_turns_around_it() -> None:
    told = tuple(Told(f"sentence {turn}", (str(turn),), BEGAN, None) for turn in (1, 2, 3, 4))
    [one] = drawn([talk()], [graph(told=told)], 1, seed=1)
    assert [one] == drawn([talk()], [graph(told=told[::-1])], 1, seed=1)
    every = {each.sentence: each for each in drawn([talk()], [graph(told=told)], 9, seed=1)}
    assert len(every["sentence 4"].before) == 3
    assert every["sentence 1"].before == []
    assert len(every["sentence 1"].after) == 1
    assert every["sentence 2"].said.endswith("Ben: your mum? mine never leaves Leeds")
    assert every["sentence 2"].since == "2024-05-04 18:00"
