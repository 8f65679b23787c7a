"""Whoever is whose relative is one node, by whatever words and by whomever spoken of; and two people stay two.

The offline extractor reads window after window of a chat, so that the graph decides what belongs together.
"""

from __future__ import annotations

import pytest

from memsvc.extract.offline.extractor import OfflineExtractor
from memsvc.extract.run import read_source
from tests.jobs.reading import Desk

Person = tuple[str, tuple[str, ...]]
"""What a node is called, and what it is to whom: "Ada's brother"."""
PAUSE = ("it rains", "the bus is late", "what a day", "so much to do", "no idea", "good night")
"""Turns behind which a new window has no context of the one before."""
PEOPLE = """
SELECT n.label, coalesce(array_agg(DISTINCT concat_ws(' ', f.subject || '''s', f.data ->> 'relation'))
  FILTER (WHERE f.data ->> 'relation' IS NOT NULL), '{}')
FROM memsvc.nodes_current AS n
LEFT JOIN memsvc.facts_history AS f
  ON n.user_id = f.user_id AND n.node_id = f.object_id AND NOT f.superseded AND f.predicate IN ('FAMILY_OF', 'KNOWS')
WHERE n.user_id = %s AND n.type = 'Person'
GROUP BY n.node_id, n.label ORDER BY 1, 2
"""


@pytest.fixture(scope="module")
def extractor() -> OfflineExtractor:
    """The real one."""
    return OfflineExtractor()


async def read(desk: Desk, extractor: OfflineExtractor, *windows: tuple[str, ...]) -> list[Person]:
    """Let people say things, window after window ("Leo: hi"; without a name it is Ada); relatives in the graph."""
    for said in windows:
        for line in said:
            speaker, _, text = line.rpartition(": ")
            source = await desk.say(text, speaker=speaker or "Ada")
        await read_source(desk.db, desk.owner, source, extractor, backend="offline")
    return [(label, tuple(roles)) for label, roles in desk.rows(PEOPLE) if roles]


async def test_a_mother_is_one_by_all_words_for_her(desk: Desk, extractor: OfflineExtractor) -> None:
    found = await read(
        desk, extractor,
        ("my mom lives in Porto", "Mum likes fado"), ("my mother Elif was born in Izmir",),
        ("Mommy bought a car", "mum has a dog"),
    )  # fmt: skip
    assert [label for label, _ in found] == ["Elif"]


async def test_words_of_other_languages_are_no_names(desk: Desk, extractor: OfflineExtractor) -> None:
    windows = ("Ammi lives in Lahore", "Ammi likes mangoes"), ("my mother works at the school",), ("Ammi bought a car",)
    [(label, _)] = await read(desk, extractor, *windows)
    assert label == "ammi"


async def test_siblings_have_one_mother_and_one_father(desk: Desk, extractor: OfflineExtractor) -> None:
    found = await read(
        desk, extractor,
        ("my brother Leo is here too", "Leo: hi all", "my mum lives in Porto"),
        ("Leo: my mum hates Porto", "Leo: my dad lives in Faro"),
        ("my mother Elif was born in Izmir", "my father likes fish"),
    )  # fmt: skip
    assert found == [
        ("Elif", ("Ada's mum", "Leo's mum")), ("Leo", ("Ada's brother",)), ("dad", ("Ada's father", "Leo's dad")),
    ]  # fmt: skip


async def test_a_brothers_brother_is_not_his_sister(desk: Desk, extractor: OfflineExtractor) -> None:
    found = await read(
        desk, extractor, ("my brother Leo is here too", "Leo: hi all"), ("Leo: my brother lives in Faro",)
    )
    assert found == [("Leo", ("Ada's brother",)), ("brother", ("Leo's brother",))]


async def test_who_has_a_husband_is_his_wife(desk: Desk, extractor: OfflineExtractor) -> None:
    found = await read(desk, extractor, ("my husband Leo is a vet", "Leo: hi all"), ("Leo: my wife lives in Leeds",))
    assert found == [("Ada", ("Leo's wife",)), ("Leo", ("Ada's husband",))]


@pytest.mark.parametrize("word", ["mum", "my mum", "Mum", "my brother", "my sister"])
async def test_relatives_of_two_friends_are_two(desk: Desk, extractor: OfflineExtractor, word: str) -> None:
    found = await read(
        desk, extractor,
        (f"{word} lives in Leeds", "Ben: nice"), (f"Ben: {word} lives in York", f"{word} has a dog"),
        (f"Ben: {word} has a cat",),
    )  # fmt: skip
    noun = word.rpartition(" ")[2].lower()
    assert found == [(noun, (f"Ada's {noun}",)), (noun, (f"Ben's {noun}",))]


async def test_one_of_two_sisters_is_neither_and_not_another_each_time(desk: Desk, extractor: OfflineExtractor) -> None:
    later = ("my sister bought a car", "my sister works at Lidl", "my sister loves opera")
    found = await read(
        desk, extractor,
        ("my sister Eva lives in Rome", "my sister Lia lives in Pisa"), *((*PAUSE, said) for said in later),
    )  # fmt: skip
    assert [label for label, _ in found] == ["Eva", "Lia", "sister"]


async def test_a_brother_in_law_is_no_brother(desk: Desk, extractor: OfflineExtractor) -> None:
    found = await read(desk, extractor, ("my brother lives in York",), ("my brother in law lives in Leeds",))
    assert [label for label, _ in found] == ["brother", "brother-in-law"]


async def test_two_of_a_name_in_different_roles_stay_two(desk: Desk, extractor: OfflineExtractor) -> None:
    said = ("my colleague Tom lives in Rome", "my neighbour Tom lives in Pisa"), (*PAUSE, "my colleague Tom has a dog")
    found = await read(desk, extractor, *said)
    assert found == [("Tom", ("Ada's colleague",)), ("Tom", ("Ada's neighbour",))]


async def test_a_bare_name_is_the_one_of_whoever_says_it(desk: Desk, extractor: OfflineExtractor) -> None:
    await read(
        desk, extractor,
        ("Leo: my sister Emma lives in Faro", "Mia: my girlfriend Emma lives in Lund", "hi"),
        ("Mia: emma has a cat", "Mia: ok"), ("Leo: emma works at Lidl",), ("Mia: Emma bought a car",),
    )  # fmt: skip
    rows = desk.rows("SELECT count(*) FROM memsvc.nodes_current AS n WHERE n.user_id = %s AND lower(n.label) = 'emma'")
    assert rows == [(2,)]
    works = desk.rows(
        "SELECT r.data ->> 'relation' FROM memsvc.facts_current AS f INNER JOIN memsvc.facts_current AS r "
        "ON f.user_id = r.user_id AND f.subject_id = r.object_id AND r.predicate = 'FAMILY_OF' "
        "WHERE f.user_id = %s AND f.predicate = 'WORKS_AT'"
    )
    assert works == [("sister",)]
