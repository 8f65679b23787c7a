"""Loads an embedding model by its name; a backend is imported when it is asked for."""

from __future__ import annotations

from importlib.metadata import entry_points

from memsvc.errors import EmbedderMissingError
from memsvc.llm.embedders import DEFAULT_MODEL, MULTILINGUAL_MODEL, Embedder, install_hint
from memsvc.settings import Settings

ENTRY_POINTS = "memsvc.embedders"
EXTRAS = {MULTILINGUAL_MODEL: "onnx,multilingual", "sentence-transformers": "sentence-transformers"}
"""Extras of memsvc with the packages of a model or of all models of a backend; of others, onnx."""


def load(name: str, settings: Settings) -> Embedder:
    """The model of this name.

    Raises:
        EmbedderMissingError: its package is not installed, or nothing has this name.
        EmbedderError: it is there, but does not start.
        ConfigurationError: a setting that it needs is missing.
    """
    backend, _, model = name.partition(":")
    try:
        match backend:
            case "onnx" if name == DEFAULT_MODEL:
                from memsvc.llm.embedders.onnx import OnnxMiniLM  # noqa: PLC0415 - numpy and onnxruntime are an extra

                return OnnxMiniLM()
            case "onnx" if name == MULTILINGUAL_MODEL:
                from memsvc.llm.embedders.multilingual import Multilingual  # noqa: PLC0415 - as above

                return Multilingual()
            case "sentence-transformers":
                from memsvc.llm.embedders.local import SentenceTransformersModel  # noqa: PLC0415 - as above, with torch

                return SentenceTransformersModel(model)
            case "openai":
                from memsvc.llm.embedders.remote import OpenAICompatibleModel  # noqa: PLC0415 - numpy is an extra

                return OpenAICompatibleModel(model, settings)
            case _:
                return _plugged_in(name)
    except ImportError as error:
        extras = EXTRAS.get(name, EXTRAS.get(backend))
        raise EmbedderMissingError(
            f"The embedding model {name!r} needs {error.name or error}.", hint=install_hint(extras) if extras else ""
        ) from error


def _plugged_in(name: str) -> Embedder:
    for found in entry_points(group=ENTRY_POINTS, name=name):
        made: Embedder = found.load()()
        return made
    raise EmbedderMissingError(f"There is no embedding model {name!r}.")
