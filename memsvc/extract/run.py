"""Reads sources window by window: the steps of the job ``extract``, and the question for it at the end of ``process``.

The extractor works outside of transactions; what it found of a window is then written in one, together with how far it
has read. So a process that is killed anywhere has done each window once or not at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple
from uuid import UUID

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.extract.extraction import Extractor
from memsvc.settings import Settings


class Read(NamedTuple):
    """What was done."""

    turns: int
    facts: int
    refused: int
    more: bool
    """There is more to be read, and the time was up."""


class Extractors:
    """The extractors of this process, each loaded once, when it is first asked for; off the event loop."""

    def __init__(self, settings: Settings) -> None:
        """Prepare; nothing is loaded yet."""
        self._settings = settings

    @property
    def backend(self) -> str | None:
        """The name of the configured one in the registry; None: nothing is read."""
        raise NotImplementedError

    async def get(self, backend: str | None = None) -> Extractor:
        """The extractor of this name; None: the configured one.

        Raises:
            ExtractorMissingError: it is not installed, or reading is switched off.
            ConfigurationError: a setting that it needs is missing.
        """
        raise NotImplementedError


async def read_source(
    db: Database,
    owner: Owner,
    source_id: UUID,
    extractor: Extractor,
    *,
    backend: str,
    seconds: float = math.inf,
    progress: Callable[[int], None] = lambda _turns: None,
) -> Read:
    """Read what an extractor has not read of a source, and write what it says.

    Args:
        db: the database.
        owner: whose.
        source_id: the conversation.
        extractor: who reads.
        backend: its name in the registry, for the record.
        seconds: no further window is begun after so long.
        progress: called with the number of turns of each window that was read.

    Raises:
        ExtractorError, LlmError: it could not read a window; those before are done.
    """
    raise NotImplementedError
