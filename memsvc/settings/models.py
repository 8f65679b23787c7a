"""Settings of the models that memsvc asks: for vectors, for words, for chats and for the order of what is recalled."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings


def only_http(url: str | None) -> str | None:
    """Return the URL, or None for an empty one.

    Raises:
        ValueError: it does not start with http:// or https://.
    """
    if url and not url.startswith(("http://", "https://")):
        message = "must start with http:// or https://"
        raise ValueError(message)
    return url or None


class Models(BaseSettings):
    """The part of ``memsvc.settings.Settings`` that is about models and their servers."""

    # The embedding model.
    embedding_model: str = Field(
        default="onnx:all-MiniLM-L6-v2",
        max_length=200,
        description="backend:model, or the name of an entry point in memsvc.embedders; empty: recall by words only.",
    )
    embedding_url: str | None = Field(default=None, description="Base URL of an OpenAI-compatible embedding server.")
    embedding_key: SecretStr | None = Field(default=None, description="API key of that server.")
    embedding_timeout_s: float = Field(
        default=30.0, gt=0, description="Longest wait for the embedding server's answer."
    )
    late_interaction: bool = Field(
        default=True, description="Store token vectors for each passage too, and compare the best candidates by them."
    )
    query_embedding_ms: int = Field(default=500, ge=0, description="Longest wait for a query's vector; 0: words only.")

    # The language model; any OpenAI-compatible server.
    llm_url: str = Field(default="https://api.openai.com/v1", description="Base URL of the language model's server.")
    llm_key: SecretStr | None = Field(default=None, description="API key of that server; empty: none is sent.")
    llm_model: str | None = Field(
        default=None, max_length=180, description="Name of the language model; empty: memsvc works without one."
    )
    llm_timeout_s: float = Field(default=60.0, gt=0, le=240, description="Longest wait for one answer.")
    llm_context_tokens: int = Field(
        default=0,
        ge=0,
        le=10_000_000,
        description="Size of the language model's context, questions and answers together; 0: not known.",
    )
    llm_assistants: bool = Field(
        default=False, description="Also read facts in assistants' messages that the person accepted or confirmed."
    )
    llm_reviews_per_night: int = Field(
        default=0,
        ge=0,
        le=100,
        description="Most facts under review that the model judges each night, in one call; 0: none.",
    )
    llm_concurrency: int = Field(default=2, ge=1, le=64, description="Calls that a process makes at the same time.")
    llm_tokens_per_day: int = Field(
        default=0, ge=0, description="Most tokens of all users in one day (UTC); 0: no limit."
    )
    llm_tokens_per_user: int = Field(
        default=0, ge=0, description="Most tokens of one user in one day (UTC); 0: no limit."
    )

    # Drop-in chat: the servers behind POST /v1/chat/completions and others; any with the same API.
    chat_url: str | None = Field(
        default=None, description="Base URL of the chat server; empty: MEMSVC_LLM_URL, if MEMSVC_LLM_MODEL is set."
    )
    chat_key: SecretStr | None = Field(
        default=None, description="API key of the chat server; empty: MEMSVC_LLM_KEY, if MEMSVC_CHAT_URL is empty too."
    )
    chat_model: str | None = Field(
        default=None,
        max_length=180,
        description="Model for requests that name no model, or 'memsvc'; empty: MEMSVC_LLM_MODEL.",
    )
    anthropic_url: str | None = Field(
        default=None,
        description="Base URL of the server with Anthropic's Messages API, such as https://api.anthropic.com/v1.",
    )
    anthropic_key: SecretStr | None = Field(default=None, description="API key of that server, sent as X-Api-Key.")
    anthropic_model: str | None = Field(
        default=None, max_length=180, description="Model for requests to it that name no model, or 'memsvc'."
    )
    chat_timeout_s: float = Field(default=120.0, gt=0, le=3_600, description="Longest silence of the chat server.")
    chat_memory_ms: int = Field(
        default=800, ge=50, le=60_000, description="Longest wait of a chat for memory; then it continues without."
    )
    chat_context_tokens: int = Field(
        default=1_500, ge=50, le=100_000, description="Most tokens of the context that a chat gets."
    )
    chat_mode: Literal["eager", "balanced", "deliberate"] = Field(
        default="balanced", description="How thoroughly a chat's recall searches, and how much the context shows."
    )
    chat_turns: int = Field(
        default=12,
        ge=0,
        le=100,
        description="Latest turns of the conversation that a chat gets if it did not send them.",
    )

    # The reranker.
    reranker: str | None = Field(
        default=None,
        max_length=200,
        description="cross-encoder:name or http:model, for recalls that ask for reranking; empty: none.",
    )
    reranker_url: str | None = Field(default=None, description="Base URL of a server with POST /rerank.")
    reranker_key: SecretStr | None = Field(default=None, description="API key of that server.")
    reranker_ms: int = Field(
        default=1_000, ge=1, description="Longest wait for the reranker; then the order stays as it was."
    )

    @field_validator("embedding_url", "reranker_url", "llm_url", "chat_url", "anthropic_url")
    @classmethod
    def _only_http(cls, value: str | None) -> str | None:
        return only_http(value)

    @field_validator("reranker")
    @classmethod
    def _only_backends(cls, value: str | None) -> str | None:
        backend, _, model = (value or "").partition(":")
        if value and (backend not in {"cross-encoder", "http"} or not model.strip()):
            message = "must be cross-encoder: or http:, and a model's name"
            raise ValueError(message)
        return value or None
