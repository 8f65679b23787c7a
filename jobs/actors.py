"""The actors: one for each kind of job. A message has the ids of user and job; the capabilities do the work.

A queue's name says how its jobs behave: ``models`` jobs ask a model for vectors and are slow, ``facts`` jobs extract
facts from texts and are slower, ``upkeep`` jobs are quick or give way, ``sleep`` jobs take minutes. The SQL function
``memsvc.job_queue`` has the same mapping; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dramatiq

QUEUES = {
    "process": "models", "embed": "models", "extract": "facts", "tidy": "upkeep", "erase": "upkeep", "sleep": "sleep",
    "analyse": "sleep", "ingest": "upkeep",
}  # fmt: skip
"""The queue of each kind of job."""
Run = Callable[..., None]


def declare_actors(broker: dramatiq.Broker, run: Run) -> None:
    """Register the actors with a broker.

    Args:
        broker: delivers the messages.
        run: called by each actor with its kind and the message's arguments.
    """

    def actor(kind: str) -> None:
        def act(*ids: Any, **extra: Any) -> None:
            run(kind, *ids, **extra)

        dramatiq.actor(actor_name=kind, queue_name=QUEUES[kind], broker=broker)(act)

    for kind in QUEUES:
        actor(kind)
