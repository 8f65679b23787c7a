"""What the documentation says about names is true: settings, errors, commands, links and licences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import typer.main

from memsvc import errors
from memsvc.cli.app import app
from memsvc.settings import Settings
from memsvc.transfer.format import KINDS

TOP = Path(__file__).resolve().parents[2]
PAGES = (TOP / "README.md", TOP / "CONTRIBUTING.md", *sorted((TOP / "docs").rglob("*.md")))
SETTING_ROW = re.compile(r"^\| `MEMSVC_(?P<name>[A-Z_]+)` \| (?P<default>[^|]*) \|", re.MULTILINE)
ERROR_ROW = re.compile(r"^\| `(?P<code>\w+)` \| (?P<status>\d+) \| (?P<exit>\d+) \|", re.MULTILINE)
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ (?P<title>.+)$", re.MULTILINE)
FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
COMMANDS = typer.main.get_command(app)
# A command in a code span, or at the start of a line of a code block (after variables, `$`, `&&` or `|`).
IN_SPAN = re.compile(r"`(?:\w+=\S+ )*memsvc (?P<words>[^`]+)`")
IN_BLOCK = re.compile(
    r"(?:^|&& |\| |\$\()\s*(?:\$ )?(?:\w+=(?:'[^']*'|\S+) )*memsvc (?P<words>.+?)(?= && | \| |$)", re.MULTILINE
)
COPYLEFT = re.compile(r"\b(?:A?GPL|LGPL|MPL|EPL|EUPL|CDDL|Mozilla Public|GNU)\b", re.IGNORECASE)


def name(page: Path) -> str:
    """A page's name as pytest shows it."""
    return page.relative_to(TOP).as_posix()


def documented_settings() -> dict[str, str]:
    """Default as documented, by the setting's name."""
    text = (TOP / "docs" / "configuration.md").read_text()
    return {row["name"].lower(): row["default"] for row in SETTING_ROW.finditer(text)}


def test_every_setting_is_documented_and_every_documented_one_exists() -> None:
    assert set(documented_settings()) == set(Settings.model_fields)


@pytest.mark.parametrize("setting", [n for n, field in Settings.model_fields.items() if field.default_factory is None])
def test_documented_defaults_are_the_real_ones(setting: str) -> None:
    default, told = Settings.model_fields[setting].default, documented_settings()[setting]
    assert told in {"none", "generated"} if default is None else told == f"`{default}`"


def error_classes(base: type[errors.MemsvcError] = errors.MemsvcError) -> Iterator[type[errors.MemsvcError]]:
    """All errors that a person or a client can meet."""
    for found in base.__subclasses__():
        yield found
        yield from error_classes(found)


def test_the_table_of_errors_is_complete_and_right() -> None:
    text = (TOP / "docs" / "ingest.md").read_text()
    told = {(row["code"], int(row["status"]), int(row["exit"])) for row in ERROR_ROW.finditer(text)}
    assert told == {(error.code, error.status, error.exit_code) for error in error_classes()}


def anchors(page: Path) -> set[str]:
    """The anchors that a page's headings make."""
    titles = (heading["title"] for heading in HEADING.finditer(FENCED.sub("", page.read_text())))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_relative_links_lead_somewhere(page: Path) -> None:
    for link in LINK.finditer(FENCED.sub("", page.read_text())):
        path, _, anchor = link["target"].partition("#")
        if "://" in path:
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name(page)} links to {path}, which does not exist"
        assert not anchor or anchor in anchors(target), f"{name(page)} links to {link['target']}: no such heading"


def commands_in(text: str) -> Iterator[list[str]]:
    """The words after ``memsvc`` of every command that a page mentions."""
    for block in FENCED.findall(text):
        for found in IN_BLOCK.finditer(block):
            yield found["words"].split("#")[0].split()
    for found in IN_SPAN.finditer(FENCED.sub("", text)):
        yield found["words"].split()


def wrong_with(words: list[str]) -> str | None:
    """What does not exist in a command."""
    command: Any = COMMANDS
    for position, word in enumerate(words):
        if word == "--":  # what follows is another program's
            break
        if word.startswith("-"):
            option = word.split("=")[0]
            known = {"--help", "-h", *(opt for param in command.params for opt in param.opts)}
            if option not in known:
                return f"{' '.join(words[:position])} has no option {option}"
        elif re.fullmatch(r"[a-z][a-z-]*", word) and (below := getattr(command, "commands", None)):
            if word not in below:
                return f"there is no command {' '.join(words[: position + 1])}"
            command = below[word]
    return None


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_and_their_options_exist(page: Path) -> None:
    assert [wrong for words in commands_in(page.read_text()) if (wrong := wrong_with(words))] == []


def test_the_pages_mention_commands_at_all() -> None:
    assert sum(len(list(commands_in(page.read_text()))) for page in PAGES) > 20
    assert wrong_with(["db", "downgrade"]) == "there is no command db downgrade"
    assert wrong_with(["recall", "x", "--fast"]) == "recall x has no option --fast"


def test_the_page_on_exports_names_every_file_in_its_order() -> None:
    told = re.findall(r"^\| `(\w+)\.jsonl` \|", (TOP / "docs" / "export.md").read_text(), re.MULTILINE)
    assert told == list(KINDS)


def licences(package: str) -> str:
    """What an installed package says about its licence; empty where it is not installed."""
    try:
        about = metadata.metadata(package)
    except metadata.PackageNotFoundError:
        return ""
    fields = ("License-Expression", "License", "Classifier")
    told = [line[:200] for field in fields for line in about.get_all(field) or []]
    return " ".join(line for line in told if ("::" not in line or line.startswith("License")))


def test_every_package_of_the_lock_with_a_copyleft_licence_is_named() -> None:
    lock = (TOP / "requirements.lock").read_text()
    packages = re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)
    copyleft = {package for package in packages if COPYLEFT.search(licences(package))}
    named = set(re.findall(r"`([\w-]+)`", (TOP / "docs" / "dependencies.md").read_text()))
    assert "psycopg" in copyleft
    assert copyleft <= named


@pytest.mark.parametrize("page", sorted((TOP / "docs" / "adr").glob("0*.md")), ids=name)
def test_every_decision_says_whether_it_still_holds(page: Path) -> None:
    title, empty, status, *_ = page.read_text().splitlines()
    assert re.fullmatch(rf"# {page.name[:4]}: .+", title)
    assert empty == ""
    assert re.match(r"\*\*Status\.\*\* (?:Accepted|Superseded by \[\d{4}\]|Amended by \[\d{4}\])", status)
