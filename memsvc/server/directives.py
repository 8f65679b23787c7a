"""Directives in the files of ``sql/``: who owns a function, who may call it, and how its statements are planned.

``-- owner: memsvc_recall``
    On a line of its own, at the top of a file: the role that owns its functions; without it, ``memsvc_owner``.
``-- callers: app, reader``
    In a function's head, above its body: the roles that may call it, besides its owner. Without it, no other role may.
``-- plans: by-key, no-sort; why``
    In a function's head, above its body: planner settings for the statements of the function, with a reason after a
    semicolon if it is not obvious. Most have ``by-key``: the plan is made once, kept, and uses an index. The tables
    hold all users' rows, and the planner does not know how many of them belong to the user of a call.
"""

from __future__ import annotations

import re

OWNERS = ("memsvc_owner", "memsvc_recall", "memsvc_eraser", "memsvc_watchdog")
CALLERS = {
    "app": "memsvc_app",
    "reader": "memsvc_reader",
    "cypher": "memsvc_cypher",
    "analyst": "memsvc_analyst",
    "recall": "memsvc_recall",
    "eraser": "memsvc_eraser",
    "owner": "memsvc_owner",
}
PLANS = {
    "kept": "SET plan_cache_mode = force_generic_plan",
    "by-key": "SET plan_cache_mode = force_generic_plan SET enable_seqscan = off",
    "no-sort": "SET enable_sort = off",
    "no-incremental-sort": "SET enable_incremental_sort = off",
    "no-bitmap": "SET enable_bitmapscan = off",
    "no-nested-loop": "SET enable_nestloop = off",
    "no-hash": "SET enable_hashjoin = off",
    "no-merge": "SET enable_mergejoin = off",
    "no-parallel": "SET max_parallel_workers_per_gather = 0",
}
_OWNER = re.compile(r"^-- owner: (\w+)$", re.MULTILINE)
_PLANS = re.compile(r"^-- plans: ([^;\n]*)(;.*)?$", re.MULTILINE)
_HEAD = re.compile(
    r"""
    ^CREATE\ OR\ REPLACE\ FUNCTION\ memsvc\.(?P<name>\w+)\(
    (?P<head>.*?)
    ^(?:AS\ \$ | BEGIN\ ATOMIC | RETURN\ )
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
_CALLERS = re.compile(r"^-- callers: (.*)$", re.MULTILINE)


def owner(script: str) -> str:
    """The role that owns the objects of a file.

    Raises:
        ValueError: the file names a role that may not own functions.
    """
    named = _OWNER.search(script)
    role = named.group(1) if named else OWNERS[0]
    if role not in OWNERS:
        message = f"there is no owner {role!r}: {', '.join(OWNERS)}"
        raise ValueError(message)
    return role


def callers(script: str) -> dict[str, tuple[str, ...]]:
    """The roles that may call each function of a file, by the function's name; overloads have the same callers.

    Raises:
        ValueError: a role is unknown, or overloads of one name have different callers.
    """
    found: dict[str, tuple[str, ...]] = {}
    for function in _HEAD.finditer(script):
        name, line = function["name"], _CALLERS.search(function["head"])
        roles = tuple(_known(word, CALLERS, f"callers of {name}") for word in _words(line.group(1))) if line else ()
        if found.setdefault(name, roles) != roles:
            message = f"functions called {name} have different callers"
            raise ValueError(message)
    return found


def with_plans(script: str) -> str:
    """The file with its directives replaced by planner settings; lines keep their numbers.

    Raises:
        ValueError: a word names no setting.
    """
    return _PLANS.sub(
        lambda line: " ".join(_known(word, PLANS, line.group()) for word in _words(line.group(1))), script
    )


def _words(line: str) -> list[str]:
    return [word.strip() for word in line.split(",")]


def _known(word: str, table: dict[str, str], where: str) -> str:
    if word not in table:
        message = f"{where}: unknown word {word!r}; known are {', '.join(table)}"
        raise ValueError(message)
    return table[word]
