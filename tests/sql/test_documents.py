"""Documents: one source each, a version for each content, chunks that stay, go and come, and what erasing leaves."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.access.pausing import pause, resume
from memsvc.access.users import Owner
from memsvc.api.mcp.opened import opened_lines
from memsvc.db.engine import Database
from memsvc.documents.form import Chunk, ParsedDocument
from memsvc.erasing.memories import erase
from memsvc.errors import DocumentUnknownError
from memsvc.recall.context import ContextOptions, build_context
from memsvc.recall.options import Filters
from memsvc.recall.order import shipped
from memsvc.recall.results import Memory
from memsvc.recall.search import recall
from memsvc.settings import Settings
from memsvc.sources.document_reads import list_documents, read_document
from memsvc.sources.documents import DocumentIn, StoredDocument, mark_gone, store_document
from memsvc.sources.messages import MessageIn, append
from memsvc.sources.opening import open_memory
from tests.conftest import remembered

OPEN = (
    "SELECT passage_id, text, ordinal FROM memsvc.passages WHERE user_id = %s AND kind = 'chunk' "
    "AND recorded_to = 'infinity' ORDER BY source_id, ordinal"
)
AT = (
    "SELECT p.text FROM memsvc.passages AS p INNER JOIN memsvc.document_versions AS v USING (user_id, source_id) "
    "WHERE p.user_id = %s AND v.version = %s AND p.recorded_at <= v.recorded_from AND p.recorded_to > v.recorded_from "
    "ORDER BY p.ordinal"
)


class Shelf:
    """Stores documents of one user."""

    def __init__(self, db: Database, settings: Settings, owner: Owner, admin: psycopg.Connection) -> None:
        self.db, self.settings, self.owner, self.admin = db, settings, owner, admin
        self.read = 0

    async def put(
        self, name: str, *texts: str, title: str = "Coffee study", content: str | None = None, **more: Any
    ) -> StoredDocument:
        headings: Sequence[str] = more.pop("headings", ())
        metadata = more.pop("metadata", {})

        def parse() -> ParsedDocument:
            self.read += 1
            return ParsedDocument(
                format="md",
                title=title,
                chunks=[
                    Chunk(text=text, headings=tuple(headings), origin={"page": page})
                    for page, text in enumerate(texts, 1)
                ],
                pages=len(texts),
                metadata=metadata,
            )

        raw = (content or repr((texts, title))).encode()
        document = DocumentIn(
            identifier=name, path=name, sha256=hashlib.sha256(raw).hexdigest(), size=len(raw), parse=parse, **more
        )
        return await store_document(self.db, self.owner, document, self.settings)

    def open(self) -> list[tuple[Any, ...]]:
        return self.admin.execute(OPEN, [self.owner.user_id]).fetchall()

    def texts(self) -> list[str]:
        return [row[1] for row in self.open()]

    def at(self, version: int) -> list[str]:
        return [row[0] for row in self.admin.execute(AT, [self.owner.user_id, version])]

    async def recalled(self, query: str, **filters: Any) -> list[Memory]:
        return await remembered(self.db, self.owner, query, self.settings, filters=Filters(**filters), limit=20)


@pytest.fixture
def shelf(db: Database, settings: Settings, owner: Owner, admin: psycopg.Connection) -> Shelf:
    return Shelf(db, settings, owner, admin)


async def test_an_unchanged_file_is_not_read_again(shelf: Shelf) -> None:
    first = await shelf.put("/a/study.md", "Beans differ.", "Water matters.")
    assert (first.outcome, first.version, first.added) == ("created", 1, 2)
    before = shelf.open()
    again = await shelf.put("/a/study.md", "Beans differ.", "Water matters.")
    assert (again.outcome, again.document_id, again.version, again.added) == ("existing", first.document_id, 1, 0)
    assert (shelf.read, shelf.open()) == (1, before)


async def test_a_changed_file_is_a_new_version_that_keeps_what_stayed(shelf: Shelf) -> None:
    await shelf.put("/a/study.md", "one", "two", "three", "two")
    old = {row[0]: row[1] for row in shelf.open()}
    second = await shelf.put("/a/study.md", "zero", "one", "two", "new", "two")
    assert (second.outcome, second.version, second.added, second.kept, second.closed) == ("changed", 2, 2, 3, 1)
    assert shelf.texts() == ["zero", "one", "two", "new", "two"]
    assert [row[0] in old for row in shelf.open()] == [False, True, True, False, True]
    assert shelf.at(1) == ["one", "two", "three", "two"]
    assert shelf.at(2) == ["zero", "one", "two", "new", "two"]


async def test_what_went_loses_its_vectors_and_what_stayed_keeps_them(shelf: Shelf, admin: psycopg.Connection) -> None:
    await shelf.put("/a/study.md", "one", "two")
    [model] = admin.execute(
        "INSERT INTO memsvc.embedding_models AS m (name, dimensions, state) VALUES ('of documents', 2, 'retired') "
        "ON CONFLICT (name) DO UPDATE SET dimensions = m.dimensions RETURNING model_id"
    ).fetchone() or [0]
    vectors = "SELECT passage_id FROM memsvc.embeddings WHERE user_id = %s ORDER BY passage_id"
    admin.execute(
        "INSERT INTO memsvc.embeddings (user_id, model_id, passage_id, vector) "
        "SELECT user_id, %s, passage_id, '[1,0]' FROM memsvc.passages WHERE user_id = %s",
        [model, shelf.owner.user_id],
    )
    await shelf.put("/a/study.md", "one", "three")
    kept = [row[0] for row in shelf.open() if row[1] == "one"]
    assert [row[0] for row in admin.execute(vectors, [shelf.owner.user_id])] == kept


async def test_a_page_before_moves_the_place_and_not_the_passage(shelf: Shelf, admin: psycopg.Connection) -> None:
    await shelf.put("/a/study.md", "one")
    [(passage, _, _)] = shelf.open()
    await shelf.put("/a/study.md", "cover", "one")
    found = admin.execute("SELECT metadata FROM memsvc.passages WHERE passage_id = %s", [passage]).fetchone()
    assert found == ({"origin": {"page": 2}},)


async def test_many_chunks_find_room_between_two(shelf: Shelf) -> None:
    await shelf.put("/a/study.md", "first", "last")
    versions = [["first", "last"]]
    for number in range(2, 15):  # each halves the gap after the first chunk
        versions.append(["first", f"new {number}", *versions[-1][1:]])
        await shelf.put("/a/study.md", *versions[-1])
    many = ["first", *(f"line {number}" for number in range(1_500)), *versions[-1][1:]]
    await shelf.put("/a/study.md", *many)
    assert shelf.texts() == many
    for number, version in enumerate([*versions, many], 1):
        assert shelf.at(number) == version


async def test_every_version_reads_in_its_own_order(shelf: Shelf) -> None:
    """A model: each version is the list of its texts, whatever stays, goes, moves or is there twice."""
    drawn: list[list[list[str]]] = []

    @given(st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=7), min_size=2, max_size=4))
    def draw(versions: list[list[str]]) -> None:
        drawn.append(versions)

    draw()
    for number, versions in enumerate(drawn[:12]):
        name = f"/m/{number}.md"
        for place, texts in enumerate(versions):
            stored = await shelf.put(name, *texts, content=f"{number} {place}")
        for place, texts in enumerate(versions, 1):
            rows = shelf.admin.execute(
                AT.replace("ORDER BY", "AND p.source_id = %s ORDER BY"),
                [shelf.owner.user_id, place, stored.document_id],
            )
            assert [row[0] for row in rows] == texts


async def test_a_file_that_was_moved_is_the_same_document(shelf: Shelf) -> None:
    first = await shelf.put("/a/study.md", "one")
    copied = await shelf.put("/b/study.md", "one", is_there=lambda _: True)
    assert (copied.outcome, copied.document_id == first.document_id) == ("created", False)
    moved = await shelf.put("/c/study.md", "one", is_there=lambda name: name != "/a/study.md")
    assert (moved.outcome, moved.document_id, shelf.read) == ("moved", first.document_id, 2)
    changed = await shelf.put("/c/study.md", "one", "two")
    assert (changed.outcome, changed.document_id, changed.version) == ("changed", first.document_id, 2)


async def test_a_file_that_is_gone_is_not_recalled_but_was_known_then(shelf: Shelf) -> None:
    await shelf.put("/a/study.md", "Roasting takes eleven minutes.")
    await shelf.put("/a/kept.md", "Roasting begins slowly.")
    assert len(await shelf.recalled("roasting")) == 2
    then = datetime.now(UTC)
    assert await mark_gone(shelf.db, shelf.owner, "/a", lambda name: name == "/a/kept.md") == 1
    assert [memory.text for memory in await shelf.recalled("roasting")] == ["Roasting begins slowly."]
    assert len(await shelf.recalled("roasting", known_at=then)) == 2
    back = await shelf.put("/a/study.md", "Roasting takes eleven minutes.")
    assert (back.outcome, back.version) == ("changed", 2)
    assert len(await shelf.recalled("roasting")) == 2


async def test_while_memory_is_paused_nothing_is_stored_or_marked(shelf: Shelf) -> None:
    await shelf.put("/a/study.md", "one")
    await pause(shelf.db, shelf.owner)
    assert (await shelf.put("/a/other.md", "two")).outcome == "paused"
    assert await mark_gone(shelf.db, shelf.owner, "/a", lambda _: False) == 0
    await resume(shelf.db, shelf.owner)
    assert shelf.texts() == ["one"]


async def test_headings_and_title_are_searched_and_only_the_text_is_shown(shelf: Shelf) -> None:
    await shelf.put("/a/study.md", "It took eleven minutes.", headings=("Results", "Roasting"))
    for query in ("roasting results", "coffee study", "eleven minutes"):
        assert [memory.text for memory in await shelf.recalled(query)] == ["It took eleven minutes."]


@pytest.mark.parametrize(
    ("metadata", "name", "expected"),
    [
        ({"created": "2024-03-05T10:00:00+00:00"}, "/a/2021-01-01.md", datetime(2024, 3, 5, 10, tzinfo=UTC)),
        ({"created": "last week"}, "/a/2021-01-02.md", datetime(2021, 1, 2, tzinfo=UTC)),
        ({}, "/a/study.md", datetime(2020, 7, 1, tzinfo=UTC)),
    ],
)
async def test_a_chunk_is_as_old_as_its_document(
    shelf: Shelf, metadata: dict[str, str], name: str, expected: datetime
) -> None:
    await shelf.put(name, "one", metadata=metadata, modified=datetime(2020, 7, 1, tzinfo=UTC))
    found = shelf.admin.execute(
        "SELECT said_at AT TIME ZONE 'UTC' AS day FROM memsvc.passages WHERE user_id = %s", [shelf.owner.user_id]
    ).fetchone()
    assert found is not None
    assert abs(found[0].replace(tzinfo=UTC) - expected).total_seconds() <= 14 * 3600


def rows_of(admin: psycopg.Connection, owner: Owner, document: UUID | None) -> dict[str, int]:
    tables = ("sources", "passages", "document_versions")
    return {
        table: (admin.execute(
            f"SELECT count(*) FROM memsvc.{table} WHERE user_id = %s AND source_id = %s", [owner.user_id, document]
        ).fetchone() or [0])[0]
        for table in tables
    }  # fmt: skip


async def test_nothing_of_an_erased_document_remains_or_comes_back(shelf: Shelf, admin: psycopg.Connection) -> None:
    await shelf.put("/a/study.md", "Zanzibar one.", "Zanzibar two.")
    stored = await shelf.put("/a/study.md", "Zanzibar two.", "Zanzibar three.")
    assert stored.document_id is not None
    receipt = await erase(shelf.db, shelf.owner, "source", stored.document_id, requested_by="tests")
    assert (receipt.state, receipt.verified, receipt.leftovers) == ("done", True, {})
    assert receipt.counts["document_versions"] == 2
    assert not any(rows_of(admin, shelf.owner, stored.document_id).values())
    words = admin.execute(
        "SELECT count(*) FROM memsvc.terms WHERE user_id = %s AND term LIKE 'zanzibar%%'", [shelf.owner.user_id]
    ).fetchone()
    assert words == (0,)
    assert (await shelf.put("/a/study.md", "Zanzibar two.", "Zanzibar three.")).outcome == "erased"
    assert (await shelf.put("/a/study.md", "Zanzibar four.")).outcome == "erased"
    renamed = await shelf.put("/b/other.md", "Zanzibar one.", "Zanzibar two.", is_there=lambda _: False)
    assert (renamed.outcome, shelf.open()) == ("erased", [])


async def test_an_erased_chunk_does_not_come_back_with_a_newer_version(shelf: Shelf) -> None:
    await shelf.put("/a/study.md", "one", "secret", "three", headings=("Part",))
    [secret] = [row[0] for row in shelf.open() if row[1] == "secret"]
    await erase(shelf.db, shelf.owner, "passage", secret, requested_by="tests")
    await shelf.put("/a/study.md", "one", "secret", "three", "four", headings=("Part",))
    assert shelf.texts() == ["one", "three", "four"]


async def test_other_users_see_nothing_of_a_document(shelf: Shelf, other: Owner) -> None:
    await shelf.put("/a/study.md", "Roasting takes eleven minutes.")
    assert await remembered(shelf.db, other, "roasting", shelf.settings, limit=5) == []
    foreign = Shelf(shelf.db, shelf.settings, other, shelf.admin)
    assert (await foreign.put("/a/study.md", "Roasting takes eleven minutes.")).outcome == "created"


async def test_a_recalled_chunk_says_where_it_stands(shelf: Shelf) -> None:
    stored = await shelf.put("/a/study.md", "It took eleven minutes.", headings=("Results", "Roasting"))
    [memory] = await shelf.recalled("eleven minutes")
    assert (memory.kind, memory.role, memory.speaker, memory.caption) == ("chunk", "other", "Coffee study", None)
    assert (memory.conversation_id, memory.conversation, memory.session) == (None, "", "")
    document = memory.document
    assert document is not None
    assert document.in_words == "Coffee study, Results, Roasting, page 1"
    assert (document.document_id, document.version, document.gone) == (stored.document_id, 1, False)


async def test_filters_find_documents_alone_or_leave_them_out(shelf: Shelf) -> None:
    said = MessageIn(conversation="talk", text="I measured eleven minutes.")
    await append(shelf.db, shelf.owner, [said], shelf.settings)
    await shelf.put("/a/study.md", "It took eleven minutes.", modified=datetime(2020, 7, 1, tzinfo=UTC))

    async def kinds(**filters: Any) -> set[str]:
        return {memory.kind for memory in await shelf.recalled("eleven minutes", **filters)}

    assert await kinds() == {"message", "chunk"}
    assert await kinds(source_kinds=["document"]) == {"chunk"}
    assert await kinds(source_kinds=["conversation"]) == {"message"}
    assert await kinds(kinds=["chunk"]) == {"chunk"}
    assert await kinds(kinds=["message"]) == {"message"}
    assert await kinds(as_of=datetime(2021, 1, 1, tzinfo=UTC)) == {"chunk"}
    assert await kinds(roles=["user"]) == {"message"}


async def test_a_past_moment_finds_the_version_of_then(shelf: Shelf) -> None:
    await shelf.put("/a/study.md", "Roasting takes eleven minutes.")
    then = datetime.now(UTC)
    await shelf.put("/a/study.md", "Roasting takes nine minutes.")
    assert [one.text for one in await shelf.recalled("roasting")] == ["Roasting takes nine minutes."]
    [old] = await shelf.recalled("roasting", known_at=then)
    assert (old.text, old.document is not None and old.document.version) == ("Roasting takes eleven minutes.", 1)


@pytest.mark.parametrize("style", ["text", "markdown", "json"])
async def test_a_context_shows_the_chunk_with_its_place(shelf: Shelf, style: Any) -> None:
    await shelf.put("/a/study.md", "It took eleven minutes.", headings=("Results",))
    built = await build_context(
        shelf.db, shelf.owner, "eleven minutes", shelf.settings, options=ContextOptions(format=style, why="full")
    )
    assert "Coffee study, Results, page 1" in built.text
    assert "picture" not in built.text
    assert ", , " not in built.text


async def test_the_learnt_order_ranks_chunks_among_others(shelf: Shelf) -> None:
    for number in range(6):
        title = f"Study {number}"
        await shelf.put(f"/a/{number}.md", f"Roasting {number} takes minutes.", "Water matters.", title=title)
    found = await recall(shelf.db, shelf.owner, "how long does roasting 3 take", shelf.settings, limit=3, explain=True)
    order = shipped()
    assert order is not None
    assert found.explanation is not None
    assert found.explanation.order == order.version
    best = found.memories[0]
    assert best.text == "Roasting 3 takes minutes."
    assert best.score == pytest.approx(sum(best.factors.values()), abs=0.01)


async def test_a_chunk_is_opened_with_those_around_it(shelf: Shelf) -> None:
    await shelf.put("/a/study.md", "one", "two", "three", "four")
    ids = [row[0] for row in shelf.open()]
    opened = await open_memory(shelf.db, shelf.owner, f"m:{ids[1]}", before=1, after=1)
    assert (opened.kind, opened.text) == ("chunk", "two")
    assert [chunk.text for chunk in opened.chunks] == ["one", "two", "three"]
    assert opened.document is not None
    assert opened.document.in_words == "Coffee study, page 2"
    assert opened_lines(opened, shelf.owner)[0] == "# Document Coffee study (/a/study.md, version 1)"
    assert opened_lines(opened, shelf.owner)[2].startswith("> [m:")


async def test_documents_are_listed_and_read_page_by_page(shelf: Shelf) -> None:
    first = await shelf.put("/a/one.md", "one", "two", "three")
    second = await shelf.put("/a/two.md", "four")
    await shelf.put("/a/one.md", "one", "three")
    await mark_gone(shelf.db, shelf.owner, "/a", lambda name: name == "/a/one.md")
    page = await list_documents(shelf.db, shelf.owner, limit=1)
    assert [(one.document_id, one.chunks, one.gone) for one in page.items] == [(second.document_id, 0, True)]
    rest = await list_documents(shelf.db, shelf.owner, after=UUID(page.next_cursor or ""))
    assert [(one.document_id, one.version, one.chunks, one.gone) for one in rest.items] == [
        (first.document_id, 2, 2, False)
    ]
    assert [one.gone for one in (await list_documents(shelf.db, shelf.owner, gone=False)).items] == [False]
    old = await read_document(shelf.db, shelf.owner, "/a/one.md", version=1, limit=2)
    more = await read_document(shelf.db, shelf.owner, "/a/one.md", version=1, cursor=old.next_cursor)
    assert [chunk.text for chunk in (*old.chunks, *more.chunks)] == ["one", "two", "three"]
    assert [(one.version, one.chunks, one.recorded_to is None) for one in old.versions] == [(2, 2, True), (1, 3, False)]
    with pytest.raises(DocumentUnknownError):
        await read_document(shelf.db, shelf.owner, "/a/one.md", version=3)
    with pytest.raises(DocumentUnknownError):
        await read_document(shelf.db, shelf.owner, "/a/none.md")
