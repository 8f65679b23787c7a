"""Checks that jobs can be carried to workers: at the start of a worker or relay, and for the doctor's line about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import structlog

from memsvc.errors import ConfigurationError, MemsvcError, QueueUnavailableError
from memsvc.queue.targets import Kinds, Target, target
from memsvc.server.capabilities import Check
from memsvc.settings import Settings

NAME = "queue server"
COST = "no job is done; jobs wait in the database"
log = structlog.get_logger()


def checked(settings: Settings, *, prefetch: Mapping[str, int] | None = None, hopeless: Kinds = ()) -> Target:
    """The server that MEMSVC_QUEUE_URL names, for a process that goes on without it until it can be reached.

    Raises:
        ConfigurationError: the URL cannot be read, or the server refuses the login, or its certificate is not trusted.
    """
    url = settings.queue_url
    if url is None:
        raise ConfigurationError(
            "The relay needs MEMSVC_QUEUE_URL.",
            hint="Set it to a redis:// or amqp:// URL. Without it, workers take jobs directly from the database.",
        )
    made = target(url.get_secret_value(), ca=settings.queue_ca_file, prefetch=prefetch, hopeless=hopeless)
    try:
        made.check()
    except QueueUnavailableError as error:
        log.warning("jobs wait for the queue server", code=error.code, error=error.message)
    finally:
        made.close()
    return made


def check_queue(settings: Settings) -> Iterator[Check]:
    """Connect to the server that MEMSVC_QUEUE_URL names; nothing if it names none."""
    url = settings.queue_url
    if url is None:
        return
    try:
        made = target(url.get_secret_value(), ca=settings.queue_ca_file)
        try:
            made.check()
        finally:
            made.close()
    except MemsvcError as error:
        yield Check(NAME, "warning", f"{error.message} Until then {COST}.")
        return
    kind, _, _ = url.get_secret_value().partition(":")
    says = {"redis": "Redis", "rediss": "Redis by TLS", "amqp": "RabbitMQ", "amqps": "RabbitMQ by TLS"}[kind]
    yield Check(NAME, "ok", f"{says} carries jobs to workers")
