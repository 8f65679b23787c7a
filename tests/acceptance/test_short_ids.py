"""Commands take the ids that memsvc prints (m:…, f:…, n:…), and full ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from memsvc.db.short_ids import short_id
from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig, refused

pytestmark = pytest.mark.acceptance
AS = ("--user", "Ada")


@pytest.fixture(scope="module")
def rig(prepared: Path) -> Iterator[Rig]:
    """A memsvc without a model, which nothing here needs."""
    with private_folder(prepared) as data, Rig(data, embedding_model="") as made:
        yield made


@pytest.fixture(scope="module")
def ids(rig: Rig, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Short ids of messages, a fact (by its version, as contexts show it, and by its edge) and its node."""
    chat = tmp_path_factory.mktemp("chats") / "chat.jsonl"
    lines = [{"conversation": "pond", "id": str(n), "text": f"heron {n}", "said_at": "2026-03-01"} for n in range(3)]
    chat.write_text("\n".join(map(json.dumps, lines)))
    with rig.admin():
        rig.ok("user", "add", "--name", "Ada")
        rig.ok("ingest", *AS, str(chat))
        made = ("--from-type", "Person", "--to-type", "Place", *AS)
        rig.ok("assert", "Eva", "LIVES_IN", "Hamburg", "Eva lives in Hamburg.", *made)
        [fact] = json.loads(rig.ok("facts", "--about", "Eva", "--json", *AS))["items"]
        said = json.loads(rig.ok("sql", "--json", *AS, "SELECT passage_id FROM messages ORDER BY text"))
        yield {
            **{f"m{n}": f"m:{short_id(UUID(one['passage_id']))}" for n, one in enumerate(said)},
            "f": f"f:{short_id(UUID(fact['version_id']))}",
            "version": fact["version_id"],
            "edge": fact["edge_id"],
            "n": f"n:{short_id(UUID(fact['from_node']))}",
            "node": fact["from_node"],
        }


def test_forget_takes_them(rig: Rig, ids: dict[str, str]) -> None:
    def preview(kind: str, which: str) -> dict[str, int]:
        counts: dict[str, int] = json.loads(rig.ok("forget", kind, which, "--preview", "--json", *AS))
        return counts

    assert preview("--message", ids["m0"])["passages"] == 1
    assert preview("--passage", ids["m0"].removeprefix("m:"))["passages"] == 1
    for fact in (ids["f"], ids["version"], ids["edge"]):
        assert preview("--fact", fact)["edges"] == 1
    for node in (ids["n"], ids["node"], "Eva"):
        assert preview("--node", node)["nodes"] == 1
    assert "heron 2" in rig.ok("show", ids["m2"], *AS)
    rig.ok("forget", "--message", ids["m2"], "--yes", *AS)
    refused(rig, 3, "There is no memory", "show", ids["m2"], *AS)


def test_an_id_of_another_kind_or_of_nothing_is_refused_by_name(rig: Rig, ids: dict[str, str]) -> None:
    refused(rig, 2, "is a fact, not a message", "forget", "--message", ids["f"], "--preview", *AS)
    refused(rig, 2, "is a message, not a fact", "annotate", ids["m0"], "validated", "yes", *AS)
    refused(rig, 3, "There is no memory 'f:zzzz'", "annotate", "f:zzzz", "validated", "yes", *AS)
    refused(rig, 3, "No node is called 'n:zzzz'", "forget", "--node", "n:zzzz", "--preview", *AS)
    refused(rig, 3, "not a valid message id", "forget", "--message", "heron", "--preview", *AS)


def test_the_graph_takes_them(rig: Rig, ids: dict[str, str]) -> None:
    assert "Marked as validated" in rig.ok("annotate", ids["f"], "validated", "She said so.", *AS)
    assert "Marked as disputed" in rig.ok("annotate", ids["edge"], "disputed", "She did not.", *AS)
    assert ids["node"] in rig.ok("node", ids["n"], *AS)
    for command in (["facts", "--about", ids["n"]], ["graph", "--about", ids["n"]]):
        assert "Hamburg" in rig.ok(*command, *AS)
    rig.ok("assert", ids["n"], "KNOWS", "Ada", "Eva knows Ada.", "--passage", ids["m0"], *AS)
    assert "Eva knows Ada." in rig.ok("facts", "--about", "Eva", *AS)
    assert ids["node"] in rig.ok("note", "add", "On Eva", "--about", ids["n"], *AS)
    shown = rig.ok("profile", "append", "notes", "Likes herons.", "--node", ids["n"], "--evidence", ids["m0"], *AS)
    assert shown.startswith("notes of Eva")
    assert "was not merged" in rig.ok("unmerge", ids["n"], *AS)


def test_a_name_that_looks_like_an_id_stays_a_name(rig: Rig, ids: dict[str, str]) -> None:
    rig.ok("assert", "n:42", "KNOWS", "Eva", "Number 42 knows Eva.", "--from-type", "Person", *AS)
    assert "n:42" in rig.ok("node", "n:42", *AS)
    assert "Number 42" in rig.ok("facts", "--about", "n:42", *AS)


def test_feedback_takes_them(rig: Rig, ids: dict[str, str]) -> None:
    found = json.loads(rig.ok("recall", "heron", "--json", *AS))
    said = rig.ok("feedback", found["recall_id"], "--used", ids["m0"], "--irrelevant", ids["m1"], *AS)
    assert said.startswith("1 used, 1 irrelevant; 2 of these are new.")
