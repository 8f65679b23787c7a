"""What the configured embedding model can do: the doctor's line about it."""

from __future__ import annotations

import time

from memsvc.db.capabilities import Check
from memsvc.errors import MemsvcError
from memsvc.llm.embedders import load
from memsvc.settings import Settings

NAME = "embedding model"
COST = "messages get no vectors and are recalled by their words alone"


def check_embedder(settings: Settings) -> Check:
    """Load the model and embed one sentence with it; nothing of it is needed for memsvc to work."""
    name = settings.embedding_model
    if not name:
        return Check(NAME, "warning", f"none configured (MEMSVC_EMBEDDING_MODEL): {COST}")
    try:
        model = load(name, settings)
        began = time.perf_counter()
        model.embed(["Does it work?"])
    except MemsvcError as error:
        return Check(NAME, "warning", f"{error.message} {error.advice} Until then {COST}")
    except Exception as error:  # noqa: BLE001 - models of others may raise anything
        return Check(NAME, "warning", f"{name} fails with {type(error).__name__}: {COST}")
    milliseconds = (time.perf_counter() - began) * 1000
    return Check(NAME, "ok", f"{name}, {model.dimensions} dimensions, {milliseconds:.0f} ms a query")
