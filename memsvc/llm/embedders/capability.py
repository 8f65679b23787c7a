"""What the embedding model can do: the doctor's lines about it."""

from __future__ import annotations

import time
from collections.abc import Iterator

from memsvc.errors import MemsvcError
from memsvc.llm.embedders.loading import load
from memsvc.server.capabilities import Check
from memsvc.settings import Settings

NAME = "embedding model"
COST = "messages get no vectors and are recalled by their words alone"


def check_embedders(settings: Settings, active: str | None) -> Iterator[Check]:
    """Try the model that counts: the database's active one, else the configured one.

    Args:
        settings: the configuration.
        active: the database's model; None where it has none yet, or cannot be asked.
    """
    named = settings.embedding_model
    yield check_embedder(settings, active if named else None)
    if named and active not in {None, named} and "embedding_model" in settings.model_fields_set:
        yield Check(
            "change of model",
            "warning",
            f"MEMSVC_EMBEDDING_MODEL says {named}, this database's active model is {active}: "
            f"run 'memsvc models build {named}', or set it to {active}",
        )


def check_embedder(settings: Settings, active: str | None = None) -> Check:
    """Load a model and embed one sentence with it; nothing of it is needed for memsvc to work."""
    name = active or settings.embedding_model
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
