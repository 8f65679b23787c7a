"""The profile: blocks in three tiers, their versions, their limits, and what erasing does to them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.erasing.memories import erase, preview
from memsvc.errors import (
    AlreadyExistsError,
    BlockUnknownError,
    ConversationUnknownError,
    InvalidRequestError,
    MemsvcError,
    NodeUnknownError,
    PassageUnknownError,
    ProfileConflictError,
    ProfileFullError,
    TextTooLongError,
)
from memsvc.graph.history import merge
from memsvc.profiles.blocks import Place
from memsvc.profiles.changes import Append, Replace, Set
from memsvc.profiles.read import history, read_block, read_profile
from memsvc.profiles.write import Wish, change_block, change_section, forget_block, move, write_block
from memsvc.settings import Settings
from tests.sql.forgetting import found, say, two_people


async def test_a_block_is_written_changed_and_remembered(db: Database, owner: Owner) -> None:
    first = await write_block(db, owner, "human", "Ada, who rows.", expected_version=0, asserted_by="agent")
    assert (first.version, first.kind, first.text, first.asserted_by) == (1, "core", "Ada, who rows.", "agent")
    assert await write_block(db, owner, "human", "Ada, who rows.") == first  # nothing changed
    second = await write_block(db, owner, "human", "Ada, who sails.", expected_version=1, limit_tokens=50)
    assert (second.block_id, second.version, second.limit_tokens) == (first.block_id, 2, 50)
    section = await change_section(db, owner, "preferences", Append(text="Tea."))
    section = await change_section(db, owner, "preferences", Append(text="Oak."), expected_version=1)
    section = await change_section(db, owner, "preferences", Replace(old="Tea", new="Green tea"), expected_version=2)
    assert section.text == "Green tea.\nOak."
    profile = await read_profile(db, owner)
    assert profile.core == [section, second]  # sections first
    assert (profile.working, profile.archival, profile.core_tokens) == ([], [], section.tokens + second.tokens)
    said = await history(db, owner, "human")
    assert [(block.version, block.text) for block in said] == [(2, second.text), (1, first.text)]
    assert said[0].recorded_to is None
    assert said[1].recorded_to == said[0].recorded_from
    assert await history(db, owner, "human", before=2) == said[1:]
    [then] = (await read_profile(db, owner, known_at=first.recorded_from)).core
    assert (then.version, then.text) == (1, first.text)


async def test_of_writers_who_read_the_same_version_one_wins(db: Database, owner: Owner) -> None:
    await write_block(db, owner, "current_state", "Builds a boat.")

    async def write(number: int) -> str:
        try:
            await change_section(db, owner, "current_state", Append(text=f"Line {number}."), expected_version=1)
        except ProfileConflictError as error:
            return f"refused at {error.details['version']}"
        return "written"

    assert sorted(await asyncio.gather(*(write(number) for number in range(5)))) == ["refused at 2"] * 4 + ["written"]
    await asyncio.gather(*(change_section(db, owner, "current_state", Append(text=f"{n}")) for n in range(5)))
    kept = await read_block(db, owner, "current_state")
    assert (kept.version, len(kept.text.split("\n"))) == (7, 7)  # who expects nothing loses nothing
    with pytest.raises(ProfileConflictError, match="does not exist"):
        await write_block(db, owner, "new", "x", expected_version=1)
    with pytest.raises(ProfileConflictError, match="at version 7"):
        await write_block(db, owner, "current_state", "x", expected_version=0)


async def test_working_memory_is_of_one_conversation_expires_and_makes_room(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await say(db, owner, settings, "Hello.")
    await say(db, owner, settings, "Hello there.", conversation="mill", start=5)
    for number in range(12):
        await write_block(db, owner, f"plan-{number}", f"Step {number}.", conversation="pond")
    other = await write_block(db, owner, "plan-0", "Elsewhere.", kind="working", conversation="mill")
    working = (await read_profile(db, owner, conversation="pond")).working
    assert [block.name for block in working] == [f"plan-{number}" for number in range(11, 1, -1)]
    assert (await read_profile(db, owner)).working[0] == other
    assert len(await history(db, owner, "plan-0", conversation="pond")) == 1  # it made room, and can be read
    again = await write_block(db, owner, "plan-0", "Again.", conversation="pond", expected_version=0)
    assert again.version == 2
    admin.execute(
        "UPDATE memsvc.profile_versions SET expires_at = clock_timestamp() WHERE user_id = %s AND name = 'plan-0'",
        [owner.user_id],
    )
    with pytest.raises(BlockUnknownError):
        await read_block(db, owner, "plan-0", conversation="pond")
    assert "plan-0" not in {block.name for block in (await read_profile(db, owner)).blocks}


async def test_blocks_are_promoted_and_demoted_with_their_history(
    db: Database, owner: Owner, settings: Settings
) -> None:
    await say(db, owner, settings, "Hello.")
    made = await write_block(db, owner, "boat", "A clinker dinghy.", conversation="pond")
    core = await move(db, owner, "boat", "core", conversation="pond", expected_version=1)
    archival = await move(db, owner, "boat", "archival")
    assert (core.block_id, core.kind, core.conversation_id, core.expires_at) == (made.block_id, "core", None, None)
    assert (archival.version, archival.kind, archival.text) == (3, "archival", made.text)
    fresh = await write_block(db, owner, "boat", "Another.", conversation="pond")
    assert fresh.block_id != made.block_id
    with pytest.raises(AlreadyExistsError):
        await move(db, owner, "boat", "working", conversation="pond")
    with pytest.raises(BlockUnknownError):
        await move(db, owner, "nothing", "core")
    await forget_block(db, owner, "boat", conversation="pond", requested_by="tests")
    back = await move(db, owner, "boat", "working", conversation="pond")
    assert (back.block_id, back.version, back.conversation_id) == (made.block_id, 4, made.conversation_id)
    assert [block.kind for block in await history(db, owner, "boat", conversation="pond")] == [
        "working", "archival", "core", "working",
    ]  # fmt: skip


async def test_a_block_describes_a_node_and_all_that_are_the_same(db: Database, owner: Owner) -> None:
    ida, bea = await two_people(db, owner)
    about = await write_block(db, owner, "description", "A carpenter.", node=ida)
    assert (about.kind, about.node) == ("archival", "Ida")
    assert (await read_profile(db, owner)).blocks == []
    await merge(db, owner, ida, bea, asserted_by="tests")
    changed = await write_block(db, owner, "description", "A boatbuilder.", node=bea, expected_version=1)
    assert (changed.block_id, changed.node_id, changed.node) == (about.block_id, ida, "Bea")
    assert (await read_profile(db, owner, node=bea)).archival == [changed]
    await move(db, owner, "description", "core", node=bea)
    assert [block.node for block in (await read_profile(db, owner)).core] == ["Bea"]
    assert (await read_profile(db, owner, node=ida)).core[0].version == 3


Refused = Callable[[Database, Owner], Awaitable[Any]]
REFUSED: tuple[tuple[Refused, type[MemsvcError]], ...] = (
    (lambda db, owner: write_block(db, owner, "Human", "x"), InvalidRequestError),
    (lambda db, owner: write_block(db, owner, "x" * 61, "x"), InvalidRequestError),
    (lambda db, owner: write_block(db, owner, "x", "x\0"), InvalidRequestError),
    (lambda db, owner: write_block(db, owner, "x", "x", kind="deep"), InvalidRequestError),  # type: ignore[arg-type]
    (lambda db, owner: write_block(db, owner, "x", "x", kind="working"), InvalidRequestError),
    (lambda db, owner: write_block(db, owner, "x", "x", limit_tokens=0), InvalidRequestError),
    (lambda db, owner: write_block(db, owner, "x", "x", hours=0), InvalidRequestError),
    (lambda db, owner: write_block(db, owner, "x", "x", conversation="no"), ConversationUnknownError),
    (lambda db, owner: write_block(db, owner, "x", "x", node=uuid4()), NodeUnknownError),
    (lambda db, owner: write_block(db, owner, "x", "x", evidence=[uuid4()]), PassageUnknownError),
    (lambda db, owner: write_block(db, owner, "x", "oak " * 501), TextTooLongError),
    (lambda db, owner: write_block(db, owner, "x", "oak " * 1_001, limit_tokens=1_000), TextTooLongError),
    (lambda db, owner: write_block(db, owner, "x", "a\n" * 201, limit_tokens=2_000), TextTooLongError),
    (lambda db, owner: change_section(db, owner, "mood", Set(text="x")), InvalidRequestError),
    (lambda db, owner: change_section(db, owner, "preferences", Replace(old="a", new="b")), BlockUnknownError),
    (lambda db, owner: history(db, owner, "nothing"), BlockUnknownError),
    (lambda db, owner: forget_block(db, owner, "nothing", requested_by="tests"), BlockUnknownError),
)


@pytest.mark.parametrize(("refused", "error"), REFUSED, ids=map(str, range(len(REFUSED))))
async def test_what_cannot_be_is_refused_and_nothing_is_written(
    db: Database, owner: Owner, refused: Refused, error: type[MemsvcError]
) -> None:
    with pytest.raises(error):
        await refused(db, owner)
    assert (await read_profile(db, owner)).blocks == []


async def test_core_memory_is_full_in_the_end(db: Database, owner: Owner) -> None:
    for number in range(4):
        await write_block(db, owner, f"long-{number}", "oak " * 490)
    with pytest.raises(ProfileFullError, match=r"2,0\d\d tokens together; 2,000 fit"):
        await write_block(db, owner, "last", "oak " * 41)
    await write_block(db, owner, "long-0", "oak " * 400)  # its own old length does not count
    await move(db, owner, "long-1", "archival")
    await write_block(db, owner, "last", "oak " * 41)
    for number in range(16):
        await write_block(db, owner, f"short-{number}", "oak")
    with pytest.raises(ProfileFullError, match="20 blocks at most"):
        await write_block(db, owner, "one-more", "oak")


async def test_lines_go_with_the_last_passage_that_they_rest_on(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    tea, oak, both = await say(db, owner, settings, "Tea, please.", "Oak is best.", "Tea and oak.")
    await write_block(db, owner, "preferences", "By hand.")
    await change_section(db, owner, "preferences", Append(text="Likes tea."), evidence=[tea, both])
    await change_section(db, owner, "preferences", Append(text="Likes oak."), evidence=[oak])
    before = await change_section(db, owner, "preferences", Append(text="Or tea."), evidence=[tea])
    other = await write_block(db, owner, "human", "Likes oak.", evidence=[oak])
    for passage, text in ((tea, "By hand.\nLikes tea.\nLikes oak."), (both, "By hand.\nLikes oak.")):
        counted = await preview(db, owner, "message", passage)
        receipt = await erase(db, owner, "message", passage, requested_by="tests")
        assert (receipt.counts["profile_versions"], receipt.verified) == (counted["profile_versions"], True)
        assert (await read_block(db, owner, "preferences")).text == text
    kept = await read_block(db, owner, "preferences")
    assert [(support.passage_id, support.lines) for support in kept.evidence] == [(oak, [2])]
    with pytest.raises(ProfileConflictError):  # who read what was there before does not bring it back
        await change_section(db, owner, "preferences", Set(text=before.text), expected_version=before.version)
    assert all("tea" not in block.text for block in await history(db, owner, "preferences"))
    await erase(db, owner, "source", kept_source(admin, owner), requested_by="tests")
    assert [block.text for block in (await read_profile(db, owner)).core] == ["By hand."]
    with pytest.raises(BlockUnknownError):
        await history(db, owner, other.name)  # nothing of it is left
    assert found(admin, owner, "profile_evidence") == 0


def kept_source(admin: psycopg.Connection, owner: Owner) -> Any:
    row = admin.execute("SELECT source_id FROM memsvc.sources WHERE user_id = %s", [owner.user_id]).fetchone()
    assert row is not None
    return row[0]


async def test_no_line_outlives_a_passage_that_is_erased_while_it_is_written(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await write_block(db, owner, "preferences", "By hand.")

    async def note(passage: UUID, number: int) -> None:
        with suppress(PassageUnknownError):
            await change_section(db, owner, "preferences", Append(text=f"Heard {number}."), evidence=[passage])

    for passage in await say(db, owner, settings, *(f"Said {number}." for number in range(4))):
        erasing = erase(db, owner, "message", passage, requested_by="tests")
        await asyncio.gather(note(passage, 1), erasing, note(passage, 2), note(passage, 3))
        assert (await read_block(db, owner, "preferences")).text == "By hand."
    assert found(admin, owner, "profile_evidence") == 0


async def test_blocks_go_with_their_node_their_conversation_or_alone(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await say(db, owner, settings, "Hello.")
    ida, _ = await two_people(db, owner)
    await write_block(db, owner, "description", "A carpenter.", node=ida)
    await write_block(db, owner, "plan", "Step one.", conversation="pond")
    await write_block(db, owner, "human", "Ada.")
    await write_block(db, owner, "human", "Ada, who rows.")
    gone = await erase(db, owner, "node", ida, requested_by="tests")
    assert (gone.counts["profile_versions"], gone.verified) == (1, True)
    gone = await erase(db, owner, "source", kept_source(admin, owner), requested_by="tests")
    assert (gone.counts["profile_versions"], gone.verified) == (1, True)
    gone = await forget_block(db, owner, "human", requested_by="tests")
    assert (gone.kind, gone.counts, gone.verified) == ("block", {"profile_versions": 2}, True)
    assert found(admin, owner, "profile_versions") == 0


async def test_nobody_reads_or_changes_blocks_of_another(db: Database, owner: Owner, other: Owner) -> None:
    mine = await write_block(db, owner, "human", "Ada.")
    assert (await read_profile(db, other)).blocks == []
    await write_block(db, other, "human", "Bob.", expected_version=0)
    with pytest.raises(BlockUnknownError):
        await move(db, other, "preferences", "archival")
    await forget_block(db, other, "human", requested_by="tests")
    assert await read_block(db, owner, "human") == mine
    assert mine.recorded_from <= datetime.now(UTC)
    with pytest.raises(BlockUnknownError):
        await change_block(db, other, Place("human"), Wish(kind="archival"))
