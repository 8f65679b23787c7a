"""Files of other programs' evaluations, in their published shapes; the texts are ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bench.datasets import DataSet
from bench.readers import read
from memsvc.errors import ConfigurationError

LONGMEMEVAL: list[dict[str, Any]] = [
    {
        "question_id": "gpt4_1a2b3c", "question_type": "multi-session", "question": "Which tree did I plant?",
        "answer": "An oak.", "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/21 (Sun) 08:05", "2023/05/20 (Sat) 02:21"],
        "haystack_session_ids": ["answer_4be1b6b4_1", "sharegpt_yywfIrx_0"],
        "answer_session_ids": ["answer_4be1b6b4_1"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I planted an oak today.", "has_answer": True},
                {"role": "assistant", "content": "Lovely.", "has_answer": False},
            ],
            [{"role": "user", "content": "How do kites fly?"}, {"role": "assistant", "content": "  "}],
        ],
    },
    {
        "question_id": "gpt4_99_abs", "question_type": "single-session-user", "question": "What is my parrot called?",
        "answer": "You did not mention a parrot.", "question_date": "2023/06/01 (Thu) 10:00",
        "haystack_dates": ["2023/05/21 (Sun) 08:05"], "haystack_session_ids": ["answer_77_abs_1"],
        "answer_session_ids": ["answer_77_abs_1"],
        "haystack_sessions": [[{"role": "user", "content": "My cat is called Mia.", "has_answer": True}]],
    },
]  # fmt: skip

MEMORIES: list[dict[str, Any]] = [
    {
        "profile": {"Protagonist": "Wen Li", "Occupation": "gardener", "Hobbies": "kites"},
        "profile_description": "Wen Li grows roses.",
        "social_relationship": "{'0': {'Supporting Characters': 'Bao', 'Relationship': 'friend'}}",
        "events": {
            "1_0": {"content": "Wen Li won a prize for roses.", "summary": "A prize.", "Creation Time": "2021-06-01"}
        },
        "dialogues": {
            "1_0_0": {
                "contents": {
                    "2021-06-02 10:00:00": ["Wen Li: I won!", "AI: With which rose?"],
                    "2021-06-03 09:30:00": [["Wen Li：The red one, Rosalinde."]],
                }
            }
        },
    }
]
QUESTIONS: list[dict[str, Any]] = [
    {
        "Wen Li": {
            "profile": [
                {"Question": "What is Wen Li's job?", "Answer": "A gardener.", "Reference Memory": "['Occupation']"},
                {"Question": "Where was Wen Li born?", "Answer": "?", "Reference Memory": "['Birthplace']"},
            ],
            "social_relationship": [{"0": [{"Question": "Who is Bao?", "Answer": "Friend.", "Reference Memory": "9"}]}],
            "events": {"1_0": [{"Question": "What was the prize for?", "Answer": "Roses.", "Reference Memory": "1"}]},
            "dialogues": [
                {
                    "1_0_0": [
                        {
                            "Question": "Which rose won?", "Answer": "Rosalinde.", "Reference Memory": "1_0_0",
                            "Memory Anchors": [{"rosalinde": [4, 13]}],
                        },
                        {"Question": "Who won?", "Answer": "Wen.", "Memory Anchors": [{"nowhere": [-1, -1]}]},
                    ]
                }
            ],
        }
    },
    {"Somebody Else": {"profile": []}},
]  # fmt: skip


def texts(data: DataSet, question: str) -> list[str]:
    """What the evidence of a question says."""
    (asked,) = (one for one in data.questions if one.question == question)
    turns = {turn.turn_id: turn.text for turn in data.conversations[asked.conversation_id]}
    return [turns[one] for one in asked.evidence_turn_ids]


@pytest.fixture
def longmemeval(tmp_path: Path) -> DataSet:
    path = tmp_path / "longmemeval_s.json"
    path.write_text(json.dumps(LONGMEMEVAL), encoding="utf-8")
    return read(path, "longmemeval")


@pytest.fixture
def perltqa(tmp_path: Path) -> DataSet:
    (tmp_path / "perltmem_en.json").write_text(json.dumps(MEMORIES), encoding="utf-8")
    (tmp_path / "perltqa_en.json").write_text(json.dumps(QUESTIONS), encoding="utf-8")
    return read(tmp_path, "perltqa")


def test_no_id_of_longmemeval_tells_where_the_answer_is(longmemeval: DataSet) -> None:
    everything = msgspec.json.encode([longmemeval.conversations, longmemeval.questions, longmemeval.unanswerable])
    for leak in (b"answer_", b"_abs", b"sharegpt", b"gpt4", b"has_answer"):
        assert leak not in everything
    for turns in longmemeval.conversations.values():
        for turn in turns:
            assert b"answer" not in msgspec.json.encode(turn.message()).lower()


def test_gold_of_longmemeval_follows_its_turns_through_the_sorting(longmemeval: DataSet) -> None:
    assert texts(longmemeval, "Which tree did I plant?") == ["I planted an oak today."]
    turns = longmemeval.conversations["history 1"]
    assert [turn.text for turn in turns] == ["How do kites fly?", "I planted an oak today.", "Lovely."]
    assert [turn.session_time for turn in turns][:2] == ["2023-05-20T02:21:00", "2023-05-21T08:05:00"]
    assert len({turn.turn_id for turn in turns}) == len(turns)
    assert longmemeval.questions[0].asked_at == "2023-05-30T23:40:00"


def test_a_question_of_longmemeval_without_an_answer_has_no_evidence(longmemeval: DataSet) -> None:
    assert [one.question for one in longmemeval.unanswerable] == ["What is my parrot called?"]
    assert not longmemeval.unanswerable[0].answerable
    assert len(longmemeval.questions) == 1


def test_memories_of_perltqa_become_turns_and_gold_goes_by_the_key_of_the_memory(perltqa: DataSet) -> None:
    assert texts(perltqa, "What is Wen Li's job?") == ["Occupation: gardener"]
    assert "Bao" in texts(perltqa, "Who is Bao?")[0]
    assert texts(perltqa, "What was the prize for?") == ["Wen Li won a prize for roses."]
    assert texts(perltqa, "Which rose won?") == ["The red one, Rosalinde."], "the line that holds the anchor"
    assert texts(perltqa, "Who won?") == ["I won!", "With which rose?", "The red one, Rosalinde."]
    assert "Where was Wen Li born?" not in [one.question for one in perltqa.questions], "its memory is not there"


def test_speakers_and_times_of_perltqa_are_read(perltqa: DataSet) -> None:
    (turns,) = perltqa.conversations.values()
    said = {turn.text: turn for turn in turns}
    assert (said["I won!"].speaker, said["I won!"].session_time) == ("Wen Li", "2021-06-02T10:00:00")
    assert said["The red one, Rosalinde."].speaker == "Wen Li"
    assert said["Wen Li won a prize for roses."].session_time == "2021-06-01T00:00:00"
    assert all(turn.session_time for turn in turns)


@pytest.mark.parametrize("content", ["{", '[{"question": "?"}]', "7"])
def test_a_file_of_another_shape_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="cannot be read as longmemeval"):
        read(path, "longmemeval")
    with pytest.raises(ConfigurationError, match=r"perltmem\*\.json"):
        read(tmp_path, "perltqa")
