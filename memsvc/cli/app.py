"""The tree of commands."""

from __future__ import annotations

import typer

from memsvc.cli import accounts, database, demo, jobs, memories, models, relay, schedule, service

app = typer.Typer(
    name="memsvc",
    help="Long-term memory for AI assistants inside PostgreSQL. Try 'memsvc demo' first.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from memsvc import __version__

        print(f"memsvc {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", help="Print the version and exit.", callback=_version, is_eager=True
    ),
) -> None:
    pass


app.command("demo")(demo.demo)
app.command("up")(service.up)
app.command("api")(service.api)
app.command("worker")(service.worker)
app.command("relay")(relay.relay)
app.command("doctor")(database.doctor)
app.command("ingest")(memories.ingest)
app.command("recall")(memories.recall)
app.add_typer(database.app, name="db")
app.add_typer(accounts.users, name="user")
app.add_typer(accounts.keys, name="key")
app.add_typer(schedule.schedule, name="schedule")
app.add_typer(jobs.jobs, name="jobs")
app.add_typer(models.models, name="models")
