"""Messages are read for facts while workers, API and database are killed in the middle of it: each counts once.

Messages say their facts themselves (``tests.fakes.extractors``), the same ones again and again and in several
conversations at a time, so that whatever is done twice, or beside another, shows as a second node, fact or piece of
evidence. MEMSVC_TEST_CHAOS_MESSAGES=1000 sends more than 60, with more kills.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from tests.acceptance.chaos import HELD, PENDING, RECOVERY_S, Clients, Service
from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig, assert_books_right, assert_no_job_waits, wait_until
from tests.fakes import installed_reader

pytestmark = pytest.mark.acceptance
MESSAGES = int(os.environ.get("MEMSVC_TEST_CHAOS_MESSAGES", "60"))
OWNER = "ada"
KILLS = ("worker", "database", "workers") if MESSAGES < 500 else ("worker", "database", "all", "workers") * 3
CONVERSATIONS = 4
SLOW_S = 0.1
# With surnames: who has a first name alone may be somebody else in another conversation.
PEOPLE = ("I", "Beatriz Amado", "Jonas Weld", "Wilhelmina Berg", "Kofi Mensah", "Yuki Sato", "Gudrun Ohm")
THINGS = ("Chess", "Opera", "Marzipan", "Badminton", "Yoga", "Pottery", "Rhubarb", "Jazz")
Said = tuple[str, str]
"""Who likes what."""

TWICE = """
SELECT label, count(*) FROM memsvc.nodes_current WHERE label IS NOT NULL GROUP BY 1 HAVING count(*) > 1
"""
FACTS = """
SELECT subject, object, count(*) FROM memsvc.facts_history WHERE predicate = 'LIKES' AND NOT superseded GROUP BY 1, 2
"""
EVIDENCE = """
SELECT p.client_id, f.subject, f.object, count(*) FROM memsvc.source_links AS l
INNER JOIN memsvc.passages AS p ON p.user_id = l.user_id AND p.passage_id = l.passage_id
INNER JOIN memsvc.facts_history AS f ON f.user_id = l.user_id AND f.version_id = l.edge_version_id
WHERE l.recorded_to = 'infinity' AND NOT f.superseded GROUP BY 1, 2, 3
"""
# Conversations that were not read to their end, or of which more was read than there is.
MISREAD = """
SELECT s.identifier, e.turns, count(p.passage_id) FROM memsvc.sources AS s
INNER JOIN memsvc.passages AS p ON p.user_id = s.user_id AND p.source_id = s.source_id
LEFT JOIN memsvc.extractions AS e ON e.user_id = s.user_id AND e.source_id = s.source_id
WHERE s.kind = 'conversation'
GROUP BY s.user_id, s.identifier, e.turns, e.upto
HAVING e.turns IS DISTINCT FROM count(p.passage_id) OR e.upto::text IS DISTINCT FROM max(p.passage_id::text)
"""


@pytest.fixture
def rig(prepared: Path) -> Iterator[Rig]:
    """A private memsvc of this test whose workers read by the fake extractor, and make no vectors."""
    with (
        private_folder(prepared) as data,
        Rig(data, extractor=installed_reader.NAME, embedding_model="") as made,
    ):
        made.environment |= installed_reader.install(data.parent / "packages", slow_s=SLOW_S)
        yield made


def requests_of(chance: random.Random) -> tuple[list[tuple[str, list[dict[str, str]]]], dict[str, set[Said]]]:
    """Messages one by one, in any order, each with one or two facts; and what each of them says."""
    made, says = [], {}
    for number in range(MESSAGES):
        said = {(chance.choice(PEOPLE), chance.choice(THINGS)) for _ in range(chance.randint(1, 2))}
        message = {
            "conversation": f"talk {chance.randrange(CONVERSATIONS)}",
            "id": f"m{number}",
            "speaker": OWNER,
            "text": f"Number {number}. " + " ".join(f"{who} LIKES {what}." for who, what in sorted(said)),
        }
        made.append((OWNER, [message]))
        says[message["id"]] = {(OWNER if who == "I" else who, what) for who, what in said}
    return made, says


def test_messages_are_read_once_whatever_is_killed(rig: Rig) -> None:
    chance = random.Random(7)
    rig.ok("user", "add", "--name", OWNER, "--app", "chaos")
    key = json.loads(rig.ok("key", "create", "--app", "chaos", "--json"))["key"]
    service = Service(rig)
    service.start()
    requests, says = requests_of(chance)
    clients = Clients(service.urls, key, requests)
    began = time.monotonic()
    with ExitStack() as stack, ThreadPoolExecutor(4) as threads:
        stack.callback(clients.ended.set)
        posting = [threads.submit(clients.post_all) for _ in range(4)]
        for number, victim in enumerate(KILLS):
            clients.wanted = MESSAGES * (number + 1) // len(KILLS)
            wait_until(lambda: clients.acknowledged >= clients.wanted - 5)
            wait_until(lambda: service.rows(HELD, "facts"))  # in the middle of reading
            time.sleep(chance.uniform(0, 2 * SLOW_S))
            service.kill(victim, chance, chance.uniform(0, 0.2))
        clients.wanted = MESSAGES + 1
        for client in posting:
            client.result(60)
    assert set(clients.answers) <= {202, 503}
    wait_until(lambda: service.rows(PENDING) == [(0,)], seconds=RECOVERY_S + MESSAGES * SLOW_S)
    with rig.admin() as admin:
        assert_no_job_waits(admin)
        assert_books_right(admin)
        assert_read_once(admin, says)
    print(f"{', '.join(KILLS)}; answers {dict(clients.answers)}; {time.monotonic() - began:.0f} s")  # noqa: T201
    for part in rig.parts:
        assert "Traceback" not in part.errors.read_text(), part.errors.read_text()[-3_000:]


def assert_read_once(admin: psycopg.Connection, says: dict[str, set[Said]]) -> None:
    """The graph holds what the messages say, each thing, fact and piece of evidence once."""
    assert admin.execute(TWICE).fetchall() == []
    assert admin.execute(MISREAD).fetchall() == []
    said = [(message, *one) for message, facts in says.items() for one in facts]
    evidence = Counter({(message, who, what): count for message, who, what, count in admin.execute(EVIDENCE)})
    assert evidence == Counter(said)
    facts = Counter({(who, what): count for who, what, count in admin.execute(FACTS)})
    assert facts == Counter({(who, what) for _, who, what in said})
    assert admin.execute("SELECT count(*) FROM memsvc.fact_reviews").fetchone() == (0,)
