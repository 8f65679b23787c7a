"""What is heard of a chat server's answer: the first choice, however little the server says of it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from memsvc.chat.completions import CompletionHearing


@pytest.mark.parametrize("mark", [{"index": 0}, {"index": None}, {}], ids=["zero", "null", "missing"])
def test_of_several_choices_the_first_is_heard(mark: dict[str, Any]) -> None:
    def event(number: dict[str, Any], words: str) -> bytes:
        return b"data: " + msgspec.json.encode({"choices": [{**number, "delta": {"content": words}}]}) + b"\n\n"

    heard = CompletionHearing()
    for words in ("The ", "bike."):
        heard.piece(event({"index": 1}, "Another.") + event(mark, words))
    assert (heard.text, heard.finish) == ("The bike.", "")
    heard.piece(b"data: [DO")
    heard.piece(b"NE]\r\n\n")
    assert heard.finish == "done", "a stream that ends so is not broken off, though no reason was given"
    whole = CompletionHearing()
    whole.whole(msgspec.json.encode({"choices": [{"index": 1, "message": {"content": "No."}}, {**mark, "text": ""}]}))
    assert whole.text == ""


def test_half_characters_are_joined_or_replaced() -> None:
    heard = CompletionHearing()
    for half in (rb"\ud83d", rb"\ude00", rb"! \ud83d"):
        heard.piece(b'data: {"choices": [{"delta": {"content": "' + half + b'"}}]}\n\n')
    assert heard.text == "😀! \ufffd"


def test_a_line_too_long_to_be_read_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memsvc.chat.hearing.MAX_LINE_BYTES", 10)
    heard = CompletionHearing()
    heard.piece(b"data: " + b"x" * 20)
    assert heard.cut
