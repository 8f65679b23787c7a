"""The OpenAPI document: what Litestar derives from the handlers, plus descriptions from the source code.

The string under a struct's field describes the field. Python drops these strings, so they are read from the source,
once, when the app is created. Readers of the code and readers of ``/docs`` see the same descriptions.
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

DESCRIPTION = """Long-term memory for AI assistants in PostgreSQL. You send messages; memsvc returns the few memories \
that matter for the next answer, each with the reason why it was chosen and its source.

Send a key or a token as 'Authorization: Bearer …'. A key that may act for several users of its app needs the header \
X-Memsvc-User with a user's id or external id. Other users' data is reported as not found.

Errors are application/problem+json with a stable code, a hint and the request's id. Every answer has the id in its \
header X-Request-Id. To choose the id, send that header yourself (up to 64 letters, digits, '.', '_' and '-').

If the service reads from replicas, send the header X-Memsvc-Position with 0/0, and from then on with what the last \
answer had in it: then no answer is older than what you have stored yourself."""

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
            ),
            "key": SecurityScheme(
                type="apiKey", name="X-Api-Key", security_scheme_in="header", description="A key, or a token."
            ),
        }
    ),
    security=[{"bearer": []}],
    tags=[
        Tag(name="messages", description="Store messages."),
        Tag(name="documents", description="Store files, and see what became of them."),
        Tag(name="turns", description="Turns of agents: record what was done, and find past work."),
        Tag(name="recall", description="Find memories and build contexts for prompts."),
        Tag(name="chat", description="For chat apps: OpenAI's chat completions, hooks, and answers with sources."),
        Tag(name="graph", description="Facts, nodes and names with their history; exploring and drawing the graph."),
        Tag(name="extraction", description="Extract facts from text, and review doubtful ones."),
        Tag(name="conversations", description="Read stored conversations."),
        Tag(name="notes", description="Notes written by hand, and links between them."),
        Tag(name="lessons", description="Corrections of answers, and plans with their outcomes."),
        Tag(
            name="profile",
            description="Short texts about the user, which an assistant edits and every context contains.",
        ),
        Tag(name="ontology", description="The types of nodes and edges."),
        Tag(name="live", description="Events of the user's memory."),
        Tag(name="shortcuts", description="Short paths for the most used operations."),
        Tag(name="forgetting", description="Erase data for good."),
        Tag(name="jobs", description="Background jobs and schedules."),
        Tag(name="account", description="The caller's own account."),
        Tag(
            name="administration",
            description="Users and keys of an app, its audit log, and how the service is doing. Needs the scope admin.",
        ),
        Tag(name="service", description="Health, metrics and documentation. Needs no key."),
    ],
)


def field_words(struct: type[Struct]) -> dict[str, str]:
    """Return the description of each field of a struct and its base classes, from the source."""
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
    """Yield all structs of memsvc by name. The document's components have the name as their title."""
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith("memsvc."):
            for name, found in list(vars(module).items()):
                if inspect.isclass(found) and issubclass(found, Struct) and found.__module__ == module_name:
                    yield name, found


def add_words(document: OpenAPI) -> None:
    """Add the descriptions of structs and fields to the document."""
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
