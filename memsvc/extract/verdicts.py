"""A language model judges facts that wait in review, many in one call: for the task ``reviews`` of sleep mode.

Its yes counts only with words that stand in the message. Facts of which it is unsure go on waiting for a person and are
not asked about again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import LlmContextError, LlmSlowError
from memsvc.extract.prompts import verify as prompt
from memsvc.extract.quotes import find_quote
from memsvc.extract.review import Review
from memsvc.llm.answers import Task, ask
from memsvc.llm.calls import Account
from memsvc.llm.chat import ChatClient
from memsvc.queue.execution import STEP_LIMIT_S
from memsvc.settings import Settings
from memsvc.text.tokens import estimate_tokens

UNSURE = "unsure"
"""The reason of a fact that the model could not judge, and of one that it confirmed without words that stand there."""
WHOLE_S = 0.7 * STEP_LIMIT_S
"""With a second attempt and waiting for other calls; the job's step has other tasks before."""
TOKENS_A_FACT = 60
"""Of an answer, at most."""


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of a fact."""

    review_id: UUID
    action: Literal["accept", "refuse", "wait"]
    reason: str
    """Why it is refused or waits, a code of ``memsvc.extract.validation``; empty: it is accepted."""
    sentence: str


async def judge(db: Database, owner: Owner, reviews: Sequence[Review], settings: Settings) -> list[Judgement]:
    """Ask about facts in one call; where they exceed the model's context, about as many of the first as fit.

    Raises:
        LlmError: see ``memsvc.llm.answers.ask``; nothing was decided.
    """
    asked = list(reviews)
    task = _task(asked)
    while settings.llm_context_tokens and _size(asked, task) > settings.llm_context_tokens:
        if len(asked) == 1:
            raise LlmContextError(
                f"A fact needs a context of about {_size(asked, task):,} tokens, and MEMSVC_LLM_CONTEXT_TOKENS is "
                f"{settings.llm_context_tokens:,}.",
                needed=_size(asked, task), context=settings.llm_context_tokens,
            )  # fmt: skip
        asked = asked[: len(asked) // 2]
        task = _task(asked)
    try:
        async with asyncio.timeout(WHOLE_S):
            judged = (await ask(ChatClient(settings), task, Account(db, owner.user_id, settings))).value
    except TimeoutError as error:
        raise LlmSlowError(f"The language model took longer than {WHOLE_S:g} s.") from error
    return [_judgement(review, judged.get(number)) for number, review in enumerate(asked)]


def judge_name(settings: Settings) -> str:
    """Who is said to have decided."""
    return f"verifier:{settings.llm_model}/{prompt.VERSION}"


def _task(reviews: Sequence[Review]) -> Task[dict[int, prompt.Judged]]:
    doubted = [
        prompt.Doubted(
            sentence=one.proposal.sentence, subject=one.proposal.subject.name, type=one.proposal.type,
            object=one.proposal.object.name, speaker=one.speaker, said_at=one.said_at, text=one.text, span=one.span,
        )
        for one in reviews
    ]  # fmt: skip
    return Task(
        name=prompt.TASK, version=prompt.VERSION, messages=prompt.messages(doubted), schema=prompt.schema(), read=_read
    )


def _size(reviews: Sequence[Review], task: Task[Any]) -> int:
    """Estimated tokens of a question and of its answer."""
    asked = sum(estimate_tokens(message.content) for message in task.messages)
    return asked + estimate_tokens(msgspec.json.encode(task.schema).decode()) + TOKENS_A_FACT * len(reviews)


def _read(found: dict[str, Any]) -> dict[int, prompt.Judged]:
    """The judgements by number; a fact that is judged twice, or in no usable form, is not judged."""
    judged: dict[int, prompt.Judged | None] = {}
    for item in msgspec.convert(found, prompt.Answer).facts:
        try:
            one = msgspec.convert(item, prompt.Judged)
        except msgspec.ValidationError:
            continue
        judged[one.number] = None if one.number in judged else one
    return {number: one for number, one in judged.items() if one is not None}


def _judgement(review: Review, judged: prompt.Judged | None) -> Judgement:
    action: Literal["accept", "refuse", "wait"] = "wait"
    reason = UNSURE
    if judged is not None and judged.verdict == "yes" and find_quote(review.text, judged.quote) is not None:
        action, reason = "accept", ""
    elif judged is not None and judged.verdict == "no" and judged.why is not None:
        action, reason = "refuse", judged.why
    return Judgement(review_id=review.review_id, action=action, reason=reason, sentence=review.proposal.sentence)
