"""``memsvc db`` and ``memsvc doctor``: manage and check the database."""

from __future__ import annotations

import os

import typer

from memsvc.cli.common import AsJson, WithoutBackup, note, print_json, print_table
from memsvc.text.counts import counted

app = typer.Typer(help="Manage the database.", no_args_is_help=True, rich_markup_mode=None)


@app.command("upgrade")
def upgrade(as_json: bool = AsJson, without_backup: bool = WithoutBackup) -> None:
    """Bring roles, tables and functions to the state that this version needs. Safe to repeat, also while in use.

    The embedded database is backed up first if its tables change.
    """
    from memsvc.server.before_upgrade import backed_up
    from memsvc.server.locate import located
    from memsvc.server.upgrade import upgrade as bring_up
    from memsvc.settings import settings

    if without_backup:
        os.environ["MEMSVC_UPGRADE_BACKUPS"] = "0"
    chosen = settings()
    with located(chosen) as admin_url, backed_up(admin_url, chosen, note):
        done = bring_up(admin_url, chosen, report=note)
    if as_json:
        print_json(done)
    else:
        changed = f"{counted(len(done.applied), 'file')} of sql/ applied" if done.applied else "sql/ unchanged"
        print(f"Revision {done.from_revision or 'none'} -> {done.to_revision}, {changed}.")


@app.command("alembic", context_settings={"ignore_unknown_options": True})
def alembic(
    arguments: list[str] = typer.Argument(help="As 'alembic' takes them, e.g. 'current' or 'upgrade head --sql'."),
    without_backup: bool = WithoutBackup,
) -> None:
    """Run an Alembic command on this version's migrations: upgrade head, upgrade head --sql, current, history.

    'upgrade' does all that 'memsvc db upgrade' does, the backup included; with --sql it prints the SQL for review
    instead.
    """
    from memsvc.server.alembic_commands import main

    if without_backup:
        os.environ["MEMSVC_UPGRADE_BACKUPS"] = "0"
    main(arguments)


@app.command("rotate-secret")
def rotate_secret(
    retire_others: bool = typer.Option(
        False, help="Stop accepting all other secrets; use it when every process has the new one."
    ),
) -> None:
    """Accept the identity secret in MEMSVC_IDENTITY_SECRET in addition to the current one, or instead of it.

    First run this with the new secret, then restart every process with the new secret, then run it with
    --retire-others: no process is locked out in between. 'openssl rand -base64 48' makes a secret.
    """
    from memsvc.errors import ConfigurationError
    from memsvc.server.locate import located
    from memsvc.server.upgrade import rotate_identity_key
    from memsvc.settings import settings

    chosen = settings()
    if chosen.identity_secret is None:
        raise ConfigurationError(
            "MEMSVC_IDENTITY_SECRET is not set.", hint="Set it to the new secret (32+ characters)."
        )
    with located(chosen) as admin_url:
        key_id = rotate_identity_key(
            admin_url, chosen, chosen.identity_secret.get_secret_value(), retire_others=retire_others
        )
    print(f"Key {key_id} is accepted{', and no other key' if retire_others else ' in addition to the others'}.")


def doctor(as_json: bool = AsJson) -> None:
    """Show what is installed, what is missing, and what that costs. Exit code 1: memsvc cannot work."""
    from memsvc.errors import MemsvcError
    from memsvc.extract.capability import check_extractor
    from memsvc.llm.capability import check_llm
    from memsvc.llm.embedders.capability import check_embedders
    from memsvc.queue.capability import check_queue
    from memsvc.recall.rerank import check_reranker
    from memsvc.server.capabilities import Check, active_model, check_machine, check_server
    from memsvc.server.locate import located
    from memsvc.server.standbys import check_standbys
    from memsvc.settings import settings

    chosen = settings()
    checks = [*check_machine(chosen)]
    active = None
    if not any(check.state == "missing" for check in checks):
        try:
            with located(chosen) as admin_url:
                checks += check_server(admin_url, chosen)
                checks += check_standbys(admin_url, chosen)
                active = active_model(admin_url, chosen)
        except MemsvcError as error:
            checks.append(Check("server", "missing", f"{error.message} {error.advice}"))
    checks += [*check_queue(chosen), *check_embedders(chosen, active), *check_reranker(chosen)]
    checks += [*check_extractor(chosen), *check_llm(chosen)]
    broken = [check for check in checks if check.state == "missing"]
    if as_json:
        print_json({"ok": not broken, "checks": checks})
    else:
        print_table(["", "check", ""], [[check.state, check.name, check.says] for check in checks])
        print()
        print("memsvc cannot work like this." if broken else "memsvc can work.")
    if broken:
        raise typer.Exit(1)
