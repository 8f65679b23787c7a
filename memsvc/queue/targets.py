"""Redis and RabbitMQ with Dramatiq's own brokers, to carry jobs to workers on many machines.

The relay sends them the messages of PostgreSQL's queue, and workers take the messages from there. They carry only ids;
the table of jobs stays authoritative, with its own retries and delays, so the brokers use only one middleware of ours.
The package of a server is imported only if its URL is given.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from dramatiq import Broker, Consumer, Message, MessageProxy, Middleware
from dramatiq.errors import BrokerError

from memsvc.errors import ConfigurationError, QueueUnavailableError
from memsvc.queue.jobs import QUEUES

# Redis counts a worker that is silent for this long as dead, and hands its messages out again. Workers look for
# messages at least once a second; each look counts as a heartbeat and also searches for dead workers.
REDIS_SILENCE_MS = 15_000
REDIS_EVERY_COMMAND = 1_000_000
"""How many of a million commands search for dead workers: all of them."""
RABBITMQ_HEARTBEAT_S = 10
LATER_MS = 2_000
CONNECT_S = 5
ANSWER_S = 10

Kinds = tuple[type[BaseException], ...]


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
            raise QueueUnavailableError from error


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


def target(url: str, *, prefetch: Mapping[str, int] | None = None, hopeless: Kinds = ()) -> Target:
    """The server of a URL; nothing connects yet. The arguments are those of ``target_broker``.

    Raises:
        ConfigurationError: the URL cannot be read, or the package for its server is missing.
    """
    kind, build = ("redis", _redis) if url.startswith(("redis://", "rediss://")) else ("rabbitmq", _rabbitmq)
    try:
        made = build(url, [ComeBack(hopeless)], prefetch or {})
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


def target_broker(url: str, *, prefetch: Mapping[str, int] | None = None, hopeless: Kinds = ()) -> Broker:
    """Dramatiq's broker for the server of a URL, for a worker. It has memsvc's queues; nothing connects yet.

    The messages of a killed worker are handed out again immediately (RabbitMQ) or after 15 to 20 s (Redis).

    Args:
        url: redis://, rediss://, amqp:// or amqps://, with the login.
        prefetch: the most messages of each queue that a process holds, if less than Dramatiq's own number.
        hopeless: errors of actors that make a message a dead letter; after any other error it comes back in 2 s.

    Raises:
        ConfigurationError: the URL cannot be read, or the package for its server is missing.
    """
    return target(url, prefetch=prefetch, hopeless=hopeless).broker


def _redis(url: str, middleware: list[Middleware], most: Mapping[str, int]) -> Target:
    import redis  # noqa: PLC0415 - in the extra of the same name
    from dramatiq.brokers.redis import RedisBroker  # noqa: PLC0415
    from redis.backoff import NoBackoff  # noqa: PLC0415
    from redis.retry import Retry  # noqa: PLC0415

    class Capped(RedisBroker):
        def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5_000) -> Consumer:
            return super().consume(queue_name, min(prefetch, most.get(queue_name, prefetch)), timeout)

        def close(self) -> None:
            pool.disconnect()

    pool = redis.ConnectionPool.from_url(
        url,
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


def _rabbitmq(url: str, middleware: list[Middleware], most: Mapping[str, int]) -> Target:
    import pika.exceptions  # noqa: PLC0415 - in the extra rabbitmq
    from dramatiq.brokers.rabbitmq import RabbitmqBroker  # noqa: PLC0415

    class Capped(RabbitmqBroker):
        def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5_000) -> Consumer:
            return super().consume(queue_name, min(prefetch, most.get(queue_name, prefetch)), timeout)

    # pika logs each failed try in ten lines; the relay and Dramatiq log it in one.
    logging.getLogger("pika").setLevel(logging.CRITICAL)
    broker = Capped(url=url, middleware=middleware, confirm_delivery=True)
    for name, value in {
        "heartbeat": RABBITMQ_HEARTBEAT_S,
        "connection_attempts": 1,
        "socket_timeout": CONNECT_S,
        "stack_timeout": ANSWER_S,
        "blocked_connection_timeout": ANSWER_S,
    }.items():
        if f"{name}=" not in url:
            setattr(broker.parameters, name, value)

    def count(queue: str) -> int:
        broker.declare_queue(queue, ensure=True)
        declared: Any = broker.channel.queue_declare(queue=queue, passive=True)
        return int(declared.method.message_count)

    def disconnect() -> None:
        del broker.connection

    return Target(broker, count, disconnect, (pika.exceptions.AMQPError, BrokerError, OSError))
