"""The extractor that asks a language model."""

from __future__ import annotations

from memsvc.extract.extraction import Extraction
from memsvc.extract.window import Window
from memsvc.settings import Settings


class LlmExtractor:
    """Reads windows with one call each. See ``memsvc.extract.extraction.Extractor``."""

    def __init__(self, settings: Settings) -> None:
        """Prepare; nothing connects yet."""
        self.name = f"llm:{settings.llm_model}/1"

    async def extract(self, window: Window) -> Extraction:
        """What the turns of the window say."""
        raise NotImplementedError
