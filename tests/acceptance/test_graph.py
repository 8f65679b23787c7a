"""The graph at the command line and in its guide: real processes; the guide's examples do what it says."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.acceptance.killpoints import MEMSVC, Rig

pytestmark = pytest.mark.acceptance
GUIDE = Path(__file__).resolve().parents[2] / "docs" / "graph.md"
BLOCK = re.compile(r"^```sh\n(?P<script>.*?)^```", re.MULTILINE | re.DOTALL)
AS = ("--app", "graph")


@pytest.fixture(scope="module", autouse=True)
def running(rig: Rig) -> Iterator[None]:
    """The server runs all the time, so that commands need not start it each time."""
    with rig.admin():
        rig.ok("user", "add", "--name", "Marcel", "--app", "graph", "--zone", "Europe/Lisbon")
        rig.serve("api")
        yield


def refused(rig: Rig, code: int, says: str, *arguments: str) -> str:
    """Run a command that must fail with this exit code and message; its standard error."""
    done = rig.run(*arguments)
    assert done.returncode == code, done
    assert re.search(says, done.stderr), done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    return done.stderr


def test_facts_are_asserted_listed_corrected_and_undone(rig: Rig) -> None:
    made = ("--from-type", "Person", "--to-type", "Place")
    rig.ok("assert", "Ines", "LIVES_IN", "Porto", "Ines lives in Porto.", *made, *AS)
    moved = json.loads(
        rig.ok(
            "assert", "Ines", "LIVES_IN", "Lyon", "Ines lives in Lyon.", *made, "--from", "2026-03-01", "--json", *AS
        )
    )
    assert "Ines lives in Lyon." in rig.ok("facts", "--about", "ines", *AS)
    assert "Porto" not in rig.ok("facts", "--about", "ines", *AS)
    both = rig.ok("facts", "--about", "ines", "--all", *AS)
    assert "2026-03-01 – …" in both, "a date is midnight on the user's clock"
    assert "… – 2026-03-01" in both
    [then] = json.loads(rig.ok("facts", "--about", "Ines", "--as-of", "2026-02-28", "--json", *AS))["items"]
    assert then["fact"] == "Ines lives in Porto."
    assert rig.ok("facts", "--about", "Ines", "--known-at", "2020-01-01", *AS).count("\n") == 1
    assert "Ines lives in Lyon." in rig.ok("changes", moved["change_id"], *AS)
    edge = json.loads(rig.ok("facts", "--about", "Ines", "--json", *AS))["items"][0]["edge_id"]
    assert "Marked as disputed" in rig.ok("annotate", edge, "disputed", "She never said so.", *AS)
    assert "(contested)" in rig.ok("facts", "--about", "ines", *AS)
    assert "Marked as validated" in rig.ok("annotate", edge, "validated", "She did.", *AS)
    assert "(contested)" not in rig.ok("facts", "--about", "ines", *AS)
    refused(rig, 2, "cannot be marked as 'odd'", "annotate", edge, "odd", "She did.", *AS)
    assert "Undone by change" in rig.ok("undo", moved["change_id"], *AS)
    assert "Ines lives in Porto." in rig.ok("facts", "--about", "Ines", "--type", "LIVES_IN", *AS)
    listed = rig.ok("changes", *AS)
    assert listed.count("undo") >= 1
    assert moved["change_id"] in listed


def test_a_node_is_found_shown_merged_and_taken_apart(rig: Rig) -> None:
    rig.ok("assert", "Teo", "KNOWS", "Ana", "Teo knows Ana.", "--from-type", "Person", "--to-type", "Person", *AS)
    rig.ok("assert", "T. Brandt", "LIKES", "Oak", "He likes oak.", "--from-type", "Person", "--to-type", "Object", *AS)
    [twin] = json.loads(rig.ok("nodes", "brandt", "--type", "Person", "--json", *AS))["items"]
    assert "Oak" in rig.ok("nodes", "oa", *AS)
    rig.ok("merge", "T. Brandt", "Teo", "--reason", "same hand", *AS)
    shown = rig.ok("node", "Teo", *AS)
    assert "Teo (Person)" in shown
    assert "same hand" in shown
    assert "He likes oak." in shown
    assert "first seen" not in shown, "no message supports it"
    assert "merged into it" in rig.ok("node", twin["node_id"], *AS)
    assert "merge" in rig.ok("node", "Teo", "--history", *AS)
    assert "is separate again" in rig.ok("unmerge", twin["node_id"], *AS)
    assert "He likes oak." not in rig.ok("node", "Teo", *AS)
    assert "was not merged" in rig.ok("unmerge", twin["node_id"], *AS)


def test_a_name_of_several_nodes_lists_them_and_asks_for_the_id(rig: Rig) -> None:
    key = json.loads(rig.ok("key", "create", "--user", "Marcel", "--json", *AS))["key"]
    made = []
    for place in ("Faro", "Braga"):
        operations = [
            {"op": "node", "type": "Person", "label": "Luz"},
            {"op": "node", "type": "Place", "label": place},
            {"op": "edge", "from_node": 0, "type": "LIVES_IN", "to_node": 1, "fact": f"Luz lives in {place}.\n\u202e"},
        ]
        headers = {"Authorization": f"Bearer {key}"}
        answer = httpx.post(f"{rig.url}/v1/changes", json={"operations": operations}, headers=headers)
        made.append(answer.json()["results"][0]["node_id"])
    for command in (("node", "luz"), ("merge", "Luz", "Ines"), ("assert", "Luz", "KNOWS", "Ines", "x")):
        said = refused(rig, 3, "can be 2 nodes", *command, *AS)
        assert all(node in said for node in made)
    done = rig.run("facts", "--about", "Luz", *AS)
    assert all(node in done.stderr for node in made)
    assert len(done.stdout.splitlines()) == 3, "a line break in a fact makes no row"
    assert "\u202e" not in done.stdout
    assert "Luz lives in Faro." in rig.ok("node", made[0], *AS)


def test_wrong_arguments_end_with_a_plain_error(rig: Rig) -> None:
    refused(rig, 3, "No node is called 'Nobody'", "node", "Nobody", *AS)
    refused(rig, 3, "not a valid change id", "undo", "x", *AS)
    nobody = "01a200c9-0000-7000-8000-00000000dead"
    refused(rig, 3, "not a recorded pair", "duplicates", "accept", nobody, nobody, *AS)
    refused(rig, 2, "open, merged", "duplicates", "list", "--status", "x", *AS)
    refused(rig, 2, "--status is open, accepted", "proposals", "list", "--status", "merged", *AS)
    refused(rig, 2, "--kind is link, .* core or outdated", "proposals", "list", "--kind", "core,link", *AS)
    refused(rig, 3, "no proposal with this id", "proposals", "accept", nobody, *AS)
    refused(rig, 2, "is not a time", "facts", "--about", "I", "--as-of", "tomorrow", *AS)
    refused(rig, 2, "is in the future", "facts", "--about", "I", "--known-at", "2900-01-01", *AS)
    refused(rig, 2, "no edge type 'HATES'", "assert", "I", "HATES", "me", "x", *AS)
    refused(rig, 3, "No node is called 'Nowhere'", "assert", "I", "RELATED_TO", "Nowhere", "x", *AS)
    refused(
        rig, 2, "before it begins", "assert", "I", "KNOWS", "me", "x", "--from", "2026-01-02", "--to", "2026-01-01", *AS
    )


def test_the_guides_examples_run(rig: Rig, tmp_path: Path) -> None:
    rig.ok("user", "add", "--name", "Guide", "--app", "guide")
    key = json.loads(rig.ok("key", "create", "--app", "guide", "--user", "Guide", "--json"))["key"]
    text = GUIDE.read_text().split("## Walking and drawing")[0]
    scripts = [block["script"] for block in BLOCK.finditer(text)]
    assert len(scripts) >= 6
    environment = rig.environment | {
        "PATH": f"{MEMSVC.parent}:{os.environ['PATH']}", "MEMSVC_APP": "guide", "URL": rig.url,
        "AUTH": f"Authorization: Bearer {key}",
    }  # fmt: skip
    output = []
    for script in scripts:
        with rig.admin() as admin:
            last = admin.execute("SELECT change_id FROM memsvc.changes ORDER BY recorded_at DESC LIMIT 1").fetchone()
            fact = admin.execute(
                "SELECT edge_id FROM memsvc.edge_versions WHERE recorded_to = 'infinity' "
                "ORDER BY recorded_from DESC LIMIT 1"
            ).fetchone()
        environment["CHANGE"] = str(last[0]) if last is not None else ""
        environment["FACT"] = str(fact[0]) if fact is not None else ""
        ran = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script.replace("curl -s", "curl -sS --fail-with-body")],
            env=environment, capture_output=True, text=True, cwd=tmp_path, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, (script, ran.stdout, ran.stderr)
        output.append(ran.stdout)
    told = "\n".join(output)
    assert "Ines lives in Porto." in output[2]
    assert "Rui works at the boatyard." not in output[2]
    assert "Nessa knows Rui." in told
    assert "Marked as disputed" in told
    assert '"axis":"valid"' in told


def test_the_graph_as_a_whole_is_analysed_and_drawn(rig: Rig) -> None:
    made = ("--from-type", "Person", "--to-type", "Concept")
    rig.ok("assert", "Vera", "LIKES", "moss", "Vera likes moss.", *made, *AS)
    rig.ok("assert", "Vera", "DISLIKES", "moss", "Vera dislikes moss.", *made, *AS)
    assert re.search(r"Vera \(Person\) +\S+ +█+ +2 +1\n", rig.ok("analyse", "hubs", *AS))
    assert "Vera likes moss. / Vera dislikes moss." in rig.ok("analyse", "anomalies", *AS)
    near = json.loads(rig.ok("analyse", "pagerank", "--from", "Vera", "--json", *AS))
    assert [one["nodes"][0]["label"] for one in near["results"]] == ["moss"]
    for kind in ("communities", "orphans", "habits"):
        rig.ok("analyse", kind, *AS)
    listed = rig.ok("analyse", "--runs", *AS)
    assert listed.count(" done ") == 6
    assert near["run"]["run_id"] in listed
    refused(rig, 2, "no analysis 'dreams'", "analyse", "dreams", *AS)
    refused(rig, 2, "Only pagerank", "analyse", "hubs", "--from", "Vera", *AS)
