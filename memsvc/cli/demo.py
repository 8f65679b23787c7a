"""``memsvc demo``: the main job from end to end, on the sample conversation.

It works in a data folder of its own, on an embedded server, and takes the folder away again: whatever database is
configured, nothing of it is read or changed, and each run shows the same.
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
    """Ask the three questions, by words and, where there is a model, by vectors."""
    from memsvc.errors import EmbedderError
    from memsvc.llm.embedders.registry import list_models
    from memsvc.recall.context import ContextOptions, build_context
    from memsvc.sources.embedding import embed_lacking

    says = "No embedding model is configured."
    if models is not None:
        try:
            await embed_lacking(db, models, owner.user_id)  # what other workers or older versions left
            made = next(model for model in await list_models(db, owner.user_id) if model.state == "active")
            says = f"{made.embedded} passages have vectors by {made.name}. No language model was asked."
        except EmbedderError as error:
            says, models = f"Recall goes by words alone. {error.message}", None
    print(says)
    for question in QUESTIONS:
        asked = time.perf_counter()
        options = ContextOptions(budget_tokens=BUDGET_TOKENS, limit=3)
        context = await build_context(db, owner, question, settings, embedder=models, options=options)
        print(f"\n? {question}   ({(time.perf_counter() - asked) * 1000:.0f} ms)\n{context.text}")


@contextmanager
def own_folder() -> Iterator[Path]:
    """A data folder that is gone at the end; for root, one that the server's user can enter."""
    folder = Path(tempfile.mkdtemp(prefix="memsvc-demo-"))
    try:
        if os.geteuid() == 0:
            folder.chmod(0o755)
        yield folder / "data"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def demo() -> None:
    """Take the sample conversation in, show the facts in it, ask three questions, say why. Ends by itself.

    Works in a data folder of its own, which it removes at the end; your own memories are not touched.
    """
    from memsvc.db.files import folder

    began = time.perf_counter()
    sample = folder("examples") / "conversation.jsonl"

    async def work(db: Database, settings: Settings) -> None:
        from memsvc.access.users import add_user, app_id
        from memsvc.cli.demo_facts import read_and_show
        from memsvc.cli.memories import ingest_files

        user = await add_user(
            db,
            await app_id(db),
            name="Marcel",
            aliases=["Marcel Winkler", "MW"],
            time_zone="Europe/Berlin",
        )
        note(f"Taking in {sample.name}: two friends, nine months.")
        counts = await ingest_files(db, settings, user.owner, [sample])
        print(f"{counts['created']} messages stored.")
        await read_and_show(db, settings, user.owner)
        with embedders(settings) as models:
            await ask(db, settings, user.owner, models)

    # The facts are read below, offline, and not by a job.
    with own_folder() as data, opened(data_dir=data, database_url=None, queue_url=None, extractor="none") as database:
        on_database(*database, work)
    # After 'make demo' the command lies in a virtual environment that nobody has activated.
    memsvc = "memsvc" if shutil.which("memsvc") else os.path.relpath(sys.argv[0])
    print(f"\nThat took {time.perf_counter() - began:.1f} s. The third answer shows a changed mind.")
    print("The demo's own data folder is gone again. For memories that stay, go on with:\n")
    print(f"  {memsvc} user add --name Marcel --alias MW --zone Europe/Berlin")
    print(f"  {memsvc} ingest {shlex.quote(os.path.relpath(sample))}        # or a chat of yours")
    print(f'  {memsvc} recall "Where does Ines work?"')
    print(f"  {memsvc} up        # REST API with its documentation at http://127.0.0.1:8765/docs")
    print(f"  {memsvc} doctor    # what is here, what is missing, and what that costs")
