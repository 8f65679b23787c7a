"""Traces without the application: who is recorded, what a language model's turn tells, and what being off costs."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time

import pytest

from memsvc import traces
from memsvc.errors import ConfigurationError
from memsvc.llm.answers import NoBook, Task, ask
from memsvc.llm.chat import ChatClient, Message
from memsvc.settings import Settings
from tests.collector import collecting
from tests.fakes.chat_server import ChatServer, serving

PRIVATE = "4711-private"
TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
CALLED = f"00-{TRACE}-{CALLER}-01"


def tracing_to(url: str, share: float = 1.0) -> Settings:
    return Settings.model_validate({"traces_url": url, "traces_share": share})


@pytest.mark.parametrize(
    ("share", "parent", "recorded"),
    [
        (1.0, None, True),
        (0.0, None, False),
        (0.0, CALLED, True),
        (1.0, CALLED[:-1] + "0", False),
        (1.0, PRIVATE, True),
    ],
)
def test_who_begins_a_trace_says_whether_it_is_recorded(share: float, parent: str | None, *, recorded: bool) -> None:
    with collecting() as collector:
        with traces.tracing(tracing_to(collector.url + "/v1/traces", share)):
            with traces.span("request", "server", parent=parent) as request:
                assert (traces.traceparent() is not None) == recorded == (request.trace_id is not None)
                with traces.span("recall embed"):
                    traces.note("memsvc.passages", 3)
            assert traces.traceparent() is None
        assert [span.name for span in collector.spans] == (["request", "recall embed"] if recorded else [])


def test_what_belongs_to_no_request_and_no_job_makes_no_traces() -> None:
    with collecting() as collector:
        with traces.tracing(tracing_to(collector.url)), traces.span("recall"), traces.span("users_with_news", "client"):
            pass
        assert collector.bodies == []


def test_a_failure_is_told_by_its_class() -> None:
    with collecting() as collector:
        with (
            traces.tracing(tracing_to(collector.url)),
            pytest.raises(ValueError, match=PRIVATE),
            traces.span("job process", "consumer"),
        ):
            raise ValueError(PRIVATE)
        [span] = collector.spans
        assert (span.failed, span.values) == (True, {"error.type": "ValueError"})
        assert PRIVATE.encode() not in collector.bodies[0]


async def test_a_language_models_turn_is_told_with_its_tokens() -> None:
    messages = [Message("user", PRIVATE)]
    task = Task(name="cities", version="1", messages=messages, schema={"type": "object"}, read=lambda _: PRIVATE)
    with collecting() as collector, serving(ChatServer()) as server:
        model = {"llm_url": server.url, "llm_model": "m-1", "llm_timeout_s": 5}
        client = ChatClient(Settings.model_validate(model))
        with traces.tracing(tracing_to(collector.url)), traces.span("job extract", "consumer"):
            found = await ask(client, task, NoBook())
        turn = collector.only("chat m-1")
        assert turn.kind == "client"
        assert turn.values == {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m-1",
            "memsvc.task": "cities",
            "gen_ai.usage.input_tokens": found.reply.tokens_in,
            "gen_ai.usage.output_tokens": found.reply.tokens_out,
        }
        assert PRIVATE.encode() not in b"".join(collector.bodies)


def test_a_collector_that_is_away_holds_nobody_up() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    with traces.tracing(tracing_to(url)):
        with traces.span("request", "server"):
            pass
        ended = time.monotonic()
    assert time.monotonic() - ended < 5


@pytest.mark.slow
async def test_without_a_collector_nothing_is_imported_and_nothing_is_recorded() -> None:
    assert not traces.is_on()
    assert traces.span("request", "server") is traces.NOTHING
    script = "import sys, jobs.worker, memsvc.api.app; print([m for m in sys.modules if 'opentelemetry.sdk' in m])"
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n"


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "memsvc.traces.otel", None)
    with pytest.raises(ConfigurationError, match="MEMSVC_TRACES_URL") as caught:
        traces.start(tracing_to("http://127.0.0.1:4318"))
    assert "memsvc[otel]" in caught.value.advice
    assert not traces.is_on()
