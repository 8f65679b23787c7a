"""What README and the page on contexts print is what the commands print for the sample conversation.

Numbers, ids, drawn tokens and how long ago something was may differ; "…" stands for what a page leaves out, alone on a
line for whole lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memsvc.db.files import folder
from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig

TOP = Path(__file__).resolve().parents[2]
QUESTION = "On which Saturday is the wedding of Ines and Jonas?"
MOVED = "To which Saturday was the wedding of Ines and Jonas moved?"
VARIES = (
    (re.compile(r"\[(\w):\w+\]"), r"[\1:ID]"),
    (re.compile(r"\b[0-9a-f]{8}-[-0-9a-f]{27}"), "ID"),
    (re.compile(r"^(\[(?:end of )?memsvc (?:context|rules)) [^:\]]+"), r"\1 TOKEN"),
    (re.compile(r"^\* It is .*"), "* It is NOW"),
    (re.compile(r"\([^()]* ago\)"), "(AGO)"),
    (re.compile(r"\d"), "0"),
    (re.compile(r"(?<= )[-+](?=0\.00 )"), "±"),
)


def alike(line: str) -> str:
    """A line without what may differ."""
    line = line.rstrip()
    for varies, as_if in VARIES:
        line = varies.sub(as_if, line)
    return line


def sample(page: str, command: str) -> list[str]:
    """The lines that a page shows behind a command, up to the next one."""
    _, _, behind = (TOP / page).read_text().partition(f"$ {command}\n")
    assert behind, f"{page} does not show {command}"
    return re.split(r"^(?:```|\$ )", behind, maxsplit=1, flags=re.MULTILINE)[0].splitlines()


def missing(shown: list[str], printed: list[str]) -> str | None:
    """The first line of a sample that was not printed where it should be; None: it is what was printed."""
    at, leap = 0, False
    for line in shown:
        if line == "…":
            leap = True
            continue
        wanted = re.compile(".*".join(re.escape(part) for part in alike(line).split("…")))
        places = range(at, len(printed) if leap else min(at + 1, len(printed)))
        found = next((place for place in places if wanted.fullmatch(alike(printed[place]))), None)
        if found is None:
            return line
        at, leap = found + 1, False
    return None if leap or at == len(printed) else printed[at]


@pytest.fixture(scope="module")
def marcel(prepared: Path) -> Iterator[Rig]:
    """Somebody who did what README says."""
    with private_folder(prepared) as data, Rig(data, extractor="offline") as rig:
        rig.environment["COLUMNS"] = "100"
        rig.ok("user", "add", "--name", "Marcel", "--alias", "MW", "--zone", "Europe/Berlin")
        rig.ok("ingest", str(folder("examples") / "conversation.jsonl"))
        yield rig


@pytest.mark.parametrize(
    ("page", "command"),
    [
        ("README.md", ("recall", "-k", "2", "--explain", MOVED)),
        ("docs/context.md", ("context", QUESTION, "--budget", "400", "-k", "4")),
    ],
)  # fmt: skip
def test_samples_are_what_the_code_prints(marcel: Rig, page: str, command: tuple[str, ...]) -> None:
    shown = sample(page, "memsvc " + " ".join(f'"{word}"' if " " in word else word for word in command))
    printed = marcel.ok(*command).splitlines()
    assert missing(shown, printed) is None, "\n".join(printed)


def test_the_sample_of_an_opened_memory_is_what_the_code_prints(marcel: Rig) -> None:
    page = (TOP / "docs" / "context.md").read_text()
    [command] = re.findall(r"^\$ (memsvc show .+)$", page, re.MULTILINE)
    said = "Zoë Lindqvist sings and plays guitar, Beppo is on drums, I'm on bass."
    [memory] = json.loads(marcel.ok("recall", said, "-k", "1", "--no-facts", "--json"))["memories"]
    printed = marcel.ok("show", memory["memory_id"], *command.split()[3:]).splitlines()
    assert missing(sample("docs/context.md", command), printed) is None, "\n".join(printed)


def test_the_report_of_a_night_is_what_the_code_prints(marcel: Rig) -> None:
    for command in (("jobs", "run"), ("sleep",)):
        marcel.ok(*command)
    printed = marcel.ok("sleep", "--report").splitlines()
    assert missing(sample("docs/sleep.md", "memsvc sleep --report"), printed) is None, "\n".join(printed)


def test_a_sample_that_differs_is_noticed() -> None:
    printed = ["a 1", "b", "why: c", "d"]
    assert missing(["a 2", "…", "why: …", "d"], printed) is None
    assert missing(["a 1", "why: c", "d"], printed) == "why: c"
    assert missing(["a 1", "…", "why: x", "d"], printed) == "why: x"
    assert missing(["a 1", "b", "why: c"], printed) == "d"
