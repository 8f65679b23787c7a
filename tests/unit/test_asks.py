"""Whether a text asks: by samples, and by the gold of utterances."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memsvc.recall.asks import asks

GOLD = Path(__file__).parents[2] / "bench" / "gold" / "utterances.json"


@pytest.mark.parametrize(
    "text",
    [
        "Where did I park?", "tell me where I parked", "Hi! What is my brother's name", "i wonder which hotel it was",
        "Wo habe ich geparkt", "Hallo, wann ist der Zahnarzt?", "Sag mir, wie der Arzt heißt", "¿Cuándo es la cena?",
        "dime dónde está el coche", "Où est la clé", "Rappelle-moi quand part le train", "我的车停在哪里",
        "Кто мой врач?",
        "You remember my dentist's name?", "Hiking with whom last June?", "Pickup time for Leo?", "His sister's name?",
        "Listening to what podcast did I start?", "We drove around for an hour. Where did we stop for lunch?",
    ],
)  # fmt: skip
def test_a_question_asks_with_and_without_its_mark(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "   ", "🙂", "Hi there!", "Hello, how are you?", "thanks a lot",
        "Translate “where is the station?” into Greek",
        "What is 17 * 23?", "how do you say bread in Danish?", "Write a poem about herons",
        "I moved to Porto last week",
        "We got the flat, can you believe it?", "Guten Morgen", "Übersetze: Wo ist der Bahnhof?", "Danke!",
        "¡Hola! ¿Qué tal?", "Bonjour, ça va ?", "Écris un mot pour ma voisine", "你好！",
        "把这句话翻译成英文：你在哪里？",
        "remind me to buy milk tomorrow",
    ],
)  # fmt: skip
def test_greetings_thanks_tasks_and_statements_do_not_ask(text: str) -> None:
    assert not asks(text)


def test_most_of_the_gold_is_told_for_what_it_is() -> None:
    gold = json.loads(GOLD.read_text(encoding="utf-8"))
    wrong = [one["text"] for one in gold if asks(one["text"]) is not one["kind"].startswith("question")]
    assert len(gold) == 200
    assert len(wrong) <= 10
    greeted = [one["text"] for one in gold if one["kind"] in {"greeting", "thanks"} and asks(one["text"])]
    assert greeted == []
