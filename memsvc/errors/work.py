"""Errors of background work: jobs, re-readings, sleep and the change of the embedding model."""

from __future__ import annotations

from memsvc.errors.base import MemsvcError


class JobStateError(MemsvcError):
    """The job's state does not allow this."""

    code, status, exit_code = "job_state", 409, 3
    hint = "Failed and cancelled jobs can be retried. Pending jobs can be cancelled."


class RereadingStateError(MemsvcError):
    """The re-reading's state does not allow this."""

    code, status, exit_code = "rereading_state", 409, 3
    hint = "'memsvc reread list' shows re-readings and their states."


class SleepBusyError(MemsvcError):
    """Another process is running this user's sleep tasks."""

    code, status, exit_code, passing = "sleep_busy", 409, 3, True
    hint = "Wait until it ends. 'memsvc sleep --runs' shows its progress."


class SleepUndoError(MemsvcError):
    """This run of sleep cannot be undone."""

    code, status, exit_code = "sleep_undo", 409, 3
    hint = "'memsvc sleep --runs' shows what the run did; 'memsvc changes' what is known since."


class ModelStateError(MemsvcError):
    """The embedding model's state does not allow this."""

    code, status, exit_code = "model_state", 409, 3
    hint = "'memsvc models' shows the models and their states."


class JobFailedError(MemsvcError):
    """A step of a job failed unexpectedly."""

    code, exit_code = "job_failed", 1
    hint = "See the worker's log. 'memsvc jobs retry' tries again."


class JobTimeoutError(JobFailedError):
    """A step of a job took too long and was stopped."""

    code = "job_timeout"
