"""Verifying claims against memory."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import Controller, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg

from memsvc import observe
from memsvc.api.callers import ASKS, READER, Caller
from memsvc.api.problems import documented
from memsvc.chat.verifying import MOST_CHARS, Verified, When, verify
from memsvc.sources.moments import read_known_at, read_moment


class ClaimIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A claim to verify."""

    claim: Annotated[str, msgspec.Meta(min_length=1, max_length=MOST_CHARS)]
    """One statement. "I" is the user."""
    as_of: str | None = None
    """Whether it was true at this time (ISO 8601; without an offset in the user's time zone). Left out: now."""
    known_at: str | None = None
    """Only by what was recorded by this time (ISO 8601). Left out: now."""


class VerifyController(Controller):
    """Verification."""

    tags = ("chat",)
    opt = ASKS
    dependencies = READER

    @post(
        "/verify",
        status_code=200,
        operation_id="verifyClaim",
        summary="Verify a claim",
        description="Returns whether memory supports a claim, contradicts it, or does not know, with the memories for "
        "and against it. No language model is asked. The claim is compared with known facts (a fact that holds "
        "supports it; a fact that has ended, or another value where only one can hold, contradicts it) and with "
        "sentences of messages that say or deny it in its own words. In doubt the verdict is unknown, and `related` "
        "lists messages about the same names. A question is refused (claim_is_question).",
        response_description="The verdict and its evidence.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
    )
    async def verify(
        self,
        data: Annotated[
            ClaimIn,
            BodyKwarg(
                examples=[
                    Example(value={"claim": "Ines lives in Porto."}),
                    Example(value={"claim": "Ines lives in Lisbon.", "as_of": "2025-06-01"}),
                ]
            ),
        ],
        reader: NamedDependency[Caller],
    ) -> Verified:
        """Verify it."""
        when = When(
            as_of=read_moment(data.as_of, reader.owner, "as_of"), known_at=read_known_at(data.known_at, reader.owner)
        )
        with observe.RECALL_SECONDS.labels(door="verify").time():
            return await verify(
                reader.db,
                reader.owner,
                data.claim,
                reader.settings,
                extractors=reader.extractors,
                embedder=reader.embedder,
                when=when,
            )
