"""A small graph, written through the doors: who lives where, and since when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

NEVER = "01a200c9-0000-7000-8000-00000000dead"


def refused(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The problem that an answer must be."""
    problem: dict[str, Any] = answer.json()
    assert (answer.status_code, problem["code"]) == (status, code), problem
    assert problem["detail"]
    assert problem["hint"]
    return problem


def good(answer: httpx.Response) -> Any:
    """The body of an answer that must be good."""
    assert answer.status_code in {200, 201}, answer.text
    return answer.json()


async def batch(client: httpx.AsyncClient, *operations: dict[str, Any]) -> dict[str, Any]:
    """Write operations; the change."""
    written: dict[str, Any] = good(await client.post("/v1/changes", json={"operations": operations}))
    return written


@dataclass(frozen=True, slots=True)
class Homes:
    """Ines lived in Porto, and lives in Lyon since 2026-03-01; Rui knows her."""

    ines: str
    rui: str
    porto: str
    lyon: str
    porto_edge: str
    lyon_edge: str
    passage: str
    changes: list[str]
    times: list[str]


async def homes(client: httpx.AsyncClient) -> Homes:
    """Write it."""
    text = "Ines said: I have moved to Lyon."
    answer = await client.post("/v1/messages", json={"conversation": "moves", "id": "m1", "text": text})
    passage = answer.json()["messages"][0]["passage_id"]
    first = await batch(
        client,
        {"op": "node", "type": "Person", "label": "Ines Albrecht", "description": "A carpenter."},
        {"op": "node", "type": "Person", "label": "Rui Tavares"},
        {"op": "node", "type": "Place", "label": "Porto"},
        {"op": "node", "type": "Place", "label": "Lyon"},
        {"op": "alias", "node_id": 0, "alias": "Nessa"},
        {"op": "edge", "from_node": 0, "type": "LIVES_IN", "to_node": 2, "fact": "Ines lives in Porto."},
        {
            "op": "edge", "from_node": 1, "type": "KNOWS", "to_node": 0, "fact": "Rui knows Ines.",
            "valid_from": "2010-01-01T00:00:00Z",
        },
    )  # fmt: skip
    ines, rui, porto, lyon = (result["node_id"] for result in first["results"][:4])
    second = await batch(
        client,
        {
            "op": "edge", "from_node": ines, "type": "LIVES_IN", "to_node": lyon, "fact": "Ines lives in Lyon.",
            "valid_from": "2026-03-01T00:00:00Z", "confidence": 0.9,
            "evidence": [{"passage_id": passage, "span": [11, 31]}],
        },
    )  # fmt: skip
    return Homes(
        ines=ines, rui=rui, porto=porto, lyon=lyon, porto_edge=first["results"][5]["edge_id"],
        lyon_edge=second["results"][0]["edge_id"], passage=passage,
        changes=[first["change_id"], second["change_id"]], times=[first["recorded_at"], second["recorded_at"]],
    )  # fmt: skip
