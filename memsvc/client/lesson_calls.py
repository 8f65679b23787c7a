"""The calls about lessons, plans, reflections and proposals, as in ``memsvc.client.calls``."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Literal
from uuid import UUID

from memsvc.client import options as o
from memsvc.client.calls import Call
from memsvc.db.paging import Page
from memsvc.lessons.critiques import Critique, State
from memsvc.lessons.plans import Plan, PlanState
from memsvc.lessons.reflections import Reflection, ReflectionKind
from memsvc.sleep.proposals import Decision, Kind, Proposed
from memsvc.sleep.proposals import State as ProposalState


def critique(question: str, correction: str, options: o.CritiqueOptions) -> Call[Critique]:
    """Correct an answer, once however often it is sent."""
    body = {"question": question, "correction": correction, "id": secrets.token_hex(16), **options}
    return Call("POST", "/v1/critique", Critique, body, repeatable=True)


def lessons(state: State | None, limit: int) -> Call[Page[Critique]]:
    """List critiques, newest first."""
    query = {"state": state, "limit": limit}
    return Call("GET", "/v1/lessons", Page[Critique], query=query, repeatable=True)


def decide_lesson(critique_id: UUID, does: Literal["accept", "reject"], text: str | None) -> Call[Critique]:
    """Make a lesson an instruction, or reject it."""
    body = {"text": text} if does == "accept" else None
    return Call("POST", f"/v1/lessons/{critique_id}/{does}", Critique, body)


def plan(task: str, steps: Sequence[str], id_: str | None) -> Call[Plan]:
    """Store a plan, once however often it is sent."""
    body = {"task": task, "steps": list(steps), "id": id_ or secrets.token_hex(16)}
    return Call("POST", "/v1/plans", Plan, body, repeatable=True)


def plans(state: PlanState | None, limit: int) -> Call[Page[Plan]]:
    """List plans, newest first."""
    return Call("GET", "/v1/plans", Page[Plan], query={"state": state, "limit": limit}, repeatable=True)


def get_plan(plan_id: UUID) -> Call[Plan]:
    """Read a plan with its revisions."""
    return Call("GET", f"/v1/plans/{plan_id}", Plan, repeatable=True)


def change_plan(plan_id: UUID, changes: o.PlanChanges) -> Call[Plan]:
    """Note results, or revise a plan."""
    return Call("PATCH", f"/v1/plans/{plan_id}", Plan, changes, repeatable=True)


def reflections(kind: ReflectionKind | None, limit: int) -> Call[Page[Reflection]]:
    """List what follows from several memories."""
    return Call("GET", "/v1/reflections", Page[Reflection], query={"kind": kind, "limit": limit}, repeatable=True)


def proposals(kind: Kind | None, status: ProposalState, limit: int) -> Call[Page[Proposed]]:
    """List what sleep proposes, the most likely first."""
    query = {"kind": kind, "status": status, "limit": limit}
    return Call("GET", "/v1/proposals", Page[Proposed], query=query, repeatable=True)


def decide_proposal(proposal_id: UUID, does: Literal["accept", "reject"]) -> Call[Decision]:
    """Do what is proposed, or reject it; repeating it changes nothing."""
    return Call("POST", f"/v1/proposals/{proposal_id}/{does}", Decision, repeatable=True)
