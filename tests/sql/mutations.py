"""Ways to break isolation, one at a time: each policy, flag and check that the probes are there for.

Policies, tables and views are read from the catalog, so a new one is broken too. Checks inside functions are broken in
their text from ``sql/functions``; a check that is not found there any more is an error, not a pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg

from memsvc.db.files import folder

# (function, what stands there, what is put in its place)
CHECKS = (
    ("current_user_id", "cardinality(field) IS DISTINCT FROM 4", "cardinality(field) < 4"),
    ("current_user_id", "cardinality(field) IS DISTINCT FROM 4", "cardinality(field) > 4"),
    ("current_user_id", "k.key_id = field[3] AND", ""),
    ("current_user_id", "AND k.retired_at IS NULL", ""),
    ("current_user_id", "signed IS NULL OR", ""),
    ("current_user_id", "OR signed <> sha256(convert_to(field[4], 'UTF8'))", ""),
    ("current_user_id", "to_timestamp(field[2]::double precision) <= clock_timestamp()", "false"),
    ("current_user_id", "field[1] || '.' || field[2] || '.' || field[3]", "field[1] || '.' || field[2]"),
    ("current_user_id", "RETURN left(field[1], 36)::uuid", "RETURN NULL"),
    ("require_identity", "p_user_id IS NULL OR", ""),
    ("require_identity", "OR p_user_id IS DISTINCT FROM memsvc.current_user_id()", ""),
    ("users_of_app", "u.app_id = p_app_id", "true"),
    ("users_of_app", "u.external_id = p_ref OR u.user_id::text = p_ref", "true"),
    ("keys_of_app", "k.app_id = p_app_id", "true"),
    ("revoke_key", "k.app_id = p_app_id AND", ""),
    ("revoke_key", "AND k.key_id = p_key_id", ""),
    ("revoke_key", "AND k.revoked_at IS NULL", ""),
    ("limit_key", "k.app_id = p_app_id AND", ""),
    ("limit_key", "AND k.key_id = p_key_id", ""),
    ("limit_key", "AND k.revoked_at IS NULL", ""),
    ("authenticate_key", "u.app_id = k.app_id", "true"),
    ("authenticate_key", "AND u.erasing_since IS NULL", ""),
    ("users_of_app", "AND u.erasing_since IS NULL", ""),
    ("user_is_here", "u.user_id = p_user_id AND", ""),
    ("whereabouts", "WHERE u.user_id = p_user_id", ""),
    ("whereabouts", "WHEN NOT mine.lives THEN NULL", ""),
    ("whereabouts", "u.cell_id = 0 AND", ""),
    ("whereabouts", "u.moving IS DISTINCT FROM 'frozen' AND", ""),
    ("whereabouts", "AND coalesce(p_epoch, u.epoch) = u.epoch", ""),
    ("user_is_here", "AND u.erasing_since IS NULL", ""),
    ("begin_user_erasure", "u.app_id = p_app_id AND", ""),
    ("begin_user_erasure", "k.user_id = mine.user_id AND", ""),
    ("erase_user", "mine.erasing_since IS NULL", "false"),
    ("user_erasure", "b.user_id = p_user_id AND", ""),
    ("user_erasure", "AND b.app_id = p_app_id", ""),
    ("users_erasing", "u.erasing_since IS NOT NULL", "true"),
    ("all_users_sizes", "HAVING count(*) >= memsvc.least_group()", ""),
    ("begin_job", "AND u.erasing_since IS NOT NULL", ""),
    ("due_jobs", "u.user_id = j.user_id AND", ""),
    ("set_budget", "AND u.app_id = p_app_id", ""),
    ("budgets_of_app", "b.app_id = p_app_id AND", ""),
    ("limits_to_bring", "b.app_id = p_app_id AND", ""),
    ("bring_limits", "b.app_id = p_app_id AND", ""),
    ("bring_limits", "AND b.of_user IS NULL", ""),
    ("spend_budget", "p_user_id IS DISTINCT FROM memsvc.current_user_id()", "false"),
    ("model_budgets", "AND p_user_id = memsvc.current_user_id()", ""),
    ("authenticate_key", "AND (k.user_id IS NULL OR u.user_id = k.user_id)", ""),
    ("authenticate_key", "k.key_id = p_key_id", "true"),
    ("authenticate_key", "AND k.secret_hash = p_secret_hash", ""),
    ("authenticate_key", "AND k.revoked_at IS NULL", ""),
    ("authenticate_key", "AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())", ""),
)
# Functions of memsvc_recall that bind no user: they give counts, or ids to functions of memsvc_owner alone. And that of
# memsvc_watchdog, which reads sessions and no rows.
COUNTING = {
    "embedding_totals", "users_lacking", "users_lacking_tokens", "vectors_missing", "all_users_messages",
    "all_users_sizes", "end_long_sessions",
}  # fmt: skip
BINDING = re.compile(r"memsvc\.require_identity\((\w+)\)")


@dataclass(frozen=True, slots=True)
class Mutation:
    """A statement that breaks one thing."""

    name: str
    statement: str


def function_texts() -> dict[str, str]:
    """The statement that makes each function, by the function's name."""
    texts: dict[str, str] = {}
    for path in sorted((folder("sql") / "functions").rglob("*.sql")):
        pieces = re.split(r"^(?=CREATE OR REPLACE FUNCTION memsvc\.\w+)", path.read_text(), flags=re.MULTILINE)
        for piece in pieces[1:]:
            name = re.match(r"CREATE OR REPLACE FUNCTION memsvc\.(\w+)", piece)
            assert name is not None
            texts[name.group(1)] = piece.partition("COMMENT ON FUNCTION")[0]
    return texts


def _policies(admin: psycopg.Connection) -> Iterator[Mutation]:
    """Each policy dropped, opened for reading, opened for writing, and given to everybody who may read the table."""
    rows = admin.execute(
        """
        SELECT p.polname, p.polrelid::regclass::text, p.polcmd = '*', pg_get_expr(p.polqual, p.polrelid),
          has_any_column_privilege('memsvc_app', p.polrelid, 'INSERT, UPDATE'),
          has_any_column_privilege('memsvc_app', p.polrelid, 'SELECT')
        FROM pg_policy AS p INNER JOIN pg_class AS c ON c.oid = p.polrelid
        WHERE c.relnamespace = 'memsvc'::regnamespace ORDER BY 2, 1
        """
    )
    for policy, table, everything, using, written, read in rows.fetchall():
        yield Mutation(f"drop {policy} on {table}", f"DROP POLICY {policy} ON {table}")
        if using != "true":
            opened = f"ALTER POLICY {policy} ON {table} USING (true)"
            yield Mutation(f"{policy} on {table} shows everything", opened)
            if everything:
                yield Mutation(f"{policy} on {table} allows everything", opened + " WITH CHECK (true)")
            if everything and written:
                yield Mutation(
                    f"{policy} on {table} lets everything in", f"ALTER POLICY {policy} ON {table} WITH CHECK (true)"
                )
        elif read and policy != "everybody_reads":
            yield Mutation(f"{policy} on {table} for everybody", f"ALTER POLICY {policy} ON {table} TO PUBLIC")


def _flags(admin: psycopg.Connection) -> Iterator[Mutation]:
    """Row security off, and not forced upon the owner, for each table that has it; each view run as its owner."""
    rows = admin.execute(
        "SELECT c.oid::regclass::text, c.relkind = 'v' FROM pg_class AS c "
        "WHERE c.relnamespace = 'memsvc'::regnamespace AND (c.relrowsecurity OR c.relkind = 'v') "
        "ORDER BY 1"
    )
    for name, is_view in rows.fetchall():
        if is_view:
            yield Mutation(f"{name} runs as its owner", f"ALTER VIEW {name} SET (security_invoker = false)")
        else:
            yield Mutation(f"disable row security on {name}", f"ALTER TABLE {name} DISABLE ROW LEVEL SECURITY")
            yield Mutation(f"do not force row security on {name}", f"ALTER TABLE {name} NO FORCE ROW LEVEL SECURITY")


def _checks(admin: psycopg.Connection) -> Iterator[Mutation]:
    """Each check inside a definer function taken out, and each definer function run as its caller."""
    texts = function_texts()
    for function, there, instead in CHECKS:
        assert there in texts[function], f"{function} does not check {there!r} any more"
        yield Mutation(f"{function}: {instead or 'nothing'} for {there}", texts[function].replace(there, instead))
    definers = admin.execute(
        "SELECT p.proname, p.oid::regprocedure::text, p.proowner = 'memsvc_owner'::regrole FROM pg_proc AS p "
        "WHERE p.pronamespace = 'memsvc'::regnamespace AND p.prosecdef ORDER BY 1"
    )
    for function, signature, of_owner in definers.fetchall():
        bindings = len(BINDING.findall(texts[function]))
        assert of_owner or bindings or function in COUNTING, (
            f"{function} reads past row security and never calls require_identity"
        )
        for nth in range(bindings):
            yield Mutation(f"{function} without binding {nth + 1}", _unbound(texts[function], nth))
        if of_owner or function in COUNTING:  # match_words as invoker finds the same, but slowly: test_plans sees that
            yield Mutation(f"{function} runs as its caller", f"ALTER FUNCTION {signature} SECURITY INVOKER")


def _unbound(text: str, nth: int) -> str:
    """The text with its nth call of require_identity replaced by the call's argument."""
    call = list(BINDING.finditer(text))[nth]
    return text[: call.start()] + call.group(1) + text[call.end() :]


def mutations(admin: psycopg.Connection) -> list[Mutation]:
    """Everything that is to be broken."""
    return [*_policies(admin), *_flags(admin), *_checks(admin)]
