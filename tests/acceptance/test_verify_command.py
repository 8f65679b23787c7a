"""``memsvc verify``, ``pin`` and ``unpin``, as a person runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig

pytestmark = [pytest.mark.acceptance, pytest.mark.slow]


def test_a_claim_is_verified_and_a_memory_pinned(prepared: Path, tmp_path: Path) -> None:
    chat = tmp_path / "chat.jsonl"
    chat.write_text(
        json.dumps({"conversation": "a", "speaker": "Ada", "text": "Emil is allergic to hazelnuts."}) + "\n"
    )
    with private_folder(prepared) as data, Rig(data, extractor="offline") as rig:
        rig.ok("user", "add", "--name", "Ada")
        rig.ok("ingest", str(chat))
        told = rig.ok("verify", "Emil is allergic to hazelnuts.")
        assert told.splitlines()[0] == "supported: It is a known fact."
        assert "Emil is allergic to hazelnuts." in told.splitlines()[1]
        supporting = json.loads(rig.ok("verify", "Emil is allergic to hazelnuts.", "--json"))["supporting"]
        [evidence] = [one for one in supporting if one["kind"] == "message"]
        assert "Pinned: message" in rig.ok("pin", evidence["id"], "--importance", "8")
        assert "why: salient: pinned" in rig.ok("top-of-mind")
        assert "Not pinned: message" in rig.ok("unpin", evidence["id"])
