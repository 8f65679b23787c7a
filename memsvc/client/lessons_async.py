"""The part of ``AsyncMemory`` about lessons, plans, reflections and proposals."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Unpack
from uuid import UUID

from memsvc.client import lesson_calls as calls
from memsvc.client import options as o
from memsvc.client.connection_async import AsyncConnection
from memsvc.lessons.critiques import Critique, State
from memsvc.lessons.plans import Plan, PlanState
from memsvc.lessons.reflections import Reflection, ReflectionKind
from memsvc.sleep.proposals import Decision, Kind, Proposed
from memsvc.sleep.proposals import State as ProposalState


class AsyncLessons(AsyncConnection):
    """What an assistant learns from mistakes, work and a look back."""

    async def critique(self, question: str, correction: str, **options: Unpack[o.CritiqueOptions]) -> Critique:
        """Correct an answer. Sent again with the same ``id`` and content, nothing is written."""
        return await self.send(calls.critique(question, correction, options))

    def lessons(self, *, state: State | None = None, page: int = 50) -> AsyncIterator[Critique]:
        """Yield critiques with their lessons, newest first; ``state="proposed"``: those that wait for a person."""
        return self.pages(calls.lessons(state, page))

    async def accept_lesson(self, critique_id: UUID, *, text: str | None = None) -> Critique:
        """Make a lesson an instruction, in other words than proposed where ``text`` is given."""
        return await self.send(calls.decide_lesson(critique_id, "accept", text))

    async def reject_lesson(self, critique_id: UUID) -> Critique:
        """Reject a lesson; the correction stays."""
        return await self.send(calls.decide_lesson(critique_id, "reject", None))

    async def plan(self, task: str, steps: Sequence[str] = (), *, id: str | None = None) -> Plan:  # noqa: A002
        """Store a plan. Sent again with the same ``id``, the stored plan is returned."""
        return await self.send(calls.plan(task, steps, id))

    def plans(self, *, state: PlanState | None = None, page: int = 50) -> AsyncIterator[Plan]:
        """Yield plans without their revisions, newest first."""
        return self.pages(calls.plans(state, page))

    async def get_plan(self, plan_id: UUID) -> Plan:
        """Read a plan with its revisions."""
        return await self.send(calls.get_plan(plan_id))

    async def change_plan(self, plan_id: UUID, **changes: Unpack[o.PlanChanges]) -> Plan:
        """Note what came of steps or of the whole, or replace the steps."""
        return await self.send(calls.change_plan(plan_id, changes))

    def reflections(self, *, kind: ReflectionKind | None = None, page: int = 50) -> AsyncIterator[Reflection]:
        """Yield what follows from several memories, newest first: habits, changed minds, open loops, insights."""
        return self.pages(calls.reflections(kind, page))

    def proposals(
        self, *, kind: Kind | None = None, status: ProposalState = "open", page: int = 50
    ) -> AsyncIterator[Proposed]:
        """Yield what sleep proposes and a person decides, the most likely first."""
        return self.pages(calls.proposals(kind, status, page))

    async def accept_proposal(self, proposal_id: UUID) -> Decision:
        """Do what is proposed. Repeating it changes nothing."""
        return await self.send(calls.decide_proposal(proposal_id, "accept"))

    async def reject_proposal(self, proposal_id: UUID) -> Decision:
        """Reject a proposal: it is never made again."""
        return await self.send(calls.decide_proposal(proposal_id, "reject"))
