"""Writes the TypeScript client from the OpenAPI document: ``make client``.

It writes two files: ``memsvc.mjs`` runs unchanged in Node 18, Deno, Bun and browsers, and ``memsvc.d.mts`` has its
types. Each operation is a method with the operation's name. It takes the values for path, query, headers and body.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from memsvc.api.app import create_app
from memsvc.settings import Settings

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "typescript"
RUNTIME = FOLDER / "runtime.mjs"
WRITTEN = "// Written by 'make client' from the OpenAPI document."
JSON = "application/json"
SIMPLE = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
KINDS = ("path", "query", "header")
Schema = dict[str, Any]


def document() -> Schema:
    """Return the OpenAPI document, without using a database."""
    app = create_app(Settings.model_validate({"database_url": "postgresql://nobody/nothing", "embedding_model": ""}))
    return app.openapi_schema.to_schema()


def type_of(schema: Schema) -> str:
    """Return a schema as a TypeScript type."""
    if "$ref" in schema:
        return _name(schema["$ref"].rsplit("/", 1)[1])
    if "const" in schema:
        return msgspec.json.encode(schema["const"]).decode()
    if "enum" in schema:
        return " | ".join(msgspec.json.encode(value).decode() for value in schema["enum"])
    for word, sign in (("allOf", " & "), ("oneOf", " | "), ("anyOf", " | ")):
        if word in schema:
            return sign.join(dict.fromkeys(map(type_of, schema[word])))
    match schema.get("type"):
        case "array":
            return _items(schema)
        case "object":
            return _fields(schema)
        case list() as several:
            return " | ".join(SIMPLE.get(one, "unknown") for one in several)
        case kind:
            return SIMPLE.get(kind or "", "unknown")


def _name(schema: str) -> str:
    return re.sub(r"\W", "_", schema)


def _items(schema: Schema) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(map(type_of, schema['prefixItems']))}]"
    return f"Array<{type_of(schema.get('items', {}))}>"


def _fields(schema: Schema) -> str:
    if "properties" not in schema:
        inner = schema.get("additionalProperties")
        return f"Record<string, {type_of(inner) if isinstance(inner, dict) else 'unknown'}>"
    required = schema.get("required", ())
    fields = (f"{name}{'' if name in required else '?'}: {type_of(one)}" for name, one in schema["properties"].items())
    more = " & Record<string, unknown>" if schema.get("additionalProperties") is True else ""
    return f"{{ {'; '.join(fields)} }}{more}"


def operations(api: Schema) -> Iterator[tuple[str, str, str, Schema]]:
    """Yield the name, method, path and description of each operation."""
    for path, methods in sorted(api["paths"].items()):
        for method, operation in methods.items():
            yield operation["operationId"], method.upper(), path, operation


def types(api: Schema) -> str:
    """Return the text of ``memsvc.d.mts``."""
    lines = [WRITTEN, (FOLDER / "runtime.d.mts").read_text(encoding="utf-8").strip()]
    for name, schema in sorted(api["components"]["schemas"].items()):
        lines.append(f"export type {_name(name)} = {type_of(schema)};")
    lines.append("export class Memsvc {\n  constructor(url: string, options?: Options);")
    for name, _, _, operation in operations(api):
        lines.append(f"  /** {operation['summary']}. */\n  {name}({_input(operation)}): Promise<{_answer(operation)}>;")
    return "\n".join([*lines, "}\n"])


def _input(operation: Schema) -> str:
    parts, needed = [], False
    for kind in KINDS:
        given = [one for one in operation.get("parameters", ()) if one["in"] == kind]
        must = any(one.get("required") for one in given)
        fields = "; ".join(
            f'"{one["name"]}"{"" if one.get("required") else "?"}: {type_of(one.get("schema", {}))}' for one in given
        )
        if given:
            parts.append(f"{kind}{'' if must else '?'}: {{ {fields} }}")
        needed |= must
    if body := operation.get("requestBody"):
        parts.append(f"body: {type_of(body['content'].get(JSON, {}).get('schema', {}))}")
        needed = True
    return f"input{'' if needed else '?'}: {{ {'; '.join(parts)} }}" if parts else ""


def _answer(operation: Schema) -> str:
    good = [one for status, one in operation["responses"].items() if status.startswith("2")]
    shapes = [type_of(one["content"][JSON]["schema"]) for one in good if JSON in one.get("content", {})]
    return " | ".join(dict.fromkeys(shapes)) or "unknown"


def program(api: Schema) -> str:
    """Return the text of ``memsvc.mjs``."""
    table = "\n".join(f'  {name}: ["{method}", "{path}"],' for name, method, path, _ in operations(api))
    return f"{WRITTEN}\nconst OPERATIONS = {{\n{table}\n}};\n\n{RUNTIME.read_text(encoding='utf-8')}"


def files() -> dict[str, str]:
    """Return the names and texts of the files."""
    api = document()
    return {"memsvc.mjs": program(api), "memsvc.d.mts": types(api)}


if __name__ == "__main__":
    for name, text in files().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        sys.stderr.write(f"wrote {name}\n")
