"""The client: a user's memory in Python, over HTTP or within this process. The guide is docs/client.md."""

from __future__ import annotations

from memsvc.client.asynchronous import AsyncMemory
from memsvc.client.errors import ClientError, RefusedError, UnavailableError
from memsvc.client.memory import Memory
from memsvc.client.wire import Retries
from memsvc.client.wrapping import wrap

__all__ = ["AsyncMemory", "ClientError", "Memory", "RefusedError", "Retries", "UnavailableError", "wrap"]
