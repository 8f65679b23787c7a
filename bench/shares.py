"""The share of LoCoMo's observations whose turn yields a fact with the same person.

The set comes with sentences that a language model wrote about its turns (``facts.jsonl``), each about one speaker. One
counts as read where some fact that is supported by one of its turns has that person at an end. Whether the fact says
the same is not judged, so this is a measure of reach alone, on long conversations that nobody wrote for extraction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.datasets import DataSet
from bench.matching import Found
from bench.naming import same_name
from bench.observations import Observation, observations
from bench.stored import Calls


def reached(found: Found, observation: Observation) -> bool:
    """Whether a fact of one of its turns has its person at an end."""
    turns, speaker = set(observation.evidence_turn_ids), observation.speaker or ""
    return any(
        turns & set(claim.turns)
        and any(
            found.things[end].type == "Person" and any(same_name(speaker, name) for name in found.things[end].names)
            for end in (claim.start, claim.end)
            if end in found.things
        )
        for claim in found.claims
    )


def share_of(given: Sequence[Observation], found: Mapping[str, Found]) -> float:
    """Share of the observations that are reached; conversation -> what was found in it."""
    return sum(reached(found[one.conversation_id], one) for one in given) / len(given)


def share_figures(
    name: str, data: DataSet, found: Mapping[str, Found], calls: Calls, seconds: float
) -> dict[str, float | int]:
    """What reading a set gave, and cost.

    Args:
        name: the extractor's, in the registry.
        data: the set; its observations are read here.
        found: conversation -> what was found in it.
        calls: what was asked of the language model.
        seconds: that reading took.
    """
    given, messages, prefix = observations(data.name), data.turns(), f"{name}.{data.name}"
    return {
        f"{prefix}.share": share_of(given, found),
        f"{prefix}.observations": len(given),
        f"{prefix}.facts": sum(claim.believed for one in found.values() for claim in one.claims),
        f"{prefix}.things": sum(len(one.things) for one in found.values()),
        f"{prefix}.seconds": seconds,
        f"{prefix}.messages_per_s": messages / seconds,
        f"{prefix}.model_calls": calls.calls,
        f"{prefix}.calls_per_100_messages": 100 * calls.calls / messages,
        f"{prefix}.tokens_per_message": (calls.tokens_in + calls.tokens_out) / messages,
    }
