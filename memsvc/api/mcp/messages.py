"""Checks JSON-RPC messages before the SDK sees them, over HTTP and over standard input.

The SDK treats every message with a method and without a valid id as a notification, and does not answer it. A client
that sent a tools/call in that form would wait for ever.
"""

from __future__ import annotations

import json
from typing import Any

import mcp_types as mcp
from pydantic import ValidationError

from memsvc.api.mcp.tool import refusal
from memsvc.errors import BatchUnsupportedError, InvalidRequestError

NOTIFICATIONS = "notifications/"
"""Methods with this prefix want no answer; all others do."""
MOST_SHOWN_CHARS = 60


def refused(raw: bytes | str) -> mcp.JSONRPCError | None:
    """Return the error for a message that the SDK would not answer; None if it would, or if no answer is expected.

    Args:
        raw: one message in JSON, as it was sent.
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
        return _error(mcp.INVALID_REQUEST, InvalidRequestError("This is not a JSON-RPC 2.0 message."), message)
    return None


def _check(message: object) -> None:
    """Refuse a message that would never be answered.

    Raises:
        BatchUnsupportedError: it is a batch.
        InvalidRequestError: it is not a message, or a request without a valid id.
    """
    if isinstance(message, list):
        raise BatchUnsupportedError
    if not isinstance(message, dict):
        raise InvalidRequestError("A message must be a JSON object.")
    method = message.get("method")
    if method is None:
        return
    if not isinstance(method, str) or "result" in message or "error" in message:
        raise InvalidRequestError("A request must have a method that is text, and neither result nor error.")
    wants_answer = "id" in message or not method.startswith(NOTIFICATIONS)
    if wants_answer and not _is_id(message.get("id")):
        raise InvalidRequestError(
            f"{method[:MOST_SHOWN_CHARS]} has no valid id, so it cannot be answered.",
            hint="Give each request its own id: text or an integer.",
            field="id",
        )


def _is_id(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def _error(code: int, error: InvalidRequestError, message: Any) -> mcp.JSONRPCError:
    """The error in the protocol's form, with the id of the message if that is valid."""
    refused = refusal(error)
    named = message.get("id") if isinstance(message, dict) else None
    return mcp.JSONRPCError(
        jsonrpc="2.0",
        id=named if _is_id(named) else None,
        error=mcp.ErrorData(
            code=code, message=f"{refused.code}: {refused.message}", data={"code": refused.code, "hint": refused.hint}
        ),
    )
