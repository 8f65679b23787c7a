"""The settings; the only package that reads the environment.

Every value comes from a variable ``MEMSVC_<NAME>``, from ``.env`` in the working folder, from a file ``memsvc_<name>``
in the folder ``MEMSVC_SECRETS_DIR`` (as containers receive secrets), or from the default below. Secrets that are not
given are generated once and kept in ``<data_dir>/secrets.json`` (mode 600), so that a single machine works without any
configuration. Several machines that share a database need the same secrets by variable or file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import SettingsConfigDict

from memsvc.errors import ConfigurationError
from memsvc.settings.models import Models, only_http
from memsvc.settings.nights import KINDS, Nights
from memsvc.settings.secrets import passwords_in, read_or_make_secrets
from memsvc.settings.servers import Servers

MIN_SECRET_CHARS = 32
HOST = re.compile(r"[A-Za-z0-9._-]*|\[?[0-9A-Fa-f]*:[0-9A-Fa-f:.]+\]?", re.ASCII)
SECRETS_DIR = "MEMSVC_SECRETS_DIR"
PASSAGE_TOKENS = 240
"""Default of ``passage_tokens``."""


def default_data_dir() -> Path:
    """Return the default of ``data_dir``: /var/lib/memsvc for root, else a folder in the user's data folder."""
    if os.geteuid() == 0:
        return Path("/var/lib/memsvc")
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "memsvc"


class Settings(Models, Nights, Servers):
    """All settings of memsvc; ``docs/configuration.md`` documents them."""

    model_config = SettingsConfigDict(env_prefix="MEMSVC_", env_file=".env", extra="ignore", frozen=True)

    # Storage.
    database_url: SecretStr | None = Field(
        default=None,
        description="postgresql:// URL of a PostgreSQL 18 server. Only 'memsvc db upgrade' uses its login; the service "
        "connects to the same database as memsvc_app. Empty: the embedded server.",
    )
    data_dir: Path = Field(
        default_factory=default_data_dir, description="Folder of the embedded database and the generated secrets."
    )
    page_cache_mb: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description="The embedded server's shared_buffers, in MB; 0: a quarter of the memory, 128 to 2,048.",
    )

    queue_url: SecretStr | None = Field(
        default=None,
        description="redis://, rediss://, amqp:// or amqps:// URL of the broker that delivers jobs to workers; 'memsvc "
        "relay' fills it. Empty: PostgreSQL.",
    )

    # Secrets; generated into <data_dir>/secrets.json when not given.
    identity_secret: SecretStr | None = Field(default=None, description="Signs identity tokens and JWTs; 32+ chars.")
    app_password: SecretStr | None = Field(default=None, description="Password of the login memsvc_app.")
    reader_password: SecretStr | None = Field(default=None, description="Password of the login memsvc_reader.")
    cypher_password: SecretStr | None = Field(default=None, description="Password of the login memsvc_cypher.")
    analyst_password: SecretStr | None = Field(default=None, description="Password of the login memsvc_analyst.")

    # The service.
    host: str = Field(default="127.0.0.1", description="Address that the API listens on.")
    port: int = Field(default=8765, ge=1, le=65535, description="Port that the API listens on.")
    public_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^\s\"/?#]+(/[^\s\"?#]*)?$",
        description="Public address of the API, such as https://memory.example.org. Empty: that of each request.",
    )
    allowed_hosts: str | None = Field(
        default=None,
        description="Additional host names, separated by commas, under which clients may call /mcp and /ws, and whose "
        "web pages may call them.  The names of this machine and of MEMSVC_PUBLIC_URL are always allowed.",
    )
    pool_size: int = Field(default=8, ge=1, le=200, description="Database connections that a process keeps open.")
    pool_timeout_s: float = Field(default=5.0, gt=0, description="Longest wait for a free connection.")
    upgrade_backups: int = Field(
        default=3,
        ge=0,
        le=1_000,
        description="Backups before upgrades of the embedded database that are kept in data_dir/backups; 0: none is "
        "made.",
    )
    drain_s: float = Field(
        default=0.0,
        ge=0,
        le=600,
        description="After SIGTERM, /health answers 503 for so many seconds while requests are still served; 0: stop "
        "at once.",
    )
    recalls_at_once: int = Field(
        default=0, ge=0, le=200, description="Recalls that a process runs at the same time; 0: one per processor."
    )
    statement_timeout_ms: int = Field(default=30_000, ge=100, description="Longest duration of a request's statement.")
    connect_timeout_s: int = Field(default=5, ge=1, description="Longest wait for a database connection.")
    identity_ttl_s: int = Field(default=60, ge=5, le=3600, description="Lifetime of a transaction's identity token.")
    jwt_ttl_s: int = Field(default=900, ge=60, le=86_400, description="Lifetime of a JWT from POST /v1/token.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Lowest level that is logged."
    )
    log_format: Literal["auto", "json", "console"] = Field(default="auto", description="auto: console on a terminal.")

    # Background work.
    worker_threads: int = Field(default=4, ge=1, le=64, description="Jobs that a worker process runs at the same time.")
    keep_jobs_days: int = Field(
        default=30,
        ge=1,
        le=3_650,
        description="How long finished jobs are kept; failed ones are kept six times as long.",
    )
    keep_events_days: int = Field(default=30, ge=1, le=3_650, description="How long events in outbox are kept.")
    keep_recalls_days: int = Field(
        default=30, ge=1, le=3_650, description="How long recalls are kept for feedback; their totals stay."
    )
    keep_audit_days: int = Field(
        default=730,
        ge=30,
        le=36_500,
        description="How long the audit log and the use of keys are kept; erased users and revoked keys stay in it.",
    )
    sleep_after_messages: int = Field(
        default=200,
        ge=0,
        le=10_000,
        description="Sleep begins before its time after so many new messages of a user; 0: never for that.",
    )
    sleep_after_sitting: int = Field(
        default=20,
        ge=0,
        le=10_000,
        description="Sleep begins before its time half an hour after a user's last message, if there were so many new "
        "ones; 0: never for that.",
    )
    sleep_after_importance: int = Field(
        default=150,
        ge=0,
        le=100_000,
        description="Sleep begins before its time when the importance of new messages adds up to this; 0: never for "
        "that.",
    )
    sleep_pause_minutes: int = Field(
        default=60, ge=5, le=1_440, description="Shortest time from one run of sleep to one before its time."
    )
    sleep_seconds: int = Field(
        default=0, ge=0, description="Longest work of each task of sleep in a night, in seconds; 0: no limit."
    )
    sleep_tokens: int = Field(
        default=0, ge=0, description="Most tokens of the language model for each task of sleep in a night; 0: no limit."
    )
    worker_nice: int = Field(
        default=10,
        ge=0,
        le=19,
        description="By how much 'memsvc worker' lowers its priority for processors, so that requests on the same "
        "machine come first; 0: not at all.",
    )
    worker_metrics_port: int = Field(
        default=0, ge=0, le=65535, description="Port on which 'memsvc worker' serves /metrics, on MEMSVC_HOST; 0: none."
    )

    traces_url: str | None = Field(
        default=None,
        description="http:// or https:// URL of an OpenTelemetry collector that accepts OTLP; empty: no traces.",
    )
    traces_share: float = Field(
        default=1.0, ge=0, le=1, description="Share of the traces starting here that are recorded."
    )

    # Cypher.
    cypher: Literal["auto", "on", "off"] = Field(
        default="auto",
        description="Keep a graph for Cypher besides the tables. auto: if the server has Apache AGE; on: required.",
    )
    cypher_pool_size: int = Field(
        default=2, ge=1, le=50, description="Cypher statements that a process runs at the same time."
    )
    cypher_timeout_ms: int = Field(
        default=5_000, ge=100, le=60_000, description="Longest duration of a Cypher statement."
    )

    # Recall.
    record_recalls: bool = Field(
        default=True, description="Record which memories were recalled, for feedback and strength; ids only."
    )

    # Text to facts.
    extractor: str = Field(
        default="auto",
        min_length=1,
        max_length=200,
        description="Extracts facts from messages: auto (llm if MEMSVC_LLM_MODEL is set, else offline), offline, llm, "
        "none, or the name of an entry point in memsvc.extractors.",
    )
    extractor_skips: str | None = Field(
        default=None,
        pattern=KINDS,
        description="Kinds of sources of which no facts are read by themselves, separated by commas.",
    )

    dry_run_chars: int = Field(
        default=50_000, ge=1_000, le=2_000_000, description="Most characters of one dry run of extraction."
    )
    dry_run_s: float = Field(default=60.0, gt=0, le=3_600, description="Longest duration of a dry run of extraction.")

    # Context blocks.
    tokenizer: str = Field(
        default="estimate",
        min_length=1,
        max_length=200,
        description="Counts a context's tokens: estimate, or the name of an entry point in memsvc.tokenizers.",
    )

    # Secrets in text.
    text_policy: str | None = Field(
        default=None,
        pattern=r"^\s*([a-z_]+\s*=\s*(keep|mask|refuse)\s*(,\s*|$))*$",
        description="What happens to secrets in text of all apps: kind=mask or kind=refuse, separated by commas, such "
        "as card=mask,password=refuse; all stands for all kinds. Empty: text is stored as it comes.",
    )

    # Limits on requests.
    max_text_chars: int = Field(default=2_000_000, ge=1_000, description="Most characters of one message.")
    max_batch: int = Field(default=1_000, ge=1, le=10_000, description="Most messages in one request.")
    max_query_chars: int = Field(default=100_000, ge=100, description="Most characters of a recall query.")
    max_body_bytes: int = Field(default=32_000_000, ge=10_000, description="Largest request body.")
    max_upload_bytes: int = Field(
        default=64 * 1024 * 1024,
        ge=10_000,
        le=1_000_000_000,
        description="Most bytes of all files in one request to POST /v1/documents, or of a fetched address.",
    )
    ingest_urls: bool = Field(
        default=False, description="Let clients name public http and https addresses that the service fetches."
    )
    feed_roots: str | None = Field(
        default=None,
        description="Folders, separated by colons, in which clients of the API may add feeds of folders and calendar "
        "files. Empty: none; the command line may name any.",
    )
    turn_contents: bool = Field(
        default=True,
        description="Keep what agents' calls read from documents and wrote to them, as docs/turns.md says; False: only "
        "digests and sizes.",
    )
    body_timeout_s: float = Field(default=60.0, gt=0, le=3_600, description="Longest wait for a request's body.")
    live_connections: int = Field(default=1_000, ge=1, description="Most live connections of a process.")
    live_per_user: int = Field(default=20, ge=1, description="Most live connections of one user in a process.")
    max_document_bytes: int = Field(default=100_000_000, ge=10_000, description="Largest document.")
    max_document_pages: int = Field(
        default=10_000, ge=1, description="Most pages, slides, sheets or chapters of a document."
    )
    max_document_memory_bytes: int = Field(
        default=1 << 30, ge=1 << 28, description="Address space of a process that reads documents."
    )
    document_timeout_s: float = Field(
        default=60.0, gt=0, le=3_600, description="Longest time for reading a document; then its process is killed."
    )
    chunk_tokens: int = Field(
        default=128, ge=32, le=8_000, description="Estimated tokens of a chunk of a document.",
    )  # fmt: skip
    passage_tokens: int = Field(
        default=PASSAGE_TOKENS,
        ge=32,
        le=8_000,
        description="Most tokens of a passage; longer messages and archived blocks are split.",
    )

    @field_validator("database_url")
    @classmethod
    def _only_postgresql(cls, value: SecretStr | None) -> SecretStr | None:
        if value is None or not value.get_secret_value():
            return None
        if not value.get_secret_value().startswith(("postgresql://", "postgres://")):
            message = "must start with postgresql://"
            raise ValueError(message)
        return value

    @field_validator("queue_url")
    @classmethod
    def _only_redis_and_rabbitmq(cls, value: SecretStr | None) -> SecretStr | None:
        if value is None or not value.get_secret_value():
            return None
        if not value.get_secret_value().startswith(("redis://", "rediss://", "amqp://", "amqps://")):
            message = "must start with redis://, rediss://, amqp:// or amqps://"
            raise ValueError(message)
        return value

    @field_validator("traces_url")
    @classmethod
    def _only_traces_over_http(cls, value: str | None) -> str | None:
        return only_http(value)

    @field_validator("allowed_hosts")
    @classmethod
    def _only_hosts(cls, value: str | None) -> str | None:
        if not all(HOST.fullmatch(name.strip()) for name in (value or "").split(",")):
            message = "must be names of hosts without scheme and port, separated by commas"
            raise ValueError(message)
        return value

    @field_validator("feed_roots")
    @classmethod
    def _only_absolute(cls, value: str | None) -> str | None:
        if not all(Path(one).is_absolute() for one in (value or "").split(os.pathsep) if one):
            message = "must be absolute paths"
            raise ValueError(message)
        return value

    @field_validator("data_dir")
    @classmethod
    def _expand_home(cls, value: Path) -> Path:
        return value.expanduser()

    @field_validator("identity_secret")
    @classmethod
    def _long_enough(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and len(value.get_secret_value()) < MIN_SECRET_CHARS:
            message = f"must have at least {MIN_SECRET_CHARS} characters"
            raise ValueError(message)
        return value

    @classmethod
    def load(cls) -> Self:
        """Read the settings from the environment, ``.env`` and files of secrets.

        Raises:
            ConfigurationError: a value is not valid; the error names the variable and never shows its value.
        """
        folder = os.environ.get(SECRETS_DIR) or None
        if folder is not None and not (Path(folder).is_dir() and os.access(folder, os.R_OK | os.X_OK)):
            raise ConfigurationError(f"{SECRETS_DIR}: the folder {folder} does not exist or cannot be read.")
        try:
            return cls(_secrets_dir=folder)  # type: ignore[call-arg]
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            name = "MEMSVC_" + "_".join(str(part) for part in first["loc"]).upper()
            raise ConfigurationError(f"{name}: {first['msg']}") from None

    @property
    def allowed_hosts_list(self) -> list[str]:
        """``allowed_hosts`` as a list, with IPv6 addresses without brackets."""
        return [name.strip().strip("[]") for name in (self.allowed_hosts or "").split(",") if name.strip()]

    def kinds_of(self, name: Literal["extractor_skips", "summaries_skip", "forgetting_skips"]) -> list[str]:
        """Return the kinds of sources that a setting names."""
        given: str | None = getattr(self, name)
        return [kind.strip() for kind in (given or "").split(",") if kind.strip()]

    @property
    def feed_roots_list(self) -> list[Path]:
        """``feed_roots`` as paths."""
        return [Path(one) for one in (self.feed_roots or "").split(os.pathsep) if one]

    @property
    def embedded(self) -> bool:
        """True when memsvc runs its own server in ``data_dir``."""
        return self.database_url is None

    @property
    def embedded_options(self) -> dict[str, str]:
        """Additional server settings with which the embedded server is started."""
        return {"shared_buffers": f"{self.page_cache_mb}MB"} if self.page_cache_mb else {}

    @cached_property
    def _stored_secrets(self) -> dict[str, str]:
        return read_or_make_secrets(self.data_dir / "secrets.json")

    def has_secret(self, name: str) -> bool:
        """Return whether one of ``SECRET_NAMES`` is given or stored, without generating it."""
        return getattr(self, name) is not None or (self.data_dir / "secrets.json").exists()

    def secret(self, name: str) -> str:
        """Return one of ``SECRET_NAMES``: the given value, else the one stored in the data folder."""
        given: SecretStr | None = getattr(self, name)
        return given.get_secret_value() if given is not None else self._stored_secrets[name]

    def secrets_in_use(self) -> frozenset[str]:
        """Return all given and stored secrets, and the passwords in URLs; no answer may contain one of them."""
        values = [getattr(self, name) for name in type(self).model_fields]
        given = [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
        addresses = [text for text in (*given, *(one for one in values if isinstance(one, str))) if "://" in text]
        kept: Mapping[str, str] = {}
        with suppress(ConfigurationError):
            kept = self._stored_secrets if (self.data_dir / "secrets.json").exists() else {}
        passwords = [password for address in addresses for password in passwords_in(address)]
        return frozenset(secret.strip() for secret in (*given, *kept.values(), *passwords)) - {""}


@lru_cache(maxsize=1)
def settings() -> Settings:
    """Return the settings of this process."""
    return Settings.load()
