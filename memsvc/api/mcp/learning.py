"""Corrections and plans by the tool create_note: kinds of what it stores, in a model's words."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from uuid import UUID

from memsvc.access.users import Owner
from memsvc.api.mcp.asker import Asker
from memsvc.lessons.critiques import NewCritique, add_critique
from memsvc.lessons.plans import PlanChange, PlanState, Step, StepState, add_plan, change_plan

STEP = re.compile(r"\s*(?:(?:[-*•]|\d+[.)])\s+)?(?:\[(?P<mark>.?)\]\s*)?(?P<text>.+?)\s*")
OUTCOME = re.compile(r"\s*(?:outcome|result):\s*(?P<text>.+?)\s*", re.IGNORECASE)
MARKS: dict[str, StepState] = {"x": "done", "X": "done", "-": "failed", "~": "skipped"}


async def correct(asker: Asker, owner: Owner, question: str, right: str, sources: Sequence[str]) -> UUID:
    """Store what is right for a question; the first source says so."""
    given = NewCritique(question=question, correction=right, source=sources[0] if sources else None)
    return (await add_critique(asker.db, owner, given, asserted_by=asker.asserted_by)).critique_id


async def plan(asker: Asker, owner: Owner, task: str, text: str) -> UUID:
    """Store a plan, or revise the one that this door has stored for the task."""
    steps, outcome = read_steps(text)
    known = f"mcp:{hashlib.sha256(' '.join(task.split()).encode()).hexdigest()}"
    by = asker.asserted_by
    stored = await add_plan(asker.db, owner, task, [one.text for one in steps], id=known, asserted_by=by)
    change = PlanChange(steps=steps, state=_state(steps), outcome=outcome)
    await change_plan(asker.db, owner, stored.plan_id, change, asserted_by=by)
    return stored.plan_id


def read_steps(text: str) -> tuple[list[Step], str]:
    """The steps of a text, one a line, and what came of the whole.

    "[x] Call the bank: they agreed" is done, with what came of it; "[-]" failed; "[~]" was skipped.
    """
    steps, outcome = [], ""
    for line in text.splitlines():
        if (whole := OUTCOME.fullmatch(line)) is not None:
            outcome = whole["text"]
        elif (found := STEP.fullmatch(line)) is not None:
            state = MARKS.get(found["mark"] or "", "open")
            what, colon, came = found["text"].partition(": ") if state != "open" else (found["text"], "", "")
            steps.append(Step(text=what, state=state, outcome=came if colon else ""))
    return steps, outcome


def _state(steps: Sequence[Step]) -> PlanState:
    """Of the whole: done when all steps are, failed when one failed and none is left."""
    if not steps or any(one.state == "open" for one in steps):
        return "open"
    return "failed" if any(one.state == "failed" for one in steps) else "done"
