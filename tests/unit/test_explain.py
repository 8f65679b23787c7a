"""Why this memory and not that, in words and as a table, for people who have never seen the system."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from io import StringIO
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from memsvc.access.users import Owner
from memsvc.cli.answers import show
from memsvc.recall.explain import ambiguous_lines, found_by, span, table, verdict
from memsvc.recall.kinds import Kind
from memsvc.recall.options import FACTORS
from memsvc.recall.reasons import NO_REASON, reason
from memsvc.recall.results import AmbiguousName, Cut, Explanation, Meaning, NamedNode, Recalled, RecalledFact, Times
from tests.recalled import NOON, fact, memory

BERLIN = ZoneInfo("Europe/Berlin")
JARGON = re.compile(r"bm25|z-score|cosine|idf|vector|arm\b|fusion|maxsim|trigram", re.IGNORECASE)
NASTY = "x\n\x1b[31m[red]\u202e | why: \x07"


def explained(**more: Any) -> Explanation:
    fields: dict[str, Any] = {
        "words": ["oak", "desk"], "names": [], "times": [], "weights": {"words": 0.5, "late": 0.0}, "order": "",
        "found": {}, "threshold": None, "cut": [],
    }  # fmt: skip
    return Explanation(**(fields | more))


def shown(answer: Recalled, width: int = 100, question: str = "Where is the oak desk?") -> str:
    written = StringIO()
    Console(width=width, file=written).print(table(answer, question, BERLIN))
    return written.getvalue()


# Reasons ------------------------------------------------------------------------------------------------------------


def test_every_weight_has_a_name_for_people() -> None:
    labels = [factor.label for factor in FACTORS.values()]
    assert len(set(labels)) == len(labels)
    assert not JARGON.search(" ".join(labels))


@pytest.mark.parametrize(
    ("found", "says"),
    [
        ((["oak", "desk"], {}, {}, [], "message"), "says “oak”, “desk”"),
        (
            ([], {"place": {"metres": 1350}}, {"place": 0.9}, ["Mill", "NEAR 1350 m", "Bar"], "message"),
            "Bar is 1,350 m from Mill",
        ),
        ((["oak"], {"vector": {"rank": 1}}, {}, [], "message"), "says “oak”; near in meaning"),
        ((["oak"], {"vector": {"score": 0.1}}, {}, [], "message"), "says “oak”"),
        ((["oak"], {}, {"words": 0.2, "vector": 0.9}, [], "message"), "near in meaning; says “oak”"),
        (([], {"speaker": {"name": "Ines"}}, {"speaker": 0.3}, [], "message"), "you named Ines, who speaks"),
        (
            ([], {"speaker": {"asker": True}}, {"speaker": 0.3}, [], "message"),
            "you speak of yourself, and said this",
        ),
        (([], {}, {"time": 0.3}, [], "fact"), "a fact; true at the time you asked about"),
        (([], {"time": {"name": "last week"}}, {"time": 0.3}, [], "message"), "said at the time (last week)"),
        (
            ([], {"names": {"name": "Beppo"}}, {"names": 0.6, "distance": 0.2}, ["Beppo", "OWNS", "Rosinante"], "fact"),
            "fact about Beppo; 1 step from Beppo by OWNS",
        ),
        (
            (
                ["lock"], {}, {"words": 0.1, "distance": 0.4}, ["Beppo", "OWNS", "Rosinante", "USES", "lock"],
                "message",
            ),
            "2 steps from Beppo by OWNS, USES; says “lock”",
        ),
        (([], {}, {"vector": 0.5, "staleness": -0.4}, [], "fact"), "a fact; near in meaning; but it has ended"),
        ((list("abcdefghij"), {}, {}, [], "message"), "says “a”, “b”, “c”, “d”, “e”, “f”, “g”, “h” …"),
        (([], {}, {"vector": -0.5}, [], "message"), NO_REASON),
        ((["a\n| why: b"], {}, {}, [], "message"), "says “a | why: b”"),
    ],
)  # fmt: skip
def test_reasons_are_sentences_with_the_strongest_first(
    found: tuple[list[str], dict[str, Any], dict[str, float], list[str], Kind], says: str
) -> None:
    assert reason(*found).startswith(says)


names = st.sampled_from(sorted(FACTORS))


@given(
    st.lists(st.text(max_size=5), max_size=10),
    st.dictionaries(st.sampled_from(["words", "vector", "names", "speaker", "time", "new"]), st.just({"rank": 1})),
    st.dictionaries(names, st.floats(-3, 3)),
    st.lists(st.text(max_size=5), max_size=5),
    st.sampled_from(["message", "trace", "fact"]),
)
def test_there_is_always_a_reason_in_one_line(
    matched: list[str], arms: dict[str, Any], factors: dict[str, float], path: list[str], kind: Kind
) -> None:
    said = reason(matched, arms, factors, path, kind)
    assert said
    assert len(said.splitlines()) == 1
    assert "\x1b" not in said


# The table ----------------------------------------------------------------------------------------------------------


def test_an_answer_is_explained_from_question_to_weights() -> None:
    answer = Recalled(
        memories=[
            memory(1, "The desk is oak.", factors={"words": 1.2, "vector": 0.9, "recency": 0.001, "staleness": -0.2}),
            fact(2, "Beppo owns Rosinante.", valid_from=NOON, path=["Beppo", "OWNS", "Rosinante"]),
        ],
        degraded=["reranker"],
        confidence=0.71,
        explanation=explained(
            names=[
                NamedNode(name="Beppo", node_id=UUID(int=1), label="Bernhard Pohl", similarity=1),
                NamedNode(name="Inez", node_id=UUID(int=2), label="Ines", similarity=0.62),
            ],
            times=[{"text": "last week", "from": NOON, "to": datetime(2026, 3, 20, 23, tzinfo=UTC)}],
            found={"words": 12, "vector": 1200, "names": 0},
            threshold=0.3,
            cut=[Cut(memory=memory(3, "Beech.", factors={"late": 0.4}), reason="behind the limit")],
        ),
    )
    said = shown(answer)
    for told in (
        "Where is the oak desk?", "oak · desk", "“Beppo” is Bernhard Pohl\n", "“Inez” is Ines (nearly: 62% alike)",
        "“last week” = 2026-03-14 13:00 to 2026-03-21", "12 by words · 1,200 by meaning", "0.71 of 1; below 0.30",
        "Ada, 2026-03-14 12:00", "+1.20 own words", "+0.90 meaning", "-0.20 out of date", "why: says “oak”",
        "from: kitchen, session S1, message m1", "fact, since 2026-03-14 13:00", "path: Beppo → OWNS → Rosinante",
        "Left out", "behind the limit", "+0.40 meaning word by word", "own words 0.5; everything else is off",
    ):  # fmt: skip
        assert told in re.sub(r" +\n", "\n", said), told
    assert "recent" not in said, "too little to be shown"
    assert said.index("The desk is oak.") < said.index("Beppo owns Rosinante.") < said.index("Beech.")


@pytest.mark.parametrize("width", [20, 40, 100, 200])
def test_texts_cannot_steer_the_terminal_or_forge_lines_at_any_width(width: int) -> None:
    evil = memory(
        1, NASTY, speaker=NASTY, conversation=NASTY, session=NASTY, message_id=NASTY, caption=NASTY, why=NASTY,
        path=[NASTY] * 3,
    )  # fmt: skip
    answer = Recalled(
        memories=[evil],
        degraded=[],
        ambiguous=[
            AmbiguousName(
                name=NASTY, meanings=[Meaning(node_id=UUID(int=1), type="Person", label=NASTY, evidence=[NASTY])]
            )
        ],
        explanation=explained(
            words=[NASTY],
            names=[NamedNode(name=NASTY, node_id=UUID(int=1), label=NASTY, similarity=0.5)],
            times=[{"text": NASTY, "other": NASTY}],
            cut=[Cut(memory=evil, reason="too like another")] * 9,
        ),
    )
    said = shown(answer, width, NASTY)
    assert not set(said) & set("\x1b\x07\u202e")
    assert "[red]" in said or width < 40
    assert max(len(line) for line in said.splitlines()) <= max(width, 60)


@given(st.text(max_size=30), st.integers(20, 200))
def test_any_text_can_be_shown(text: str, width: int) -> None:
    answer = Recalled(memories=[memory(1, text, speaker=text)], degraded=[], explanation=explained(words=[text]))
    assert "Left out" not in shown(answer, width, text)


def test_what_is_not_answered_and_what_is_ambiguous_is_said() -> None:
    assert verdict(Recalled(memories=[], degraded=[])) == "No memory matches."
    assert verdict(Recalled(memories=[memory(1)], degraded=[])) is None
    answer = Recalled(memories=[memory(1)], degraded=[], relevant=False)
    assert verdict(answer) == "Nothing in memory answers this; the nearest are:"
    asked, nothing = "What did I say last week?", Recalled(memories=[], degraded=[], relevant=False)
    assert verdict(nothing, asked) == "Nothing that was said at that time is stored."
    assert verdict(nothing, "What did I say about tea last week?") == "No memory matches."
    known = Recalled(memories=[memory(1)], degraded=[], relevant=False)
    assert verdict(known, asked) == "Nothing that was said at that time is stored. What else is known of that time:"
    assert verdict(Recalled(memories=[memory(1)], degraded=[]), asked) is None
    assert "Nothing in memory answers this" in shown(answer)
    meanings = [
        Meaning(node_id=UUID(int=number), type="Person", label=label, evidence=["She sings.", "She moved.", "Third."])
        for number, label in enumerate(["Anna Koch", "Anna Lind"])
    ]
    question, *apart = ambiguous_lines([AmbiguousName(name="Anna", meanings=meanings)])
    assert question == "Anna can be: Anna Koch (Person), Anna Lind (Person). Which one?"
    assert apart[0] == f"  Anna Koch: She sings. · She moved.  [{UUID(int=0)}]"


@pytest.mark.parametrize(
    ("begin", "end", "says"),
    [
        (None, None, "no dates known"),
        (NOON, None, "since 2026-03-14 13:00"),
        (None, datetime(2026, 3, 13, 23, tzinfo=UTC), "until 2026-03-14"),
        (datetime(2019, 12, 31, 23, tzinfo=UTC), NOON, "2020-01-01 to 2026-03-14 13:00"),
    ],
)
def test_facts_say_since_when(begin: datetime | None, end: datetime | None, says: str) -> None:
    told = fact(1, valid_from=begin, valid_to=end).fact
    assert told is not None
    assert span(told, BERLIN) == says


def test_facts_say_where_nobody_told_since_when_or_until_when() -> None:
    def says(times: Times, **bounds: Any) -> str:
        told = fact(1, **bounds).fact
        assert isinstance(told, RecalledFact)
        return span(msgspec.structs.replace(told, times=times), BERLIN)

    assert says(Times(since="by 2026-03-14"), valid_from=NOON, valid_to=None) == "known since 2026-03-14 13:00"
    over = says(Times(until="by 2026-03-14"), valid_from=None, valid_to=NOON)
    assert over == "ended by 2026-03-14 13:00, day unknown"


@pytest.mark.parametrize(
    ("arms", "told"),
    [
        ({}, []),
        (
            {
                "late": {"score": 0.534, "rank": 2}, "words": {"score": 7.2, "rank": 1, "form": "stemmed"},
                "vector": {"score": 0.61, "rank": 3},
            },
            ["by words #1 (7.20)", "by meaning #3 (0.61)", "word by word #2 (0.53)"],
        ),
        ({"time": {"name": "May", "score": 0.2}}, []),
        ({"vector": {"score": 0.2}}, ["by meaning, not among the best (0.20)"]),
        (
            {
                "names": {"score": 0.5, "name": "Ines"}, "place": {"metres": 1350},
                "time": {"name": "May", "score": 1.0}, "speaker": {"name": "Ines"}, "reranker": {"rank": 1, "was": 2},
            },
            ["by name (0.50)", "by place (1,350 m)", "by time (1.00)"],
        ),
    ],
)  # fmt: skip
def test_each_way_by_which_a_memory_was_found_has_its_place_and_score(arms: dict[str, Any], told: list[str]) -> None:
    assert found_by(arms) == told
    found = memory(1, arms=arms)
    said = " ".join(shown(Recalled(memories=[found], degraded=[], explanation=explained()), 300).split())
    assert (f"found: {' · '.join(told)}" in said) is bool(told)


def test_a_table_says_how_to_read_it_and_which_order_counted() -> None:
    for order, named in (("2026-11-26", "Weights (order 2026-11-26)"), ("", "Weights (the linear order)")):
        told = explained(found={"late": 3}, order=order)
        said = " ".join(shown(Recalled(memories=[memory(1)], degraded=[], explanation=told)).split())
        assert "A memory's points are the sum of what they are made of" in said
        assert "scores of two ways do not compare" in said
        assert named in said


# On the command line -------------------------------------------------------------------------------------------------


def test_the_command_line_tells_facts_doubts_and_what_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    owner = Owner(UUID(int=1), "Ada", "Europe/Berlin", "english")
    told: dict[str, Any] = {"why": "fact about Ines", "passage_id": None, "stale": True, "confidence": 0.8}
    by_hand = fact(3, "Ines lived\nin \x1b[31mPorto.", valid_to=NOON, **told)
    meaning = Meaning(node_id=UUID(int=5), type="Person", label="Ines Koch", evidence=[])
    answer = Recalled(
        memories=[fact(2, valid_from=NOON, why="fact about Ines"), by_hand],
        degraded=[],
        relevant=False,
        ambiguous=[AmbiguousName(name="Ines", meanings=[meaning])],
        next_cursor="abc",
    )
    show(answer, "Where does Ines live?", owner)
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "Ines can be: Ines Koch (Person). Which one?",
        f"  Ines Koch  [{UUID(int=5)}]",
        "Nothing in memory answers this; the nearest are:",
        "[1] fact (since 2026-03-14 13:00): “Ines lives in Lyon.”",
        f"    why: fact about Ines | source: kitchen, session S1, message m2 | fact {UUID(int=2)}",
        "[2] fact (until 2026-03-14 13:00, no longer, confidence 0.8): “Ines lived in [31mPorto.”",
        f"    why: fact about Ines | source: written by hand | fact {UUID(int=3)}",
    ]
    assert "--cursor abc" in said.err
