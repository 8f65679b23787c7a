"""Settings of the servers beside the database itself: a pooler before it, and its streaming replicas."""

from __future__ import annotations

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings


class Servers(BaseSettings):
    """The part of ``memsvc.settings.Settings`` that is about poolers and replicas."""

    pooler_url: SecretStr | None = Field(
        default=None,
        description="postgresql:// URL of the same database through a pooler in transaction mode, such as PgBouncer. "
        "Transactions go through it; listening and locks that outlive a transaction use MEMSVC_DATABASE_URL.",
    )
    pooler_prepares: bool = Field(
        default=False, description="The pooler keeps prepared statements, as PgBouncer does from 1.21 on."
    )
    replica_urls: SecretStr | None = Field(
        default=None,
        description="postgresql:// URLs of streaming replicas of the same database, separated by spaces. Recall, "
        "contexts and walks through the graph read from them.",
    )
    replica_lag_s: float = Field(
        default=5.0,
        ge=0.1,
        le=3_600,
        description="A replica that may be more seconds than this behind the database serves no reads.",
    )

    @property
    def replicas(self) -> list[str]:
        """The replicas' URLs."""
        return self.replica_urls.get_secret_value().split() if self.replica_urls else []

    @field_validator("pooler_url", "replica_urls")
    @classmethod
    def _only_urls_of_postgresql(cls, value: SecretStr | None) -> SecretStr | None:
        urls = value.get_secret_value().split() if value else []
        if not urls:
            return None
        if not all(url.startswith(("postgresql://", "postgres://")) for url in urls):
            message = "must start with postgresql://"
            raise ValueError(message)
        return value
