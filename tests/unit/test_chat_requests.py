"""Readers of requests take time that grows with the length of the request, and no faster."""

from __future__ import annotations

import time
from typing import Any

import msgspec
import pytest

from memsvc.api.bodies import decode
from memsvc.chat.responses import read_response


@pytest.mark.parametrize(
    "item",
    [{"type": "reasoning", "summary": []}, {"role": "user", "content": "x"}, {"role": "assistant", "content": "x"}],
    ids=["reasoning", "user", "assistant"],
)
def test_a_long_input_is_read_in_one_pass(item: dict[str, Any]) -> None:
    body = msgspec.json.encode({"input": [item] * 30_000})
    begin = time.process_time()
    assert len(read_response(body, decode).said) == 30_000
    assert time.process_time() - begin < 3
