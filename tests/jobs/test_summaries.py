"""Summaries: told once, told anew when something changed, undone as one, and gone with any message that they quote."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

import psycopg
import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.erasing.memories import erase
from memsvc.errors import LlmError, NotFoundError
from memsvc.graph.history import merge, undo, write
from memsvc.graph.operations import Alias, Edge, Evidence, Node
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from memsvc.sleep.runner import dry_run, sleep
from memsvc.sleep.summaries import Summaries
from memsvc.sources.messages import MessageIn, append
from memsvc.sources.opening import find_memory
from memsvc.summaries.stored import Summary, list_summaries
from tests.conftest import remembered
from tests.fakes.chat_server import ChatServer, Dies, Say, serving

_models = (f"telling-{number}" for number in count())
DAYS = {
    "2026-03-02T18:00": [
        "Ines and Jonas chose Cragside Barn near Ilkley for the wedding in June.",
        "The caterer Saltbush Kitchen asks 6375 pounds for 85 guests, drinks included.",
        "Grandmother Odile refuses to fly, so somebody must drive her from Lyon.",
        "Jonas wants his oldest friend Tomasz to speak, and Tomasz wants to sing instead.",
        "Thanks, that helps!",
    ],
    "2026-03-04T19:00": [
        "The photographer Farah Siddiqui is booked for the whole afternoon.",
        "Jonas lost the contract for the marquee, and the florist wants a deposit of 400 pounds.",
        "A quartet of cello students from Leeds will play during the ceremony.",
        "The registrar moved the ceremony from two to half past two in the afternoon.",
    ],
    "2026-03-12T08:00": [
        "The invitations were printed with the wrong postcode and must be printed again.",
        "Odile's driver will be cousin Bastien, who owns a camper van.",
        "We moved the tasting at Saltbush Kitchen to the second of April.",
        "Aunt Philippa bakes the cake, three tiers of lemon and almond.",
    ],
}


async def told(db: Database, owner: Owner, settings: Settings, days: Sequence[str] = tuple(DAYS)) -> None:
    """Store sittings of one conversation."""
    for day in days:
        begin = datetime.fromisoformat(day).replace(tzinfo=UTC)
        said = [
            MessageIn(
                conversation="planning",
                speaker="Ines",
                role="user",
                text=text,
                said_at=str(begin + timedelta(minutes=n)),
            )
            for n, text in enumerate(DAYS[day])
        ]
        await append(db, owner, said, settings)


async def slept(db: Database, owner: Owner, settings: Settings, **more: Any) -> Any:
    """The run of a night."""
    [run] = await sleep(db, owner, ["summaries"], settings=settings.model_copy(update=more))
    return run


async def all_of(db: Database, owner: Owner) -> dict[str, Summary]:
    """What stands, by label."""
    return {one.label: one for one in (await list_summaries(db, owner)).items}


def rows(admin: psycopg.Connection, owner: Owner) -> dict[str, int]:
    """How many rows a user has in the tables that the task writes."""
    return {
        table: admin.execute(f"SELECT count(*) FROM memsvc.{table} WHERE user_id = %s", [owner.user_id]).fetchone()[0]  # type: ignore[index]
        for table in ("nodes", "node_versions", "edges", "edge_versions", "source_links", "passages", "changes", "jobs")
    }


async def test_each_level_tells_less_and_quotes_what_was_said(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await told(db, owner, settings)
    run = await slept(db, owner, settings)
    found = await all_of(db, owner)
    assert (run.applied, run.error_code) == (len(found), None)
    assert {one.level for one in found.values()} == {"conversation", "week", "month"}
    month = found["Summary of March 2026"]
    assert (month.period_start.day, month.period_end.month, month.messages) == (1, 4, 13)
    sizes = {name: len(one.text.split()) for name, one in found.items()}
    assert sizes["Summary of March 2026"] <= 0.7 * sum(size for name, size in sizes.items() if ":" in name)
    texts = {text for said in DAYS.values() for text in said}
    for one in found.values():
        assert len(one.sources) == len(one.text.split("\n"))
        assert all(line.removeprefix("Ines: ").removesuffix(" …") in text for line in one.text.split("\n")
                   for text in texts if text.startswith(line.removeprefix("Ines: ")[:20]))  # fmt: skip
    quoted = admin.execute(
        "SELECT count(*) FROM memsvc.source_links AS l JOIN memsvc.passages AS p USING (user_id, passage_id) "
        "JOIN memsvc.node_versions AS v ON v.user_id = l.user_id AND v.version_id = l.node_version_id "
        "WHERE l.user_id = %s AND strpos(v.description, substr(p.text, l.span_from + 1, 20)) = 0", [owner.user_id],
    ).fetchone()  # fmt: skip
    assert quoted == (0,)


async def test_a_night_without_news_writes_nothing_and_news_make_versions_of_the_same_nodes(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await told(db, owner, settings, tuple(DAYS)[:2])
    task = Summaries(settings)
    assert await task.has_work(db, owner)
    await slept(db, owner, settings)
    before = rows(admin, owner)
    assert not await task.has_work(db, owner)
    assert (await slept(db, owner, settings)).examined == 0
    assert rows(admin, owner) == before
    first = await all_of(db, owner)
    late = datetime.fromisoformat("2026-03-04T19:10").replace(tzinfo=UTC)
    more = MessageIn(
        conversation="planning", speaker="Jonas", role="user", said_at=str(late),
        text="The marquee firm Bellweather from Otley offered the same tent for 2100 pounds after all.",
    )  # fmt: skip
    await append(db, owner, [more], settings)
    pages = [page async for _, page in dry_run(db, owner, ["summaries"], settings=settings)]
    assert sum(page.examined for page in pages) == 2
    assert (await slept(db, owner, settings)).examined == 2
    now = await all_of(db, owner)
    assert {name: one.node_id for name, one in now.items()} == {name: one.node_id for name, one in first.items()}
    assert {name for name in now if now[name].version_id != first[name].version_id} == {
        "Summary of 4 March 2026, 19:00", "Summary of the week of 2 March 2026",
    }  # fmt: skip


async def test_in_an_overview_summaries_rank_above_what_they_quote_and_it_opens_from_them(
    db: Database, owner: Owner, settings: Settings
) -> None:
    await told(db, owner, settings)
    await slept(db, owner, settings)
    await run_due(db)
    found = await remembered(db, owner, "What have we talked about so far about the ceremony?", settings, limit=6)
    stored = {one.version_id: one for one in (await all_of(db, owner)).values()}
    ranks = {one.memory_id: rank for rank, one in enumerate(found)}
    summaries = [one for one in found if one.kind == "summary"]
    assert len(summaries) in {1, 2, 3, 4}
    assert "ceremony" in summaries[0].text
    for one in summaries:
        quoted = {passage for line in stored[one.memory_id].sources for passage in line}
        assert all(ranks[one.memory_id] < ranks.get(passage, len(found)) for passage in quoted)
        opened = await find_memory(db, owner, str(quoted.pop()))
        assert opened.kind == "message"
    plain = await remembered(db, owner, "Who plays during the ceremony?", settings, limit=6)
    assert "summary" not in {one.kind for one in plain}


async def test_a_night_is_undone_as_one_and_not_done_again(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await told(db, owner, settings, tuple(DAYS)[:1])
    await slept(db, owner, settings)
    assert len(await all_of(db, owner)) == 1
    [(change,)] = admin.execute("SELECT change_id FROM memsvc.changes WHERE user_id = %s", [owner.user_id]).fetchall()
    await undo(db, owner, change, asserted_by="user")
    assert await all_of(db, owner) == {}
    assert (await slept(db, owner, settings)).examined == 0


async def test_whatever_message_is_erased_no_trace_of_it_stays_and_the_rest_is_told_again(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await told(db, owner, settings)
    await slept(db, owner, settings)
    before = await all_of(db, owner)
    month = before["Summary of March 2026"]
    passage, words = month.sources[0][0], month.text.split("\n")[0].partition("Ines: ")[2][:30]
    assert all(words in one.text for one in before.values() if [passage] in one.sources)
    await erase(db, owner, "message", passage, requested_by="cli")
    for table in ("node_versions", "edge_versions", "passages"):
        left = admin.execute(
            f"SELECT count(*) FROM memsvc.{table} AS t WHERE t.user_id = %s AND t::text LIKE '%%' || %s || '%%'",
            [owner.user_id, words],
        ).fetchone()
        assert left == (0,), table
    again = await slept(db, owner, settings)
    found = await all_of(db, owner)
    assert again.applied >= 2
    assert sorted(one.level for one in found.values()) == sorted(one.level for one in before.values())
    assert not await Summaries(settings).has_work(db, owner)


async def test_summaries_about_a_node_are_those_that_quote_what_is_known_of_it(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await told(db, owner, settings)
    await slept(db, owner, settings)
    every = await all_of(db, owner)
    quoted = {one.label: [message for line in one.sources for message in line] for one in every.values()}
    [first, second] = [quoted[f"Summary of {day}"][0] for day in ("2 March 2026, 18:00", "4 March 2026, 19:00")]
    facts = [
        Node(type="Person", label="Jonas"), Node(type="Person", label="Jonny"), Node(type="Place", label="Ilkley"),
        Edge(from_node=0, type="LIVES_IN", to_node=2, fact="x", evidence=[Evidence(passage_id=first)]),
        Alias(node=1, alias="JK", evidence=[Evidence(passage_id=second)]),
    ]  # fmt: skip
    made = await write(db, owner, facts, asserted_by="tests")
    jonas, jonny, ilkley = (result.node_id for result in made.results[:3])
    assert jonas
    assert jonny
    assert ilkley

    async def about(node: UUID, **more: Any) -> set[str]:
        return {one.label for one in (await list_summaries(db, owner, node=node, **more)).items}

    def quoting(*passages: UUID) -> set[str]:
        return {label for label, messages in quoted.items() if {*messages} & {*passages}}

    assert await about(jonas) == await about(ilkley) == quoting(first)
    assert await about(jonny) == quoting(second)
    assert await about(jonas, level="day") == set()
    page = await list_summaries(db, owner, node=jonas, limit=1)
    rest = await list_summaries(db, owner, node=jonas, cursor=page.next_cursor)
    assert {one.label for one in (*page.items, *rest.items)} == quoting(first)
    assert len(page.items) == 1
    assert len(quoting(first)) > 1

    before = rows(admin, owner)
    assert not await Summaries(settings).has_work(db, owner)
    merged = await merge(db, owner, jonny, jonas, asserted_by="tests")
    assert await about(jonas) == await about(jonny) == quoting(first, second)
    await undo(db, owner, merged.change_id, asserted_by="tests")
    assert await about(jonas) == quoting(first)
    await undo(db, owner, made.change_id, asserted_by="tests")
    assert await about(jonny) == set()
    assert rows(admin, owner)["edges"] == before["edges"]


async def test_a_run_that_dies_in_any_page_leaves_whole_pages_and_ends_the_same(
    db: Database, owner: Owner, other: Owner, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memsvc.sleep.summaries.AT_ONCE", 1)
    for one in (owner, other):
        await told(db, one, settings)
    await slept(db, other, settings)
    whole = {name: one.text for name, one in (await all_of(db, other)).items()}
    apply = Summaries.apply

    async def dies(self: Summaries, connection: Any, owner: Owner, page: Any) -> Any:
        done = await apply(self, connection, owner, page)
        if page.place["told"] == 2:
            raise NotFoundError("it dies before its page is committed")
        return done

    monkeypatch.setattr(Summaries, "apply", dies)
    for committed in range(1, len(whole)):
        with pytest.raises(NotFoundError):
            await slept(db, owner, settings)
        assert len(await all_of(db, owner)) == committed
    await slept(db, owner, settings)
    assert {name: one.text for name, one in (await all_of(db, owner)).items()} == whole


async def test_a_model_writes_what_stands_in_its_sources_and_else_the_words_stay(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memsvc.llm.chat.PAUSE_S", (0.0, 0.01))
    days = tuple(DAYS)
    await told(db, owner, settings, days[:1])

    def lines(*told: tuple[str, list[int]]) -> Say:
        return Say(json.dumps({"lines": [{"text": text, "sources": sources} for text, sources in told]}))

    with serving(ChatServer()) as served:
        model = {"summaries": "model", "llm_url": served.url, "llm_model": next(_models)}
        served.script(lines(("Ines and Jonas marry at Cragside Barn.", [0])))
        await slept(db, owner, settings, **model)
        [first] = (await all_of(db, owner)).values()
        assert (first.text, first.by) == ("Ines and Jonas marry at Cragside Barn.", model["llm_model"])
        await told(db, owner, settings, days[1:2])
        invented = lines(("Ines paid 999 pounds to Petra.", [0]))
        served.script(invented, invented, Dies(), Dies())
        with pytest.raises(LlmError):
            await slept(db, owner, settings, **model)
        now = await all_of(db, owner)
        assert now["Summary of 4 March 2026, 19:00"].by == now["Summary of the week of 2 March 2026"].by == ""
        assert not any("Petra" in one.text or "999" in one.text for one in now.values())
    calls = admin.execute(
        "SELECT count(*), sum(tokens_in) > 0 FROM memsvc.model_calls WHERE user_id = %s AND task = 'summarise'",
        [owner.user_id],
    ).fetchone()
    assert calls == (4, True)
