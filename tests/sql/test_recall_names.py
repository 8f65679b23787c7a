"""Names in a query, the facts and messages that they lead to, and facts by their words."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any
from uuid import UUID

import msgspec
import psycopg
import pytest

from memsvc.db.identity import Signer
from memsvc.graph import operations as ops
from memsvc.settings import Settings
from tests.sql.conftest import Scratch
from tests.sql.histories import make_user
from tests.sql.test_history_plans import FILL
from tests.sql.test_plans import Plans
from tests.sql.test_walk_plans import NAMES, PROPERTIES
from tests.sql.world import APP, Logins, append_rows, login_url, message, value

pytestmark = pytest.mark.server
_numbers = count()
MOVED = datetime(2026, 4, 18, tzinfo=UTC)


@dataclass(slots=True)
class Memory:
    """A user with a small graph, seen by the application's login."""

    connection: psycopg.Connection
    user_id: UUID
    nodes: dict[str, UUID] = field(default_factory=dict)
    passages: list[UUID] = field(default_factory=list)
    at: list[datetime] = field(default_factory=list)

    def rows(self, call: str, **values: Any) -> list[tuple[Any, ...]]:
        statement = f"SELECT * FROM memsvc.{call}"
        return self.connection.execute(statement.encode(), {"user": self.user_id, **values}).fetchall()

    def write(self, *operations: ops.Operation) -> list[Any]:
        found = self.connection.execute(
            "SELECT node_id, edge_id, recorded_at FROM memsvc.write_history(%s, 'tests', %s::jsonb)",
            [self.user_id, msgspec.json.encode(ops.as_rows(operations)).decode()],
        ).fetchall()
        self.at.append(found[0][2])
        return found

    def add(self, *labels: str, kind: str = "Person") -> None:
        made = self.write(*(ops.Node(type=kind, label=label) for label in labels))
        self.nodes |= {label: row[0] for label, row in zip(labels, made, strict=True)}

    def fact(self, start: str, kind: str, end: str, fact: str, **more: Any) -> ops.Edge:
        return ops.Edge(from_node=self.nodes[start], type=kind, to_node=self.nodes[end], fact=fact, **more)

    def named(self, query: str, as_of: datetime | None = None, known_at: datetime | None = None, **more: Any) -> Any:
        """(name, label) of each node that the query names, in order."""
        call = "names_in_query(%(user)s, %(query)s, %(as_of)s, %(known)s, %(language)s, %(me)s)"
        asked = {"query": query, "as_of": as_of, "known": known_at, "language": "english", "me": False} | more
        return [(row[0], row[2]) for row in self.rows(call, **asked)]

    def facts(self, query: str, nodes: Sequence[str] = (), **more: Any) -> list[str]:
        """Sentences of the facts that are found, best first."""
        call = facts_of("%(query)s", "%(nodes)s::uuid[]", "20", **{name: f"%({name})s" for name in more})
        found = self.rows(call, query=query, nodes=[self.nodes[name] for name in nodes], **more)
        shown = self.rows("memories_shown(%(user)s, %(versions)s)", versions=[row[0] for row in found])
        sentences = {row[2]: row[12] for row in shown}
        return [sentences[row[0]] for row in found]


def facts_of(query: str, nodes: str, limit: str, **given: str) -> str:
    """The call that finds facts alone, by words and at nodes."""
    filters = "".join(f", {name} => {asked}" for name, asked in given.items())
    question = f"memsvc.question(p_nodes => {nodes}, p_hops => 0)"
    return f"recall(%(user)s, {query}, {limit}, memsvc.scope('{{fact}}'{filters}), {question})"


@pytest.fixture(scope="module")
def login(logins: Logins, settings: Settings) -> Iterator[psycopg.Connection]:
    with psycopg.connect(login_url(logins.admin_url, APP, settings), autocommit=True) as connection:
        yield connection


@pytest.fixture
def memory(login: psycopg.Connection, settings: Settings, worker_id: str) -> Memory:
    """Marcel, who moved; two who are called Ann; and others."""
    user_id = make_user(login, f"names {worker_id} {next(_numbers)}")
    token = Signer(settings.secret("identity_secret").encode(), 3600).token(user_id)
    login.execute("SELECT set_config('memsvc.identity', %s, false)", [token])
    made = Memory(login, user_id)
    said = ["I moved to Porto.", "Ann Lee sings.", "Beppo drums with Marcel.", "The mill has a new wheel."]
    made.passages = [row[3] for row in append_rows(login, user_id, [message(text, n) for n, text in enumerate(said)])]
    made.add("Marcel", "Ann Lee", "Anna Berg", "Beppo", "Zoë Lindqvist", "Will", "李明", "I")
    made.add("Hamburg", "Porto", "New York", "New York City", kind="Place")
    made.add("C++", "The Tin Lighthouses", kind="Concept")
    made.write(
        ops.Alias(node=made.nodes["Ann Lee"], alias="Ann", evidence=[ops.Evidence(passage_id=made.passages[1])]),
        ops.Alias(node=made.nodes["Anna Berg"], alias="ann"),
        made.fact("Marcel", "LIVES_IN", "Hamburg", "Marcel lives in Hamburg.", valid_to=MOVED),
        made.fact(
            "Marcel", "LIVES_IN", "Porto", "Marcel lives in Porto.", valid_from=MOVED,
            evidence=[ops.Evidence(passage_id=made.passages[0])],
        ),
        made.fact(
            "Beppo", "KNOWS", "Marcel", "Beppo plays in Marcel's band.",
            evidence=[ops.Evidence(passage_id=made.passages[2])],
        ),
        made.fact("Beppo", "LIKES", "Porto", "Beppo longs for the sea."),
    )  # fmt: skip
    return made


def test_the_longest_name_wins_whatever_stands_around_it(memory: Memory) -> None:
    assert memory.named("Did Marcel's band (the TIN lighthouses!) play in new  york city, or in New York?") == [
        ("Marcel", "Marcel"), ("the TIN lighthouses", "The Tin Lighthouses"), ("new  york city", "New York City"),
        ("New York", "New York"),
    ]  # fmt: skip
    assert memory.named("Marcel/Beppo wrote it in C++.") == [("Marcel", "Marcel"), ("Beppo", "Beppo"), ("C++", "C++")]
    twice = [("zoe lindqvist", "Zoë Lindqvist"), ("Marcel", "Marcel")]
    assert memory.named("zoe lindqvist and Marcel, Marcel") == twice
    assert memory.named("Will it rain? I will ask.") == []
    assert memory.named("What does Will say?") == [("Will", "Will")]
    assert memory.named("昨天我和李明去了北京") == [("李明", "李明")]


def test_nearly_a_name_is_found_by_trigrams_but_other_words_are_not(memory: Memory) -> None:
    assert memory.named("When did Zoe Lindquist call?") == [("Zoe Lindquist", "Zoë Lindqvist")]
    assert memory.named("is lindqvist there?") == [("lindqvist", "Zoë Lindqvist")]
    assert memory.named("the tin lighthouse plays") == []  # no capital: single words only
    assert memory.named("The Tin Lighthouse plays") == [("Tin Lighthouse", "The Tin Lighthouses")]
    assert memory.named("Where is Marianne, and who beeps there?") == []
    [row] = memory.rows("names_in_query(%(user)s, 'Ask Hamburgh about it')")
    assert (row[0], row[2], row[3], row[5]) == ("Hamburgh", "Hamburg", "Place", 5)
    assert 0.6 <= row[4] < 1


def test_who_speaks_is_named_by_first_person_words_only_where_asked(memory: Memory) -> None:
    assert memory.named("What did I say of my band?") == []
    assert memory.named("What did I say of my band?", me=True) == [("I", "I")]
    assert memory.named("我喜欢什么", me=True) == [("我", "I")]
    memory.add("EU", kind="Organization")
    assert memory.named("Does the EU pay?") == memory.named("Does the EU pay?", me=True) == [("EU", "EU")]
    assert memory.named("O que eu disse?", me=True) == [("eu", "I")]


def test_an_ambiguous_name_gives_all_its_nodes_with_evidence(memory: Memory) -> None:
    assert memory.named("Is Ann here?") == [("Ann", "Ann Lee"), ("Ann", "Anna Berg")]
    both = [memory.nodes["Ann Lee"], memory.nodes["Beppo"]]
    evidence = memory.rows("name_evidence(%(user)s, %(nodes)s)", nodes=both)
    assert [(node, sorted(told)) for node, told in evidence] == [
        (both[0], ["Ann Lee sings."]), (both[1], ["Beppo longs for the sea.", "Beppo plays in Marcel's band."]),
    ]  # fmt: skip


def test_merges_count_as_long_as_they_are_known(memory: Memory) -> None:
    before = memory.at[-1]
    memory.write(ops.Merge(node=memory.nodes["Anna Berg"], canonical=memory.nodes["Ann Lee"]))
    assert memory.named("Is Ann here, I mean Anna Berg?") == [("Ann", "Ann Lee"), ("Anna Berg", "Ann Lee")]
    assert memory.named("Is Ann here?", None, before) == [("Ann", "Ann Lee"), ("Ann", "Anna Berg")]
    merged = memory.at[-1]
    memory.write(ops.Unmerge(node=memory.nodes["Anna Berg"]))
    assert len(memory.named("Is Ann here?")) == 2
    assert len(memory.named("Is Ann here?", None, merged)) == 1


def test_names_and_facts_hold_at_their_times(memory: Memory) -> None:
    before, winter = memory.at[-1], datetime(2026, 1, 1, tzinfo=UTC)
    assert memory.facts("lives") == ["Marcel lives in Porto."]
    assert memory.facts("lives", p_as_of=winter) == ["Marcel lives in Hamburg."]
    assert memory.facts("sea", ["Beppo"]) == ["Beppo longs for the sea.", "Beppo plays in Marcel's band."]
    assert memory.facts("", ["Beppo"], p_sources=[]) == []
    edge = memory.connection.execute("SELECT edge_id FROM memsvc.edge_versions WHERE fact LIKE '%%sea.'").fetchall()
    memory.write(
        ops.Retract(thread=ops.Thread(edge=edge[0][0])),
        ops.Retract(thread=ops.Thread(node=memory.nodes["Anna Berg"], alias="ann")),
        ops.Alias(node=memory.nodes["Beppo"], alias="Bernhard Pohl", valid_from=MOVED),
    )
    assert memory.facts("sea") == []
    assert memory.facts("sea", p_known_at=before) == ["Beppo longs for the sea."]
    assert memory.named("Is Ann here?") == [("Ann", "Ann Lee")]
    assert len(memory.named("Is Ann here?", None, before)) == 2
    assert memory.named("Ask Bernhard Pohl") == [("Bernhard Pohl", "Beppo")]
    assert memory.named("Ask Bernhard Pohl", winter) == []
    assert memory.named("Ask Bernhard Pohll") == [("Bernhard Pohll", "Beppo")]
    assert memory.named("Ask Bernhard Pohll", None, before) == []


def test_facts_are_scored_as_messages_are_and_filtered_by_their_evidence(memory: Memory) -> None:
    call = "match_words(%(user)s, 'band of Marcel', 9, p_scope => memsvc.scope('{message,fact}'))"
    said = {row[0]: row for row in memory.rows(call)}
    texts = memory.connection.execute("SELECT passage_id, length, text FROM memsvc.passages").fetchall()
    mean, size = statistics.fmean(row[1] for row in texts), len(texts)
    own, length = next((row[0], row[1]) for row in texts if row[2].endswith("band."))
    held = [sum(word in row[2] for row in texts) for word in ("Marcel", "band")]
    weights = sum(math.log(1 + (size - many + 0.5) / (many + 0.5)) for many in held)
    assert sorted(said[own][2]) == ["band", "marcel"]
    assert said[own][1] == pytest.approx(weights / (1 + 1.2 * (0.25 + 0.75 * length / mean)))
    source = value(memory.connection, "SELECT source_id FROM memsvc.sources WHERE kind = 'conversation'")
    assert memory.facts("lives plays longs", p_sources=[source]) == memory.facts("lives plays", p_sources=[source])
    # What nothing supports stands for itself: nobody said it there.
    assert memory.facts("lives plays longs", p_not_sources=[source]) == ["Beppo longs for the sea."]
    later = datetime(2026, 3, 2, tzinfo=UTC)
    assert memory.facts("lives plays", p_said_from=later) == ["Beppo plays in Marcel's band."]
    assert memory.facts("lives plays", ["Marcel"], p_said_to=later) == ["Marcel lives in Porto."]


def test_expansion_and_mentions_go_along_edges_and_say_which_way(memory: Memory) -> None:
    beppo = memory.nodes["Beppo"]
    found = memory.rows("expand_names(%(user)s, ARRAY[%(node)s]::uuid[], 2, 5)", node=beppo)
    assert [(row[1], row[3]) for row in found] == [
        (0, ["Beppo"]), (1, ["Beppo", "KNOWS", "Marcel"]), (1, ["Beppo", "LIKES", "Porto"]),
    ] or [(row[1], row[3]) for row in found] == [
        (0, ["Beppo"]), (1, ["Beppo", "LIKES", "Porto"]), (1, ["Beppo", "KNOWS", "Marcel"]),
    ]  # fmt: skip
    assert found[0][2] == 1
    assert 0 < found[1][2] < 1
    winter = memory.rows("expand_names(%(user)s, ARRAY[%(node)s]::uuid[], 2, 5, '2026-01-01')", node=beppo)
    assert {tuple(row[3]) for row in winter if row[1] == 2} == {("Beppo", "KNOWS", "Marcel", "LIVES_IN", "Hamburg")}
    assert len(memory.rows("expand_names(%(user)s, ARRAY[%(node)s]::uuid[], 0, 5)", node=beppo)) == 1
    nodes, far, reach = zip(*[(row[0], row[1], row[2]) for row in found], strict=True)
    asked = {"nodes": list(nodes), "reach": list(reach), "far": list(far)}
    call = "match_mentions(%(user)s, %(nodes)s, %(reach)s, %(far)s, 9)"
    assert [(row[0], row[1], row[3]) for row in memory.rows(call, **asked)] == [
        (memory.passages[2], beppo, 0), (memory.passages[0], nodes[1], 1),
    ]  # fmt: skip
    call = "match_mentions(%(user)s, %(nodes)s, %(reach)s, %(far)s, 9, memsvc.scope('{trace}'))"
    assert memory.rows(call, **asked) == []
    call = (
        "match_mentions(%(user)s, %(nodes)s, %(reach)s, %(far)s, 9, memsvc.scope('{message}', p_as_of => '2026-03-02'))"
    )
    assert memory.rows(call, **asked) == []  # he did not live there yet, and of the band nobody had spoken
    asked = {"nodes": [memory.nodes["Marcel"]], "reach": [1.0], "far": [0]}
    assert [row[0] for row in memory.rows(call, **asked)] == [memory.passages[0]]


def test_evidence_that_came_later_was_not_known_before(memory: Memory) -> None:
    before = memory.at[-1]
    more = [ops.Evidence(passage_id=memory.passages[3])]
    memory.write(memory.fact("Beppo", "KNOWS", "Marcel", "Beppo plays in Marcel's band.", evidence=more))
    call = (
        "match_mentions(%(user)s, ARRAY[%(node)s]::uuid[], '{1}', '{0}', 9, "
        "memsvc.scope('{message}', p_known_at => %(known)s))"
    )
    node = memory.nodes["Beppo"]
    assert {row[0] for row in memory.rows(call, node=node, known=None)} == set(memory.passages[2:])
    assert {row[0] for row in memory.rows(call, node=node, known=before)} == {memory.passages[2]}
    call = (
        "memories_shown(%(user)s, ARRAY(SELECT version_id FROM memsvc.edge_versions WHERE fact LIKE '%%band.'), NULL, "
        "%(known)s)"
    )
    assert [row[3] for row in memory.rows(call, known=before)] == [memory.passages[2]]
    later = datetime(2026, 3, 4, tzinfo=UTC)
    assert memory.facts("band", p_said_from=later) == ["Beppo plays in Marcel's band."]
    assert memory.facts("band", p_said_from=later, p_known_at=before) == []


def test_a_hub_says_less_than_a_friend(memory: Memory) -> None:
    memory.add(*(f"Guest {n}" for n in range(40)))
    memory.write(*(memory.fact(f"Guest {n}", "LIKES", "Hamburg", f"Guest {n} likes it.") for n in range(40)))
    asked = {"nodes": [memory.nodes["Hamburg"]]}
    guests = memory.rows("expand_names(%(user)s, %(nodes)s, 1, 10)", **asked)
    assert len(guests) == 11
    friends = memory.rows("expand_names(%(user)s, %(nodes)s, 1, 10)", nodes=[memory.nodes["Beppo"]])
    assert guests[1][2] < friends[1][2] / 2


def test_an_old_fact_is_found_by_a_common_word_that_no_new_fact_has(memory: Memory) -> None:
    guests = [f"Guest {n}" for n in range(70)]
    memory.add(*guests)
    for place in ("Hamburg", "Porto", "New York"):
        memory.write(*(memory.fact(guest, "LIKES", place, f"{guest} likes it.") for guest in guests))
    assert memory.facts("Porto") == ["Marcel lives in Porto."]  # one message in four has it, too
    assert memory.facts("wheel") == []  # as this one, which no fact has


def test_a_telling_word_is_not_lost_among_facts_with_a_common_one(memory: Memory) -> None:
    guests = [f"Guest {n}" for n in range(400)]
    memory.add(*guests)
    memory.write(memory.fact("Beppo", "USES", "Porto", "Beppo hides the piano key in Porto."))
    few = [memory.fact(guest, "LIKES", "Porto", f"{guest} likes Porto.") for guest in guests[:100]]
    memory.write(*few)
    assert memory.facts("Where is the piano key in Porto?")[0] == "Beppo hides the piano key in Porto."
    memory.write(
        *(
            memory.fact(guest, "LIKES", "New York", f"{guest} plays the {'oboe' if n % 10 else 'piano'} in Porto.")
            for n, guest in enumerate(guests)
        )
    )  # both words are common, and some 20 of the newest 200 have them both
    found = memory.facts("Who plays the piano in Porto?")
    assert all("piano" in sentence for sentence in found[:8])


def test_a_few_nodes_behind_what_is_named_give_more_facts_each(memory: Memory) -> None:
    guests = [f"Guest {n}" for n in range(60)]
    memory.add(*guests)
    for place in ("Hamburg", "Porto", "New York"):
        memory.write(*(memory.fact(guest, "LIKES", place, f"{guest} likes it.") for guest in guests))
    call = "match_nodes(%(user)s, %(nodes)s, NULL, %(far)s, %(limit)s, memsvc.scope('{fact}'))"
    places = ["Hamburg", "New York"]
    nodes = [memory.nodes[place] for place in places]
    assert len(memory.rows(call, nodes=nodes[:1], far=[1], limit=90)) == 51
    assert len(memory.rows(call, nodes=nodes, far=[1, 1], limit=60)) == 60
    assert len(memory.rows(call, nodes=nodes, far=[1, 1], limit=16)) == 16
    assert len(memory.rows(call, nodes=nodes, far=[0, 1], limit=90)) == 90
    without = [memory.nodes[name] for name in ("Ann Lee", "Anna Berg", "Zoë Lindqvist", "Will", "李明", "C++")]
    assert len(memory.rows(call, nodes=nodes[:1] + without, far=[1] * 7, limit=64)) == 11


def came(memory: Memory, number: int) -> list[UUID]:
    """So many messages more."""
    more = {"said_at": "2026-03-09T09:00:00Z"}
    said = [message(f"Guest {n} came.", n, client_id=f"guest {n}", **more) for n in range(number)]
    return [row[3] for row in append_rows(memory.connection, memory.user_id, said)]


def test_what_does_not_hold_yet_is_mentioned_and_keeps_no_fact_of_a_named_node_out(memory: Memory) -> None:
    guests = [f"Guest {n}" for n in range(70)]
    memory.add(*guests)
    later = {"weight": 2, "valid_from": datetime(2999, 1, 1, tzinfo=UTC)}
    said = came(memory, 70)
    memory.write(
        *(
            memory.fact(
                guest, "LIKES", "Hamburg", f"{guest} likes it.", evidence=[ops.Evidence(passage_id=said[n])],
                **(later if n < 10 else {}),
            )
            for n, guest in enumerate(guests)
        )
    )  # fmt: skip
    call = "match_nodes(%(user)s, ARRAY[%(node)s], '{1}', ARRAY[%(far)s], 90, memsvc.scope('{message,fact}'))"
    found = [memory.rows(call, node=memory.nodes["Hamburg"], far=far) for far in (0, 1)]
    mentioned = [{row[1] for row in rows if row[0] == "passage"} for rows in found]
    assert [len(passages) for passages in mentioned] == [51, 11]
    assert [len(passages & set(said[:10])) for passages in mentioned] == [10, 0]
    versions = [[row[1] for row in rows if row[0] == "fact"] for rows in found]
    assert [len(facts) for facts in versions] == [51, 51]
    assert set(versions[0]) == set(versions[1])


def test_many_sources_of_one_fact_keep_no_other_out(memory: Memory) -> None:
    said = came(memory, 510)
    for first in range(0, 505, 100):
        many = [ops.Evidence(passage_id=passage) for passage in said[first : min(505, first + 100)]]
        memory.write(memory.fact("Will", "LIKES", "Hamburg", "Will likes it.", evidence=many))
    last = [ops.Evidence(passage_id=said[-1])]
    memory.write(memory.fact("Will", "LIKES", "New York", "Will likes it.", evidence=last))
    call = "match_mentions(%(user)s, ARRAY[%(node)s], '{1}', '{0}', 900)"
    found = {row[0] for row in memory.rows(call, node=memory.nodes["Will"])}
    assert len(found) == 501  # the last 500 of a fact
    assert found > {said[504], said[-1]}


def test_what_was_erased_is_neither_named_nor_found(memory: Memory) -> None:
    assert memory.named("And Beppo?") == [("Beppo", "Beppo")]
    memory.connection.execute(
        "SELECT memsvc.erase(%s, 'node', %s, 'tests', 100)", [memory.user_id, memory.nodes["Beppo"]]
    )
    assert memory.named("And Beppo? And Beppoo?") == []
    assert memory.facts("Beppo plays") == []


HOSTILE = (
    "", " ", "'; DROP TABLE memsvc.nodes; --", "%_\\ \x01\x02 Marcel \x7f", "(" * 5000 + "Marcel", "|&!:*<->'",
    "𝕄" * 300, "word " * 20_000, "我" * 9000, "\u202eMarcel\u202c ﷺ İ ß", "Ann\u0301 \ud7ff Z͑ͫ̓ͪ̂ͫ",
)  # fmt: skip


def test_no_query_does_harm(memory: Memory) -> None:
    for query in HOSTILE:
        memory.named(query, me=True, language="german")
        memory.rows(facts_of("%(query)s", "'{}'", "9"), query=query)
    assert memory.named(HOSTILE[3]) == memory.named(HOSTILE[9]) == [("Marcel", "Marcel")]


# Plans ---------------------------------------------------------------------------------------------------------------


def scope_of(kind: str) -> str:
    """A scope of one kind as known at a time, which is filled in."""
    return f"memsvc.scope('{{{{{kind}}}}}', p_known_at => {{known}})"


CALLS = {
    "names": "names_in_query(%(user)s, 'Did x call Xavier Xylander or x7?', NULL, {known})",
    "facts": f"match_nodes(%(user)s, ARRAY[%(node)s], NULL, '{{{{0}}}}', 20, {scope_of('fact')})",
    "expanded": "expand_names(%(user)s, ARRAY[%(node)s], 2, 10, NULL, {known})",
    "mentions": f"match_mentions(%(user)s, ARRAY[%(node)s], '{{{{1}}}}', '{{{{0}}}}', 20, {scope_of('message')})",
    "evidence": "name_evidence(%(user)s, ARRAY[%(node)s], NULL, {known})",
}
SOURCES = """
INSERT INTO memsvc.source_links (user_id, passage_id, edge_version_id, asserted_by, recorded_from)
SELECT v.user_id, p.passage_id, v.version_id, 'bulk', '2025-01-01'
FROM memsvc.edge_versions AS v INNER JOIN memsvc.passages AS p ON p.user_id = v.user_id AND p.kind = 'message'
"""


@pytest.fixture(scope="module", params=["empty", "emptied", "fresh", "analysed"])
def graph(request: pytest.FixtureRequest, scratch: Scratch, settings: Settings) -> Iterator[tuple[Plans, UUID]]:
    """Collected plans and the user, with what the planner knows."""
    url = scratch("recall_plans")
    signer = Signer(settings.secret("identity_secret").encode(), 3600)
    with psycopg.connect(url, autocommit=True) as admin:
        app_id = value(admin, "SELECT memsvc.ensure_app('plans')")
        make = "SELECT memsvc.create_user(%s, %s, 'Ada', 'UTC', 'english')"
        users = [value(admin, make, [app_id, f"user {n}"]) for n in range(3)]
        for place, user in enumerate(users):
            size = {"nodes": 1_000 if place == 0 else 100, "edges": 5_000 if place == 0 else 500}
            admin.execute(FILL.encode(), {"user": user} | size)
        admin.execute(PROPERTIES.encode(), {})
        admin.execute(NAMES.encode(), {})
        with psycopg.connect(login_url(url, APP, settings), autocommit=True) as app:
            for user in users:
                app.execute("SELECT set_config('memsvc.identity', %s, false)", [signer.token(user)])
                append_rows(app, user, [message("One.", 0)])
        admin.execute(SOURCES.encode())
        if request.param == "analysed":
            admin.execute("VACUUM ANALYZE")
        if request.param in {"empty", "emptied"}:
            admin.execute("TRUNCATE memsvc.edge_versions, memsvc.aliases CASCADE")
        if request.param == "emptied":
            admin.execute("VACUUM ANALYZE")
    with psycopg.connect(url, autocommit=True) as connection:
        collected = Plans(connection, users, signer)
        connection.execute("LOAD 'auto_explain'")
        for setting, wanted in (
            ("auto_explain.log_min_duration", "0"), ("auto_explain.log_nested_statements", "on"),
            ("auto_explain.log_level", "notice"), ("auto_explain.log_format", "json"),
            ("auto_explain.log_analyze", "off"),
        ):  # fmt: skip
            connection.execute("SELECT set_config(%s, %s, false)", [setting, wanted])
        connection.execute("SET SESSION AUTHORIZATION memsvc_app")
        connection.add_notice_handler(collected.note)
        yield collected, users[0]


@pytest.mark.parametrize("known", ["NULL", "'2025-06-01'"])
@pytest.mark.parametrize("call", list(CALLS))
def test_all_is_read_by_keys_whatever_the_planner_knows(graph: tuple[Plans, UUID], call: str, known: str) -> None:
    plans, user = graph
    plans.act_for(user)
    row = plans.connection.execute("SELECT node_id FROM memsvc.nodes WHERE user_id = %s LIMIT 1", [user]).fetchone()
    assert row is not None
    plans.seen.clear()
    statement = f"SELECT count(*) FROM memsvc.{CALLS[call].format(known=known)}"
    plans.connection.execute(statement.encode(), {"user": user, "node": row[0]})
    tables = ("nodes", "node_versions", "aliases", "edge_versions", "merges", "source_links", "passages")
    indexes = {index: cond for table in tables for index, cond in plans.indexes(table).items()}
    indexes.pop("Bitmap Heap Scan", None)
    assert indexes
    if plans.connection.execute("SELECT FROM memsvc.edge_versions LIMIT 1").fetchall():
        wanted = {"names": {"node_versions_trigrams", "aliases_trigrams"}}
        assert wanted.get(call, set()) <= set(indexes), indexes
    for index, cond in indexes.items():
        own = "ARRAY[user_id] @> " if index.endswith("_trigrams") else "user_id = "
        assert own in cond, f"{call} reads {index} by {cond!r}"
        # Whether there is anything: the first row by whichever index. Newest facts: a part of those of the user.
        if not index.startswith(("nodes_", "merges_")) and index != "edge_versions_recorded":
            assert " AND " in cond, f"{call} reads all of {index} by {cond!r}"
