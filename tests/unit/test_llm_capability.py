"""The doctor's line about the language model, and what a short question shows of it."""

from __future__ import annotations

import asyncio
import re
from itertools import count
from typing import Any

import pytest

from memsvc.errors import ConfigurationError
from memsvc.llm.answers import FORMS
from memsvc.llm.capability import check_llm, try_model
from memsvc.settings import Settings
from tests.fakes.chat_server import ChatServer, Say, Status, Step, serving

GOOD = '{"capital": "Lisbon"}'
_models = (f"tried-{number}" for number in count())


def chosen(server: ChatServer, **values: Any) -> Settings:
    return Settings.model_validate({"llm_url": server.url, "llm_model": next(_models), "llm_timeout_s": 5, **values})


@pytest.mark.parametrize(
    ("steps", "refuses", "state", "says"),
    [
        ((), {}, "ok", "keeps to JSON schemas"),
        ((Say("Lisbon, I think"),), {}, "ok", "keeps to JSON schemas"),
        ((), {FORMS[0]: 500}, "ok", "is asked for json_object and schema"),
        ((Status(404),), {}, "warning", "answers 404.*MEMSVC_LLM_MODEL.*Until then"),
        ((Say('{"capital": "Paris"}'),) * 2, {}, "warning", "cannot be used.*none of Lisbon, Madrid, Rome"),
    ],
)
def test_the_doctor_asks_and_tells(steps: tuple[Step, ...], refuses: dict[str, int], state: str, says: str) -> None:
    with serving(ChatServer(*steps, otherwise=Say(GOOD), refuses=refuses)) as server:
        (check,) = check_llm(chosen(server))
    assert (check.name, check.state) == ("language model", state)
    assert re.search(says, check.says), check.says


def test_none_is_needed() -> None:
    (check,) = check_llm(Settings.model_validate({}))
    assert check.state == "ok"
    assert "MEMSVC_LLM_MODEL" in check.says
    with pytest.raises(ConfigurationError):
        asyncio.run(try_model(Settings.model_validate({})))


async def test_what_was_tried_is_told() -> None:
    with serving(ChatServer(Say("What?"), otherwise=Say(GOOD), refuses={FORMS[0]: 400, FORMS[1]: 400})) as server:
        tried = await try_model(chosen(server))
    assert (tried.form, tried.strict, tried.repaired) == (FORMS[2], False, True)
    assert (tried.url, tried.requests, tried.tokens_in, tried.tokens_out) == (server.url, 1, 90, 10)
    assert 0 < tried.first_ms <= tried.ms
