"""docs/sql.md: each question's statement gives the answer that is printed below it."""

from __future__ import annotations

import re
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from memsvc.access.users import Owner, app_id
from memsvc.cli.common import print_table
from memsvc.cli.console import shown
from memsvc.db.engine import Database, role_url
from memsvc.server.reader import ask
from memsvc.settings import Settings
from tests.sql.conftest import Scratch
from tests.sql.sample_graph import write_sample
from tests.sql.sample_turns import write_turns

pytestmark = pytest.mark.server
PAGE = Path(__file__).resolve().parents[2] / "docs" / "sql.md"
QUESTION = re.compile(r"^### (?P<title>.+?)\n(?P<body>.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```(?P<kind>sql|text)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
Blocks = list[tuple[str, str]]
QUESTIONS: dict[str, Blocks] = {
    found["title"]: [(block["kind"], block["text"]) for block in BLOCK.finditer(found["body"])]
    for found in QUESTION.finditer(PAGE.read_text(encoding="utf-8"))
}


@pytest.fixture(scope="module")
async def people(scratch: Scratch, settings: Settings) -> tuple[str, Owner, Owner]:
    """A database with the samples, Nora's and Kim's, each twice: what another user has must not be seen."""
    url = scratch("guide")
    db = Database(role_url(url, "memsvc_app", settings.secret("app_password")), settings)
    try:
        with psycopg.connect(url, autocommit=True) as admin:
            app: UUID = await app_id(db, "guide")
            owner = await write_sample(db, app, settings, admin)
            await write_sample(db, app, settings, admin, external_id="another Nora")
            kim = await write_turns(db, app, settings)
            await write_turns(db, app, settings, external_id="another Kim")
    finally:
        await db.close()
    return url, owner, kim


def test_the_guide_answers_twenty_questions_and_each_has_its_answer() -> None:
    assert len(QUESTIONS) >= 20
    for title, blocks in QUESTIONS.items():
        assert [kind for kind, _text in blocks] == ["sql", "text"], title


@pytest.mark.parametrize("title", QUESTIONS)
def test_the_answer_is_the_printed_one(
    title: str, people: tuple[str, Owner, Owner], settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    url, nora, kim = people
    owner = kim if " agent" in f" {title}" else nora
    (_sql, statement), (_text, printed) = QUESTIONS[title]
    answer = ask(url, settings, owner.user_id, statement, limit=100, time_zone=owner.time_zone)
    print_table(answer.columns, [[shown(value) for value in row] for row in answer.rows])
    assert capsys.readouterr().out == printed
    assert answer.rows
