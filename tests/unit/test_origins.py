"""Where a message came from, in words."""

from __future__ import annotations

from typing import Any

import pytest

from memsvc.sources.origins import origin_in_words


@pytest.mark.parametrize(
    ("origin", "told"),
    [
        ({"kind": "jsonl", "file": "a.jsonl", "line": 3}, "a.jsonl, line 3"),
        ({"file": "c.json", "id": "m1", "url": "https://example.org/m1"}, "c.json, id m1, https://example.org/m1"),
        ({"file": "s.zip", "day": "garden/2026-02-01.json", "id": "1.2"}, "s.zip, day garden/2026-02-01.json, id 1.2"),
        ({"file": 7}, ""), ({"line": 3}, ""), ("mine", ""), (None, ""), ({"file": "a", "line": [3], "url": 7}, "a"),
    ],
)  # fmt: skip
def test_an_origin_in_words(origin: Any, told: str) -> None:
    assert origin_in_words({"origin": origin}) == told


def test_a_message_without_an_origin() -> None:
    assert not origin_in_words({})
