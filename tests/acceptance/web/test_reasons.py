"""The page gives the reasons of memories in its own language; in English they are those of the service."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from memsvc.recall.kinds import KINDS
from memsvc.recall.reasons import PHRASES, reason
from tests.acceptance.web.world import World, assert_clean, sign_in, told
from tests.browser import Page

pytestmark = pytest.mark.acceptance
FACTORS = ("words", "vector", "late", "names", "speaker", "time", "place", "distance", "session", "session_vector",
           "staleness", *PHRASES)  # fmt: skip
NAMES = ("Beppo", "Rosinante", "a\n| why: b", "\u202eInes", "N" * 70, "")
# Answers of recall are these, whatever is asked.
ANSWERED = """
(() => {
  const { fetch } = window;
  window.fetch = async (address, ...given) => {
    const answer = await fetch(address, ...given);
    if (!String(address.url ?? address).endsWith("/v1/recall")) return answer;
    const told = await answer.json();
    const [model] = told.memories;
    told.memories = CASES.map((one, number) => ({ ...model, ...one, memory_id: `${number}` }));
    return new Response(JSON.stringify(told), { headers: answer.headers });
  };
})();
"""


def cases(seed: int, count: int) -> list[dict[str, Any]]:
    """Memories drawn by lot, with the reasons that the service gives."""
    lot = random.Random(seed)
    made = []
    for _ in range(count):
        factors = {"length": 0.01} | {
            name: round(lot.uniform(-0.6, 1.2), 3) for name in lot.sample(FACTORS, lot.randint(0, 8))
        }
        arms: dict[str, Any] = {
            "names": {"name": lot.choice(NAMES)},
            "speaker": {"asker": True} if lot.random() < 0.5 else {"name": lot.choice(NAMES)},
            "time": {"name": lot.choice(("last week", "")), "score": lot.choice((1.0, 0.5))},
            "place": {"metres": lot.choice((7, 1_350))},
        }
        arms = {name: arms[name] for name in lot.sample(sorted(arms), lot.randint(0, 4))}
        steps = lot.choice((0, 0, 1, 2, 3))
        path = [lot.choice(NAMES) or "Tea"] + [lot.choice(("OWNS", "USES", "Lock")) for _ in range(2 * steps)]
        path = path if steps or lot.random() < 0.3 else []
        kind = lot.choice(sorted(KINDS))
        matched = lot.sample([*"abcdefghijk", "o\u2019clock"], lot.choice((0, 1, 3, 10)))
        why = reason(matched, arms, factors, path, kind)
        if kind == "block":
            why = f"from the archived block Ines: {why}"
        made.append({"kind": kind, "factors": factors, "arms": arms, "path": path, "matched": matched, "why": why,
                     "remark": "", "count": 1, "last_said": None, "speaker": "Ines"})  # fmt: skip
    return made


def shown(page: Page) -> list[str]:
    """The reasons on the page."""
    page.until("document.querySelectorAll('.memory .why').length === values[0]", 150)
    found: list[str] = page.run("[...document.querySelectorAll('.memory .why')].map((one) => one.textContent)")
    return found


def test_reasons_are_those_of_the_service_and_in_german_of_german_words(world: World) -> None:
    drawn = cases(3, 150)
    with world.browser.visitor() as page:
        page.send("Page.addScriptToEvaluateOnNewDocument", source=ANSWERED.replace("CASES", json.dumps(drawn)))
        sign_in(world, page, world.marcel)
        page.open(f"{world.rig.url}/#/ask?q=wedding")
        assert shown(page) == [one["why"] for one in drawn]
        page.run("localStorage.setItem('memsvc.language', 'de')")
        page.open(f"{world.rig.url}/#/ask?q=wedding")
        page.sees("Erinnerungen")
        english = ("says", "near in", "about", "recent", "true", "said", "step", "the time", "you", "a fact", "where")
        for told_english, told_german in zip([one["why"] for one in drawn], shown(page), strict=True):
            assert not [word for word in english if word in told_german], (told_english, told_german)
            assert told_german.count("; ") == told_english.count("; ")


def test_what_is_on_ones_mind_says_why_in_german(world: World) -> None:
    with world.api(world.marcel) as api:
        message = told(api.post("/v1/recall", json={"query": "wedding", "limit": 1}))["memories"][0]["memory_id"]
        told(api.patch(f"/v1/memories/{message}", json={"pinned": True}))
    with world.browser.visitor() as page:
        sign_in(world, page, world.marcel)
        page.sees("salient: pinned", ".why")
        page.run("localStorage.setItem('memsvc.language', 'de')")
        page.open(world.rig.url)
        page.sees("angeheftet", ".why")
        assert "salient" not in page.text()
        assert_clean(page)
