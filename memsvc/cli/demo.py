"""``memsvc demo``: the main use from end to end, on the sample conversation.

It runs an embedded server in its own data folder and removes the folder at the end. It never reads or changes the
configured database, and each run shows the same.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from memsvc.cli.common import embedders, note, on_database, opened
from memsvc.text.counts import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.llm.embedders.residents import Residents
    from memsvc.settings import Settings

QUESTIONS = (
    "Outside which station was the lock of Rosinante cut?",
    "What is Beppo's real name?",
    "On which Saturday is the wedding of Ines and Jonas?",
)
BUDGET_TOKENS = 2_000
"""More than three memories with their neighbours take, whatever letters their ids have: each run shows the same."""


async def ask(db: Database, settings: Settings, owner: Owner, models: Residents | None) -> None:
    """Ask the three questions, by words and, if there is a model, by vectors."""
    from memsvc.errors import EmbedderError
    from memsvc.llm.embedders.registry import list_models
    from memsvc.recall.context import ContextOptions, build_context
    from memsvc.sources.embedding import embed_lacking

    says = "No embedding model is configured."
    if models is not None:
        try:
            await embed_lacking(db, models, owner.user_id)  # vectors that are still missing
            made = next(model for model in await list_models(db, owner.user_id) if model.state == "active")
            have = counted(made.embedded, "passage has", "passages have")
            says = f"{have} vectors by {made.name}. No language model was used."
        except EmbedderError as error:
            says, models = f"Recall searches by words only. {error.message}", None
    print(says)
    for question in QUESTIONS:
        asked = time.perf_counter()
        options = ContextOptions(budget_tokens=BUDGET_TOKENS, limit=3)
        context = await build_context(db, owner, question, settings, embedder=models, options=options)
        print(f"\n? {question}   ({(time.perf_counter() - asked) * 1000:.0f} ms)\n{context.text}")


@contextmanager
def own_folder() -> Iterator[Path]:
    """Yield a temporary data folder; if run by root, one that the server's user can enter."""
    folder = Path(tempfile.mkdtemp(prefix="memsvc-demo-"))
    try:
        if os.geteuid() == 0:
            folder.chmod(0o755)
        yield folder / "data"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def demo() -> None:
    """Store the sample conversation, show its facts, ask three questions, and explain the answers.

    The demo works in its own data folder, which it removes at the end; your own memories are not touched.
    """
    from memsvc.db.files import folder

    began = time.perf_counter()
    sample = folder("examples") / "conversation.jsonl"

    async def work(db: Database, settings: Settings) -> None:
        from memsvc.access.users import add_user, app_id, owner_of
        from memsvc.cli.demo_facts import read_and_show
        from memsvc.cli.ingest import ingest_files

        user = await add_user(
            db,
            await app_id(db),
            name="Marcel",
            aliases=["Marcel Winkler", "MW"],
            time_zone="Europe/Berlin",
        )
        owner = await owner_of(db, user.user_id)
        note(f"Storing {sample.name}: two friends, nine months.")
        stored = await ingest_files(db, settings, owner, [sample])
        print(f"{counted(stored.totals['created'], 'message')} stored.")
        await read_and_show(db, settings, owner)
        with embedders(settings) as models:
            await ask(db, settings, owner, models)

    # No extraction jobs: read_and_show extracts the facts offline.
    with own_folder() as data, opened(data_dir=data, database_url=None, queue_url=None, extractor="none") as database:
        on_database(*database, work)
    # After 'make demo' the command is in a virtual environment that is not activated.
    memsvc = "memsvc" if shutil.which("memsvc") else os.path.relpath(sys.argv[0])
    print(f"\nThat took {time.perf_counter() - began:.1f} s. The third answer shows a change of plans.")
    print("The demo's data folder has been removed. To store memories that last, continue with:\n")
    print(f"  {memsvc} user add --name Marcel --alias MW --zone Europe/Berlin")
    print(f"  {memsvc} ingest {shlex.quote(os.path.relpath(sample))}        # or a chat of yours")
    print(f'  {memsvc} recall "Where does Ines work?"')
    print(f"  {memsvc} up        # REST API with its documentation at http://127.0.0.1:8765/docs")
    print(f"  {memsvc} doctor    # what is installed, what is missing, and what that costs")
