"""Which messages of JSON-RPC can be answered: looked at before the SDK sees them, over HTTP and standard input alike.

The SDK takes whatever has a method and no proper id for a notification, and answers nothing. Whoever sent a tools/call
that way would wait for an answer that never comes.
"""

from __future__ import annotations

import json
from typing import Any

import mcp_types as mcp
from pydantic import ValidationError

from memsvc.api.mcp.tool import refusal
from memsvc.errors import BatchUnsupportedError, InvalidRequestError

NOTIFICATIONS = "notifications/"
"""Methods that begin so want no answer; all others do."""
MOST_SHOWN_CHARS = 60


def refused(raw: bytes | str) -> mcp.JSONRPCError | None:
    """The error for a message that cannot be answered otherwise; None: the SDK can, or nobody expects an answer.

    Args:
        raw: what was sent, one message in JSON.
    """
    try:
        message = json.loads(raw)
    except (ValueError, RecursionError):
        return _error(mcp.PARSE_ERROR, InvalidRequestError("The message is not JSON."), None)
    try:
        _check(message)
        mcp.jsonrpc_message_adapter.validate_json(raw, by_name=False)
    except InvalidRequestError as error:
        return _error(mcp.INVALID_REQUEST, error, message)
    except ValidationError:
        return _error(mcp.INVALID_REQUEST, InvalidRequestError("This is no message of JSON-RPC 2.0."), message)
    return None


def _check(message: object) -> None:
    """Refuse a message whose sender would wait in vain.

    Raises:
        BatchUnsupportedError: it is a batch.
        InvalidRequestError: it is no message, or a request without an id that an answer could bear.
    """
    if isinstance(message, list):
        raise BatchUnsupportedError
    if not isinstance(message, dict):
        raise InvalidRequestError("A message is a JSON object.")
    method = message.get("method")
    if method is None:
        return
    if not isinstance(method, str) or "result" in message or "error" in message:
        raise InvalidRequestError("A request has a method, which is text, and neither result nor error.")
    wants_answer = "id" in message or not method.startswith(NOTIFICATIONS)
    if wants_answer and not _is_id(message.get("id")):
        raise InvalidRequestError(
            f"{method[:MOST_SHOWN_CHARS]} has no id by which it could be answered.",
            hint="Give it an id that is text or an integer, another one for each request.",
            field="id",
        )


def _is_id(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def _error(code: int, error: InvalidRequestError, message: Any) -> mcp.JSONRPCError:
    """The error as the protocol tells it, to the id of the message, where it has a proper one."""
    told = refusal(error)
    named = message.get("id") if isinstance(message, dict) else None
    return mcp.JSONRPCError(
        jsonrpc="2.0",
        id=named if _is_id(named) else None,
        error=mcp.ErrorData(
            code=code, message=f"{told.code}: {told.message}", data={"code": told.code, "hint": told.hint}
        ),
    )
