"""Ada, who looks for a way, and Bob, whose memories hold a word that she should never learn.

Ada knows much: each id of Bob's, tokens of his that have run out, and the word to guess. So a way is tried twice: with
what is Bob's, and with ids and a word that are nobody's. If both answers are the same, letter by letter, then none of
them tells her anything: neither rows nor errors nor counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID, uuid4

import psycopg

from memsvc.db.identity import Signer
from memsvc.settings import Settings
from tests.sql.world import APP, MODEL, Logins, Tenant, World, append_rows, history_rows, login_url, make_world, message
from tests.through import CURRENT

SECRET = "Zyzzyva"
GUESS = "Qwrtqwa"
OPEN = "Common"
UUID_TEXT = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
MOMENT = re.compile(r"\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(\+\d\d(:?\d\d)?|Z)?|datetime\.datetime\([^()]*\)")


@dataclass(frozen=True, slots=True)
class Scene:
    """What the ways need to know of a database with both."""

    logins: Logins
    world: World
    bobs: Mapping[str, str]
    """What Ada may put into a statement, by name: user, node, word, expired, …"""
    nobodys: Mapping[str, str]
    """The same names with what nobody has."""
    hidden: frozenset[str]
    """Ids of rows of Bob's that Ada was not told."""

    @property
    def token(self) -> str:
        """A good token of Ada's."""
        return self.world.token(self.world.ada)

    @property
    def bobs_token(self) -> str:
        """A good token of Bob's, which Ada does not have."""
        return self.world.token(self.world.bob)

    def leaked(self, said: str, told: Mapping[str, str]) -> str | None:
        """What of Bob's an answer shows beyond what Ada said herself."""
        rest = masked(said, told)
        if SECRET.lower() in rest.lower():
            return f"shows {SECRET}"
        return next((f"shows {found}" for found in UUID_TEXT.findall(rest) if found in self.hidden), None)


def masked(said: str, told: Mapping[str, str]) -> str:
    """An answer with what Ada said replaced by its name."""
    for name, value in sorted(told.items(), key=lambda item: -len(item[1])):
        said = re.sub(re.escape(value), f"<{name}>", said, flags=re.IGNORECASE)
    return said


def comparable(said: str, told: Mapping[str, str]) -> str:
    """An answer without what differs from one time to the next: moments and new ids."""
    return MOMENT.sub("<moment>", UUID_TEXT.sub("<id>", masked(said, told)))


def make_scene(admin_url: str, settings: Settings, name: str) -> Scene:
    """Fill a database at head with both users."""
    world = make_world(admin_url, settings, name)
    with psycopg.connect(login_url(admin_url, APP, settings)) as app:
        for tenant, word in ((world.ada, OPEN), (world.bob, SECRET)):
            with app.transaction():
                app.execute("SELECT set_config('memsvc.identity', %s, true)", [world.token(tenant)])
                _remember(app, tenant, word)
    with psycopg.connect(admin_url, autocommit=True) as admin:
        admin.execute("ANALYZE")
        hidden = _ids_of(admin, world.bob)
    for between in CURRENT:
        between.caught_up(admin_url)
    bobs, nobodys = _told(world, world.bob, SECRET), _told(world, None, GUESS)
    return Scene(Logins(admin_url, settings), world, bobs, nobodys, frozenset(hidden - set(bobs.values())))


def _remember(app: psycopg.Connection, tenant: Tenant, word: str) -> None:
    """Memories of each sort with the word in them."""
    append_rows(app, tenant.user_id, [message(f"{word} is the word.", place) for place in (20, 21)])
    nodes = [{"op": "node", "node_id": uuid4(), "fresh": True, "type": "Person", "label": f"{word} {n}",
              "description": word, "data": {"deep": {"word": word}}} for n in "ab"]  # fmt: skip
    history_rows(app, tenant.user_id, [
        *nodes,
        {"op": "edge", "from_node": nodes[0]["node_id"], "type": "KNOWS", "to_node": nodes[1]["node_id"],
         "fact": f"{word} a knows {word} b."},
        {"op": "alias", "node_id": nodes[0]["node_id"], "alias": f"{word} c"},
    ])  # fmt: skip
    app.execute(
        "SELECT memsvc.store_embeddings(%(user)s, m.model_id, ARRAY[p.passage_id], ARRAY['[0,1,0]'::public.halfvec], "
        "ARRAY['{x' || repeat('0', 32) || '}']) FROM memsvc.embedding_models AS m, memsvc.passages AS p "
        "WHERE m.name = %(model)s AND p.user_id = %(user)s AND p.text LIKE %(text)s",
        {"user": tenant.user_id, "model": MODEL, "text": f"{word}%"},
    )
    proposed = {"name": word.upper(), "description": word, "reason": word, "functional": False}
    for kind in ("node", "edge"):
        app.execute("SELECT memsvc.propose_type(%s, %s, %s, 'user')", [tenant.user_id, kind, json.dumps(proposed)])


def _ids_of(admin: psycopg.Connection, tenant: Tenant) -> set[str]:
    """All ids in rows of a user."""
    tables = admin.execute("SELECT name FROM memsvc.user_tables()").fetchall()
    found: set[str] = set()
    for (table,) in tables:
        rows = admin.execute(f"SELECT t::text FROM memsvc.{table} AS t WHERE user_id = %s".encode(), [tenant.user_id])
        found |= {each for (row,) in rows for each in UUID_TEXT.findall(row)}
    return found - {str(tenant.app_id), str(UUID(int=0))}


def _told(world: World, tenant: Tenant | None, word: str) -> dict[str, str]:
    """What Ada can say of somebody; of nobody, where there is no tenant."""
    user_id = tenant.user_id if tenant else uuid4()
    stranger = Signer(b"the secret of another database, which is long enough.", 3600)
    tokens = {
        "expired": world.signer.token(user_id, now=0),
        "retired": world.retired.token(user_id),
        "elsewhere": stranger.token(user_id),
    }
    _, expiry, key, mac = world.token(world.ada).split(".")
    tokens |= {
        "claimed": f"{user_id}.{expiry}.{key}.{mac}",
        "unsigned": f"{user_id}.{expiry}.{key}.",
        "guessed": f"{user_id}.{expiry}.{key}.{'0' * 64}",
        "joined": f"{user_id}.{world.token(world.ada)}",
    }
    ids = [tenant.node_id, tenant.second_id, tenant.edge_id, tenant.passage_id, tenant.source_id] if tenant else [
        uuid4() for _ in range(5)
    ]  # fmt: skip
    named = dict(zip(("node", "second", "edge", "passage", "source"), map(str, ids), strict=True))
    mine = {"ada": str(world.ada.user_id)}
    return {"user": str(user_id), "word": word, "after": f"{word[:-1]}b", **named, **tokens, **mine}


@contextmanager
def listening(connection: psycopg.Connection) -> Iterator[list[str]]:
    """Collects what the server says beside its answers: notices and notifications."""
    heard: list[str] = []

    def notice(diagnostic: psycopg.errors.Diagnostic) -> None:
        heard.append(f"{diagnostic.message_primary} {diagnostic.message_detail} {diagnostic.message_hint}")

    def notify(notification: psycopg.Notify) -> None:
        heard.append(f"{notification.channel} {notification.payload}")

    connection.add_notice_handler(notice)
    connection.add_notify_handler(notify)
    yield heard
    connection.remove_notice_handler(notice)
    connection.remove_notify_handler(notify)
