"""Redis and RabbitMQ with Dramatiq's own brokers, to carry jobs to workers on many machines.

The relay sends them the messages of PostgreSQL's queue, and workers take the messages from there. They carry only ids;
the table of jobs stays authoritative, with its own retries and delays, so the brokers use only one middleware of ours.
The package of a server is imported only if its URL is given.
"""

from __future__ import annotations

import logging
import socket
import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dramatiq import Broker, Consumer, Message, MessageProxy, Middleware
from dramatiq.errors import BrokerError

from memsvc.errors import ConfigurationError, QueueUnavailableError
from memsvc.queue.jobs import QUEUES

# Redis counts a worker that is silent for this long as dead, and hands its messages out again. Each look for messages
# counts as a heartbeat and also searches for dead workers.
REDIS_SILENCE_MS = 15_000
REDIS_LOOK_MS = 100
"""The longest pause between two looks of an idle worker, because Redis does not call it."""
REDIS_EVERY_COMMAND = 1_000_000
"""How many of a million commands search for dead workers: all of them."""
RABBITMQ_HEARTBEAT_S = 10
LATER_MS = 2_000
CONNECT_S = 5
ANSWER_S = 10

Kinds = tuple[type[BaseException], ...]
LOGIN = "it refuses the login"
REFUSED = {
    "AuthenticationError": LOGIN, "AuthenticationWrongNumberOfArgsError": LOGIN, "ProbableAuthenticationError": LOGIN,
    "ProbableAccessDeniedError": "the login may not use this virtual host",
    "NoPermissionError": "the login may not use memsvc's keys",
}  # fmt: skip
"""Errors of redis and pika, by name because neither package need be there, that no waiting ends; and what they mean."""


@dataclass(frozen=True, slots=True)
class Target:
    """A server and its broker. Use it from one thread only, as RabbitMQ's connection requires."""

    broker: Broker
    _count: Callable[[str], int] = field(repr=False)
    _disconnect: Callable[[], None] = field(repr=False)
    _failures: tuple[type[Exception], ...]

    def waiting(self, queue: str) -> int:
        """How many messages of a queue no worker has taken yet.

        Raises:
            QueueUnavailableError: the server cannot be reached.
        """
        try:
            return self._count(queue)
        except self._failures:  # the server may have closed an idle connection: try once with a new one
            self.close()
        with self._plainly():
            return self._count(queue)

    def check(self) -> None:
        """Connect once, so that a command with a wrong login or certificate ends at once and says why.

        Raises:
            ConfigurationError: the server refuses the login, or its certificate is not trusted.
            QueueUnavailableError: the server cannot be reached.
        """
        try:
            self.waiting(QUEUES[0])
        except QueueUnavailableError as error:
            if (why := _refusal(error)) is not None:
                raise ConfigurationError(
                    f"The server that MEMSVC_QUEUE_URL names cannot be used: {why}.",
                    hint="Nothing is lost: jobs wait in the database. Certificates are checked against the system's "
                    "authorities and MEMSVC_QUEUE_CA_FILE.",
                ) from None
            raise

    def send(self, messages: Iterable[Message[Any]]) -> None:
        """Put messages into their queues; if one fails, those before it have been sent.

        Raises:
            QueueUnavailableError: the server did not accept a message.
        """
        with self._plainly():
            for message in messages:
                self.broker.enqueue(message)

    def close(self) -> None:
        """Close all connections."""
        with suppress(*self._failures):
            self._disconnect()

    @contextmanager
    def _plainly(self) -> Iterator[None]:
        try:
            yield
        except self._failures as error:
            self.close()
            message = f"The server that MEMSVC_QUEUE_URL names cannot be reached: {_why(error)}."
            raise QueueUnavailableError(message) from error


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and those that it came from: pika gives them as arguments of its own."""
    left, seen = [error], set[int]()
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        left += [other for other in (one.__cause__, one.__context__, *one.args) if isinstance(other, BaseException)]
        left += [other for other in vars(one).values() if isinstance(other, BaseException)]


def _refusal(error: BaseException) -> str | None:
    """Why the server will refuse the next try as well; None if it may not. Quotes no text of the server."""
    for one in _chain(error):
        if isinstance(one, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted ({one.verify_message.rstrip('.')})"
        if type(one).__name__ in REFUSED:
            return REFUSED[type(one).__name__]
    if any(isinstance(one, ssl.SSLError) for one in _chain(error)):
        return "it does not speak TLS on this port, or not this version"
    return None


def _why(error: BaseException) -> str:
    """Why the server cannot be reached, in words that show neither URL nor password."""
    if (refusal := _refusal(error)) is not None:
        return refusal
    chain = list(_chain(error))
    if any(isinstance(one, TimeoutError) and "handshake" in str(one) for one in chain):
        return "it does not answer in TLS (is this its port for TLS?)"
    kinds = {
        socket.gaierror: "its name is not known",
        ConnectionRefusedError: "nobody listens there",
        ConnectionResetError: "it closed the connection",
        TimeoutError: "it does not answer",
    }
    known = (says for kind, says in kinds.items() if any(isinstance(one, kind) for one in chain))
    return next(known, type(error).__name__)


class ComeBack(Middleware):
    """Sends a message again a little later if its actor failed, whatever the error: jobs count their own retries.

    A message that an actor can never read goes to the server's dead letters.
    """

    def __init__(self, hopeless: Kinds) -> None:
        """Prepare the middleware; messages that fail with errors of these kinds become dead letters."""
        self.hopeless = hopeless

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: Any = None, exception: BaseException | None = None
    ) -> None:
        """Send it again before it is acknowledged."""
        del result
        if isinstance(exception, self.hopeless):
            message.fail()
        elif exception is not None:
            broker.enqueue(message, delay=LATER_MS)  # type: ignore[arg-type]  # as Dramatiq's own Retries does


def target(
    url: str, *, ca: Path | None = None, prefetch: Mapping[str, int] | None = None, hopeless: Kinds = ()
) -> Target:
    """The server of a URL with Dramatiq's broker for it, which has memsvc's queues; nothing connects yet.

    The messages of a killed worker are handed out again immediately (RabbitMQ) or after 15 to 20 s (Redis).

    Args:
        url: redis://, rediss://, amqp:// or amqps://, with the login.
        ca: PEM file of authorities whose certificates are trusted beside the system's.
        prefetch: the most messages of each queue that a process holds, if less than Dramatiq's own number.
        hopeless: errors of actors that make a message a dead letter; after any other error it comes back in 2 s.

    Raises:
        ConfigurationError: the URL or the file cannot be read, or the package for the server is missing.
    """
    kind, build = ("redis", _redis) if url.startswith(("redis://", "rediss://")) else ("rabbitmq", _rabbitmq)
    if ca is not None:
        _check_authorities(ca)
    try:
        made = build(url, ca, [ComeBack(hopeless)], prefetch or {})
    except ImportError as error:
        raise ConfigurationError(
            f"MEMSVC_QUEUE_URL needs the package {error.name}.", hint=f"pip install 'memsvc[{kind}]'"
        ) from error
    except (ValueError, IndexError):  # their messages may show the password
        raise ConfigurationError(
            "MEMSVC_QUEUE_URL cannot be read as a URL.",
            hint="It looks like redis://:password@host:6379/0 or amqp://login:password@host:5672/%2F; signs such as @ "
            "and / in the password are written as %40 and %2F.",
        ) from None
    for queue in QUEUES:
        made.broker.declare_queue(queue)
    return made


def _check_authorities(ca: Path) -> None:
    try:
        ssl.create_default_context().load_verify_locations(ca)
    except OSError as error:  # also SSLError
        raise ConfigurationError(
            "MEMSVC_QUEUE_CA_FILE cannot be read as certificates in PEM form.", hint="Give the authority's certificate."
        ) from error


def _redis(url: str, ca: Path | None, middleware: list[Middleware], most: Mapping[str, int]) -> Target:
    import redis  # noqa: PLC0415 - in the extra of the same name
    from dramatiq.brokers.redis import RedisBroker  # noqa: PLC0415
    from redis.backoff import NoBackoff  # noqa: PLC0415
    from redis.retry import Retry  # noqa: PLC0415

    class Capped(RedisBroker):
        def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5_000) -> Consumer:
            held = min(prefetch, most.get(queue_name, prefetch))
            return super().consume(queue_name, held, min(timeout, REDIS_LOOK_MS))

        def close(self) -> None:
            pool.disconnect()

    trusted = {"ssl_ca_certs": str(ca)} if ca is not None and url.startswith("rediss:") else {}
    pool = redis.ConnectionPool.from_url(
        url,
        **trusted,
        socket_connect_timeout=CONNECT_S,
        socket_timeout=ANSWER_S,
        retry=Retry(NoBackoff(), 0),  # the relay and Dramatiq's worker retry by themselves
    )
    client = redis.Redis(connection_pool=pool)
    broker = Capped(  # type: ignore[no-untyped-call]
        client=client,
        middleware=middleware,
        heartbeat_timeout=REDIS_SILENCE_MS,
        maintenance_chance=REDIS_EVERY_COMMAND,
    )

    def count(queue: str) -> int:
        length: Any = client.llen(f"{broker.namespace}:{queue}")
        return int(length)

    return Target(broker, count, pool.disconnect, (redis.RedisError, BrokerError, OSError))


def _rabbitmq(url: str, ca: Path | None, middleware: list[Middleware], most: Mapping[str, int]) -> Target:
    import pika.exceptions  # noqa: PLC0415 - in the extra rabbitmq
    from dramatiq.brokers.rabbitmq import RabbitmqBroker  # noqa: PLC0415

    class Capped(RabbitmqBroker):
        def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5_000) -> Consumer:
            return super().consume(queue_name, min(prefetch, most.get(queue_name, prefetch)), timeout)

    # pika logs each failed try in ten lines; the relay and Dramatiq log it in one.
    logging.getLogger("pika").setLevel(logging.CRITICAL)
    broker = Capped(url=url, middleware=middleware, confirm_delivery=True)
    parameters: Any = broker.parameters
    for name, value in {
        "heartbeat": RABBITMQ_HEARTBEAT_S,
        "connection_attempts": 1,
        "socket_timeout": CONNECT_S,
        "stack_timeout": ANSWER_S,
        "blocked_connection_timeout": ANSWER_S,
    }.items():
        if f"{name}=" not in url:
            setattr(parameters, name, value)
    if ca is not None and parameters.ssl_options is not None:
        parameters.ssl_options.context.load_verify_locations(ca)

    def count(queue: str) -> int:
        broker.declare_queue(queue, ensure=True)
        declared: Any = broker.channel.queue_declare(queue=queue, passive=True)
        return int(declared.method.message_count)

    def disconnect() -> None:
        del broker.connection

    return Target(broker, count, disconnect, (pika.exceptions.AMQPError, BrokerError, OSError))
