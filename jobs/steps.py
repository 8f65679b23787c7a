"""What is to be done for each kind of job: the one list, for workers and for commands that run jobs themselves."""

from __future__ import annotations

from memsvc.access.erase import erase_steps
from memsvc.queue.run import Steps
from memsvc.settings import Settings
from memsvc.sleep.runner import sleep_steps
from memsvc.sources.embedding import ModelsInUse, Progress, embedding_steps
from memsvc.sources.tidy import tidy_steps


def all_steps(settings: Settings, models: ModelsInUse | None, embedded: Progress = lambda _stored: None) -> Steps:
    """The steps of every kind of job.

    Args:
        settings: of this process.
        models: its embedding models; None: jobs give no vectors.
        embedded: called with the number of vectors that were stored.
    """
    return {
        **embedding_steps(models, embedded),
        **tidy_steps(settings, vectors=models is not None),
        **erase_steps(),
        **sleep_steps(settings),
    }
