"""A message of two million characters: stored by each door, and found by a word at its end. A longer one is refused."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import psycopg
import pytest

from memsvc.access.users import Owner
from memsvc.cli.ingest import ingest_files
from memsvc.db.engine import Database
from memsvc.errors import TextTooLongError
from memsvc.settings import Settings
from memsvc.sources.ingesting import batches
from memsvc.sources.kinds.kind import Placed
from memsvc.sources.messages import MessageIn, append
from tests.sql.world import value

LONGEST = 2_000_000
END = " It ends with a xylophonist."
PARTS = "SELECT count(*) FROM memsvc.passages WHERE user_id = %s"


def long_text(sentence: str) -> str:
    """The longest text, with a word at its end that stands nowhere else."""
    return (sentence * (LONGEST // len(sentence) + 1))[: LONGEST - len(END)] + END


async def found_at_the_end(client: httpx.AsyncClient) -> str:
    answer = await client.post("/v1/recall", json={"query": "Who is the xylophonist?", "limit": 1})
    [memory] = answer.json()["memories"]
    return str(memory["text"])


async def test_the_longest_message_is_stored_found_and_read_again(
    ada: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection
) -> None:
    text = long_text("The heron waited by the pond, and the otter did not come. ")
    answer = await ada.post("/v1/messages", json={"conversation": "c", "id": "m", "text": text})
    assert answer.status_code == 202, answer.text
    assert (await found_at_the_end(ada)).endswith(END.lstrip())
    [read] = (await ada.get("/v1/conversations/c/messages")).json()["items"]
    assert read["text"] == text
    assert 1_000 < value(admin, PARTS, [owner.user_id]) < 5_000
    again = await ada.post("/v1/messages", json={"conversation": "c", "id": "m", "text": text})
    assert again.json()["messages"][0]["outcome"] == "existing"


async def test_the_longest_line_of_a_file_is_taken_in_even_without_a_blank(
    ada: httpx.AsyncClient, db: Database, owner: Owner, settings: Settings, tmp_path: Path
) -> None:
    """Each sign a token of its own: as many passages as a message of that length can have."""
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps({"text": long_text("7")}))
    words_alone = settings.model_copy(update={"embedding_model": "", "extractor": "none"})
    report = await ingest_files(db, words_alone, owner, [path])
    assert report.totals == {"created": 1, "existing": 0, "erased": 0, "paused": 0}
    assert (await found_at_the_end(ada)).endswith(END)


def test_a_file_of_long_messages_is_stored_in_small_batches() -> None:
    def batched(*lengths: int) -> list[list[int]]:
        placed = [Placed("", MessageIn(conversation="c", text="x" * length)) for length in lengths]
        return [[len(message.text) for _, message, *_ in batch] for batch in batches(placed, 3, chars=10)]

    assert batched() == []
    assert batched(1, 1, 1, 1) == [[1, 1, 1], [1]]
    assert batched(5, 5, 1, 12, 2, 9) == [[5, 5], [1], [12], [2], [9]]


async def test_a_longer_one_is_refused_and_the_error_says_how_to_raise_the_limit(ada: httpx.AsyncClient) -> None:
    problem = (await ada.post("/v1/messages", json={"conversation": "c", "text": "x" * (LONGEST + 1)})).json()
    assert (problem["status"], problem["code"]) == (413, "text_too_long")
    assert problem["detail"] == "text has 2,000,001 characters; at most 2,000,000 are allowed."
    assert "MEMSVC_MAX_TEXT_CHARS" in problem["hint"]
    caption = (await ada.post("/v1/messages", json={"conversation": "c", "caption": "x" * 4_001})).json()
    assert (caption["code"], caption["hint"]) == ("text_too_long", "Shorten it.")


async def test_a_text_of_too_many_passages_is_refused_and_not_an_error_of_the_database(
    db: Database, owner: Owner, settings: Settings
) -> None:
    small = settings.model_copy(update={"passage_tokens": 32})
    with pytest.raises(
        TextTooLongError, match="text makes 62,500 passages; a message can have at most 32,767"
    ) as caught:
        await append(db, owner, [MessageIn(conversation="c", text="7" * LONGEST)], small)
    assert "MEMSVC_PASSAGE_TOKENS" in caught.value.advice
