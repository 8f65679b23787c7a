"""Settings of the servers beside the database itself: a queue's server, a pooler, streaming replicas, and cells."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings


class Servers(BaseSettings):
    """The part of ``memsvc.settings.Settings`` that is about the queue's server, poolers, replicas and cells."""

    queue_ca_file: Path | None = Field(
        default=None,
        description="PEM file of authorities that may sign the certificate of the server that MEMSVC_QUEUE_URL names, "
        "beside the system's.",
    )
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

    move_patience_s: float = Field(
        default=10.0,
        ge=0,
        le=300,
        description="How long a request of a user who is moving to another cell waits for the end of the move.",
    )
    cell_urls: SecretStr | None = Field(
        default=None,
        description="name=postgresql:// URLs of cells with an administrator's login, separated by spaces: for 'memsvc "
        "cells' and 'memsvc user move'. A cell that is not named here has the login of MEMSVC_DATABASE_URL.",
    )
    home_url: SecretStr | None = Field(
        default=None,
        description="postgresql:// URL of the home's database, for workers whose MEMSVC_DATABASE_URL is another "
        "cell's: they count there what keys store. Its logins are memsvc's own.",
    )

    @property
    def cells(self) -> dict[str, str]:
        """The administrator's URLs of cells, by the cells' names."""
        pairs = self.cell_urls.get_secret_value().split() if self.cell_urls else []
        return dict(pair.split("=", 1) for pair in pairs)

    @property
    def replicas(self) -> list[str]:
        """The replicas' URLs."""
        return self.replica_urls.get_secret_value().split() if self.replica_urls else []

    @field_validator("cell_urls")
    @classmethod
    def _only_names_and_urls(cls, value: SecretStr | None) -> SecretStr | None:
        pairs = value.get_secret_value().split() if value else []
        if not pairs:
            return None
        if not all(re.match(r"[a-z][a-z0-9-]*=postgres(ql)?://", pair) for pair in pairs):
            message = "must be name=postgresql://… for each cell"
            raise ValueError(message)
        return value

    @field_validator("pooler_url", "replica_urls", "home_url")
    @classmethod
    def _only_urls_of_postgresql(cls, value: SecretStr | None) -> SecretStr | None:
        urls = value.get_secret_value().split() if value else []
        if not urls:
            return None
        if not all(url.startswith(("postgresql://", "postgres://")) for url in urls):
            message = "must start with postgresql://"
            raise ValueError(message)
        return value
