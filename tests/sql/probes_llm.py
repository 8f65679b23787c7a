"""Probes of what the language model cost: one's own calls are listed, those of all users are a sum and nothing else."""

from __future__ import annotations

from tests.sql.probes import probe, refused, rows
from tests.sql.world import ANALYST, APP, CYPHER, READER, Doors, World, value

CALLS = "SELECT task FROM memsvc.model_calls"
SPENT = "SELECT memsvc.tokens_spent('-infinity')"
SPENDING = "SELECT tokens_in + tokens_out FROM memsvc.model_spending('-infinity') WHERE task = 'facts'"


@probe
def calls_are_ones_own_and_their_sum_is_everybodys(doors: Doors, world: World) -> None:
    for tenant in (world.ada, world.bob):
        with doors.enter(APP, world.token(tenant)) as connection:
            assert rows(connection, CALLS) == [("facts",)]
            assert value(connection, SPENT) >= 3 * (900 + 120), "the budget of all users counts one user's calls"
            assert sum(row[0] for row in rows(connection, SPENDING)) == value(connection, SPENT)
    for role in (READER, CYPHER):
        for statement in (SPENT, SPENDING):
            refused(doors, role, world.token(world.ada), statement)


@probe
def an_analyst_sees_no_group_of_a_few_and_nobody_else_asks_for_groups(doors: Doors, world: World) -> None:
    for function in ("sizes()", "jobs(9)", "model_calls(9)", "messages(9)"):
        users = f"SELECT users FROM memsvc.all_users_{function}"
        with doors.enter(ANALYST) as connection:
            assert all(row[0] >= 5 for row in rows(connection, users))
        for role in (APP, READER, CYPHER):
            refused(doors, role, world.token(world.ada), users)
