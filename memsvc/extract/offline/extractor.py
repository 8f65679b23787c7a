"""The offline extractor."""

from __future__ import annotations

from memsvc.extract.extraction import Extraction
from memsvc.extract.window import Window


class OfflineExtractor:
    """Reads windows by names, grammar and rules. See ``memsvc.extract.extraction.Extractor``."""

    name = "offline/1"

    async def extract(self, window: Window) -> Extraction:
        """What the turns of the window say; never raises for what a text holds."""
        raise NotImplementedError
