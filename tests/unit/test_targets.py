"""Which server a URL names, and what is said where it names none; nothing connects here."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from dramatiq.brokers.rabbitmq import RabbitmqBroker
from dramatiq.brokers.redis import RedisBroker
from typer.testing import CliRunner

from memsvc.cli.app import app
from memsvc.errors import ConfigurationError
from memsvc.queue.jobs import QUEUES
from memsvc.queue.targets import ComeBack, target
from memsvc.settings import Settings


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("redis://:secret@127.0.0.1:1/0", RedisBroker),
        ("rediss://127.0.0.1:1/0", RedisBroker),
        ("amqp://memsvc:secret@127.0.0.1:1/%2F", RabbitmqBroker),
        ("amqps://127.0.0.1:1", RabbitmqBroker),
    ],
)
def test_a_url_names_a_stock_broker_that_knows_our_queues(url: str, kind: type) -> None:
    broker = target(url).broker
    assert isinstance(broker, kind)
    assert broker.get_declared_queues() == set(QUEUES)
    assert [type(one) for one in broker.middleware] == [ComeBack]


def test_what_the_url_says_itself_counts() -> None:
    broker: Any = target("amqp://127.0.0.1/%2F?heartbeat=3").broker
    assert (broker.parameters.heartbeat, broker.parameters.connection_attempts) == (3, 1)


def test_encryption_checks_the_certificate() -> None:
    rabbit: Any = target("amqps://127.0.0.1:1").broker
    assert rabbit.parameters.ssl_options.context.check_hostname
    redis: Any = target("rediss://127.0.0.1:1").broker
    connection = redis.client.connection_pool.make_connection()
    assert connection.cert_reqs == 2  # ssl.CERT_REQUIRED
    assert connection.check_hostname


@pytest.mark.parametrize("url", ["redis://:pass@host:pass/0", "amqp://me:pass@host:pass/", "amqp://host/?pass=pass"])
def test_a_url_that_cannot_be_read_is_not_shown(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        target(url)
    assert "pass" not in caught.value.message
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("package", "extra", "url"), [("redis", "redis", "redis://h"), ("pika", "rabbitmq", "amqp://h")]
)
def test_a_missing_package_is_named(package: str, extra: str, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ConfigurationError) as caught:
        target(url)
    assert package in caught.value.message
    assert caught.value.advice == f"pip install 'memsvc[{extra}]'"


@pytest.mark.parametrize("url", ["http://host", "redis:host", "postgresql://host/db"])
def test_other_servers_are_refused_and_no_value_is_shown(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSVC_QUEUE_URL", url)
    with pytest.raises(ConfigurationError) as caught:
        Settings.load()
    assert caught.value.message.startswith("MEMSVC_QUEUE_URL: ")
    assert url not in caught.value.message


def test_nothing_and_an_empty_value_mean_postgresql() -> None:
    assert Settings().queue_url is None
    assert Settings.model_validate({"queue_url": ""}).queue_url is None


def test_the_command_says_what_it_does() -> None:
    shown = CliRunner().invoke(app, ["relay", "--help"], env={"COLUMNS": "120"})
    assert shown.exit_code == 0
    assert "MEMSVC_QUEUE_URL" in shown.output
