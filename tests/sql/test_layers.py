"""The rooms of ``sql/functions`` are layers, in the order of ``memsvc.server.objects.ROOMS``.

A room calls itself and the rooms before it, as import-linter holds it for Python. PostgreSQL notes in ``pg_depend``
what views, triggers, defaults and functions with ``BEGIN ATOMIC`` need; of functions whose body is a string it notes
nothing, so their calls are read from the body, where each is qualified (``memsvc.name(``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from memsvc.db.files import folder
from memsvc.server.objects import ROOMS

FUNCTIONS = folder("sql") / "functions"
# A function of ours that a function of ours needs, as PostgreSQL has noted it.
NOTED = """
SELECT a.proname, b.proname
FROM pg_depend AS d
INNER JOIN pg_proc AS a ON a.oid = d.objid AND d.classid = 'pg_proc'::regclass
INNER JOIN pg_proc AS b ON b.oid = d.refobjid AND d.refclassid = 'pg_proc'::regclass
WHERE a.pronamespace = 'memsvc'::regnamespace AND b.pronamespace = 'memsvc'::regnamespace AND a.proname <> b.proname
"""
BODIES = """
SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'memsvc'::regnamespace AND prosqlbody IS NULL
"""
# Functions that views need, and views that functions with BEGIN ATOMIC need.
VIEWS = """
SELECT c.relname, p.proname
FROM pg_depend AS d
INNER JOIN pg_rewrite AS r ON r.oid = d.objid AND d.classid = 'pg_rewrite'::regclass
INNER JOIN pg_class AS c ON c.oid = r.ev_class AND c.relkind = 'v'
INNER JOIN pg_proc AS p ON p.oid = d.refobjid AND d.refclassid = 'pg_proc'::regclass
WHERE c.relnamespace = 'memsvc'::regnamespace AND p.pronamespace = 'memsvc'::regnamespace
"""
VIEWS_NEEDED = """
SELECT p.proname, c.relname
FROM pg_depend AS d
INNER JOIN pg_proc AS p ON p.oid = d.objid AND d.classid = 'pg_proc'::regclass
INNER JOIN pg_class AS c ON c.oid = d.refobjid AND d.refclassid = 'pg_class'::regclass AND c.relkind = 'v'
WHERE p.pronamespace = 'memsvc'::regnamespace AND c.relnamespace = 'memsvc'::regnamespace
"""
MADE = re.compile(r"^CREATE OR REPLACE FUNCTION memsvc\.(\w+)\(", re.MULTILINE)
NOT_CODE = re.compile(r"--[^\n]*|'(?:[^']|'')*'")


def rooms() -> dict[str, str]:
    """The room of each function, by its name."""
    return {
        name: path.parent.name for path in FUNCTIONS.rglob("*.sql") for name in MADE.findall(path.read_text("utf-8"))
    }


def calls(admin: psycopg.Connection) -> Iterator[tuple[str, str]]:
    """Each function of ours with each one that it calls."""
    known = rooms()
    yield from admin.execute(NOTED).fetchall()
    for name, body in admin.execute(BODIES).fetchall():
        code = NOT_CODE.sub("", body)
        yield from ((name, called) for called in re.findall(r"\bmemsvc\.(\w+)\(", code) if called in known)


def upward(found: Iterator[tuple[str, str]]) -> list[str]:
    """Calls of a room by one that comes before it."""
    room, rank = rooms(), {name: number for number, name in enumerate(ROOMS)}
    return sorted(
        {
            f"{room[caller]}: {caller} calls {called} of {room[called]}"
            for caller, called in found
            if rank[room[caller]] < rank[room[called]]
        }
    )


def test_functions_call_their_own_room_and_those_before_it(admin: psycopg.Connection) -> None:
    found = list(calls(admin))
    assert len(found) > 300, "calls are found at all"
    assert upward(iter(found)) == []


def test_a_call_upward_is_seen() -> None:
    assert upward(iter([("require_identity", "recall"), ("recall", "require_identity")])) == [
        "base: require_identity calls recall of recall"
    ]


def test_calls_in_bodies_are_qualified_so_that_none_is_missed(admin: psycopg.Connection) -> None:
    known = rooms()
    for name, body in admin.execute(BODIES).fetchall():
        code = NOT_CODE.sub("", body)
        bare = {word for word in re.findall(r"(?<![\w.])(\w+)\(", code) if word in known}
        assert not bare, f"{name} calls {bare} without the schema"


def test_views_come_after_functions(admin: psycopg.Connection) -> None:
    """Views are for people: they call functions of the first rooms, and only analyses read them, at run time."""
    room = rooms()
    assert {room[called] for _view, called in admin.execute(VIEWS).fetchall()} == {"base", "queue"}
    assert admin.execute(VIEWS_NEEDED).fetchall() == [], "no view is there yet when functions are made"
    views = {row[0] for row in admin.execute("SELECT viewname FROM pg_views WHERE schemaname = 'memsvc'")}
    reading = {
        room[name]
        for name, body in admin.execute(BODIES).fetchall()
        for view in views
        if re.search(rf"\b(?:FROM|JOIN)\s+(?:memsvc\.)?{view}\b", NOT_CODE.sub("", body))
    }
    assert reading == {"analysis"}


@pytest.mark.parametrize("room", ROOMS)
def test_each_room_has_a_page_that_says_what_is_in_it(room: str) -> None:
    page = (FUNCTIONS / room / "README.md").read_text("utf-8")
    assert len(page.splitlines()) <= 16
    for word in ("Called by", "May call"):
        assert word in page
    files = {path.name for path in (FUNCTIONS / room).glob("*.sql")}
    assert set(re.findall(r"`(\d\d_\w+\.sql)`", page)) == files, "it names each of its files"
    named = re.search(r"^May call: (.*)$", page, re.MULTILINE)
    assert named is not None
    assert {word for word in re.findall(r"`(\w+)`", named.group(1)) if word in ROOMS} == allowed(room)


def allowed(room: str) -> set[str]:
    """The rooms that a room calls."""
    known = rooms()
    found: set[str] = set()
    for path in sorted((FUNCTIONS / room).glob("*.sql")):
        code = NOT_CODE.sub("", path.read_text("utf-8"))
        found |= {known[called] for called in re.findall(r"\bmemsvc\.(\w+)\(", code) if called in known}
    return found - {room}


def test_there_are_no_other_folders() -> None:
    assert {Path(path).name for path in FUNCTIONS.iterdir()} - {"README.md"} == set(ROOMS)
