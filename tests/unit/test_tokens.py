"""Tokenizers are found by name, and their failures are told."""

from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints

import pytest

from memsvc.errors import TokenizerError, TokenizerUnknownError
from memsvc.settings import Settings
from memsvc.text import tokens
from memsvc.text.tokens import Checked, estimate_tokens, tokenizer
from tests.unit.test_context import Letters


def test_tokenizers_are_found_by_name_and_their_failures_are_told() -> None:
    class Broken:
        def count(self, text: str) -> int:
            raise KeyError(text)

    class Negative:
        def count(self, text: str) -> int:
            return -len(text)

    assert tokenizer(Settings().tokenizer).count("oak tree") == estimate_tokens("oak tree") == 2
    with pytest.raises(TokenizerUnknownError, match="no tokenizer 'gpt-9'"):
        tokenizer("gpt-9")
    for broken in (Broken(), Negative()):
        with pytest.raises(TokenizerError):
            Checked("broken", broken).count("oak")


def test_a_tokenizer_of_another_package_is_an_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    group = tokens.ENTRY_POINTS
    there = EntryPoints(
        [EntryPoint("letters", f"{Letters.__module__}:Letters", group), EntryPoint("torn", "no.such:Thing", group)]
    )
    monkeypatch.setattr(tokens, "entry_points", there.select)
    tokenizer.cache_clear()
    assert tokenizer("letters").count("oak tree") == 8
    with pytest.raises(TokenizerError, match="'torn' cannot be loaded: ModuleNotFoundError"):
        tokenizer("torn")
    with pytest.raises(TokenizerUnknownError) as refused:
        tokenizer("other")
    assert refused.value.advice == "Use one of: estimate, letters, torn."
    tokenizer.cache_clear()
