"""Examples of answers in the OpenAPI document: answers that the application itself gave.

``examples.json`` has them by operation and status. The story of ``tests/api/story.py`` calls for them;
``make examples`` writes them anew, and a test fails where an answer has another form by now than its example.
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
"""Examples by the operation's id and the answer's status. As they are: Litestar would leave out what is null."""


def operations(document: OpenAPI) -> Iterator[Operation]:
    """All of the document."""
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
