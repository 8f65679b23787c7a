"""Recall: the passages that share words with a question, best first; nothing in a question is syntax."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from memsvc.access.users import Owner, add_user, app_id
from memsvc.db.engine import Database
from memsvc.errors import ConversationUnknownError, InvalidRequestError, InvalidTextError, TextTooLongError
from memsvc.recall import search
from memsvc.recall.options import FACTORS, LINEAR, Filters
from memsvc.recall.results import Memory
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.conftest import remembered as recall
from tests.examples import some_of
from tests.recalled import WORDS_ALONE
from tests.sql.bulk import fill
from tests.sql.world import READER, Logins, recall_rows, value

pytestmark = pytest.mark.server


def said(text: str, conversation: str = "talk", **more: object) -> MessageIn:
    return MessageIn(conversation=conversation, text=text, **more)  # type: ignore[arg-type]


def texts(found: list[Memory]) -> list[str]:
    return [memory.text for memory in found]


async def remember(db: Database, owner: Owner, settings: Settings, *sentences: str) -> None:
    await append(db, owner, [said(sentence) for sentence in sentences], settings)


async def test_a_natural_question_finds_the_sentence_that_answers_it(
    db: Database, owner: Owner, settings: Settings
) -> None:
    answer = "We moved from Leipzig to Tromsø because of my sister's new job."
    await remember(db, owner, settings, "I like long walks.", answer, "My sister likes tea.", "The job is done.")
    found = await recall(db, owner, "Why did you and your sister move to Tromsø?", settings)
    assert found[0].text == answer
    assert set(found[0].matched) == {"sister", "move", "Tromsø"}
    assert "“move”" in found[0].why
    assert found[0].arms["words"]["form"] == "stemmed"


@pytest.mark.parametrize(
    "query",
    [
        "What did I say of oak?", "my own bike", "Tell us more", "what is OURS", "Was habe ich gesagt?",
        "O que eu disse?", "Eu disse isso?", "Où sont mes clés ?", "Do I live in the US?",
        "我喜欢什么", "我们去了哪里", "昨日私が買った本は?", "私たちの家", "私達の家",
        "僕はどこに住んでいる?", "私自身のこと", "俺の車",
    ],
)  # fmt: skip
def test_a_query_speaks_of_the_one_who_asks(query: str, admin: psycopg.Connection) -> None:
    assert value(admin, "SELECT memsvc.says_i(%s)", [query]) is True


@pytest.mark.parametrize(
    "query",
    [
        "Which US cities did Marcel see?", "US-based firms", "What does the EU want?", "the EU's rules", "Who came?",
        "私人助理是谁?", "他的隐私呢", "私立の学校はどこ?", "公僕とは何か", "公私の区別は?",
        "僕人是谁", "自我介绍", "我国人口", "",
    ],
)  # fmt: skip
def test_what_only_looks_like_it_speaks_of_somebody_else(query: str, admin: psycopg.Connection) -> None:
    assert value(admin, "SELECT memsvc.says_i(%s)", [query]) is False


def test_what_is_all_alike_says_nothing_whatever_rounding_leaves(admin: psycopg.Connection) -> None:
    rounded, told = admin.execute(
        "SELECT count(*) FILTER (WHERE spread > 0), count(*) FILTER (WHERE memsvc.z_score(alike, mean, spread) <> 0) "
        "FROM (SELECT alike, avg(alike) AS mean, stddev_pop(alike) AS spread "
        "FROM (SELECT n / 700::double precision AS alike FROM generate_series(1, 200) AS n) AS v "
        "CROSS JOIN generate_series(1, 31) GROUP BY alike) AS g"
    ).fetchone() or (0, 0)
    assert rounded > 0
    assert told == 0
    assert value(admin, "SELECT memsvc.z_score(0.5, 0.3, 0.1)") == pytest.approx(2)
    assert value(admin, "SELECT memsvc.z_score(NULL, 0.3, 0.1)") == 0


async def test_who_speaks_and_what_a_picture_shows_is_found_too(db: Database, owner: Owner, settings: Settings) -> None:
    await append(
        db, owner, [said("Look!", speaker="Mirjam", caption="a red kayak on a beach"), said("Nice.")], settings
    )
    assert texts(await recall(db, owner, "kayaks", settings)) == ["Look!"]
    assert texts(await recall(db, owner, "What did Mirjam say?", settings)) == ["Look!"]


async def test_a_question_of_stop_words_falls_back_to_words_as_they_stand(
    db: Database, owner: Owner, settings: Settings
) -> None:
    await remember(db, owner, settings, "To be or not to be.", "Herons wade.")
    [found] = await recall(db, owner, "to be or not to be", settings)
    assert (found.text, found.arms["words"]["form"]) == ("To be or not to be.", "simple")


async def test_the_simple_form_does_not_stem(db: Database, owner: Owner, settings: Settings) -> None:
    await remember(db, owner, settings, "The herons wade.", "The heron wades.")
    assert texts(await recall(db, owner, "heron", settings, form="simple")) == ["The heron wades."]
    assert len(await recall(db, owner, "heron", settings)) == 2


@pytest.mark.parametrize("query", ["", " ", "?!", "\n\t", "🦆" * 3, "…", "xyzzy plugh", "'", "\\"])
async def test_nothing_known_finds_nothing(query: str, db: Database, owner: Owner, settings: Settings) -> None:
    await remember(db, owner, settings, "Herons wade.")
    assert await recall(db, owner, query, settings) == []


async def test_an_empty_memory_finds_nothing(db: Database, owner: Owner, settings: Settings) -> None:
    assert await recall(db, owner, "heron", settings) == []


@pytest.mark.parametrize(
    "query",
    [
        "heron & otter", "heron | (otter", "!heron", "heron:A", "'heron", "heron'", "heron\\", "\\heron\\'",
        "heron <-> otter", "<2> heron", "heron ''", "(heron)", "heron !! & | ()", '"heron"',
        "heron; DROP TABLE passages", "heron $1 %s {x} :user_id", "$$heron$$", "heron -- otter", "/*heron*/", "heron:*",
    ],
)  # fmt: skip
async def test_tsquery_syntax_is_text(query: str, db: Database, owner: Owner, settings: Settings) -> None:
    await remember(db, owner, settings, "A heron.", "Something else.")
    assert texts(await recall(db, owner, query, settings)) == ["A heron."]


@pytest.mark.parametrize(
    "text",
    [
        "l'été d'O'Brien", r"C:\temp\new 'x'", "see http://example.org/a'b?c=\\d", "mail o'neil+x@example.org",
        "it''s 'quoted' \\'escaped\\'", "a:b|c&d!e", "x<y>z", "10-12-2026 v1.2.3 -5e-7", "foo/bar_baz-qux",
    ],
)  # fmt: skip
async def test_odd_lexemes_are_found_by_themselves(text: str, db: Database, owner: Owner, settings: Settings) -> None:
    await remember(db, owner, settings, text, "Something else.")
    for form in ("stemmed", "simple"):
        assert texts(await recall(db, owner, text, settings, form=form)) == [text]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("我昨天在上海吃了小笼包。", "上海的小笼包怎么样?"),
        ("昨日は京都でラーメンを食べました。", "京都はどうでしたか"),
        ("ذهبت إلى القاهرة مع أخي.", "القاهرة"),
        ("Вчера я ездила в Казань.", "Когда ты была в Казань?"),
        ("어제 서울에 갔어요.", "서울에"),
        ("Χθες πήγα στην Αθήνα.", "Αθήνα"),
        ("मैं कल दिल्ली गया था।", "दिल्ली"),
        ("Ich wohne in der Überseestraße.", "überseestraße"),
        ("party 🎉 on Friday 🎂", "🎉 party 🎂"),
    ],
)
async def test_other_scripts_are_found(text: str, query: str, db: Database, owner: Owner, settings: Settings) -> None:
    await remember(db, owner, settings, "Something else.", text)
    found = await recall(db, owner, query, settings)
    assert texts(found) == [text]
    assert found[0].matched


@pytest.fixture(scope="module")
async def listener(db: Database) -> Owner:
    """A user for many questions."""
    return (await add_user(db, await app_id(db, "recall"), name="Ada", external_id=uuid4().hex)).owner


storable = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=80)
syntax = st.lists(
    st.sampled_from([*"&|!():*'\\<->\" \n%_$;", "heron", "水", "🦆", "ﷺ", "\u0301", "\u200d"]), max_size=30
)


@hypothesis(max_examples=some_of(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=storable | syntax.map("".join))
@example(text="'" * 3)
@example(text="\\" * 5)
@example(text="a" * 3000)
@example(text="\ufeff\u2028\u0085")
async def test_any_text_can_be_said_and_asked(text: str, db: Database, listener: Owner, settings: Settings) -> None:
    """No question is an error, and a text of known words is found by itself."""
    await append(db, listener, [said(f"{text} {text}x", caption="heron")], settings)
    assert await recall(db, listener, f"{text} heron", settings)
    for form in ("stemmed", "simple"):
        await recall(db, listener, text, settings, form=form)


async def test_a_question_of_ten_thousand_words_is_answered(db: Database, owner: Owner, settings: Settings) -> None:
    await remember(db, owner, settings, "A heron.", "Words in a mill.")
    query = " ".join(f"word{n}" for n in range(10_000)) + " heron"
    assert texts(await recall(db, owner, query, settings)) == ["A heron."]


async def test_the_rarest_64_words_of_a_question_count(db: Database, owner: Owner, settings: Settings) -> None:
    words = [f"word{n}" for n in range(80)]
    await remember(db, owner, settings, " ".join(words), *words[70:])
    [first, *_] = await recall(db, owner, " ".join(words), settings)
    assert len(first.matched) == 64
    assert set(first.matched) <= set(words[:70])


async def test_a_question_that_cannot_be_asked_is_refused(db: Database, owner: Owner, settings: Settings) -> None:
    with pytest.raises(InvalidTextError):
        await recall(db, owner, "a\0b", settings)
    with pytest.raises(InvalidTextError):
        await recall(db, owner, "a\ud800", settings)
    with pytest.raises(TextTooLongError):
        await recall(db, owner, "x" * (settings.max_query_chars + 1), settings)
    for limit in (0, -1, 1001):
        with pytest.raises(InvalidRequestError):
            await recall(db, owner, "heron", settings, limit=limit)


# Filters ------------------------------------------------------------------------------------------------------------


@pytest.fixture
async def herons(db: Database, owner: Owner, settings: Settings) -> Owner:
    """One heron a day in March, in two conversations by turns; and what a tool said."""
    await append(
        db,
        owner,
        [
            said(f"heron {day}", "even" if day % 2 == 0 else "odd", said_at=f"2026-03-{day:02}T12:00:00Z")
            for day in range(1, 11)
        ]
        + [said("heron of the tool", "odd", role="tool"), said("heron of the system", "odd", role="system")],
        settings,
    )
    return owner


def days(found: list[Memory]) -> set[int]:
    return {memory.said_at.day for memory in found}


async def test_only_or_without_conversations(db: Database, herons: Owner, settings: Settings) -> None:
    async def ask(**wanted: object) -> list[Memory]:
        return await recall(db, herons, "heron", settings, limit=100, filters=Filters(**wanted))  # type: ignore[arg-type]

    even = await ask(conversations=["even"])
    assert days(even) == {2, 4, 6, 8, 10}
    assert days(await ask(conversations=[str(even[0].conversation_id)])) == {2, 4, 6, 8, 10}
    assert days(await ask(conversations=["even", "odd"])) == set(range(1, 11))
    assert days(await ask(not_conversations=["even"])) == {1, 3, 5, 7, 9}
    assert await ask(not_conversations=["even", "odd"]) == []
    assert await ask(conversations=["even"], not_conversations=["even"]) == []


async def test_an_unknown_conversation_is_an_error_and_a_foreign_one_is_unknown(
    db: Database, herons: Owner, other: Owner, settings: Settings
) -> None:
    [stored] = await append(db, other, [said("heron", "theirs")], settings)
    for name in ("nowhere", "theirs", str(stored.conversation_id)):
        for wanted in (Filters(conversations=[name]), Filters(not_conversations=["even", name])):
            with pytest.raises(ConversationUnknownError):
                await recall(db, herons, "heron", settings, filters=wanted)


async def test_a_time_range_includes_its_start_and_not_its_end(db: Database, herons: Owner, settings: Settings) -> None:
    start, end = datetime(2026, 3, 3, 12, tzinfo=UTC), datetime(2026, 3, 6, 12, tzinfo=UTC)
    for wanted, expected in (
        (Filters(said_from=start, said_to=end), {3, 4, 5}),
        (Filters(said_to=start), {1, 2}),
        (Filters(said_from=start, said_to=start), set()),
        (Filters(said_from=end, said_to=datetime(2026, 4, 1, tzinfo=UTC), conversations=["odd"]), {7, 9}),
    ):
        assert days(await recall(db, herons, "heron", settings, limit=100, filters=wanted)) == expected


async def test_what_tools_and_systems_say_is_recalled_when_asked_for(
    db: Database, herons: Owner, settings: Settings
) -> None:
    plain = await recall(db, herons, "heron of the tool and system", settings, limit=100)
    assert {memory.role for memory in plain} == {"user"}
    asked = await recall(db, herons, "tool system", settings, filters=Filters(traces=True))
    assert {memory.role for memory in asked} == {"tool", "system"}


# Order and number ---------------------------------------------------------------------------------------------------


async def test_the_limit_is_kept(db: Database, herons: Owner, settings: Settings) -> None:
    for limit in (1, 3, 10, 1000):
        assert len(await recall(db, herons, "heron", settings, limit=limit)) == min(limit, 10)


async def test_equal_scores_come_in_the_order_of_the_conversation(
    db: Database, owner: Owner, settings: Settings
) -> None:
    await append(db, owner, [said(f"heron {n}", ordinal=n) for n in range(50)], settings)
    for limit in (7, 50):
        found = (await search.recall(db, owner, "heron", settings, limit=limit, weights=WORDS_ALONE)).memories
        assert [memory.ordinal for memory in found] == list(range(limit))
        assert len({memory.score for memory in found}) == 1


async def test_scores_fall(db: Database, owner: Owner, settings: Settings) -> None:
    await remember(db, owner, settings, "heron", "heron otter", "heron otter mill", "water", "otter otter water mill")
    found = await recall(db, owner, "heron otter mill", settings)
    assert [memory.score for memory in found] == sorted((memory.score for memory in found), reverse=True)
    assert all(memory.score == pytest.approx(sum(memory.factors.values())) for memory in found)
    assert {name for memory in found for name in memory.factors} == set(FACTORS)


def test_the_database_has_the_same_default_weights(admin: psycopg.Connection) -> None:
    assert value(admin, "SELECT jsonb_object_agg(f.name, f.weight) FROM memsvc.factors() AS f") == LINEAR


@pytest.fixture(scope="module")
async def big(db: Database, admin_of_module: psycopg.Connection) -> Owner:
    """A user whose 7,000 passages all hold the word "common"."""
    owner = (await add_user(db, await app_id(db, "recall"), name="Ada", external_id=uuid4().hex)).owner
    fill(admin_of_module, owner.user_id, 7_000, conversations=3)
    return owner


@pytest.fixture(scope="module")
def admin_of_module(logins: Logins) -> Iterator[psycopg.Connection]:
    with psycopg.connect(logins.admin_url, autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize("query", ["common", "common common", "the common", "common n6999", "n17 common w4"])
async def test_a_word_of_thousands_of_passages_still_fills_the_limit(
    query: str, db: Database, big: Owner, settings: Settings
) -> None:
    for limit in (10, 200):
        assert len(await recall(db, big, query, settings, limit=limit)) == limit


async def test_the_rare_word_wins_over_the_common_one(db: Database, big: Owner, settings: Settings) -> None:
    found = await recall(db, big, "common n6999", settings)
    assert found[0].text.endswith(" n6999")
    assert set(found[0].matched) == {"common", "n6999"}


async def test_a_filter_that_leaves_few_candidates_still_fills_the_limit(
    db: Database, big: Owner, settings: Settings
) -> None:
    """Few of the passages with the rare word are in the conversation; the common word fills up."""
    wanted = Filters(conversations=["bulk 2"], said_from=datetime(2026, 1, 1, 10, tzinfo=UTC))
    found = await recall(db, big, "w5 common", settings, limit=300, filters=wanted)
    assert len(found) == 300
    assert {memory.conversation for memory in found} == {"bulk 2"}
    narrow = Filters(said_from=datetime(2026, 1, 1, tzinfo=UTC), said_to=datetime(2026, 1, 1, 0, 7, tzinfo=UTC))
    assert len(await recall(db, big, "w5 common", settings, limit=10, filters=narrow)) == 7


async def test_one_user_beside_a_big_one_finds_all_of_the_own(
    db: Database, big: Owner, owner: Owner, settings: Settings
) -> None:
    await remember(db, owner, settings, *(f"common heron {n}" for n in range(15)))
    assert len(await recall(db, owner, "common w5", settings, limit=15)) == 15
    assert big.user_id != owner.user_id


# People at psql -----------------------------------------------------------------------------------------------------


async def test_a_reader_recalls_in_plain_sql(db: Database, herons: Owner, settings: Settings, logins: Logins) -> None:
    with logins.enter(READER, db.signer.token(herons.user_id)) as connection:
        assert len(recall_rows(connection, herons.user_id, "heron")) == 10
        first = value(connection, "SELECT arms FROM memsvc.recall(%s, 'heron', 1)", [herons.user_id])
    assert first["words"]["form"] == "stemmed"


# Signs, and exact names ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "told"),  # the answer is told last
    [
        ("你什么时候去北京大学？", ["大家学京剧，北方人。", "我的书在你那。", "我昨天去了北京大学。"]),
        ("東京の天気は？", ["京都の東にある。", "私のはこれです。", "明日の東京は晴れです。"]),
        ("서울에 언제 가요?", ["울산에서 만났다.", "친구는 부산에서 산다.", "지난주에 서울에서 친구를 만났다."]),
        ("谁用Python写？", ["我用Java写程序。", "他用手写。", "我用Python写程序。"]),
    ],
)
async def test_words_of_signs_find_what_holds_them(
    db: Database, owner: Owner, settings: Settings, question: str, told: list[str]
) -> None:
    await remember(db, owner, settings, *told)
    assert (await recall(db, owner, question, settings))[0].text == told[-1]
    assert (await recall(db, owner, question, settings, form="simple"))[0].text == told[-1]


@pytest.mark.parametrize(
    "name",
    ["C++", "C#", "snake_case", "v1.2.3", "file.py", "ada@example.org", "The Who", "IT", "well-known", "GPT-4o"],
)
async def test_exact_names_are_found_by_their_spelling(
    db: Database, owner: Owner, settings: Settings, name: str
) -> None:
    near = {"C++": "C", "C#": "C", "snake_case": "case snake", "IT": "it", "The Who": "heron", "GPT-4o": "4o gpt"}
    other = f"Somebody mentioned {near.get(name, name[:-1])} yesterday."
    await remember(db, owner, settings, other, f"Somebody mentioned {name} yesterday, and a lot else was said.")
    found = await recall(db, owner, name, settings)
    assert name in found[0].text
    if name in {"IT", "C++"}:  # also beside other words, in the stemmed form
        found = await recall(db, owner, f"{name} mentioned?", settings)
        assert (name in found[0].text, found[0].arms["words"]["form"]) == (True, "stemmed")


def test_people_are_shown_pairs_and_not_their_signs(admin_of_module: psycopg.Connection) -> None:
    def shown(question: str, form: str = "stemmed") -> list[str]:
        terms = "SELECT tsvector_to_array(memsvc.to_words(%s, 'english', %s))"
        words = "SELECT memsvc.words_behind(%s, %s, 'english', %s)"
        found: list[str] = value(
            admin_of_module, words, [question, form, value(admin_of_module, terms, [form, question])]
        )
        return sorted(value(admin_of_module, "SELECT memsvc.whole_words(%s)", [found]))

    assert shown("去北京 moved") == ["moved", "北京", "去北"]
    assert shown("京") == ["京"]
    assert shown("서울에서") == ["서울에서"]
    assert shown("C++ and snake_case") == ["C", "c++", "case", "snake", "snake_case"]
    assert shown("我用C++", "simple") == ["C", "c++", "我用"]


@pytest.mark.parametrize("run", ["京", "한", "C++", "京한", "IT ", "A"])
def test_long_runs_of_signs_and_names_cost_little_and_break_nothing(
    run: str, admin_of_module: psycopg.Connection
) -> None:
    words = "SELECT length(memsvc.to_words('stemmed', 'english', %s))"
    with admin_of_module.transaction():
        admin_of_module.execute("SET LOCAL statement_timeout = '2s'")
        assert value(admin_of_module, words, [(run * 16_000)[:16_000]]) >= 0
        assert value(admin_of_module, words, ["a_" * 1_200 + "b"]) == 1  # longer than a lexeme may be


async def test_why_says_who_was_meant_and_which_time(db: Database, owner: Owner, settings: Settings) -> None:
    moments = {"in May": "2023-05-09T09:00Z", "in July": "2024-07-03T09:00Z"}
    await append(
        db,
        owner,
        [said(f"The oak fell {name}.", speaker="Marcel", said_at=at) for name, at in moments.items()],
        settings,
    )
    for query, told in (
        ("What did I say of the oak?", "you speak of yourself, and said this"),
        ("What did Marcel say of the oak?", "you named Marcel, who speaks"),
    ):
        found = await recall(db, owner, query, settings)
        assert {told in memory.why for memory in found} == {True}
        assert {"named Marcel" in memory.why for memory in found} == {"I" not in query.split()}
    when = {
        memory.text: memory.arms["time"]["name"]
        for memory in await recall(db, owner, "The oak in May 2023, on 9 May 2023 and in July 2024?", settings)
    }
    assert when == {"The oak fell in May.": "9 May 2023", "The oak fell in July.": "July 2024"}


async def test_the_words_that_the_memory_knows_are_not_only_those_of_the_answer(
    db: Database, owner: Owner, other: Owner, settings: Settings
) -> None:
    await remember(db, owner, settings, *["The oak is old."] * 40, "A heron stood there.", "In 北京.")
    await remember(db, other, settings, "A violin.")

    async def words(query: str, **more: Any) -> list[str]:
        found = (await search.recall(db, owner, query, settings, explain=True, **more)).explanation
        assert found is not None
        return found.words

    near = {"words": 0.0, "nearby": 0.0, "session": 0.0, "recency": 1.0}
    assert set(await words("oak, herons, a violin, 北京?", limit=1)) == {"oak", "herons", "北京"}
    assert await words("herons in July 2020", weights=near, limit=1) == ["herons"], "no memory is found by words"
    assert await words("the violin") == []
    assert await words("is the", form="stemmed") == ["is", "the"], "stop words alone count as they stand"
