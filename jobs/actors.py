"""The actors: one for each kind of job. A message brings the ids of user and job; the work is done by capabilities.

A queue's name says how its jobs behave: those of ``models`` ask a model for vectors and are slow, those of ``facts``
read facts out of texts and are slower, those of ``upkeep`` are quick, those of ``sleep`` take minutes.
``memsvc.job_queue`` says the same to the database; a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dramatiq

QUEUES = {
    "process": "models", "embed": "models", "extract": "facts", "tidy": "upkeep", "erase": "upkeep", "sleep": "sleep",
    "analyse": "sleep",
}  # fmt: skip
"""The queue of each kind of job."""
Run = Callable[..., None]


def declare_actors(broker: dramatiq.Broker, run: Run) -> None:
    """Make the actors known to a broker.

    Args:
        broker: brings the messages.
        run: what each calls with its kind and the message's arguments.
    """

    def actor(kind: str) -> None:
        def act(*ids: Any, **around: Any) -> None:
            run(kind, *ids, **around)

        dramatiq.actor(actor_name=kind, queue_name=QUEUES[kind], broker=broker)(act)

    for kind in QUEUES:
        actor(kind)
