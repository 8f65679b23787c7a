"""The examples of the pages about doors, run as they stand: README.md, docs/chat.md, docs/mcp.md, docs/rest.md.

Only addresses are changed, to ports that are free here; what a page starts in a terminal of its own goes on behind the
rest.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig
from tests.acceptance.test_short_guides import Desk
from tests.fakes import upstream

pytestmark = pytest.mark.acceptance
TOP = Path(__file__).resolve().parents[2]
CALLED = "The new bike is called Rosalinde."
WAIT = "until curl -sf localhost:8765/health > /dev/null; do sleep 0.2; done\n"
LEAVE = "\nkill %1; wait"
PRINT = "print(answer.choices[0].message.content)"
MARK = "--- next example ---"


def examples(page: str, language: str) -> list[str]:
    """The examples of a page in a language."""
    text = (TOP / page).read_text(encoding="utf-8").replace("127.0.0.1:8765", "localhost:8765")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def one(page: str, language: str, word: str) -> str:
    """The example in which a word stands."""
    [found] = [example for example in examples(page, language) if word in example]
    return found


async def typed(prepared: Path, script: str, *arguments: str) -> str:
    """What a shell prints that reads this, on a memory of its own."""
    with private_folder(prepared) as data, Rig(data, embedding_model="") as rig, rig.admin():
        return await asyncio.to_thread(
            Desk(rig).run, "bash", "-euo", "pipefail", "-c", script + LEAVE, "page", *arguments
        )


async def test_the_readme(prepared: Path) -> None:
    [user] = re.findall(r"^\$ (memsvc user add .*)$", (TOP / "README.md").read_text(), re.MULTILINE)
    said = await typed(prepared, f"{user}\n{one('README.md', 'sh', 'memsvc up &')}")
    assert '"outcome":"created"' in said
    assert re.search(rf"Marcel.*: “{CALLED}”", said)


async def test_doors(prepared: Path) -> None:
    serve, user, hook = examples("docs/chat.md", "sh")
    chat, claude = examples("docs/chat.md", "python")
    claude += "\nprint(answer.content[0].text)\n"
    indented = "".join(f"    {line}" for line in one("docs/mcp.md", "python", "call_tool").splitlines(keepends=True))
    talk = f"import asyncio, os\n\nasync def talk(key):\n{indented}\nasyncio.run(talk(os.environ['KEY']))\n"
    create, limit, *listing = (
        line.replace("mk_0123456789abcdef", '"${LIMITED%%.*}"')
        for line in one("docs/rest.md", "bash", "key limit").splitlines()
    )
    async with upstream.serving() as model:
        steps = [
            user,
            f"MEMSVC_ANTHROPIC_URL={model.url} "
            + serve.replace("http://127.0.0.1:11434/v1", model.url).rstrip()
            + " &",
            WAIT,
            'python -c "$1"; python -c "$3"',
            hook,
            'python -c "$2"',
            one("docs/rest.md", "bash", "curl"),
            f"LIMITED=$({create})",
            limit,
            "\n".join(listing),
        ]
        said = await typed(prepared, f"\necho '{MARK}'\n".join(steps), chat + PRINT, talk, claude)
    _, _, _, answered, hooked, quoted, noted, _, limited, _ = said.split(f"{MARK}\n")
    assert answered == "Noted.\nNoted.\n"
    assert [asked.path for asked in model.asked] == ["/v1/chat/completions", "/v1/messages"]
    assert {asked.body["messages"][-1]["content"] for asked in model.asked} == {"Where do we meet Ines?"}
    assert '"outcome":"created"' in hooked
    assert "Noted." in hooked, "the hook is told what was said at the other door"
    assert "Ines moved to the Lindenhof in May." in quoted
    assert '"title":"Oak for the worktop"' in noted
    assert "60 requests a minute" in limited
