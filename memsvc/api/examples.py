"""Examples of answers in the OpenAPI document, recorded from the application itself.

``examples.json`` holds them by operation and status. ``tests/api/story.py`` makes the requests and ``make examples``
writes the file. A test fails if an answer no longer has the form of its example.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
from litestar.openapi.spec import Example, OpenAPI, OpenAPIResponse, Operation

FILE = Path(__file__).with_name("examples.json")
METHODS = ("get", "put", "post", "delete", "patch")
JSON = "application/json"
Answers = dict[str, dict[str, list[msgspec.Raw]]]
"""Examples by operation id and status. They stay raw JSON, because Litestar would leave out nulls."""


def operations(document: OpenAPI) -> Iterator[Operation]:
    """Yield all operations of the document."""
    for item in (document.paths or {}).values():
        yield from (found for method in METHODS if (found := getattr(item, method)) is not None)


def add_answers(document: OpenAPI) -> None:
    """Put examples of answers into the document."""
    given = msgspec.json.decode(FILE.read_bytes(), type=Answers)
    for operation in operations(document):
        for status, values in given.get(operation.operation_id or "", {}).items():
            answer = (operation.responses or {})[status]
            content = answer.content if isinstance(answer, OpenAPIResponse) else None
            if content is not None and JSON in content:
                content[JSON].examples = {
                    f"example-{number}": Example(value=value) for number, value in enumerate(values, 1)
                }
