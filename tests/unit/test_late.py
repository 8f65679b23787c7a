"""Token vectors: which tokens are kept, and what is left of them when they are small."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memsvc.errors import EmbedderAnswerError
from memsvc.llm.embedders import TokenEmbedder
from memsvc.llm.embedders.onnx import OnnxMiniLM
from memsvc.llm.embedders.reduction import (
    BITS,
    MOST_TOKENS,
    fit,
    fitted,
    kept,
    projection_of,
    sentences,
    signs,
    unit,
    written,
)
from tests.fakes.embedders import TokenWords, WordsEmbedder

HERON = "The heron stood in the shallow water of the mill pond!"


@pytest.fixture(scope="module")
def minilm() -> OnnxMiniLM:
    return OnnxMiniLM()


@pytest.fixture(scope="module")
def stored(minilm: OnnxMiniLM) -> bytes:
    return fit(minilm)


def noise(count: int, dimensions: int, seed: int = 0) -> NDArray[np.float32]:
    return unit(np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32))


# Which tokens -------------------------------------------------------------------------------------------------------


def test_punctuation_and_function_words_are_dropped_in_any_spelling() -> None:
    tokens = ["The", "heron", ",", "Ġand", "▁the", "##s", "…", "水", "7", "Ġpond"]
    assert [tokens[index] for index in kept(tokens, [5] * len(tokens))] == ["heron", "##s", "水", "7", "Ġpond"]


def test_where_nothing_else_is_said_they_are_kept() -> None:
    assert kept(["who", "are", "you", "?"], [1, 2, 3, 4]) == [0, 1, 2, 3]
    assert kept([], []) == []


@given(st.lists(st.integers(0, 50_000), max_size=100))
def test_of_many_the_rarest_are_kept_in_their_order(ids: list[int]) -> None:
    chosen = kept([f"word{number}" for number in ids], ids)
    assert chosen == sorted(set(chosen))
    assert len(chosen) == min(len(ids), MOST_TOKENS)
    assert sorted(ids[index] for index in chosen) == sorted(ids)[-len(chosen) :] if chosen else not ids


# The pass -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_one_pass_gives_the_same_vectors_and_those_of_tokens(minilm: OnnxMiniLM) -> None:
    texts = [HERON, "", "...", "heron " * 300, "日本語のテキスト"]
    vectors, tokens = minilm.embed_with_tokens(texts)
    assert (vectors == minilm.embed(texts)).all()
    assert [len(found) for found in tokens[:4]] == [6, 0, 3, MOST_TOKENS]
    for found in tokens:
        assert found.dtype == np.float32
        assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    assert minilm.embed_with_tokens([])[1] == []


def test_models_say_by_their_methods_whether_they_give_tokens(minilm: OnnxMiniLM) -> None:
    assert isinstance(minilm, TokenEmbedder)
    assert isinstance(TokenWords(), TokenEmbedder)
    assert not isinstance(WordsEmbedder(), TokenEmbedder)


def test_no_numbers_are_no_tokens() -> None:
    with pytest.raises(EmbedderAnswerError, match="not numbers"):
        unit(np.array([[1, np.nan]], np.float32))


# The projection -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_projection_is_fitted_to_our_own_sentences_and_is_the_same_each_time(
    minilm: OnnxMiniLM, stored: bytes
) -> None:
    assert len(sentences()) >= 150
    assert all(10 < len(sentence) < 120 for sentence in sentences())
    assert len(stored) == 384 * BITS * 2
    again = projection_of(fit(OnnxMiniLM()))
    _, tokens = minilm.embed_with_tokens([HERON])
    assert (signs(tokens[0], again) == signs(tokens[0], projection_of(stored))).all()
    # It keeps what tells tokens apart, also in sentences that it was not fitted to.
    projection = projection_of(stored)
    assert (np.linalg.norm(tokens[0] @ projection, axis=1) ** 2).mean() > 0.5
    assert np.allclose(projection.T @ projection, np.eye(BITS), atol=0.01)


@pytest.mark.parametrize("dimensions", [3, 128, 150])
def test_vectors_of_any_length_have_a_projection(dimensions: int) -> None:
    projection = fitted(noise(500, dimensions))
    assert projection.shape == (dimensions, BITS)
    assert (fitted(noise(500, dimensions)) == projection).all()
    assert np.allclose(np.linalg.norm(projection, axis=1), 1, atol=1e-4) == (dimensions <= BITS)


def test_differing_bits_are_the_angle_within_the_error_of_their_number() -> None:
    projection = fitted(noise(4_000, BITS))
    one, other = noise(2_000, BITS, 1), noise(2_000, BITS, 2)
    other = unit(one * np.linspace(-1, 1, len(one), dtype=np.float32)[:, None] + other)
    angle = np.arccos((one * other).sum(axis=1).clip(-1, 1)) / np.pi
    differ = np.unpackbits(signs(one, projection) ^ signs(other, projection), axis=1).mean(axis=1)
    spread = np.sqrt(angle * (1 - angle) / BITS)
    assert (abs(differ - angle) < 5 * spread + 1e-6).all()
    assert abs((differ - angle).mean()) < 0.01, "the estimate leans to one side"


def test_tokens_are_written_as_an_array_of_bits(stored: bytes) -> None:
    _, [tokens, _] = TokenWords().embed_with_tokens(["heron pond", "otter"])
    projection = fitted(noise(500, 32))
    [text, none] = written([tokens, tokens[:0]], projection)
    assert none == "{}"
    bits = signs(tokens, projection)
    assert text == "{" + ",".join(f"x{row.tobytes().hex()}" for row in bits) + "}"
    assert len(text) == 1 + len(bits) * 34
    with pytest.raises(EmbedderAnswerError, match="384 numbers each fit"):
        written([tokens], projection_of(stored))
