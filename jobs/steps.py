"""The steps of each kind of job, for workers and for commands that run jobs themselves."""

from __future__ import annotations

from memsvc.analysis.runs import analysis_steps
from memsvc.chat.forgetting import forgetting_steps
from memsvc.erasing.memories import erase_steps
from memsvc.extract.run import Extractors, extraction_steps
from memsvc.feeds.running import FeedRuns
from memsvc.graph.known import known_steps
from memsvc.profiles.filing import filing_steps
from memsvc.queue.execution import Step, Steps
from memsvc.settings import Settings
from memsvc.sleep.runner import sleep_steps
from memsvc.sources.embedding import ModelsInUse, Progress, embedding_steps
from memsvc.sources.ingest_job import ingest_steps
from memsvc.sources.tidy import tidy_steps


def all_steps(
    settings: Settings,
    models: ModelsInUse | None,
    embedded: Progress = lambda _stored: None,
    extractors: Extractors | None = None,
    read: Progress = lambda _turns: None,
) -> Steps:
    """Return the steps of every kind of job.

    Args:
        settings: of this process.
        models: its embedding models; None: jobs compute no vectors.
        embedded: called with the number of stored vectors.
        extractors: the extractors of this process; None: new ones by the settings.
        read: called with the number of turns that extractors have read.
    """
    readers = extractors or Extractors(settings)
    together: dict[str, list[Step]] = {}
    for steps in (
        filing_steps(settings.passage_tokens),
        known_steps(),
        embedding_steps(models, embedded),
        extraction_steps(readers, read),
        tidy_steps(settings, vectors=models is not None),
        ingest_steps(settings, FeedRuns(settings)),
        forgetting_steps(),
        erase_steps(),
        sleep_steps(settings, readers),
        analysis_steps(),
    ):
        for kind, some in steps.items():
            together.setdefault(kind, []).extend(some)
    return together
