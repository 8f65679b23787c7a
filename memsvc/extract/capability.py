"""What reading for facts can do: the doctor's line about it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from datetime import UTC, datetime

from memsvc.errors import MemsvcError
from memsvc.extract.llm import LlmExtractor
from memsvc.extract.registry import LLM, NONE, chosen, load
from memsvc.extract.window import OWNER, Candidate, Ontology, Turn, Window
from memsvc.graph.operations import new_id
from memsvc.server.capabilities import Check
from memsvc.settings import Settings

NAME = "extraction"
COST = "no facts are read; messages are stored and recalled all the same"
SENTENCE = "Does it work? I live in Porto."


def check_extractor(settings: Settings) -> Iterator[Check]:
    """Load the configured extractor and let it read a sentence; one that costs money is only loaded."""
    name = chosen(settings)
    if name == NONE:
        yield Check(NAME, "ok", f"switched off (MEMSVC_EXTRACTOR is none): {COST}")
        return
    try:
        began = time.perf_counter()
        extractor = load(name, settings)
        loaded = time.perf_counter()
        if name != LLM:
            asyncio.run(extractor.extract(_window()))
    except MemsvcError as error:
        yield Check(NAME, "warning", f"{error.message} {error.advice} Until then {COST}")
    except Exception as error:  # noqa: BLE001 - extractors of others may raise anything
        yield Check(NAME, "warning", f"{name} fails with {type(error).__name__}: {COST}")
    else:
        if isinstance(extractor, LlmExtractor):
            yield _of_model(extractor, settings.llm_context_tokens)
            return
        ms = (time.perf_counter() - loaded) * 1000
        yield Check(NAME, "ok", f"{extractor.name}, loaded in {loaded - began:.1f} s, {ms:.0f} ms for two sentences")


def _of_model(extractor: LlmExtractor, limit: int) -> Check:
    """What a model can read with a context of so many tokens; 0: any."""
    needed = extractor.least_context(_window())
    if 0 < limit < needed:
        small = f"a short message needs at least {needed:,} tokens of context, MEMSVC_LLM_CONTEXT_TOKENS is {limit:,}"
        return Check(NAME, "warning", f"{extractor.name}: {small}. Until it is larger, {COST}")
    return Check(NAME, "ok", f"{extractor.name}: one call for 12 messages at most; 'memsvc llm calls' sums up")


def _window() -> Window:
    turn = Turn(passage_id=new_id(), speaker="", role="user", text=SENTENCE, said_at=datetime.now(UTC))
    owner = Candidate(number=OWNER, node_id=new_id(), label="Ada", type="Person")
    ontology = Ontology(node_types=frozenset({"Person", "Place"}), edge_types={})
    return Window(turns=(turn,), candidates=(owner,), speakers={"": OWNER}, ontology=ontology)
