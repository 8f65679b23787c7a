"""``memsvc demo``: the main job from end to end, on the sample conversation."""

from __future__ import annotations

import os
import shutil
import sys
import time
from typing import TYPE_CHECKING

from memsvc.cli.common import embedders, note, with_database

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.llm.embedders.residents import Residents
    from memsvc.settings import Settings

APP, USER = "demo", "marcel"
QUESTIONS = (
    "Outside which station was the lock of Rosinante cut?",
    "What is Beppo's real name?",
    "On which Saturday is the wedding of Ines and Jonas?",
)
BUDGET_TOKENS = 450


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


def demo() -> None:
    """Take the sample conversation in, show the facts in it, ask three questions, say why. Ends by itself."""
    began = time.perf_counter()

    async def work(db: Database, settings: Settings) -> None:
        from memsvc.access.users import add_user, app_id, find_user
        from memsvc.cli.demo_facts import read_and_show
        from memsvc.cli.memories import ingest_files
        from memsvc.db.files import folder
        from memsvc.errors import UserUnknownError

        settings = settings.model_copy(update={"extractor": "none"})  # read below, offline
        app = await app_id(db, APP)
        try:
            user = await find_user(db, app, USER)
        except UserUnknownError:
            user = await add_user(
                db, app, name="Marcel", external_id=USER, aliases=["Marcel Winkler", "MW"], time_zone="Europe/Berlin"
            )
        sample = folder("examples") / "conversation.jsonl"
        note(f"Taking in {sample.name}: two friends, nine months.")
        counts = await ingest_files(db, settings, user.owner, [sample])
        print(f"{counts['created']} messages stored, {counts['existing']} were there already.")
        await read_and_show(db, settings, user.owner)
        with embedders(settings) as models:
            await ask(db, settings, user.owner, models)

    with_database(work)
    # After 'make demo' the command lies in a virtual environment that nobody has activated.
    memsvc = "memsvc" if shutil.which("memsvc") else os.path.relpath(sys.argv[0])
    print(f"\nThat took {time.perf_counter() - began:.1f} s. The third answer shows a changed mind.")
    print("The memories stay; go on with:\n")
    print(f'  {memsvc} recall --app {APP} --user {USER} "Where does Ines work?"')
    print(f"  {memsvc} user add --name YOU && {memsvc} ingest YOUR-CHAT.jsonl")
    print(f"  {memsvc} up        # REST API with its documentation at http://127.0.0.1:8765/docs")
    print(f"  {memsvc} doctor    # what is here, what is missing, and what that costs")
