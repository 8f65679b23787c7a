"""The client within one process: ``Memory.open`` on a data folder, and what a program leaves behind."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memsvc.client import AsyncMemory, ClientError, Memory, RefusedError
from memsvc.errors import MemsvcError
from memsvc.server import embedded
from tests.acceptance.conftest import private_folder

pytestmark = pytest.mark.acceptance
PAGE = Path(__file__).resolve().parents[2] / "docs" / "client.md"
BLOCKS = [found[1] for found in re.finditer(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)]
QUIET = {"extractor": "none", "embedding_model": ""}


@pytest.fixture(scope="module")
def data(prepared: Path) -> Iterator[Path]:
    """A data folder of this module."""
    with private_folder(prepared) as data:
        yield data


def test_all_of_memsvc_runs_within_a_program(data: Path) -> None:
    def talk(user: str, word: str) -> str:
        mine = memory.for_user(user)
        for n in range(5):
            mine.add(f"The bike {n} is called {word}.")
        return mine.context("What is the bike called?").text

    with Memory.open(data, **QUIET) as memory:
        with ThreadPoolExecutor() as threads:
            ada, zoe = threads.map(talk, ("Ada", "Zoë 李"), ("Rosalinde", "Cesare"))
        assert "Rosalinde" in ada
        assert "Cesare" not in ada
        assert "Cesare" in zoe
        assert memory.recall("bike").memories == []
        with pytest.raises(RefusedError, match="name must have"):
            memory.for_user(" ").recall("bike")
        assert memory.for_user("Ada").forget("conversation", "default").counts["passages"] == 5
    with pytest.raises(ClientError) as ended:
        memory.for_user("Ada").recall("bike")
    assert ended.value.code == "closed"
    assert not embedded.server_running(data)


async def test_it_is_reopened_and_shared_and_awaited(data: Path) -> None:
    async with await AsyncMemory.open(data, user="Ada", **QUIET) as memory:
        await memory.add("The boat is called Walburga.", "boats")
        async with await AsyncMemory.open(data, user="Ada", **QUIET) as other:
            assert [found.text for found in (await other.recall("boat")).memories] == ["The boat is called Walburga."]
        answers = await asyncio.gather(*(memory.recall("boat") for _ in range(20)))
        assert {len(answer.memories) for answer in answers} == {1}


def test_the_examples_of_the_page_run(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Memory.open(data, user="Marcel", **QUIET) as memory:
        _, whole, _, store, refusal = (
            block.replace('"memory-data"', f"{str(data)!r}, extractor='none', embedding_model=''") for block in BLOCKS
        )
        exec(whole, {"Memory": Memory})
        exec(store.rsplit("graph = ", 1)[0] + 'store.put(("m", "Marcel"), "k", {"a": "b"})', {"memory": memory})
        for _ in range(2):
            exec(refusal.replace("=3", "=0"), {"memory": memory})
    said = capsys.readouterr().out
    assert re.search("Marcel.*: “The new bike is called Rosalinde.”", said)
    assert said.endswith(" bikes\n1\n")


def test_a_program_that_forgets_to_close_ends_all_the_same(data: Path) -> None:
    program = f"""
        from memsvc.client import Memory
        memory = Memory.open({str(data)!r}, user="Ada", extractor="none", embedding_model="")
        print(memory.recall("boat").memories[0].text)
        """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(program)],
        capture_output=True, encoding="utf-8", timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "The boat is called Walburga.\n", "")
    assert not embedded.server_running(data)


def test_what_cannot_be_opened_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(MemsvcError):
        Memory.open(tmp_path / "file", **QUIET)
