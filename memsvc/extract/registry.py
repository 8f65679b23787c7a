"""Extractors by name: which one reads what users say.

``offline`` (names, grammar and rules), ``llm`` (a language model of an OpenAI-compatible server), or the name of an
entry point in the group ``memsvc.extractors`` (any callable that takes the settings and gives an Extractor). ``auto``
is ``llm`` where a model is set, else ``offline``; ``none`` reads nothing. Backends are imported when they are asked
for.
"""

from __future__ import annotations

from importlib.metadata import entry_points

from memsvc.errors import ExtractorMissingError
from memsvc.extract.extraction import Extractor
from memsvc.settings import Settings

ENTRY_POINTS = "memsvc.extractors"
NONE, AUTO, OFFLINE, LLM = "none", "auto", "offline", "llm"


def chosen(settings: Settings) -> str:
    """The name of the extractor that the settings mean, ``auto`` resolved."""
    if settings.extractor == AUTO:
        return LLM if settings.llm_model else OFFLINE
    return settings.extractor


def load(name: str, settings: Settings) -> Extractor:
    """The extractor of this name; slow the first time (the offline one loads its model in about a second).

    Raises:
        ExtractorMissingError: its package is not installed, or nothing has this name.
        ConfigurationError: a setting that it needs is missing.
    """
    try:
        if name == OFFLINE:
            from memsvc.extract.offline.extractor import OfflineExtractor  # noqa: PLC0415 - spaCy is an extra

            return OfflineExtractor()
        if name == LLM:
            from memsvc.extract.llm import LlmExtractor  # noqa: PLC0415 - the client is slow to import

            return LlmExtractor(settings)
    except ImportError as error:
        raise ExtractorMissingError(
            f"The extractor {name} cannot be loaded: {error.name or 'a package'} is missing."
        ) from error
    for found in entry_points(group=ENTRY_POINTS, name=name):
        extractor: Extractor = found.load()(settings)
        return extractor
    raise ExtractorMissingError(f"There is no extractor {name!r}.")
