"""How sure one can be of a fact: more independent sources never lower it, and no contradiction raises it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

import psycopg
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.graph.describe import describe_edge, facts_about
from memsvc.graph.history import write
from memsvc.graph.operations import Edge, Node
from memsvc.settings import Settings
from memsvc.sources.annotating import Annotation, annotate_fact
from memsvc.sources.messages import MessageIn, append

NOW = datetime.now(UTC).replace(microsecond=0)
AGES = (10, 400, 4_000)


@dataclass(frozen=True)
class Link:
    """Evidence: where, by whom and when it was said, and what it says."""

    conversation: int
    speaker: int
    days_ago: int
    stance: str
    by: int


LINKS = st.builds(
    Link, st.integers(0, 2), st.integers(0, 1), st.sampled_from(AGES),
    st.sampled_from(["supports", "supports", "supports", "ends", "validated", "disputed"]), st.integers(0, 1),
)  # fmt: skip


def model(confidence: float, links: list[Link], ids: dict[tuple[int, int, int], UUID]) -> float:
    """The same in plain Python; ids are in the order in which messages came."""
    marks: dict[int, tuple[UUID, int, Link]] = {}
    for nth, link in enumerate(links):
        if link.stance in {"validated", "disputed"}:
            newest = (ids[link.conversation, link.speaker, link.days_ago], nth, link)
            marks[link.by] = max(marks.get(link.by, newest), newest, key=lambda mark: mark[:2])
    last = [mark[2] for mark in marks.values()]
    support = [link for link in links if link.stance == "supports"] + [one for one in last if one.stance == "validated"]
    against = sum(one.stance == "disputed" for one in last)
    against += len({link.conversation for link in links if link.stance == "ends"})
    apart = (
        len({link.conversation for link in support}) + len({link.speaker for link in support})
        + len({link.days_ago for link in support})
    ) / 3  # fmt: skip
    age = min([5_000, *(link.days_ago for link in support)])
    return (1 - (1 - confidence) * 2 ** (1 - max(apart, 1))) * (3 + 2 ** (-age / 730)) / 4 / (1 + against)


@pytest.fixture
async def said(db: Database, owner: Owner, settings: Settings) -> dict[tuple[int, int, int], UUID]:
    """A message for each place where something can be said, by conversation, speaker and age."""
    places = [(one, who, days) for one in range(3) for who in range(2) for days in AGES]
    receipts = await append(
        db, owner,
        [
            MessageIn(conversation=f"c{one}", speaker=f"s{who}", text="x", said_at=(NOW - timedelta(days)).isoformat())
            for one, who, days in places
        ],
        settings,
    )  # fmt: skip
    return {place: receipt.passage_id for place, receipt in zip(places, receipts, strict=True) if receipt.passage_id}


@pytest.fixture
async def version(db: Database, owner: Owner, admin: psycopg.Connection) -> UUID:
    """A fact of confidence .6 that was learnt long ago."""
    made = await write(
        db, owner,
        [
            Node(type="Person", label="Ines"), Node(type="Place", label="Porto"),
            Edge(from_node=0, type="LIVES_IN", to_node=1, fact="Ines lives in Porto.", confidence=0.6),
        ],
        asserted_by="tests",
    )  # fmt: skip
    edge = made.results[2].edge_id
    row = admin.execute(
        "UPDATE memsvc.edge_versions SET recorded_from = %s WHERE edge_id = %s RETURNING version_id",
        [NOW - timedelta(5_000), edge],
    ).fetchone()
    assert row is not None
    return UUID(str(row[0]))


@examples(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(links=st.lists(LINKS, max_size=7), more=LINKS)
def test_it_is_the_model_and_monotone(
    *, admin: psycopg.Connection, owner: Owner, said: dict[tuple[int, int, int], UUID], version: UUID,
    links: list[Link], more: Link,
) -> None:  # fmt: skip
    def certainty(given: list[Link]) -> float:
        admin.execute("DELETE FROM memsvc.source_links WHERE user_id = %s", [owner.user_id])
        for link in given:
            admin.execute(
                "INSERT INTO memsvc.source_links (user_id, passage_id, edge_version_id, stance, asserted_by, "
                "recorded_from) VALUES (%s, %s, %s, %s, %s, now())",
                [
                    owner.user_id, said[link.conversation, link.speaker, link.days_ago], version, link.stance,
                    f"author {link.by}",
                ],
            )  # fmt: skip
        row = admin.execute(
            "SELECT certainty FROM memsvc.fact_certainty(%s, %s)", [owner.user_id, [version]]
        ).fetchone()
        assert row is not None
        return float(row[0])

    before, after = certainty(links), certainty([*links, more])
    assert before == pytest.approx(model(0.6, links, said), rel=1e-3)
    if more.stance == "supports":
        assert after >= before - 1e-6
    if more.stance == "ends":
        assert after <= before + 1e-6
    if more.stance == "disputed" and not any(link.stance == "validated" for link in links):
        assert after <= before + 1e-6


async def test_facts_show_it_and_a_dispute_lowers_it(
    db: Database, owner: Owner, settings: Settings, version: UUID
) -> None:
    [fact] = (await facts_about(db, owner, ["Ines"])).items
    assert 0.4 < fact.certainty < 0.6
    doubt = Annotation(edge_id=fact.edge_id, stance="disputed", reason="She moved.")
    await annotate_fact(db, owner, settings, doubt, asserted_by="user")
    [disputed] = (await facts_about(db, owner, ["Ines"])).items
    assert disputed.certainty == pytest.approx(fact.certainty / 2, rel=1e-3)
    shown = await describe_edge(db, owner, fact.edge_id)
    assert (shown.versions[0].version_id, shown.versions[0].contested) == (version, True)
    assert shown.versions[0].certainty == pytest.approx(disputed.certainty, rel=1e-3)
