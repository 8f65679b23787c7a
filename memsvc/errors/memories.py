"""Errors of recalls and contexts, and of the memories and blocks that they show."""

from __future__ import annotations

from memsvc.errors.base import MemsvcError
from memsvc.errors.requests import InvalidRequestError, NotFoundError


class TokenizerUnknownError(InvalidRequestError):
    """No tokenizer has this name."""

    code = "tokenizer_unknown"
    hint = "Leave it out to use an estimate, or install the package that provides it."


class BudgetTooSmallError(InvalidRequestError):
    """Not even an empty context block fits the budget."""

    code = "budget_too_small"
    hint = "Raise the budget. The default is 1,500 tokens."


class RerankerMissingError(InvalidRequestError):
    """No reranker is configured."""

    code = "reranker_missing"
    hint = "Leave rerank out, or set MEMSVC_RERANKER; see docs/configuration.md."


class NotRecalledError(InvalidRequestError):
    """The memory was not in that recall."""

    code = "not_recalled"
    hint = "Send memory_id values of the memories in that answer. Nothing was counted."


class ClaimIsQuestionError(InvalidRequestError):
    """The claim is a question."""

    code = "claim_is_question"
    hint = "Send a statement, such as 'Ines lives in Porto'. POST /v1/answer and 'memsvc ask' answer questions."


class PassageUnknownError(NotFoundError):
    """No passage has this id."""

    code = "passage_unknown"


class MemoryUnknownError(NotFoundError):
    """No memory has this id."""

    code = "memory_unknown"
    hint = "Give an id as a context or a recall shows it (m:…, f:…, n:… or b:…), or a full id."


class MemoryPausedError(MemsvcError):
    """The user's memory is paused: no text is stored."""

    code, status, exit_code = "memory_paused", 409, 3
    hint = "Resume it first: DELETE /v1/me/pause, or 'memsvc user resume'."


class MemoryAmbiguousError(MemsvcError):
    """Several memories have this short id."""

    code, status, exit_code = "memory_ambiguous", 409, 3
    hint = "Give one of the full ids."


class BlockUnknownError(NotFoundError):
    """The profile has no block with this name."""

    code = "block_unknown"
    hint = "'memsvc profile show' and GET /v1/profile list the blocks. Also name the block's conversation or node."


class ProfileConflictError(MemsvcError):
    """The block is not at the expected version."""

    code, status, exit_code = "profile_conflict", 409, 3
    hint = "Read the block again and apply your change to its current text."


class ProfileFullError(MemsvcError):
    """The profile has no room for this text."""

    code, status, exit_code = "profile_full", 409, 3
    hint = "Shorten a block, demote one to archival, or forget one."


class RecallUnknownError(NotFoundError):
    """No recall has this id."""

    code = "recall_unknown"
    hint = "Recalls are recorded only if MEMSVC_RECORD_RECALLS is on, and kept for MEMSVC_KEEP_RECALLS_DAYS."
