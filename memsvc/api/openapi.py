"""The OpenAPI document: what Litestar derives from the handlers, and the words that only the source code has.

Structs describe each field by the string under it. Python drops those strings when it runs, so they are read from the
source once, when the app is made: what a reader of the code sees is what a reader of ``/docs`` sees.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator
from itertools import pairwise

from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, License, OpenAPI, Schema, SecurityScheme, Tag
from msgspec import Struct

from memsvc import __version__

DESCRIPTION = """Long-term memory for AI assistants, kept in PostgreSQL: messages go in, the few memories that matter \
for the next answer come out, each with the reason why it was chosen and the source that it came from.

Send a key or a token as 'Authorization: Bearer …'. A key that may act for several users of its app needs the header \
X-Memsvc-User with a user's id or external id. What belongs to others looks as if it did not exist.

Errors are application/problem+json with a stable code, a hint and the request's id, which is also in the header \
X-Request-Id of every answer; send that header yourself to choose the id (letters, digits, '.', '_', '-', up to 64)."""

CONFIG = OpenAPIConfig(
    title="memsvc",
    version=__version__,
    description=DESCRIPTION,
    license=License(name="Apache-2.0", identifier="Apache-2.0"),
    path="/schema",
    render_plugins=[JsonRenderPlugin()],
    components=Components(
        security_schemes={
            "bearer": SecurityScheme(
                type="http", scheme="bearer", description="A key (mk_….…) or a token from POST /v1/token."
            )
        }
    ),
    security=[{"bearer": []}],
    tags=[
        Tag(name="messages", description="Text comes in."),
        Tag(name="recall", description="Memories come out."),
        Tag(name="chat", description="Doors for chat apps: OpenAI's own, hooks, and answers with sources."),
        Tag(name="graph", description="Facts, nodes and names with their history; walking from node to node, drawing."),
        Tag(name="extraction", description="Text becomes facts, and what a person decides about doubtful ones."),
        Tag(name="conversations", description="What is stored, as it came."),
        Tag(name="notes", description="What is written by hand, and how it hangs together."),
        Tag(name="profile", description="What an assistant keeps in mind, and edits itself."),
        Tag(name="ontology", description="What nodes and edges can be."),
        Tag(name="live", description="What happens, as it happens."),
        Tag(name="shortcuts", description="Short addresses for the most used operations."),
        Tag(name="forgetting", description="What must not be kept; for good."),
        Tag(name="jobs", description="Background work, once and recurring."),
        Tag(name="account", description="Who asks."),
        Tag(name="administration", description="Users and keys of an app; needs the scope admin."),
        Tag(name="service", description="The service about itself; needs no key."),
    ],
)


def field_words(struct: type[Struct]) -> dict[str, str]:
    """What the source says about each field of a struct, its base classes included."""
    words: dict[str, str] = {}
    for ancestor in reversed(struct.__mro__):
        if not issubclass(ancestor, Struct) or ancestor is Struct:
            continue
        definition = ast.parse(textwrap.dedent(inspect.getsource(ancestor))).body[0]
        body = definition.body if isinstance(definition, ast.ClassDef) else []
        for field, remark in pairwise(body):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(remark, ast.Expr)
                and isinstance(remark.value, ast.Constant)
                and isinstance(remark.value.value, str)
            ):
                words[field.target.id] = inspect.cleandoc(remark.value.value)
    return words


def named_structs() -> Iterator[tuple[str, type[Struct]]]:
    """All structs of memsvc by name: components of the document carry the name as their title."""
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith("memsvc."):
            for name, found in list(vars(module).items()):
                if inspect.isclass(found) and issubclass(found, Struct) and found.__module__ == module_name:
                    yield name, found


def add_words(document: OpenAPI) -> None:
    """Put the descriptions of structs and fields into the document."""
    structs = dict(named_structs())
    for schema in (document.components.schemas or {}).values():
        struct = structs.get((schema.title or "").split("[", 1)[0])
        if struct is None:
            continue
        schema.description = schema.description or inspect.getdoc(struct)
        for name, words in field_words(struct).items():
            field = (schema.properties or {}).get(name)
            if isinstance(field, Schema):
                field.description = field.description or words
