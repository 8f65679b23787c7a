"""The report of a night: what it names and leaves out, of which time it is, and how it reads."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from types import ModuleType
from zoneinfo import ZoneInfo

import psycopg
import pytest

from memsvc.access.users import Owner, own_names
from memsvc.db.engine import Database
from memsvc.errors import InvalidTimeError
from memsvc.graph.history import close, unmerge, write
from memsvc.graph.operations import Edge, Node, Thread
from memsvc.settings import Settings
from memsvc.sleep.report import SHOWN, SleepReport, read_day, report
from memsvc.sleep.report_text import markdown
from memsvc.sleep.runner import sleep
from memsvc.sleep.tasks import Offer
from memsvc.sources.messages import MessageIn, append
from tests.jobs.test_sleep import TWICE, people
from tests.jobs.test_sleep_tasks import Faulty, plugged

__all__ = ("plugged",)
DAY = timedelta(days=1)
HOSTILE = "Ines knows\n# All is well [here](http://example.org) <b>"


def page(found: SleepReport) -> str:
    return markdown(found, ZoneInfo("UTC"))


def headings(text: str) -> list[str]:
    return [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]


def days_ago(admin: psycopg.Connection, owner: Owner, days: int) -> None:
    """Let all that happened so far have happened some days earlier: runs and what was learnt."""
    ago = timedelta(days=days)
    for table, columns in (
        ("sleep_runs", ("started_at", "finished_at")), ("changes", ("recorded_at",)),
        ("edge_versions", ("recorded_from",)), ("node_versions", ("recorded_from",)), ("merges", ("recorded_from",)),
    ):  # fmt: skip
        moved = ", ".join(f"{name} = {name} - %(ago)s" for name in columns)
        admin.execute(f"UPDATE memsvc.{table} SET {moved} WHERE user_id = %(user)s".encode(), {
            "ago": ago, "user": owner.user_id,
        })  # fmt: skip


async def test_a_user_with_nothing_new_gets_one_sentence(db: Database, owner: Owner, settings: Settings) -> None:
    found = await report(db, owner)
    today = f"{datetime.now(UTC):%A}, "
    assert page(found).startswith(f"# Night of {today}")
    assert page(found).endswith("\n\nSleep has not run yet.\n")
    then = await report(db, owner, date(2020, 1, 1))
    never = "\n\nSleep did not run on this day, or on any day before it.\n"
    assert markdown(then, ZoneInfo("UTC"), asked=True).endswith(never)
    await sleep(db, owner, ["duplicates"], settings=settings)
    found = await report(db, owner)
    assert page(found).partition("\n\n")[2] == "Nothing new, and nothing is due or waits for you.\n"
    assert (found.learnt, found.merged, found.due, found.failed) == (0, 0, [], [])
    assert len(found.runs) == 1


async def test_it_tells_what_happened_since_the_night_before(
    db: Database,
    owner: Owner,
    settings: Settings,
    admin: psycopg.Connection,
    plugged: Callable[..., ModuleType],
) -> None:
    me = (await own_names(db, owner)).node_id
    [ines, porto, lisbon, rui] = [
        result.node_id
        for result in (
            await write(
                db, owner,
                [Node(type=kind, label=name) for kind, name in
                 (("Person", "Ines"), ("Place", "Porto"), ("Place", "Lisbon"), ("Person", "Rui"))],
                asserted_by="tests",
            )
        ).results
    ]  # fmt: skip
    assert ines
    assert porto
    assert lisbon
    assert rui
    old = await write(
        db, owner, [Edge(from_node=ines, type="LIVES_IN", to_node=lisbon, fact="Ines lives in Lisbon.")],
        asserted_by="tests",
    )  # fmt: skip
    await sleep(db, owner, ["duplicates"], settings=settings)
    days_ago(admin, owner, 2)

    moved = datetime(2026, 3, 1, 12, tzinfo=UTC)
    [edge] = [result.edge_id for result in old.results]
    await close(db, owner, [Thread(edge=edge)], moved, asserted_by="tests")
    facts = [
        Edge(from_node=ines, type="LIVES_IN", to_node=porto, fact="Ines lives in Porto.", valid_from=moved),
        Edge(from_node=me, type="KNOWS", to_node=rui, fact="Ada knows Rui."),
        Edge(from_node=ines, type="KNOWS", to_node=rui, fact=HOSTILE),
    ]
    await write(db, owner, facts, asserted_by="tests")
    await people(db, owner, TWICE[:2])
    tomorrow = MessageIn(conversation="pond", text="Remind me to buy milk today", said_at=datetime.now(UTC).isoformat())
    await append(db, owner, [tomorrow], settings)
    plugged(faulty=Offer(make=lambda _means: Faulty("pages"), help=""))
    with pytest.raises(Exception, match="ValueError"):
        await sleep(db, owner, settings=settings)

    found = await report(db, owner)
    assert found.facts[0].fact == "Ada knows Rui.", "what is about the user comes first"
    assert (found.learnt, found.ended, found.merged) == (3, 1, 1)
    [ended] = found.changes_of_mind
    assert (ended.fact, ended.ended_at) == ("Ines lives in Lisbon.", moved)
    assert ended.now is not None
    assert ended.now.fact == "Ines lives in Porto."
    assert [(one.task, one.error_code) for one in found.failed] == [("faulty", "job_failed")]
    text = page(found)
    assert "3 new facts, 1 change of mind and 1 merge since" in text
    assert headings(text) == ["Due today", "Learnt", "Changed its mind", "Merged", "Done besides", "Went wrong"]
    assert "Remind me to buy milk today" in text
    assert "- Ines lives in Lisbon. (until 1 March 2026)" in text
    assert "Zephyrine" in text
    assert "<b>" not in text
    assert "\n# All is well" not in text

    [merged] = found.merges
    await unmerge(db, owner, merged.node_id, asserted_by="user")
    assert (await report(db, owner)).merged == 0, "what was undone is not told"
    before = await report(db, owner, found.date - 2 * DAY)
    assert (before.learnt, [one.fact for one in before.facts], len(before.runs)) == (0, [], 1)
    between = await report(db, owner, found.date - DAY)
    assert (between.runs, between.learnt) == ([], 0)


async def test_it_names_a_few_and_counts_all(db: Database, owner: Owner, settings: Settings) -> None:
    made = await write(db, owner, [Node(type="Person", label=f"Heron {n}") for n in range(9)], asserted_by="tests")
    nodes = [result.node_id for result in made.results if result.node_id]
    facts = [
        Edge(from_node=nodes[0], type="KNOWS", to_node=node, fact=f"Heron 0 knows heron {n}.")
        for n, node in enumerate(nodes[1:], 1)
    ]
    await write(db, owner, facts, asserted_by="tests")
    await sleep(db, owner, ["duplicates"], settings=settings)
    found = await report(db, owner)
    assert (found.learnt, len(found.facts)) == (8, SHOWN)
    assert "\n- and 3 more\n" in page(found)


async def test_a_day_is_the_users_own_and_has_come(db: Database, owner: Owner) -> None:
    with pytest.raises(InvalidTimeError, match="not come yet"):
        await report(db, owner, datetime.now(UTC).date() + 2 * DAY)
    east = Owner(user_id=owner.user_id, name="Ada", time_zone="Pacific/Kiritimati", language="english")
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert (await report(db, east, now=noon)).date == date(2026, 3, 2)
    assert read_day("2026-03-01") == date(2026, 3, 1)


@pytest.mark.parametrize(
    "value", ["", "today", "2026-3-1", "20260301", "2026-02-30", "2026-03-01T00:00", "٢٠٢٦-٠٣-٠١", "\0"]
)
def test_what_is_no_day_is_refused(value: str) -> None:
    with pytest.raises(InvalidTimeError) as caught:
        read_day(value)
    assert caught.value.details == {"field": "date"}
