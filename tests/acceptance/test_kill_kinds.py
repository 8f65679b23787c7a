"""A process that is killed while it ingests an export or a folder loses and doubles nothing, whatever the kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig, assert_books_right, wait_until
from tests.chats import EXPORTS, tree

pytestmark = [pytest.mark.acceptance, pytest.mark.slow]
ONE_BY_ONE = {"max_batch": "1"}
DOCUMENTS = {
    "study.md": "# Coffee study\n\n" + "The beans come from Kenya and are roasted for eleven minutes. " * 60,
    "plan.txt": "The plan has three steps. " * 120,
    "page.html": "<!doctype html><title>Garden</title><h1>Beds</h1><p>" + "Beans grow beside the wall. " * 80 + "</p>",
}
STORED = """
SELECT s.kind, s.identifier, coalesce(p.client_id, ''), p.session, p.ordinal, p.part, p.kind, p.role, p.text,
  CASE WHEN p.said_at < now() - interval '1 day' THEN p.said_at END
FROM memsvc.passages AS p
INNER JOIN memsvc.sources AS s ON s.user_id = p.user_id AND s.source_id = p.source_id
INNER JOIN memsvc.users AS u ON u.user_id = p.user_id
WHERE u.external_id = %s AND s.kind IN ('conversation', 'document') ORDER BY 1, 2, 4, 5, 6, 3, 9
"""
"""What nobody dated is said at the moment of the ingest, which is none of these times."""


@pytest.fixture(scope="module")
def rig(prepared: Path) -> Iterator[Rig]:
    """A private memsvc without a model."""
    with private_folder(prepared) as data, Rig(data, embedding_model="") as made:
        yield made


def stored(admin: psycopg.Connection, user: str) -> list[tuple[object, ...]]:
    return admin.execute(STORED, [user]).fetchall()


def test_an_ingest_of_any_kind_that_is_killed_goes_on_and_doubles_nothing(rig: Rig, tmp_path: Path) -> None:
    paths, middles = list[str](), 0
    for user in ("killed", "whole"):
        rig.ok("user", "add", "--name", "Ada", "--app", "kinds", "--external-id", user)
    said = ("ingest", "--app", "kinds", "--not-me", "--json")
    with rig.admin() as admin:
        kinds = {**EXPORTS, "documents": DOCUMENTS}
        del kinds["role-content"]  # its sample has the conversation, ids and words of another one
        for kind, files in kinds.items():
            root = tree(tmp_path / kind, files)
            path = str(root if len(files) > 1 else root / next(iter(files)))
            before = len(stored(admin, "killed"))
            ingest = rig.start(*said, "--user", "killed", path, **ONE_BY_ONE)
            wait_until(lambda: len(stored(admin, "killed")) > before or not ingest.running, pause=0.001)  # noqa: B023
            middles += ingest.running
            rig.kill(ingest)
            rig.wait_for_backends(admin)
            assert len(stored(admin, "killed")) > before, kind
            paths.append(path)
        assert_books_right(admin)
        rig.ok(*said, "--user", "killed", *paths)
        rig.ok(*said, "--user", "whole", *paths)
        found = stored(admin, "killed")
        assert found == stored(admin, "whole")
        rig.ok(*said, "--user", "killed", *paths)
        assert stored(admin, "killed") == found
        assert_books_right(admin)
    assert middles > len(paths) / 2, "too few were killed between two commits"
