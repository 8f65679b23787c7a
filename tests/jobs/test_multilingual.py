"""A database changes to the model of 16 languages: from then on memories are found by meaning in any of them."""

from __future__ import annotations

import psycopg
import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.llm.embedders import DEFAULT_MODEL, MULTILINGUAL_MODEL
from memsvc.llm.embedders.registry import build_model, retire_model, switch_model
from memsvc.llm.embedders.residents import Residents
from memsvc.recall.options import NOTHING
from memsvc.settings import Settings
from tests.jobs.changing import ask, progress, say, work
from tests.jobs.working import vectors_of

pytestmark = pytest.mark.slow
SAID = {
    "English": "I am allergic to peanuts.",
    "German": "Meine Schwester heiratet im Juni.",
    "Chinese": "我昨天把自行车卖掉了。",
    "Russian": "Мы переехали в новую квартиру.",
    "Arabic": "أعمل معلماً في مدرسة ابتدائية.",
}
ASKED = {
    "English": "我对哪种食物过敏？",
    "German": "Когда свадьба моей сестры?",
    "Chinese": "Who bought my bike, do I still have it?",
    "Russian": "Wo wohnen wir jetzt?",
    "Arabic": "What is my job at the school?",
}
"""In another language each, and without a word of the memory."""


async def test_memories_and_questions_of_different_languages_meet_after_the_change(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    models = Residents(settings.model_copy(update={"embedding_model": DEFAULT_MODEL}))
    try:
        await say(db, owner, settings, *SAID.values())
        await work(db, models)
        assert not (await ask(db, owner, ASKED["English"], settings, models)).memories

        await build_model(db, MULTILINGUAL_MODEL, 896)
        await work(db, models)
        assert (await progress(db))[MULTILINGUAL_MODEL] == (len(SAID), 0)
        await switch_model(db, MULTILINGUAL_MODEL)
        for language, question in ASKED.items():
            found = await ask(db, owner, question, settings, models)
            assert found.memories[0].text == SAID[language]
            assert found.degraded == []

        await retire_model(db, DEFAULT_MODEL)
        await say(db, owner, settings, "カナダへ旅行したい。")
        await work(db, models)
        assert len(vectors_of(admin, owner, MULTILINGUAL_MODEL)) == len(SAID) + 1
        found = await ask(db, owner, "Which country do I want to visit?", settings, models)
        assert found.memories[0].text == "カナダへ旅行したい。"
        # Token vectors are those of the English memory alone.
        fused = {**NOTHING, "words": 0.5, "vector": 0.5, "late": 0.5}
        found = await ask(db, owner, "peanut allergy", settings, models, weights=fused)
        assert [memory.text for memory in found.memories if "late" in memory.arms] == [SAID["English"]]
        assert found.memories[0].text == SAID["English"]
    finally:
        models.close()


async def test_without_its_package_messages_are_recalled_by_words_and_the_log_says_what_to_install(
    db: Database, owner: Owner, settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    models = Residents(settings.model_copy(update={"embedding_model": MULTILINGUAL_MODEL}))
    try:
        await say(db, owner, settings, SAID["German"])
        await work(db, models)
        found = await ask(db, owner, "Schwester", settings, models, weights={"words": 1.0})
    finally:
        models.close()
    assert [memory.text for memory in found.memories] == [SAID["German"]]
    assert found.degraded == ["vector"]
