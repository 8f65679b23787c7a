"""Probes of the definer functions that keep accounts: each app answers for its own users, keys and limits."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from psycopg import errors

from tests.sql.probes import probe, refused, rows
from tests.sql.world import ANALYST, APP, CYPHER, OWNER, READER, Doors, World, value

AUTHENTICATE = "SELECT app_id, bound_user_id, user_id, scopes FROM memsvc.authenticate_key(%s, %s, %s)"


@probe
def an_app_is_made_once(doors: Doors, world: World) -> None:
    with doors.enter(APP) as connection:
        assert value(connection, "SELECT memsvc.ensure_app('first app of ' || %s)", [_name(world)]) == world.ada.app_id
        assert value(connection, "SELECT memsvc.find_app('an app of the probe')") is None
        made = value(connection, "SELECT memsvc.ensure_app('an app of the probe')")
        assert value(connection, "SELECT memsvc.find_app('an app of the probe')") == made
        assert value(connection, "SELECT memsvc.ensure_app('an app of the probe')") == made


def _name(world: World) -> str:
    return world.ada.external_id.removeprefix("ada of ")


@probe
def a_user_is_made_once(doors: Doors, world: World) -> None:
    make = "SELECT memsvc.create_user(%s, 'probe', 'Probe', 'UTC', 'english')"
    with doors.enter(APP) as connection:
        made = value(connection, make, [world.ada.app_id])
        assert made is not None
        assert value(connection, make, [world.ada.app_id]) is None
        assert value(connection, make, [world.eve.app_id]) not in {None, made}
        listed = rows(connection, "SELECT user_id FROM memsvc.users_of_app(%s, 'probe', NULL, 9)", world.ada.app_id)
        assert listed == [(made,)]


@probe
def a_user_has_one_place_and_is_acted_for_there_alone(doors: Doors, world: World) -> None:
    place, here = "SELECT * FROM memsvc.place_of_user(%s)", "SELECT memsvc.whereabouts(%s, %s)"
    ada, bob = world.ada.user_id, world.bob.user_id
    changed = "UPDATE memsvc.users SET cell_id = %s, epoch = %s, moving = %s WHERE user_id = %s"
    with doors.enter(OWNER) as connection:
        for cell_id, epoch, moving, told, found in (
            (0, 0, None, None, "here"),
            (0, 3, None, None, "here"),
            (0, 3, None, 3, "here"),
            (0, 3, None, 2, "away"),
            (0, 3, "closing", 3, "here"),
            (0, 3, "frozen", 3, "away"),
            (7, 3, None, 3, "away"),
        ):
            connection.execute(changed.encode(), [cell_id, epoch, moving, ada])
            assert rows(connection, place, ada) == [(cell_id, epoch, moving is not None)]
            assert value(connection, here, [ada, told]) == found, f"{cell_id}, {epoch}, {moving}, {told}"
        assert rows(connection, place, bob) == [(0, 0, False)], "another user moved"
        moving = "SELECT memsvc.is_moving(%s)"
        assert value(connection, moving, [ada]) is False
        connection.execute(b"UPDATE memsvc.moves SET state = 'copying' WHERE user_id = %s", [ada])
        assert [value(connection, moving, [one]) for one in (ada, bob)] == [True, False]
        assert value(connection, here, [bob, None]) == "here"
        connection.execute(b"UPDATE memsvc.users SET erasing_since = now() WHERE user_id = %s", [ada])
        assert rows(connection, place, ada) == []
        assert value(connection, here, [ada, 3]) is None
        assert value(connection, here, [UUID(int=1), None]) is None
        assert value(connection, here, [UUID(int=1), 3]) == "away", "who has left is called erased"


@probe
def users_of_other_cells_are_listed_and_settled_once(doors: Doors, world: World) -> None:
    made = "SELECT memsvc.list_user(%s, %s, %s, 'Zoe', 'UTC', 'english', %s::smallint)"
    zoe, app_id = UUID(int=7), world.ada.app_id
    with doors.enter(APP) as connection:
        assert [row[:2] for row in rows(connection, "SELECT * FROM memsvc.all_cells()")] == [(0, "home"), (7, "seven")]
        assert value(connection, "SELECT memsvc.is_moving(%s)", [world.bob.user_id]) is False
        assert value(connection, "SELECT memsvc.name_of_app(%s)", [app_id]) == f"first app of {_name(world)}"
        assert value(connection, "SELECT memsvc.name_of_app(%s)", [zoe]) is None
        assert value(connection, made, [app_id, zoe, "zoe", 7]) is True
        assert value(connection, made, [app_id, zoe, "zoe", 7]) is False
        assert value(connection, made, [app_id, UUID(int=8), world.bob.external_id, 7]) is False
        assert rows(connection, "SELECT * FROM memsvc.place_of_user(%s)", zoe) == [(7, 1, False)]
        assert value(connection, "SELECT memsvc.whereabouts(%s, 1)", [zoe]) == "away"
    for cell_id in (0, 8):
        values: dict[str, object] = {"app": app_id, "user": zoe, "cell": cell_id}
        call = "SELECT memsvc.list_user(%(app)s, %(user)s, 'zoe', 'Zoe', 'UTC', 'english', %(cell)s::smallint)"
        refused(doors, APP, "", call, values, error=errors.ForeignKeyViolation)
    policy = '{"card": "mask"}'
    settled = f"SELECT memsvc.settle_user(%s, 'an app that moves', %s, 'zoe', 'Zoe', 'UTC', 'english', 4, '{policy}')"
    with doors.enter(APP) as connection:
        assert value(connection, settled, [UUID(int=9), zoe]) == zoe
        assert value(connection, settled, [UUID(int=9), zoe]) == zoe
        assert value(connection, settled, [UUID(int=9), UUID(int=8)]) == zoe, "the same name settles twice"
        named = settled.replace("an app that moves", "another app").replace("'zoe'", "'nobody'")
        assert value(connection, named, [UUID(int=10), world.bob.user_id]) is None, "another user's id is taken over"
        assert value(connection, "SELECT memsvc.whereabouts(%s, 4)", [zoe]) == "here"
        assert value(connection, "SELECT memsvc.find_app('an app that moves')") == UUID(int=9)
        assert value(connection, "SELECT memsvc.app_policy(%s)", [UUID(int=9)]) == {"card": "mask"}


@probe
def an_app_lists_its_own_users(doors: Doors, world: World) -> None:
    listing = "SELECT user_id FROM memsvc.users_of_app(%s, %s, NULL, 100)"
    with doors.enter(APP) as connection:
        users = {row[0] for row in rows(connection, listing, world.ada.app_id, None)}
        assert users == {world.ada.user_id, world.bob.user_id}, f"the app lists {users}"
        assert rows(connection, listing, world.eve.app_id, None) == [(world.eve.user_id,)]
        for ref in (world.eve.external_id, str(world.eve.user_id)):
            assert rows(connection, listing, world.ada.app_id, ref) == [], "the app finds another app's user"
            assert rows(connection, listing, world.eve.app_id, ref) == [(world.eve.user_id,)]


@probe
def an_app_lists_its_own_keys(doors: Doors, world: World) -> None:
    with doors.enter(APP) as connection:
        first = {
            row[0]
            for row in rows(
                connection, "SELECT key_id FROM memsvc.keys_of_app(%s, NULL, NULL, NULL, NULL)", world.ada.app_id
            )
        }
        second = {
            row[0]
            for row in rows(
                connection, "SELECT key_id FROM memsvc.keys_of_app(%s, NULL, NULL, NULL, NULL)", world.eve.app_id
            )
        }
    assert second == {world.keys["eve"].key_id}, f"the app lists {second}"
    assert first == {key.key_id for sort, key in world.keys.items() if sort != "eve"}, f"the app lists {first}"


@probe
def keys_are_limited_by_their_own_app_and_count_for_themselves(doors: Doors, world: World) -> None:
    mine, others = world.keys["ada"].key_id, world.keys["app"].key_id
    limit = "SELECT memsvc.limit_key(%s, %s, 1, 2)"
    with doors.enter(APP) as connection:
        assert value(connection, limit, [world.eve.app_id, mine]) is False
        assert value(connection, limit, [world.ada.app_id, world.keys["revoked"].key_id]) is False
        assert value(connection, limit, [world.ada.app_id, mine]) is True
        waits = [value(connection, "SELECT memsvc.count_request(%s)", [key]) for key in (mine, others, others, mine)]
        assert waits[:1] == [0]
        assert not any(waits[1:3]), "a key without limits is counted"
        spend = "SELECT memsvc.count_messages(%s, %s)"
        assert [bool(value(connection, spend, [mine, messages])) for messages in (1, 2, 1, 1)] == [
            False, True, False, True,
        ]  # fmt: skip
        assert not value(connection, spend, [others, 1_000])
        limited = rows(
            connection,
            "SELECT key_id FROM memsvc.keys_of_app(%s, NULL, NULL, NULL, NULL) WHERE messages_per_day = 2",
            world.ada.app_id,
        )
        assert limited == [(mine,)]


@probe
def a_key_is_for_a_user_of_its_app(doors: Doors, world: World) -> None:
    make = "SELECT memsvc.create_key(%(app)s, 'mk_probe', sha256('x'), %(user)s, '{read}', '', NULL)"
    own: dict[str, object] = {"app": world.ada.app_id, "user": world.ada.user_id}
    with doors.enter(APP) as connection:
        connection.execute(make.encode(), own)
        assert rows(connection, AUTHENTICATE, "mk_probe", _sha256(connection), None) != []
    foreign = own | {"user": world.eve.user_id}
    refused(doors, APP, "", make, foreign, error=errors.ForeignKeyViolation)


def _sha256(connection: Any) -> bytes:
    digest: bytes = value(connection, "SELECT sha256('x')")
    return digest


@probe
def an_app_revokes_its_own_keys_once(doors: Doors, world: World) -> None:
    key = world.keys["app"]
    revoke = "SELECT memsvc.revoke_key(%s, %s)"
    with doors.enter(APP) as connection:
        assert value(connection, revoke, [world.eve.app_id, key.key_id]) is False, "another app revoked the key"
        assert value(connection, revoke, [world.ada.app_id, "mk_nothing"]) is False
        assert rows(connection, AUTHENTICATE, key.key_id, key.hash, None) != []
        assert value(connection, revoke, [world.ada.app_id, key.key_id]) is True
        assert value(connection, revoke, [world.ada.app_id, key.key_id]) is False, "the key was revoked twice"
        assert rows(connection, AUTHENTICATE, key.key_id, key.hash, None) == []
        bound = world.keys["ada"]
        assert rows(connection, AUTHENTICATE, bound.key_id, bound.hash, None) != [], "all keys were revoked"


@probe
def a_key_works_only_with_its_secret_and_in_its_life(doors: Doors, world: World) -> None:
    with doors.enter(APP) as connection:
        good, other = world.keys["app"], world.keys["ada"]
        assert len(rows(connection, AUTHENTICATE, good.key_id, good.hash, None)) == 1
        for wrong, key_id, secret in (
            ("another key's secret", good.key_id, other.hash),
            ("another key's id", other.key_id, good.hash),
            ("an unknown id", "mk_nothing", good.hash),
            ("no secret", good.key_id, None),
            ("an expired key", world.keys["expired"].key_id, world.keys["expired"].hash),
            ("a revoked key", world.keys["revoked"].key_id, world.keys["revoked"].hash),
        ):
            assert rows(connection, AUTHENTICATE, key_id, secret, None) == [], f"{wrong}: it works"


@probe
def a_key_acts_for_users_of_its_app_and_a_bound_key_for_one(doors: Doors, world: World) -> None:
    anyone, bound, eves = world.keys["app"], world.keys["ada"], world.keys["eve"]
    ada, bob, eve = world.ada, world.bob, world.eve
    with doors.enter(APP) as connection:
        for key, ref, acts_for in (
            (anyone, None, None),
            (anyone, ada.external_id, ada),
            (anyone, str(bob.user_id), bob),
            (anyone, eve.external_id, None),
            (anyone, str(eve.user_id), None),
            (anyone, "nobody", None),
            (bound, None, ada),
            (bound, ada.external_id, ada),
            (bound, str(ada.user_id), ada),
            (bound, bob.external_id, None),
            (bound, str(bob.user_id), None),
            (bound, str(eve.user_id), None),
            (eves, str(eve.user_id), eve),
            (eves, str(ada.user_id), None),
        ):
            [(app_id, bound_id, user_id, scopes)] = rows(connection, AUTHENTICATE, key.key_id, key.hash, ref)
            assert app_id == (eve.app_id if key is eves else ada.app_id)
            assert bound_id == (ada.user_id if key is bound else None)
            assert scopes == ["read", "write"]
            wanted = acts_for.user_id if acts_for else None
            assert user_id == wanted, f"{key.key_id} with {ref!r} acts for {user_id}"


@probe
def an_app_changes_the_scopes_of_its_own_keys(doors: Doors, world: World) -> None:
    key = world.keys["app"]
    rescope = "SELECT memsvc.rescope_key(%s, %s, '{read}')"
    with doors.enter(APP) as connection:
        assert value(connection, rescope, [world.eve.app_id, key.key_id]) is False, "another app changed the key"
        assert value(connection, rescope, [world.ada.app_id, world.keys["revoked"].key_id]) is False
        assert value(connection, rescope, [world.ada.app_id, key.key_id]) is True
        [(_, _, _, scopes)] = rows(connection, AUTHENTICATE, key.key_id, key.hash, None)
        assert scopes == ["read"]
        details = "SELECT details FROM memsvc.acts_of_app(%s, NULL, 'key.scopes', NULL, NULL, NULL, NULL, 1)"
        changed = {"before": ["read", "write"], "after": ["read"]}
        assert rows(connection, details, world.ada.app_id) == [(changed,)]


@probe
def readers_reach_no_account_or_work(doors: Doors, world: World) -> None:
    for role in (READER, CYPHER):
        for call in (
            "memsvc.due_jobs(1)",
            "memsvc.begin_job(NULL, NULL)",
            "memsvc.keep_queue('1 minute')",
            "memsvc.claim_messages('models', NULL, NULL, 1)",
            "memsvc.dramatiq_queue",
            "memsvc.dramatiq_worker",
            "memsvc.backlog()",
            "memsvc.due_schedules(1)",
            "memsvc.due_feeds(1)",
            "memsvc.pushed_feed(uuidv7())",
            f"memsvc.run_schedule('{world.ada.user_id}', 'tidy')",
            f"memsvc.seed_schedules('{world.ada.user_id}')",
            "memsvc.work_now()",
            "memsvc.work_errors()",
            "memsvc.users_with_failed_jobs()",
            "memsvc.ensure_model('x', 3)",
            "memsvc.build_model('x', 3)",
            "memsvc.pause_model('x', true)",
            "memsvc.switch_model('x', true)",
            "memsvc.retire_model('x')",
            "memsvc.drop_model_index(1::smallint)",
            "memsvc.drop_vectors(1::smallint, gen_random_uuid(), 1)",
            "memsvc.embedding_totals()",
            "memsvc.ensure_app('x')",
            "memsvc.find_app('x')",
            f"memsvc.users_of_app('{world.ada.app_id}', NULL, NULL, 9)",
            f"memsvc.keys_of_app('{world.ada.app_id}', NULL, NULL, NULL, NULL)",
            f"memsvc.fold_statistics('{world.ada.user_id}')",
            "memsvc.authenticate_key('x', 'x', NULL)",
            "memsvc.all_cells()",
            f"memsvc.is_moving('{world.ada.user_id}')",
            f"memsvc.name_of_app('{world.ada.app_id}')",
            f"memsvc.place_of_user('{world.ada.user_id}')",
            f"memsvc.list_user('{world.ada.app_id}', gen_random_uuid(), 'x', 'x', 'UTC', 'english', 7::smallint)",
            f"memsvc.settle_user('{world.ada.app_id}', 'x', gen_random_uuid(), 'x', 'x', 'UTC', 'english', 1, '{{}}')",
        ):
            refused(doors, role, world.token(world.ada), f"SELECT * FROM {call}")
    for role in (APP, READER, CYPHER):
        refused(doors, role, "", "SELECT memsvc.users_lacking(1::smallint)")
        refused(doors, role, "", "SELECT memsvc.vectors_missing(1::smallint, 2::smallint)")
        refused(doors, role, "", "SELECT memsvc.audit('x', NULL, NULL, 'x')")


@probe
def a_budget_belongs_to_its_app_and_is_spent_by_its_user(doors: Doors, world: World) -> None:
    ada, bob, eve = world.ada, world.bob, world.eve
    give = "SELECT memsvc.set_budget(%s, 'user', %s, 2, NULL, 5, NULL)"
    listed = "SELECT user_id, messages_per_day, messages FROM memsvc.budgets_of_app(%s, NULL, NULL, 9)"
    limited = "SELECT memsvc.is_budgeted(%s)"
    with doors.enter(APP, world.token(world.ada)) as connection:
        assert value(connection, give, [world.eve.app_id, world.ada.user_id]) is False, "another app set the budget"
        assert value(connection, give, [world.ada.app_id, world.ada.user_id]) is True
        assert [value(connection, limited, [one.user_id]) for one in (world.ada, world.bob)] == [True, False]
        connection.execute("SELECT memsvc.spend_budget(%s, 2, 3)", [world.ada.user_id])
        assert rows(connection, listed, world.ada.app_id) == [(world.ada.user_id, 2, 2)]
        assert rows(connection, listed, world.eve.app_id) == []
        model = "SELECT whose, what, most FROM memsvc.model_budgets(%s)"
        assert rows(connection, model, world.ada.user_id) == [("user", "tokens", 5)]
        assert value(connection, give, [ada.app_id, bob.user_id]) is True
        assert rows(connection, model, bob.user_id) == [], "another user's budget of the language model"
        assert ("user", "messages", 1) in rows(connection, "SELECT * FROM memsvc.budgets_used_up()")
    with doors.enter(APP) as connection:  # counts of a cell, and limits for one
        connection.execute("SELECT memsvc.set_budget(%s, 'user', %s, 9, NULL, NULL, NULL)", [ada.app_id, ada.user_id])
        connection.execute("SELECT memsvc.set_budget(%s, 'user', %s, 9, NULL, NULL, NULL)", [ada.app_id, bob.user_id])
        for app_id, most in ((ada.app_id, 8), (eve.app_id, 7)):
            for whose in ("app", "each"):
                connection.execute("SELECT memsvc.set_budget(%s, %s, NULL, %s, NULL, NULL, 0.1)", [app_id, whose, most])
        assert (
            value(connection, "SELECT memsvc.set_budget(%s, 'app', NULL, 1, NULL, NULL, NULL)", [UUID(int=1)]) is False
        )
        of_some = "SELECT user_id, messages_per_day FROM memsvc.budgets_of_app(%s, NULL, NULL, 9, p_users => %s)"
        assert set(rows(connection, of_some, ada.app_id, [ada.user_id])) == {(ada.user_id, 9), (None, 8)}
        counted = "SELECT user_id FROM memsvc.budgets_of_app(%s, NULL, NULL, 9, p_counted => true)"
        assert rows(connection, counted, ada.app_id) == []
        told = value(connection, "SELECT memsvc.limits_to_bring(%s)", [ada.app_id])
        assert [(one["whose"], one["messages_per_day"], one["cost_per_day"]) for one in told] == [
            ("app", 8, 0.1), ("each", 8, 0.1)
        ]  # fmt: skip
        bring = "SELECT memsvc.bring_limits(%s, %s::jsonb)"
        connection.execute(bring, [ada.app_id, '[{"whose": "each", "bytes_per_day": 3}]'])
        assert set(rows(connection, listed, ada.app_id)) == {(ada.user_id, 9, 0), (bob.user_id, 9, 0), (None, None, 0)}
        assert rows(connection, listed, eve.app_id) == [(None, 7, 0), (None, 7, 0)], "another app's limits went"
    refused(doors, APP, world.token(world.ada), f"SELECT memsvc.spend_budget('{world.bob.user_id}', 1, 1)")
    for role in (READER, CYPHER, ANALYST):
        for call in (
            f"memsvc.set_budget('{world.ada.app_id}', 'app', NULL, 1, NULL, NULL, NULL)",
            f"memsvc.budgets_of_app('{world.ada.app_id}', NULL, NULL, 9)",
            f"memsvc.hold_limits('{world.ada.app_id}')",
            f"memsvc.limits_to_bring('{world.ada.app_id}')",
            f"memsvc.bring_limits('{world.ada.app_id}', '[]')",
            f"memsvc.is_budgeted('{world.ada.user_id}')",
            f"memsvc.spend_budget('{world.ada.user_id}', 1, 1)",
            f"memsvc.model_budgets('{world.ada.user_id}')",
            "memsvc.budgets_used_up()",
        ):
            refused(doors, role, world.token(world.ada), f"SELECT * FROM {call}")


@probe
def policies_on_secrets_are_of_one_app_and_its_users(doors: Doors, world: World) -> None:
    ada, eve = world.ada, world.eve
    with doors.enter(APP) as connection:
        set_app = "SELECT memsvc.set_app_policy(%s, %s::jsonb)"
        set_user = "SELECT memsvc.set_user_policy(%s, %s, %s::jsonb)"
        assert value(connection, "SELECT memsvc.app_policy(%s)", [UUID(int=1)]) is None
        assert value(connection, set_app, [ada.app_id, '{"card": "mask"}']) is True
        assert value(connection, set_app, [UUID(int=1), "{}"]) is False
        assert value(connection, "SELECT memsvc.app_policy(%s)", [ada.app_id]) == {"card": "mask"}
        assert value(connection, "SELECT memsvc.app_policy(%s)", [eve.app_id]) == {}
        assert value(connection, set_user, [ada.app_id, ada.user_id, '{"iban": "mask"}']) is True
        assert value(connection, set_user, [ada.app_id, eve.user_id, '{"iban": "mask"}']) is False
    with doors.enter(OWNER) as connection:
        found = rows(connection, "SELECT user_id FROM memsvc.users WHERE policy <> '{}' AND user_id <> %s", ada.user_id)
        assert (ada.user_id,) not in found
        assert (eve.user_id,) not in found
