"""The calls about the archive of forgetting, as in ``memsvc.client.calls``."""

from __future__ import annotations

from collections.abc import Iterable

from memsvc.client.calls import Call
from memsvc.db.paging import Page
from memsvc.sleep.archive import Archive, Archived, Restored


def archive() -> Call[Archive]:
    """Return how much is archived."""
    return Call("GET", "/v1/archive", Archive)


def list_archived(page: int) -> Call[Page[Archived]]:
    """List what is archived."""
    return Call("GET", "/v1/archive/memories", Page[Archived], query={"limit": page})


def switch_forgetting(*, on: bool | None) -> Call[Archive]:
    """Switch forgetting on or off."""
    return Call("PUT", "/v1/archive", Archive, {"forgetting": on})


def restore_memories(memory_ids: Iterable[object]) -> Call[Restored]:
    """Take memories out of the archive."""
    return Call("POST", "/v1/archive/restore", Restored, {"memory_ids": [str(one) for one in memory_ids]})
