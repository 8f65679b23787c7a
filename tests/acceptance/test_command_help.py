"""Every command says what it does."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from memsvc.cli.app import app

pytestmark = pytest.mark.acceptance
COMMANDS = [
    (),
    ("demo",), ("up",), ("web",), ("api",), ("worker",), ("relay",), ("mcp",), ("doctor",), ("ingest",), ("recall",),
    ("cells",), *(("cells", does) for does in ("list", "add", "weight", "drain", "remove", "upgrade", "doctor")),
    ("documents",), ("documents", "show"), ("documents", "history"), ("vault",),
    *(("vault", does) for does in ("add", "list", "status", "links", "remove", "watch", "write", "undo")),
    ("context",), ("ask",), ("verify",), ("pin",), ("unpin",), ("promote",), ("show",), ("agenda",), ("summaries",),
    ("feedback",), ("top-of-mind",), ("reflections",), ("audit",),
    ("lessons",), *(("lessons", does) for does in ("add", "list", "accept", "reject")),
    ("plan",), *(("plan", does) for does in ("add", "list", "show", "change")),
    ("sql",), ("psql",), ("cypher",),
    ("note",), ("note", "add"), ("note", "list"), ("note", "show"), ("note", "link"), ("note", "unlink"),
    ("note", "linked"), ("ontology",), ("ontology", "add"), ("ontology", "propose"), ("ontology", "approve"),
    ("ontology", "reject"), ("ontology", "deprecate"), ("ontology", "withdraw"),
    ("profile",), *(("profile", does) for does in ("show", "set", "append", "replace", "history", "move", "forget")),
    ("graph",), ("graph", "rebuild"), ("graph", "verify"), ("forget",), ("analyse",),
    ("places",), *(("places", does) for does in ("add", "end", "show", "nearby")),
    ("turn",), ("turn", "record"), ("work",),
    ("extract",), ("reread",), *(("reread", does) for does in ("run", "list", "show", "stop", "undo")),
    ("review",), ("review", "list"), ("review", "accept"), ("review", "edit"), ("review", "reject"),
    ("facts",), ("nodes",), ("node",), ("changes",), ("undo",), ("assert",), ("annotate",),
    ("merge",), ("unmerge",),
    ("export",), ("import",),
    ("backup",), ("restore",),
    ("db",), ("db", "upgrade"), ("db", "alembic"), ("db", "rotate-secret"), ("db", "erasures"), ("db", "erase-again"),
    ("db", "reindex"), ("db", "health"), ("db", "sizes"),
    ("user",), ("user", "add"), ("user", "list"), ("user", "move"), ("user", "pause"), ("user", "resume"),
    ("user", "anonymise"), ("user", "figures"),
    ("policy",), ("policy", "show"), ("policy", "set"),
    ("key",), ("key", "scopes"), ("key", "create"), ("key", "limit"), ("key", "list"), ("key", "revoke"),
    ("budget",), ("budget", "set"), ("budget", "show"),
    ("jobs",), ("jobs", "run"), ("jobs", "retry"), ("jobs", "cancel"), ("jobs", "dead"),
    ("duplicates",), *(("duplicates", does) for does in ("list", "accept", "reject", "split")), ("sleep",),
    ("proposals",), *(("proposals", does) for does in ("list", "accept", "reject")),
    ("feed",), *(("feed", does) for does in ("add", "list", "show", "run", "pause", "resume", "remove")),
    ("archive",), *(("archive", does) for does in ("show", "forgetting", "restore")),
    ("schedule",), ("schedule", "set"), ("schedule", "off"), ("schedule", "on"), ("schedule", "run"),
    ("models",), ("models", "list"), ("models", "build"), ("models", "pause"), ("models", "resume"),
    ("models", "switch"), ("models", "rollback"), ("models", "retire"), ("models", "embed"),
    ("llm",), ("llm", "check"), ("llm", "calls"),
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_says_what_it_does(command: tuple[str, ...]) -> None:
    asked = CliRunner(env={"COLUMNS": "120"}).invoke(app, [*command, "--help"])  # a hundred processes prove no more
    assert asked.exit_code == 0
    said = asked.stdout
    described = said.split("\n\n")[1].strip() if "\n\n" in said else ""
    assert re.search(r"[A-Z].{10,}\.", described, re.DOTALL), said
    undescribed = re.findall(r"^  (?:-\w, )?--[a-z-]+(?: [A-Z<\[]\S*)?$", said, re.MULTILINE)
    assert not undescribed


def test_the_list_of_commands_is_complete() -> None:
    import typer  # noqa: PLC0415

    def below(command: object, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        yield path
        for name, inner in getattr(command, "commands", {}).items():
            yield from below(inner, (*path, name))

    assert set(below(typer.main.get_command(app), ())) == set(COMMANDS)
