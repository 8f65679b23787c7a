"""Servers of Dramatiq's own brokers, Redis and RabbitMQ, as carriers of jobs past one machine.

The relay sends to them what PostgreSQL's queue holds, workers take it from there. They carry ids; the table of jobs
stays the truth, with its own retries and delays, so the brokers get no middleware but one of ours. The package of a
server is imported when its URL is given.
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

# A worker that says nothing for so long is dead to Redis, and what it had is handed out again. Workers look for
# messages at least once a second, and each look is a sign of life and a search for the dead.
REDIS_SILENCE_MS = 15_000
REDIS_EVERY_COMMAND = 1_000_000
"""How many commands of a million search for dead workers."""
RABBITMQ_HEARTBEAT_S = 10
LATER_MS = 2_000
CONNECT_S = 5
ANSWER_S = 10

Kinds = tuple[type[BaseException], ...]


@dataclass(frozen=True, slots=True)
class Target:
    """A server and its broker. Belongs to one thread: RabbitMQ's connection does."""

    broker: Broker
    _count: Callable[[str], int] = field(repr=False)
    _disconnect: Callable[[], None] = field(repr=False)
    _failures: tuple[type[Exception], ...]

    def waiting(self, queue: str) -> int:
        """How many messages of a queue no worker has taken yet.

        Raises:
            QueueUnavailableError: the server cannot be asked.
        """
        try:
            return self._count(queue)
        except self._failures:  # perhaps its connection was shut for its silence: a new one counts
            self.close()
        with self._plainly():
            return self._count(queue)

    def send(self, messages: Iterable[Message[Any]]) -> None:
        """Put messages into their queues; those before the one that fails are there.

        Raises:
            QueueUnavailableError: the server did not take one.
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
    """What an actor could not do now comes back a little later, whatever stopped it: retries are the job's own affair.

    A message that an actor will never understand goes to the server's dead letters.
    """

    def __init__(self, hopeless: Kinds) -> None:
        """Errors of these kinds will not pass."""
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
    """The server that a URL names; nothing connects yet. The arguments are those of ``target_broker``.

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
    except (ValueError, IndexError):  # what they say may show the password
        raise ConfigurationError(
            "MEMSVC_QUEUE_URL cannot be read as a URL.",
            hint="It looks like redis://:password@host:6379/0 or amqp://login:password@host:5672/%2F; signs such as @ "
            "and / in the password are written as %40 and %2F.",
        ) from None
    for queue in QUEUES:
        made.broker.declare_queue(queue)
    return made


def target_broker(url: str, *, prefetch: Mapping[str, int] | None = None, hopeless: Kinds = ()) -> Broker:
    """The stock broker of the server that a URL names, for a worker; knows our queues, and nothing connects yet.

    A worker that is killed gives back what it had at once (RabbitMQ) or after 15 to 20 s (Redis).

    Args:
        url: redis://, rediss://, amqp:// or amqps://, with the login.
        prefetch: how many messages of a queue a process holds at most, where that is less than Dramatiq's own number.
        hopeless: errors of actors that make a message a dead letter; after any other one it comes back in 2 s.

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
        retry=Retry(NoBackoff(), 0),  # the relay and Dramatiq's worker begin again themselves
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

    # It logs each failed try in ten lines; the relay's and Dramatiq's own say it in one.
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
