"""``python driver_side.py``: reads the graph with apache-age-python, in an environment of its own.

A line of JSON comes in (the connection, a token, a query); one goes out: what the driver's own parser made of the
answer. The driver's ``connect`` loads AGE's library, which only a superuser may; what is left of it is done here.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any


def plain(value: Any) -> Any:
    """The driver's models as lists and objects."""
    match type(value).__name__:
        case "Vertex":
            return {"label": value.label, "id": value.id, "properties": value.properties}
        case "Edge":
            ends = {"start_id": value.start_id, "end_id": value.end_id}
            return {"label": value.label, "id": value.id, "properties": value.properties, **ends}
        case "Path":
            return [plain(value[place]) for place in range(len(value))]
        case _:
            return value


def main() -> None:
    """Answer."""
    age: Any = importlib.import_module("age")
    psycopg2: Any = importlib.import_module("psycopg2")
    extensions: Any = importlib.import_module("psycopg2.extensions")
    asked = json.loads(sys.stdin.readline())
    connection = psycopg2.connect(asked["dsn"])
    number = age.age.querySql(connection, "SELECT 'ag_catalog.agtype'::regtype::oid").fetchone()[0]
    extensions.register_type(extensions.new_type((number,), "AGTYPE", age.age.parseAgeValue), connection)
    age.age.querySql(connection, "SELECT set_config('memsvc.identity', %s, true)", (asked["token"],))
    rows = age.age.querySql(connection, asked["statement"]).fetchall()
    json.dump([[plain(value) for value in row] for row in rows], sys.stdout)


if __name__ == "__main__":
    main()
