"""``memsvc extract`` and ``memsvc review`` in real processes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.killpoints import Rig, refused

pytestmark = pytest.mark.acceptance


@pytest.fixture(scope="module", autouse=True)
def running(rig: Rig) -> Iterator[None]:
    """The server runs all the time, so that commands need not start it each time."""
    with rig.admin():
        yield


def test_text_is_read_for_facts_and_doubtful_ones_wait(rig: Rig, tmp_path: Path) -> None:
    at, offline, none = ("--app", "reading"), {"extractor": "offline"}, {"embedding_model": ""}
    rig.ok("user", "add", "--name", "Ada", *at)
    said = "My sister Ines moved to Porto in March."
    dry = json.loads(rig.ok("extract", said, "--dry-run", "--said-at", "2026-05-02", "--json", *at, **offline))
    [moved] = [fact["proposal"] for fact in dry["facts"] if fact["proposal"]["type"] == "LIVES_IN"]
    assert (moved["subject"]["name"], moved["object"]["name"], moved["since"][:7]) == ("Ines", "Porto", "2026-03")
    assert moved["quote"] in said
    assert rig.ok("facts", "--about", "Ada", *at).count("\n") == 1, "nothing is stored"

    chat = tmp_path / "chat.jsonl"
    chat.write_text(json.dumps({"id": "1", "speaker": "Ada", "text": said, "said_at": "2026-05-02"}) + "\n")
    rig.ok("ingest", str(chat), *at, **none)
    assert "who" in rig.ok("extract", str(chat), "--dry-run", *at, **offline)
    assert re.match(
        r"offline/\d+ has read 1 message of 1 conversation:", rig.ok("extract", "--all", *at, **offline, **none)
    )
    [told] = json.loads(rig.ok("extract", "status", "--json", *at))
    assert (told["identifier"], told["turns"], told["left"], told["job_state"]) == ("chat", 1, 0, None)
    [lives] = [
        fact for fact in json.loads(rig.ok("node", "Ines", "--json", *at))["facts"] if fact["type"] == "LIVES_IN"
    ]
    assert [source["quote"] for source in lives["sources"]] == [moved["quote"]]
    assert "first seen: 2026-05-02 | last seen: 2026-05-02" in rig.ok("node", "Ines", *at)
    assert isinstance(json.loads(rig.ok("review", "list", "--state", "all", "--json", *at)), list)

    unknown = "01a2007c-7eda-7cfc-8e66-461d27fa4b50"
    refused(rig, 3, "no fact under review", "review", "accept", unknown, *at)
    refused(rig, 3, "not a valid review id", "review", "reject", "1", *at)
    refused(rig, 2, "Give at least one change", "review", "edit", unknown, *at)
    refused(rig, 2, "--dry-run", "extract", said, *at)
    refused(rig, 2, "needs a TEXT or FILE", "extract", "--all", "--dry-run", *at)
    refused(rig, 2, "Give one of", "extract", *at)
    refused(rig, 2, "needs --all", "extract", said, "--dry-run", "--since", "2026-01-01", *at)
    refused(rig, 2, "need --dry-run", "extract", "--all", "--speaker", "Ines", *at)
    refused(rig, 3, "no conversation 'nowhere'", "extract", "--conversation", "nowhere", *at, **offline)
    refused(rig, 78, "No extractor is configured(.|\n)*memsvc.nlp", "extract", said, "--dry-run", *at)
