"""The command tree."""

from __future__ import annotations

import typer

from memsvc.cli import (
    accounts,
    agenda,
    analyse,
    archive,
    ask,
    audit,
    backups,
    budgets,
    cells,
    console,
    contexts,
    cypher,
    database,
    demo,
    documents,
    duplicates,
    extraction,
    feeds,
    forget,
    graph,
    ingest,
    jobs,
    lessons,
    llm,
    mcp,
    memories,
    models,
    notes,
    ontology,
    places,
    policies,
    profile,
    projection,
    proposals,
    recalls,
    reflections,
    relay,
    reread,
    reviews,
    schedule,
    service,
    sleep,
    summaries,
    transfer,
    turns,
    upkeep,
    vaults,
    walks,
)

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
app.command("web")(service.web)
app.command("api")(service.api)
app.command("worker")(service.worker)
app.command("mcp")(mcp.mcp)
app.command("relay")(relay.relay)
app.command("doctor")(database.doctor)
app.command("ingest")(ingest.ingest)
app.add_typer(cells.cells, name="cells")
app.add_typer(documents.documents, name="documents")
app.add_typer(vaults.vaults, name="vault")
app.command("extract")(extraction.extract)
app.add_typer(reread.reread, name="reread")
app.add_typer(reviews.review, name="review")
app.command("recall")(memories.recall)
app.command("context")(contexts.context)
app.command("ask")(ask.ask)
app.command("verify")(ask.verify)
app.add_typer(turns.turns, name="turn")
app.command("work")(turns.work)
app.command("show")(contexts.show)
app.command("agenda")(agenda.agenda)
app.command("feedback")(recalls.feedback)
app.command("pin")(recalls.pin)
app.command("unpin")(recalls.unpin)
app.command("promote")(recalls.promote)
app.command("top-of-mind")(recalls.top_of_mind)
app.command("sleep")(sleep.sleep)
app.command("summaries")(summaries.summaries)
app.command("reflections")(reflections.reflections)
app.add_typer(lessons.lessons, name="lessons")
app.add_typer(lessons.plans, name="plan")
app.command("sql", cls=console.Statement)(console.sql)
app.command("cypher")(cypher.cypher)
app.command("psql", context_settings={"ignore_unknown_options": True})(console.psql)
app.add_typer(notes.notes, name="note")
app.add_typer(ontology.ontology, name="ontology")
app.add_typer(profile.profile, name="profile")
app.add_typer(policies.policies, name="policy")
graphs = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
graphs.callback()(walks.graph)
graphs.command("rebuild")(projection.rebuild)
graphs.command("verify")(projection.verify)
app.add_typer(graphs, name="graph")
app.add_typer(places.places, name="places")
app.command("forget")(forget.forget)
app.command("analyse")(analyse.analyse)
app.command("facts")(graph.facts)
app.command("nodes")(graph.nodes)
app.command("node")(graph.node)
app.command("changes")(graph.changes)
app.command("undo")(graph.undo)
app.command("assert")(graph.assert_fact)
app.command("annotate")(graph.annotate)
app.command("merge")(graph.merge)
app.command("unmerge")(graph.unmerge)
app.command("export")(transfer.export)
app.command("import")(transfer.import_)
app.command("audit")(audit.audit)
app.command("backup")(backups.backup)
app.command("restore")(backups.restore)
database.app.command("erasures")(backups.erasures)
database.app.command("erase-again")(backups.erase_again)
database.app.command("reindex")(upkeep.reindex)
database.app.command("health")(upkeep.health)
database.app.command("sizes")(upkeep.sizes)
app.add_typer(database.app, name="db")
app.add_typer(accounts.users, name="user")
app.add_typer(accounts.keys, name="key")
app.add_typer(budgets.budgets, name="budget")
app.add_typer(schedule.schedule, name="schedule")
app.add_typer(feeds.feed, name="feed")
app.add_typer(jobs.jobs, name="jobs")
app.add_typer(duplicates.duplicates, name="duplicates")
app.add_typer(proposals.proposals, name="proposals")
app.add_typer(archive.archive, name="archive")
app.add_typer(models.models, name="models")
app.add_typer(llm.llm, name="llm")
