"""What several memories say together, told without a language model: habits, changed minds, contradictions, open loops.

Each is a sentence around people's own words, with the messages that it rests on. Days come from the graph
(``memsvc.days_of_facts``), values that were replaced and facts that are contested from its history, and promises from
messages (``memsvc.lessons.promises``). Statements: ``sql/queries/lessons.sql``.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner, valid_zone
from memsvc.analysis.habits import LEAST_WEEKS, Days, monday, weekly
from memsvc.db.clock import on_clock
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.graph.operations import Evidence
from memsvc.lessons.promises import Said, open_loops
from memsvc.lessons.reflections import MOST_EVIDENCE, Found, ReflectionKind
from memsvc.recall.times_in_words import day as in_words
from memsvc.times.untold import begin_is_untold

MOST = 100
"""Of each kind that is looked at, the latest."""
LATELY = timedelta(days=90)
"""Before the newest message: messages in which promises are looked for."""
MOST_SAID = 5_000
LEAST_RUN_DAYS, LEAST_RUN_WEEKS = 5, 4
"""Days, or weeks, in a row that are a streak."""
OFTEN_DAYS, OFTEN_SPAN = 8, timedelta(days=28)
"""So many days in so long at the least are often."""
STATES = frozenset({"LIVES_IN", "WORKS_AT", "FAMILY_OF", "KNOWS", "LOCATED_AT", "PART_OF", "OWNS", "LINKS_TO", "ABOUT"})
"""Types of facts that last: on how many days they were mentioned is no habit."""
WEEKDAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")


class _Rhythm(NamedTuple):
    """How something recurs, in words, and when it did last."""

    days: Days
    words: str
    last: date


async def patterns(db: Database, owner: Owner, *, now: datetime | None = None) -> list[Found]:
    """What there is to say, kind by kind; the same for the same memory.

    Args:
        db: the database.
        owner: whose memory.
        now: what is due later is no open loop yet; None: now.
    """
    user, zone = {"user_id": owner.user_id}, valid_zone(owner.time_zone)
    async with db.transaction(owner.user_id) as connection:
        active = {row.weekday: row.days for row in await connection.execute(query("active_weekdays"), user)}
        values = {**user, "zone": owner.time_zone, "least": LEAST_WEEKS}
        relations = [
            Days((row.from_node, row.to_node), row.type, row.days, row.facts)
            for row in await connection.execute(query("days_of_facts"), values)
        ]
        changed = (await connection.execute(query("minds_changed"), user | {"limit": MOST})).all()
        unsettled = (await connection.execute(query("facts_unsettled"), user | {"limit": MOST})).all()
        said = await connection.execute(query("lately_said"), user | {"days": LATELY, "limit": MOST_SAID})
        messages = [
            Said(row.passage_id, row.speaker or row.role, row.text, on_clock(row.said_at, row.said_offset))
            for row in said
        ]
        rhythms = await asyncio.to_thread(_rhythms, relations, active)
        facts = {one.days.nodes: list(one.days.facts) for one in rhythms}
        versions = [version for some in facts.values() for version in some]
        versions += [version for row in changed for version in (row.old_id, row.new_id)]
        versions += [row.version_id for row in unsettled]
        behind = await _behind(connection, owner, versions)
        rows = await connection.execute(query("facts_in_words"), user | {"versions": versions})
        told = {row.version_id: row.fact for row in rows}
    loops = await asyncio.to_thread(open_loops, messages, now or datetime.now(UTC), zone)
    return [
        *_habits(rhythms, told, behind, zone),
        *_changed(changed, behind, zone),
        *_unsettled(unsettled, behind),
        *(
            Found(
                kind="open_loop", key=_key("open_loop", one.said.passage_id, one.promise), at=one.said.said_at,
                text=f"{one.said.speaker} said on {in_words(one.said.said_at)}: “{one.promise}” Nothing since says "
                "that it was done.",
                evidence=(Evidence(passage_id=one.said.passage_id, span=one.span),),
            )
            for one in loops[-MOST:]
        ),
    ]  # fmt: skip


def _key(kind: ReflectionKind, *parts: object) -> str:
    """What a reflection is about: ids and words, of which only a digest is kept."""
    return f"{kind}:{hashlib.sha256(' '.join(map(str, parts)).encode()).hexdigest()[:32]}"


async def _behind(
    connection: AsyncConnection, owner: Owner, versions: Sequence[UUID]
) -> dict[UUID, list[tuple[datetime, Evidence]]]:
    """The messages behind versions of facts, the latest of each first."""
    found: dict[UUID, list[tuple[datetime, Evidence]]] = {}
    values = {"user_id": owner.user_id, "versions": list(dict.fromkeys(versions))}
    for row in await connection.execute(query("behind_facts"), values):
        span = (row.span_from, row.span_to) if row.span_from is not None else None
        one = (row.said_at, Evidence(passage_id=row.passage_id, span=span))
        found.setdefault(row.version_id, []).append(one)
    return found


def _rests(
    behind: Mapping[UUID, list[tuple[datetime, Evidence]]], versions: Sequence[UUID]
) -> tuple[datetime | None, tuple[Evidence, ...]]:
    """The latest messages behind some versions, some of each, and when the last was said."""
    share = max(1, MOST_EVIDENCE // max(1, len(versions)))
    taken = [one for version in versions for one in behind.get(version, ())[:share]]
    taken.sort(key=lambda one: one[0], reverse=True)
    each = {one.passage_id: one for _, one in reversed(taken)}
    return (taken[0][0] if taken else None), tuple(list(each.values())[-MOST_EVIDENCE:])


def _rhythms(relations: Sequence[Days], active: Mapping[int, int]) -> list[_Rhythm]:
    """How relations recur: of each the surest of a weekday, a streak, and often."""
    by_nodes = {(one.nodes, one.type): one for one in relations}
    found: dict[tuple[Any, str], _Rhythm] = {}
    for finding in weekly(relations, active):
        about = (tuple(finding.nodes), finding.figures["type"])
        one = by_nodes[about]
        names = [WEEKDAYS[number - 1] for number in finding.figures["weekdays"]]
        times = sum(finding.figures["by_weekday"][number - 1] for number in finding.figures["weekdays"])
        span = f"from {_day(one.days[0])} to {_day(one.days[-1])}"
        found[about] = _Rhythm(one, f"On {' and '.join(names)}, {times} times {span}", one.days[-1])
    for about, one in by_nodes.items():
        if about not in found and one.type not in STATES and (words := _streak(one.days) or _often(one.days)):
            found[about] = _Rhythm(one, words, one.days[-1])
    return sorted(found.values(), key=lambda one: (one.last, one.days.nodes), reverse=True)[:MOST]


def _streak(days: Sequence[date]) -> str:
    """The longest run of days, else of weeks, in words; empty: none is long enough."""
    for numbers, least, unit in (
        ([one.toordinal() for one in days], LEAST_RUN_DAYS, "days"),
        (sorted({monday(one) for one in days}), LEAST_RUN_WEEKS, "weeks"),
    ):
        runs = [[number for _, number in run] for _, run in groupby(enumerate(numbers), lambda one: one[1] - one[0])]
        longest = max(runs, key=len)
        if len(longest) >= least:
            first = date.fromordinal(longest[0]) if unit == "days" else date.fromordinal(longest[0] * 7 + 1)
            return f"{len(longest)} {unit} in a row, from {'' if unit == 'days' else 'the week of '}{_day(first)} on"
    return ""


def _often(days: Sequence[date]) -> str:
    if len(days) >= OFTEN_DAYS and days[-1] - days[0] >= OFTEN_SPAN:
        return f"On {len(days)} days from {_day(days[0])} to {_day(days[-1])}"
    return ""


def _day(one: date) -> str:
    return in_words(datetime.combine(one, time(), UTC))


def _habits(
    rhythms: Sequence[_Rhythm], told: Mapping[UUID, str], behind: Mapping[UUID, Any], zone: ZoneInfo
) -> Iterator[Found]:
    for one in rhythms:
        latest, evidence = _rests(behind, one.days.facts)
        sentence = next((told[version] for version in reversed(one.days.facts) if version in told), "")
        if sentence and evidence and latest is not None:
            at = max(latest, datetime.combine(one.last, time(), zone))
            yield Found(
                kind="habit", key=_key("habit", *one.days.nodes, one.days.type), text=f"{one.words}: {sentence}",
                at=min(at, datetime.now(UTC)), evidence=evidence, nodes=one.days.nodes,
            )  # fmt: skip


def _changed(rows: Sequence[Row[Any]], behind: Mapping[UUID, Any], zone: ZoneInfo) -> Iterator[Found]:
    for row in rows:
        latest, evidence = _rests(behind, (row.old_id, row.new_id))
        if not evidence or latest is None:
            continue
        since = "by" if begin_is_untold(row.changed_at, row.new_data) else "since"
        day = in_words(row.changed_at.astimezone(zone))
        yield Found(
            kind="changed_mind", key=_key("changed_mind", row.old_id), at=latest, evidence=evidence,
            text=f"This changed: “{row.old_fact}” No longer so {since} {day}: “{row.new_fact}”",
            nodes=(row.from_node, row.to_node),
        )  # fmt: skip


def _unsettled(rows: Sequence[Row[Any]], behind: Mapping[UUID, Any]) -> Iterator[Found]:
    def about(row: Row[Any]) -> tuple[str, str]:
        return str(row.subject_id), row.predicate

    for (subject, predicate), some in groupby(sorted(rows, key=about), about):
        found = list(some)
        latest, evidence = _rests(behind, [row.version_id for row in found])
        if not evidence or latest is None:
            continue
        words = " / ".join(f"“{fact}”" for fact in sorted({row.fact for row in found}))
        yield Found(
            kind="contradiction", key=_key("contradiction", subject, predicate), at=latest, evidence=evidence,
            text=f"{'These do' if len(found) > 1 else 'This does'} not agree with what else is known: {words}",
            nodes=(found[0].subject_id, *dict.fromkeys(row.object_id for row in found)),
        )  # fmt: skip
