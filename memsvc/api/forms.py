"""Makes the schemas of the OpenAPI document as exact as the application itself.

Litestar's schemas do not say that unknown fields are refused, how long a tuple is, which strings are times, or that an
answer may match several forms. Generated clients, and tools that test the document (tests/api/schemathesis), need this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast, get_args

from litestar.openapi.spec import OpenAPI, OpenAPIResponse, OpenAPIType, Operation, Parameter, Reference, Schema
from litestar.openapi.spec.enums import OpenAPIFormat
from msgspec import Meta, Struct
from msgspec.structs import StructConfig, fields

from memsvc.api.examples import JSON, operations
from memsvc.api.openapi import named_structs
from memsvc.graph.draw import MEDIA_TYPES

MOMENT = "moment"
"""memsvc's own format: an ISO 8601 date, or date and time; without an offset in the user's time zone."""
MOMENT_FIELDS = frozenset({
    "said_at", "said_from", "said_to", "as_of", "known_at", "valid_from", "valid_to", "ended_at", "since", "until",
    "asked_at",
})  # fmt: skip
WITH_OFFSET = frozenset({"asked_at"})
"""Times that need an offset (RFC 3339)."""
DRAWN = frozenset({"pageGraph", "walkNeighbourhood", "readSubgraph", "findPaths"})
"""Operations that can answer with a drawing."""
OPEN = frozenset(
    {
        "ChatMessageIn", "ChatCompletionIn", "ChatCompletion", "ResponseIn", "ModelResponse", "AnthropicTurnIn",
        "AnthropicMessageIn", "AnthropicMessage", "ModelList",
    }
)  # fmt: skip
"""Forms of the chat server, which have more fields than memsvc reads."""
AnySchema = Schema | Reference


def make_exact(document: OpenAPI) -> None:
    """Complete the document's schemas."""
    closed = {name: struct for name, struct in named_structs() if _closed(struct)}
    for schema in (document.components.schemas or {}).values():
        _complete(schema)
        if schema.title is not None and schema.title in closed:
            schema.additional_properties = False
            _from_zero(schema, closed[schema.title])
        if schema.title in OPEN:
            schema.additional_properties = True
        for name in MOMENT_FIELDS & (schema.properties or {}).keys():
            _moment((schema.properties or {})[name], name)
    for operation in operations(document):
        for parameter in _parameters(operation):
            if isinstance(parameter.schema, Schema) and _is_moment(parameter):
                _moment(parameter.schema, parameter.name)
        for answer in _good(operation.responses or {}):
            _any_of(answer)
            if operation.operation_id in DRAWN:
                _add_drawings(answer)


def _closed(struct: type[Struct]) -> bool:
    config: StructConfig = struct.__struct_config__
    return config.forbid_unknown_fields


def _from_zero(schema: Schema, struct: type[Struct]) -> None:
    """Set the minimum 0 of optional numbers, which Litestar drops."""
    for field in fields(struct):
        shown = (schema.properties or {}).get(field.encode_name)
        metas = [meta for one in (field.type, *get_args(field.type)) for meta in get_args(one) if type(meta) is Meta]
        if isinstance(shown, Schema) and any(meta.ge == 0 for meta in metas):
            shown.minimum = 0


def _parameters(operation: Operation) -> Iterator[Parameter]:
    return (one for one in operation.parameters or () if isinstance(one, Parameter))


def _is_moment(parameter: Parameter) -> bool:
    return parameter.name in MOMENT_FIELDS or "ISO 8601" in (parameter.description or "")


def _good(responses: Mapping[str, OpenAPIResponse | Reference]) -> Iterator[OpenAPIResponse]:
    return (one for status, one in responses.items() if status < "3" and isinstance(one, OpenAPIResponse))


def _moment(schema: AnySchema, name: str) -> None:
    """Set the format of a string that is a time, also of a string that is one of several types."""
    if not isinstance(schema, Schema):
        return
    if schema.type is OpenAPIType.STRING and schema.format is None:
        schema.format = OpenAPIFormat.DATE_TIME if name in WITH_OFFSET else cast("OpenAPIFormat", MOMENT)
    elif schema.one_of:
        schema.one_of = [replace(one) if isinstance(one, Schema) else one for one in schema.one_of]
        for one in schema.one_of:
            _moment(one, name)


def _complete(schema: Any) -> None:
    """Set the length of tuples, and remove the empty schema from the alternatives of a list's items."""
    if not isinstance(schema, Schema):
        return
    if schema.prefix_items:
        schema.min_items = schema.max_items = len(schema.prefix_items)
    if schema.items is not None and isinstance(schema.items, Schema) and schema.items.one_of:
        kinds = [one for one in schema.items.one_of if one != Schema()]
        schema.items = kinds[0] if len(kinds) == 1 else replace(schema.items, one_of=kinds)
    for inner in (*(schema.properties or {}).values(), *(schema.one_of or ()), schema.items):
        _complete(inner)


def _any_of(answer: OpenAPIResponse) -> None:
    """Use anyOf, because an answer of one form may have all fields of another one."""
    for content in (answer.content or {}).values():
        if isinstance(content.schema, Schema) and content.schema.one_of:
            content.schema = replace(content.schema, any_of=content.schema.one_of, one_of=None)


def _add_drawings(answer: OpenAPIResponse) -> None:
    content = answer.content or {}
    for media_type in MEDIA_TYPES.values():
        if media_type != JSON:
            content[media_type] = replace(content[JSON], schema=Schema(type=OpenAPIType.STRING), examples=None)
