"""Rerankers: a second look that may change the order of the best and nothing else, whatever happens to it."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from structlog.testing import capture_logs

from memsvc.errors import ConfigurationError, RerankerError
from memsvc.recall.rerank import (
    BEST,
    TEXT_CHARS,
    HttpReranker,
    Reranker,
    ResidentReranker,
    as_read,
    check_reranker,
    load,
    rerank,
    reranker_of,
)
from memsvc.settings import Settings
from tests.fakes.rerank_server import Mode, RerankServer, rerank_server
from tests.recalled import fact, memory

SECRET = "a secret text"


def chosen(**values: Any) -> Settings:
    return Settings.model_validate({"reranker": "http:fake", "reranker_ms": 2_000, **values})


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with rerank_server() as serving:
        yield serving


class Shortest:
    """Likes short texts."""

    def __init__(self, before: Callable[[], object] = lambda: None) -> None:
        self.before = before

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        self.before()
        return [-float(len(text)) for text in texts]


def resident(model: Reranker, deadline_ms: int = 2_000) -> ResidentReranker:
    return ResidentReranker("fake", deadline_ms, lambda: model)


def test_a_server_is_asked_in_the_usual_form(server: RerankServer) -> None:
    model = load("http:jina-reranker", chosen(reranker_url=f"{server.url}/", reranker_key="sk-1"))
    assert model.scores("oak?", ["long text", "short"]) == [1 / 10, 1 / 6]
    assert server.requests == [
        {
            "path": "/v1/rerank",
            "model": "jina-reranker",
            "query": "oak?",
            "documents": ["long text", "short"],
            "top_n": 2,
        }
    ]
    assert server.keys == ["Bearer sk-1"]


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("500", "answers 500"), ("401", "answers 401"), ("redirect", "answers 302"), ("dies", "does not answer"),
        ("garbage", "JSONDecodeError"), ("shape", "another form"), ("too few", "another form"),
        ("slow", "TimeoutError"),
    ],
)  # fmt: skip
def test_a_server_that_is_bad_is_an_error_without_the_text(server: RerankServer, mode: Mode, says: str) -> None:
    model = HttpReranker(server.url, None, "fake", 0.2)
    server.modes = [mode]
    with pytest.raises(RerankerError, match=says) as caught:
        model.scores("oak?", [SECRET, "b"])
    assert SECRET not in str(caught.value)
    assert len(server.requests) == 1, "a question does not wait for a second try"


@pytest.mark.parametrize("mode", ["NaN", "words", "too few", "500", "garbage"])
async def test_whatever_a_server_answers_the_order_stays_and_the_log_says_why(server: RerankServer, mode: Mode) -> None:
    asked = reranker_of(chosen(reranker_url=server.url))
    assert asked is not None
    server.modes = [mode]
    with capture_logs() as logs:
        assert await rerank([memory(1, SECRET), memory(2, "b")], "oak?", asked) is None
        server.modes = [mode]
        assert await asked.scores("oak?", [SECRET, "b"]) is None
    assert [line["event"] for line in logs] == ["not reranked"], "once a minute"
    assert SECRET not in str(logs)
    assert await asked.scores("oak?", ["a"]) == [1 / 2]
    asked.close()


async def test_the_best_get_the_rerankers_order_and_the_rest_stays_behind(server: RerankServer) -> None:
    found = [memory(number, "x" * (200 - number)) for number in range(BEST + 5)]
    asked = reranker_of(chosen(reranker_url=server.url))
    assert asked is not None
    done = await rerank(found, "q" * 9_000, asked)
    asked.close()
    assert done is not None
    assert [one.memory_id.int for one in done] == [*range(BEST - 1, -1, -1), *range(BEST, BEST + 5)]
    assert done[0].arms["reranker"]["rank"] == 1
    assert done[0].arms["reranker"]["was"] == BEST
    assert "reranker" not in done[BEST].arms
    [request] = server.requests
    assert (len(request["documents"]), len(request["query"])) == (BEST, TEXT_CHARS)


async def test_equals_keep_their_order_and_nothing_is_nothing() -> None:
    asked = resident(Shortest())
    found = [memory(number) for number in range(5)]
    done = await rerank(found, "oak", asked)
    assert done is not None
    assert [one.memory_id for one in done] == [one.memory_id for one in found]
    assert await rerank([], "oak", asked) == []
    asked.close()


async def test_a_late_reranker_costs_its_deadline_and_then_nothing() -> None:
    go_on = threading.Event()
    asked = resident(Shortest(lambda: go_on.wait(30)), deadline_ms=200)
    assert await asked.ready()
    with capture_logs():
        assert [await asked.scores("oak", ["a"]) for _ in range(2)] == [None, None]
        asked._deadline_s = 20.0
        began = time.perf_counter()
        assert await asked.scores("oak", ["a"]) is None
        assert time.perf_counter() - began < 10, "it waited for who hangs"
        go_on.set()
        asked._threads.shutdown(wait=True)  # both answer, too late
        asked._threads = ThreadPoolExecutor(1)
    assert await asked.scores("oak", ["a"]) == [-1.0]
    asked.close()


async def test_what_cannot_be_loaded_is_not_asked_for_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def broken() -> Reranker:
        tried.append(1)
        raise RuntimeError(SECRET)

    asked = ResidentReranker("broken", 2_000, broken)
    with capture_logs() as logs:
        assert not await asked.ready()
        assert await asked.scores("oak", ["a"]) is None
    assert len(tried) == 1
    assert [line["error"] for line in logs] == ["RuntimeError"]
    asked._load_again_at = 0.0
    with capture_logs():
        assert not await asked.ready()
    assert len(tried) == 2
    asked.close()


def test_what_is_not_here_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(RerankerError, match="sentence_transformers"):
        load("cross-encoder:x", chosen())
    with pytest.raises(ConfigurationError, match="MEMSVC_RERANKER_URL"):
        reranker_of(chosen(reranker_url=""))
    assert reranker_of(Settings.model_validate({"reranker": ""})) is None
    for name in ("jina", "http:", "cross-encoder: ", "openai:x"):
        with pytest.raises(ValueError, match="must be cross-encoder: or http:"):
            chosen(reranker=name)


def test_the_doctor_asks_it_one_sentence(server: RerankServer) -> None:
    settings = chosen(reranker_url=server.url)
    assert [check.state for check in check_reranker(settings)] == ["ok"]
    server.modes = ["NaN"]
    [bad] = check_reranker(settings)
    assert (bad.state, "keeps its own order" in bad.says) == ("warning", True)
    assert list(check_reranker(Settings.model_validate({}))) == []


def test_a_reranker_reads_who_said_what_with_the_picture() -> None:
    assert as_read(memory(1, "Look!", caption="a red kayak")) == "Ada: Look! [picture: a red kayak]"
    assert as_read(fact(2, "Ines lives in Lyon.")) == "Ines lives in Lyon."
    assert len(as_read(memory(3, "x" * 90_000))) == TEXT_CHARS


@pytest.mark.slow
def test_recall_imports_neither_numpy_nor_torch() -> None:
    code = (
        "import sys, memsvc.recall.rerank, memsvc.recall.search, memsvc.recall.explain; "
        "print({'numpy', 'torch', 'sentence_transformers'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
