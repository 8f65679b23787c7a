"""The one place where errors become answers: problem+json as in RFC 9457.

Every error has a stable ``code``. Errors of ``memsvc.errors`` are shown with their message and hint. Unexpected errors
are logged with their traceback and shown as ``internal`` with only the request id.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from uuid import UUID

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException
from litestar.exceptions.http_exceptions import RequestEntityTooLarge
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import ParameterKwarg

from memsvc import observe, tracebacks, traces
from memsvc.api.choices import allowed
from memsvc.errors import (
    BadCursorError,
    BodyTooSlowError,
    CapabilityMissingError,
    ConversationUnknownError,
    CursorExpiredError,
    ForbiddenError,
    InvalidRequestError,
    InvalidTimeError,
    MemsvcError,
    MessageConflictError,
    OverloadedError,
    RateLimitedError,
    StorageFullError,
    TextTooLongError,
    UnauthenticatedError,
    UpstreamError,
    UpstreamTimeoutError,
)

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = "1"
SERVER_ERROR = 500
UNEXPECTED_HINT = "Report it with this request_id. The service's log has the details."


class Problem(msgspec.Struct, kw_only=True, omit_defaults=True):
    """An error, in the form of RFC 9457."""

    type: str
    """urn:memsvc:error: followed by the code."""
    title: str
    """What the code means."""
    status: int
    code: str
    """Stable: match on it."""
    detail: str
    """What is wrong with this request."""
    hint: str
    """What to do about it."""
    request_id: str | None = None
    """Also in the X-Request-Id header and in the service's log."""
    row: int | None = None
    """The index of the message or operation in a batch, from 0."""
    field: str | None = None
    """The field or parameter that is wrong."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The code, title and hint of an error that has no class of its own."""

    code: str
    title: str
    hint: str


INTERNAL = Meaning("internal", "The service failed.", UNEXPECTED_HINT)
OF_STATUS = {
    400: Meaning("invalid_request", "The request does not have the expected form.", InvalidRequestError.hint),
    404: Meaning("not_found", "No route has this address.", "GET /docs lists all routes."),
    405: Meaning("method_not_allowed", "This address does not support the method.", "See the Allow header."),
    413: Meaning("body_too_large", "The request's body is too large.", "Send less at once."),
    415: Meaning("unsupported_media_type", "The body is not JSON.", "Send Content-Type: application/json, in UTF-8."),
    429: Meaning("too_many_requests", "Too many requests.", "Try again in a moment."),
}
NO_ID = Meaning(
    "not_found",
    "This address needs a whole id.",
    "It has 36 characters. GET /v1/memories/{id} opens the short id of a context (m:…, f:…, n:…) and tells it.",
)
UNTOLD_TOO_LARGE = RequestEntityTooLarge().detail
"""What Litestar says of a body that is too large, without a limit."""
OTHER = Meaning("invalid_request", "The request cannot be answered.", InvalidRequestError.hint)
VALUE_AT = re.compile(r"^(?P<message>.*?)(?: - at `\$\.?(?P<path>.*)`)?$", re.DOTALL)
NAMED_FIELD = re.compile(r"(?:unknown|required) field `(?P<name>.+?)`")
IN_BATCH = re.compile(r"^(?:messages|operations)\[(?P<row>\d+)\]\.?(?P<field>.*)$")
MAX_DETAIL_CHARS = 500


def invalid_value(error: msgspec.ValidationError, into: Any = Any) -> InvalidRequestError:
    """Turn msgspec's error about a body into one with the field's path and, in a batch, the row.

    Args:
        error: what msgspec says.
        into: the type of the body, for the words that the field takes.
    """
    found = VALUE_AT.match(str(error))
    message, path = (found["message"], found["path"] or "") if found else (str(error), "")
    choices = allowed(message, into, path)
    if named := NAMED_FIELD.search(message):
        path = f"{path}.{named['name']}".lstrip(".")
    details: dict[str, Any] = {}
    if inside := IN_BATCH.match(path):
        path = inside["field"]
        details["row"] = int(inside["row"])
    if path:
        details["field"] = path
    if details == {"field": "cursor"}:
        return BadCursorError(f"{message[:MAX_DETAIL_CHARS]}, at cursor.", field="cursor")
    where = f" in row {details['row']}" if "row" in details else ""
    at = f", at {path}" if path else ""
    return InvalidRequestError(f"{message[:MAX_DETAIL_CHARS]}{where}{at}.{choices}", **details)


def _problem(meaning: Meaning, status: int, detail: str, request_id: str | None) -> dict[str, Any]:
    problem = Problem(
        type=f"urn:memsvc:error:{meaning.code}",
        title=meaning.title,
        status=status,
        code=meaning.code,
        detail=detail,
        hint=meaning.hint,
        request_id=request_id,
    )
    shown: dict[str, Any] = msgspec.to_builtins(problem)
    return shown


def _answer(
    meaning: Meaning,
    status: int,
    detail: str,
    details: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
) -> Response[dict[str, Any]]:
    observe.ERRORS.labels(code=meaning.code).inc()
    traces.note("memsvc.error.code", meaning.code)
    more = dict(headers or {})
    if status == HTTPStatus.UNAUTHORIZED:
        more["WWW-Authenticate"] = 'Bearer realm="memsvc"'
    facts = dict(details or {})
    if status in {HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS}:
        more["Retry-After"] = str(facts.get("retry_after", RETRY_AFTER_SECONDS))
    content = {**facts, **_problem(meaning, status, detail, observe.request_id())}
    return Response(content, status_code=status, media_type=MEDIA_TYPE, headers=more)


def _meaning(error: MemsvcError) -> Meaning:
    return Meaning(error.code, (type(error).__doc__ or "").strip().splitlines()[0], error.advice)


def _of_memsvc(error: MemsvcError) -> Response[dict[str, Any]]:
    meaning = _meaning(error)
    if error.status == HTTPStatus.NOT_IMPLEMENTED:  # nothing failed: the operator chose this database
        observe.logger().info("request needs a missing capability", code=error.code, **error.details)
    if error.status < SERVER_ERROR or error.status == HTTPStatus.NOT_IMPLEMENTED:
        return _answer(meaning, error.status, error.message, error.details)
    cause = tracebacks.named(error.__cause__) if error.__cause__ is not None else None
    observe.logger().error("request failed", code=error.code, detail=error.message, cause=cause)
    # A plain 500 is for the operator: its message may name folders and settings, which the client must not see.
    return _answer(meaning, error.status, meaning.title if error.status == SERVER_ERROR else error.message)


def _outer_name(request: Request[Any, Any, Any], key: str) -> str:
    """The public name of a parameter, which may differ from the handler's name (Idempotency-Key)."""
    parameter = request.route_handler.parsed_fn_signature.parameters.get(key)
    definition = parameter.kwarg_definition if parameter is not None else None
    return (definition.name if isinstance(definition, ParameterKwarg) else None) or key


def _largest_body(request: Request[Any, Any, Any]) -> int | None:
    """The most bytes of a body at a request's address."""
    handler = request.scope.get("route_handler")
    if isinstance(handler, HTTPRouteHandler):
        return handler.resolve_request_max_body_size()
    most = request.app.request_max_body_size
    return most if isinstance(most, int) else None


def _cut_id(request: Request[Any, Any, Any]) -> str | None:
    """The part of an unknown address that would have to be a whole id; None: no route is like it."""
    parts = [part for part in request.scope["path"].split("/") if part]
    for route in request.app.routes:
        if len(route.path_components) != len(parts):
            continue
        wrong = None
        for asked, part in zip(route.path_components, parts, strict=True):
            if isinstance(asked, str):
                if asked != part:
                    break
            elif asked.type is UUID and not _is_id(part):
                wrong = wrong or part
        else:
            if wrong is not None:
                return wrong
    return None


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _of_litestar(request: Request[Any, Any, Any], error: HTTPException) -> Response[dict[str, Any]]:
    status = error.status_code
    meaning = OF_STATUS.get(status, OTHER)
    headers = {name: value for name, value in (error.headers or {}).items() if name.lower() == "allow"}
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE and error.detail == UNTOLD_TOO_LARGE:
        most = _largest_body(request)
        detail = f"The body has more than {most:,} bytes." if most else error.detail
        return _answer(meaning, status, detail, headers=headers)
    if status == HTTPStatus.NOT_FOUND and (given := _cut_id(request)) is not None:
        return _answer(NO_ID, status, f"{given[:60]!r} is not a whole id.", headers=headers)
    first = error.extra[0] if isinstance(error.extra, list) and error.extra else None
    if not isinstance(first, dict) or "key" not in first:
        return _answer(meaning, status, error.detail, headers=headers)
    field = _outer_name(request, str(first["key"]))
    if field == "data":
        return _answer(meaning, status, "The request has no body.", headers=headers)
    parameter = request.route_handler.parsed_fn_signature.parameters.get(str(first["key"]))
    message = str(first.get("message", ""))
    choices = allowed(message, parameter.annotation) if parameter is not None else ""
    detail = f"{f'{message}, at {field}.'[:MAX_DETAIL_CHARS]}{choices}"
    return _answer(meaning, status, detail, {"field": field}, headers)


def answer_error(request: Request[Any, Any, Any], error: Exception) -> Response[dict[str, Any]]:
    """Return the answer to any error."""
    if isinstance(error, MemsvcError):
        return _of_memsvc(error)
    if isinstance(error, HTTPException) and error.status_code < SERVER_ERROR:
        return _of_litestar(request, error)
    observe.logger().error("unexpected error", exc_info=error)
    return _answer(INTERNAL, SERVER_ERROR, "An unexpected error occurred.")


EXCEPTION_HANDLERS: dict[int | type[Exception], Any] = {
    MemsvcError: answer_error,
    HTTPException: answer_error,
    Exception: answer_error,
}

MEANINGS_FOR_DOCS = {
    400: "The request does not have the expected form (invalid_request, invalid_text, invalid_time, bad_cursor, "
    "user_required, …).",
    401: "The key or token is missing, wrong, expired or revoked (unauthenticated).",
    403: "The key's scopes do not allow this (forbidden).",
    404: "This user has no such thing (not_found, conversation_unknown, node_unknown, user_unknown, …).",
    408: "The body did not arrive in time (body_too_slow).",
    409: "The request conflicts with stored data, or matches several things (message_conflict, already_exists, "
    "node_ambiguous, version_superseded, job_state, …).",
    410: "The requested data may have been deleted (cursor_expired).",
    413: "The request is too large (text_too_long, batch_too_large, body_too_large).",
    415: "The body is not JSON (unsupported_media_type).",
    429: "A limit is reached (rate_limited, quota_exceeded, too_many_connections). See Retry-After.",
    500: "An unexpected error occurred (internal). The log has the details under the request's id.",
    501: "The database lacks an extension that this needs (capability_missing).",
    502: "The chat server cannot be reached, or broke off its answer (upstream). See the hint.",
    503: "The database cannot answer now, and nothing was stored (database_unavailable, overloaded, upgraded). Or its "
    "answer was lost, and the data may have been stored (outcome_unknown: send it again with the same "
    "Idempotency-Key or id). See Retry-After.",
    504: "The chat server did not respond in time (upstream_timeout). See the hint.",
    507: "The database's disk is full (storage_full).",
}


SHOWN: dict[int, MemsvcError] = {
    400: InvalidTimeError("'tomorrow' is not a time.", row=17, field="said_at"),
    401: UnauthenticatedError(),
    403: ForbiddenError("The key or token lacks the scope write."),
    404: ConversationUnknownError(),
    408: BodyTooSlowError(),
    409: MessageConflictError(row=3),
    410: CursorExpiredError(),
    413: TextTooLongError(row=0, field="text"),
    429: RateLimitedError(retry_after=12),
    501: CapabilityMissingError(
        "Places cannot be searched: the database has neither PostGIS nor cube.", capability="places"
    ),
    502: UpstreamError(),
    503: OverloadedError(),
    504: UpstreamTimeoutError(),
    507: StorageFullError(),
}
"""An example error for each status. The other statuses have no class in memsvc.errors."""
EXAMPLE_ID = "0f8c1d1e5a2b4c7d"


def _example(status: int) -> dict[str, Any]:
    error = SHOWN.get(status)
    if error is not None:
        return {**error.details, **_problem(_meaning(error), status, error.message, EXAMPLE_ID)}
    meaning = INTERNAL if status == SERVER_ERROR else OF_STATUS[status]
    return _problem(meaning, status, meaning.title, EXAMPLE_ID)


def documented(*statuses: int) -> dict[int, ResponseSpec]:
    """The error responses of an operation, for the OpenAPI document.

    Each status brings related ones: 401 brings 429 (limits), 415 brings 408 (slow bodies), 503 brings 507 (disk full).
    """
    if HTTPStatus.UNAUTHORIZED in statuses:
        statuses = tuple(sorted({*statuses, int(HTTPStatus.TOO_MANY_REQUESTS)}))
    if HTTPStatus.UNSUPPORTED_MEDIA_TYPE in statuses:
        statuses = tuple(sorted({*statuses, int(HTTPStatus.REQUEST_TIMEOUT)}))
    if HTTPStatus.SERVICE_UNAVAILABLE in statuses:
        statuses = tuple(sorted({*statuses, int(HTTPStatus.INSUFFICIENT_STORAGE)}))
    return {
        status: ResponseSpec(
            data_container=Problem,
            generate_examples=False,
            description=MEANINGS_FOR_DOCS[status],
            media_type=MEDIA_TYPE,
            examples=[Example(value=_example(status))],
        )
        for status in statuses
    }
