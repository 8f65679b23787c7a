"""Settings of sleep mode: what a night does, and what it leaves alone."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings

KINDS = r"^[\w-]*( *, *[\w-]+)*$"
"""Names of kinds of sources, with commas between them: ``whatsapp,mail``."""


class Nights(BaseSettings):
    """The part of ``memsvc.settings.Settings`` that is about nights."""

    forgetting: bool = Field(
        default=False,
        description="Archive what nobody recalls, each night, for users who have not chosen themselves.",
    )
    forgetting_skips: str | None = Field(
        default=None,
        pattern=KINDS,
        description="Kinds of sources of which nothing is archived, separated by commas; also 'turns' and 'facts'.",
    )
    forgetting_threshold: float = Field(
        default=0.05, ge=0, le=1, description="What is retained less is archived (docs/sleep.md)."
    )
    forgetting_lambda: float = Field(
        default=0.0005, ge=0, le=1, description="How fast retention falls with each day that a memory is idle."
    )
    forgetting_half_life_days: float = Field(
        default=1_461,
        ge=1,
        le=36_500,
        description="Days after which what was never recalled has half its strength; each recall adds as many.",
    )
    forgetting_silent_days: int = Field(
        default=1_096,
        ge=1,
        le=36_500,
        description="Days without a message and a recall after which a whole conversation is archived.",
    )
    versions_kept: int = Field(
        default=0,
        ge=0,
        le=100_000,
        description="How many of its newest versions a document keeps; sleep mode deletes older ones to which no turn "
        "of an agent refers. 0: all stay.",
    )
    reread_messages: int = Field(
        default=6_000,
        ge=0,
        le=10_000_000,
        description="Most messages of a user that a new version of an extractor reads again in one night; 0: none.",
    )

    summaries: Literal["off", "words", "model"] = Field(
        default="words",
        description="Whether sleep mode writes summaries, in people's own words or by the language model.",
    )
    summaries_skip: str | None = Field(
        default=None, pattern=KINDS, description="Kinds of sources that summaries leave out, separated by commas."
    )

    concepts: Literal["off", "words", "model"] = Field(
        default="words",
        description="Whether sleep mode groups what is of one kind, and what hangs together; model: also by the "
        "language model.",
    )

    reflection: Literal["off", "words", "model"] = Field(
        default="words",
        description="Whether sleep mode reflects: by words and counts alone, or by the language model, too.",
    )
    propose_links: bool = Field(
        default=False, description="Whether sleep mode proposes links between people and things; most are wrong."
    )
