"""Words of many languages: what people write in two ways is found both ways, and shown and kept as it was written."""

from __future__ import annotations

import time
import unicodedata
from dataclasses import replace
from itertools import combinations

import psycopg
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from memsvc.access.users import LANGUAGES, Owner
from memsvc.db.engine import Database
from memsvc.errors import InvalidTextError
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.conftest import remembered as recall
from tests.examples import some_of
from tests.sql.world import value

server = pytest.mark.server
"""Words depend on the server's build of unaccent; how long they take, and what is refused, does not."""

# Language, and forms of one word, number or day; each must find every other.
WORDS_APART = ("oak", "elm", "ash", "yew", "fir", "fig", "hazel", "alder", "beech", "birch", "maple", "larch")
"""So that no two texts are the same words, which recall gives once."""
SAME: dict[str, tuple[str, tuple[str, ...]]] = {
    "ё and е": ("english", ("ёлка", "елка", "ЁЛКА")),
    "ё and е, stemmed": ("russian", ("ёлки", "елка")),
    "final sigma and tonos": ("english", ("Οδός", "ΟΔΟΣ", "οδοσ")),
    "final sigma, stemmed": ("greek", ("οδός", "ΟΔΟΣ")),
    "alef and hamza": ("english", ("أحمد", "احمد", "إحمد", "ٱحمد")),
    "alef and hamza, stemmed": ("arabic", ("إسلام", "اسلام")),
    "hamza on its carrier": ("english", ("مؤتمر", "موتمر")),
    "ye": ("english", ("علی", "علي", "على")),
    "kaf": ("english", ("کتاب", "كتاب")),
    "ta marbuta": ("english", ("مدرسة", "مدرسه")),
    "vowel signs and tatweel": ("english", ("مُحَمَّد", "محمد", "محـــمد")),
    "joiners": ("english", ("می\u200cروم", "میروم")),
    "Hebrew points": ("english", ("בְּרֵאשִׁית", "בראשית")),
    "Hebrew prefixes": ("english", ("הספרייה", "ספרייה", "בספרייה", "לספרייה", "וספרייה", "מספרייה", "שספרייה")),
    "Hebrew prefix of a short word": ("english", ("הבית", "בית")),
    "Hebrew prefixes in a row": ("english", ("ובבית", "בבית")),
    "full width": ("english", ("Ｔｏｋｙｏ", "Tokyo")),
    "half width": ("english", ("ｶﾞﾗｽ", "ガラス")),
    "full width in a name": ("english", ("Ｃ＋＋", "C++")),
    "Turkish i elsewhere": ("english", ("İzmir", "Izmir", "izmir", "i\u0307zmir")),
    "Turkish i": ("turkish", ("ISPARTA", "Isparta", "ısparta", "isparta")),
    "Turkish İ": ("turkish", ("İZMİR", "İzmir", "izmir", "Izmir", "i\u0307zmir")),
    "Turkish stems": ("turkish", ("kızlarım", "KIZLARIM", "kız")),
    "English accents": ("english", ("résumé", "resume")),
    "English names": ("english", ("Tromsø", "Tromso")),
    "composed or not": ("german", ("Bücher", unicodedata.normalize("NFD", "Bücher"))),
    "composed Korean": ("english", ("서울에서", unicodedata.normalize("NFD", "서울에서"))),
    "French": ("french", ("préférences", "preferences", "PRÉFÉRENCES")),
    "Spanish": ("spanish", ("canción", "cancion")),
    "Portuguese": ("portuguese", ("coração", "coracao")),
    "Italian": ("italian", ("città", "citta")),
    "Romanian commas, cedillas and neither": ("romanian", ("țară", "ţară", "tara")),
    "thousands": ("english", ("1,000", "1000", "1.000", "1 000", "1'000", "1’000", "1\u00a0000", "1\u202f000")),
    "millions": ("english", ("1,234,567.80", "1.234.567,8", "1 234 567,80", "1'234'567.8", "1234567.8")),
    "prices": ("english", ("€12.50", "12,50 EUR", "12,5", "$12.5")),
    "digits of other scripts": ("english", ("٣٤٥٦", "۳۴۵۶", "३४५६", "๓๔๕๖", "3456", "３４５６")),
    "Arabic decimals": ("english", ("٣٤٫٥", "34.5")),
    "mobile phones": (
        "english",
        ("+49 170 1234567", "0170 1234567", "0170/1234567", "+49 (0)170 123 45 67", "0049 170 1234567", "491701234567"),
    ),
    "phones of North America": ("english", ("+1 (555) 234-5678", "555-234-5678", "(555) 234-5678", "15552345678")),
    "country codes of three digits": ("english", ("+353 86 123 4567", "086 123 4567")),
    "days": (
        "english",
        ("2026-03-14", "14.03.2026", "14.3.2026", "March 14, 2026", "14 March 2026", "14th of March 2026",
         "3/14/2026", "14/03/2026", "14. März 2026", "Mar 14 2026", "2026年3月14日", "2026/03/14"),
    ),
}  # fmt: skip
# What differs by more than a habit.
OTHER = [
    ("spanish", "año", "ano"),
    ("swedish", "får", "far"),
    ("turkish", "kaş", "kas"),
    ("hungarian", "kor", "kör"),
    ("russian", "мой", "мои"),
    ("english", "3/4/2026", "4/3/2026"),
    ("english", "1,000", "100"),
    ("english", "12.05", "12.5"),
    ("english", "0170 1234567", "0171 1234567"),
    ("english", "99.99.2026", "March 14, 2026"),
]


def words(admin: psycopg.Connection, language: str, text: str, form: str = "simple") -> set[str]:
    found = value(admin, "SELECT tsvector_to_array(memsvc.to_words(%s, %s, %s))", [form, language, text])
    return set(found)


@server
@pytest.mark.parametrize("name", SAME)
def test_each_form_shares_a_word_with_every_other(name: str, admin: psycopg.Connection) -> None:
    language, forms = SAME[name]
    found = {form: words(admin, language, form, "stemmed") for form in forms}
    assert [pair for pair in combinations(forms, 2) if found[pair[0]].isdisjoint(found[pair[1]])] == []


@server
@pytest.mark.parametrize("name", SAME)
async def test_each_form_is_recalled_by_every_other_and_kept_as_it_was_written(
    name: str, db: Database, owner: Owner, settings: Settings
) -> None:
    language, forms = SAME[name]
    speaker = replace(owner, language=language)
    texts = [f"Xyzzy {form} plugh {word}." for form, word in zip(forms, WORDS_APART, strict=False)]
    await append(db, speaker, [MessageIn(conversation="talk", text=text) for text in texts], settings)
    for form in forms:
        found = await recall(db, speaker, form, settings, limit=20)
        assert {memory.text for memory in found} == set(texts)


@server
@pytest.mark.parametrize(("language", "one", "other"), OTHER)
def test_what_means_something_else_shares_no_word(
    language: str, one: str, other: str, admin: psycopg.Connection
) -> None:
    shared = words(admin, language, one) & words(admin, language, other)
    assert not shared - {"1234567", "#1234567", "2026", "4", "3"}


@server
@pytest.mark.parametrize(
    ("question", "told"),  # the answer is told last
    [
        ("กรุงเทพ", ["ฉันชอบกินข้าว", "เมื่อวานนี้ฉันไปกรุงเทพมหานครกับเพื่อน"]),
        ("ភ្នំពេញ", ["ខ្ញុំចូលចិត្តញ៉ាំបាយ", "ខ្ញុំរស់នៅភ្នំពេញជាមួយគ្រួសារ"]),
        ("ວຽງຈັນ", ["ຂ້ອຍມັກກິນເຂົ້າ", "ຂ້ອຍຢູ່ນະຄອນຫຼວງວຽງຈັນ"]),
        ("ရန်ကုန်", ["ထမင်းစားတယ်", "ကျွန်တော်ရန်ကုန်မြို့မှာနေတယ်"]),
    ],
)
async def test_words_of_scripts_without_spaces_are_found_inside_a_sentence(
    db: Database, owner: Owner, settings: Settings, question: str, told: list[str]
) -> None:
    await append(db, owner, [MessageIn(conversation="talk", text=text) for text in told], settings)
    for form in ("stemmed", "simple"):
        assert (await recall(db, owner, question, settings, form=form))[0].text == told[-1]


@server
@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("กรุงเทพ", {"กรุ", "รุง", "งเท", "เทพ"}),
        ("ก", {"ก"}),
        ("ភាសាខ្មែរ", {"ភាសា", "សាខ្មែ", "ខ្មែរ"}),
        ("ພາສາລາວ", {"ພາສາ", "ສາລາ", "ລາວ"}),
        ("မြန်မာဘာသာ", {"မြန်မာ", "မာဘာ", "ဘာသာ"}),
        ("ឃ្លា\u200bភាសា", {"ឃ្លាភា", "ភាសា"}),
        ("PythonกรุงC++", {"python", "กรุ", "รุง", "c", "c++"}),
        ("北京กรุง", {"北", "京", "北京", "กรุ", "รุง"}),
    ],
)
def test_scripts_without_spaces_become_pairs_of_signs(text: str, made: set[str], admin: psycopg.Connection) -> None:
    assert words(admin, "english", text) == made


@server
@pytest.mark.parametrize(
    ("language", "question", "shown"),
    [
        ("english", "Ёлка", ["Ёлка"]),
        ("english", "הבית", ["הבית"]),
        ("english", "ｶﾞ", ["ｶﾞ"]),
        ("turkish", "IŞIK İzmir", ["IŞIK", "İzmir"]),
        ("french", "préférences", ["préférences"]),
        ("english", "résumé 12.50", ["12.50", "résumé"]),
        ("english", "paid 1,000", ["000", "1", "paid"]),
        ("english", "1000", ["1000"]),
        ("english", "14.03.2026", ["14.03.2026"]),
        ("english", "+49 170 1234567", ["+49", "1234567", "170"]),
        ("english", "C# ёлка 2,50", ["2", "50", "C", "c#", "ёлка"]),
        ("english", "กรุงเทพ", ["กรุ", "งเท", "รุง", "เทพ"]),
    ],
)
def test_people_are_shown_words_as_they_wrote_them(
    language: str, question: str, shown: list[str], admin: psycopg.Connection
) -> None:
    terms = sorted(words(admin, language, question, "stemmed"))
    behind = value(admin, "SELECT memsvc.words_behind(%s, 'stemmed', %s, %s)", [question, language, terms])
    assert sorted(value(admin, "SELECT memsvc.whole_words(%s)", [behind])) == shown


@server
def test_the_lexeme_of_a_number_alone_is_shown_to_nobody(admin: psycopg.Connection) -> None:
    assert value(admin, "SELECT memsvc.whole_words('{heron,#1000,#2026-03-14}')") == ["heron"]


@server
def test_years_and_small_numbers_have_one_word(admin: psycopg.Connection) -> None:
    assert words(admin, "english", "in 2019 she had 12 cats at 10:30") == {
        "in", "2019", "she", "had", "12", "cats", "at", "10", "30"
    }  # fmt: skip


@server
def test_extra_words_do_not_count_in_the_length(admin: psycopg.Connection) -> None:
    length = "SELECT memsvc.word_count(memsvc.to_words('simple', 'english', %s))"
    assert value(admin, length, ["He paid 1000 on 14.03.2026"]) == 5


# Hostile texts ------------------------------------------------------------------------------------------------------

BOMBS = [
    "1", "1.", "000.", "1,000,", "1 000 ", "+49 ", "12-", "0 ", "(0)", "+", "2026-", "14 March ", "jan 1", "1'", "1a",
    "\u0301", "\u0e31", "เ", "\u1780\u17d2", "\u1000\u103a", "กรุง", "שלום", "ט", "ｶﾞ", "\u0627\u064b", "\ufdfa", "İ",
    "é", "e\u0301", "ё", "\x01ก", "1２", "１．", "年1",
]  # fmt: skip


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_long_text_takes_no_more_time_than_its_length(bomb: str, admin: psycopg.Connection) -> None:
    """Four times the text in less than ten times the time; whatever grows with the square takes sixteen times."""

    def seconds(length: int) -> float:
        text = (bomb * length)[:length]
        started = time.perf_counter()
        admin.execute("SELECT memsvc.to_words('stemmed', 'english', %s)", [text])
        return time.perf_counter() - started

    with admin.transaction():
        admin.execute("SET LOCAL statement_timeout = '60s'")
        seconds(1_000)  # compiles the patterns
        assert min(seconds(100_000) for _ in range(2)) < 10 * min(seconds(25_000) for _ in range(2)) + 0.2


@pytest.mark.slow
def test_a_million_digits_are_no_trouble(admin: psycopg.Connection) -> None:
    with admin.transaction():
        admin.execute("SET LOCAL statement_timeout = '60s'")
        for text in ("1" * 1_000_000, "1." * 500_000, "١" * 1_000_000, "1 000 " * 160_000):
            assert isinstance(words(admin, "english", text), set)


@server
@pytest.mark.parametrize("text", ["\u0301\u0302", "\u064b\u0670", "\u05b0", "\u0e31", "\u17d2", "\u3099", "\u200d"])
async def test_marks_without_a_letter_break_nothing(text: str, db: Database, owner: Owner, settings: Settings) -> None:
    await append(db, owner, [MessageIn(conversation="talk", text=f"heron {text} ёж")], settings)
    [found] = await recall(db, owner, f"heron {text}", settings)
    assert found.text == f"heron {text} ёж"


async def test_half_a_character_is_still_refused(db: Database, owner: Owner, settings: Settings) -> None:
    with pytest.raises(InvalidTextError):
        await append(db, owner, [MessageIn(conversation="talk", text="ё \ud83d")], settings)


@server
@hypothesis(max_examples=some_of(200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(
        st.one_of(
            st.characters(exclude_categories=["Cs"], exclude_characters="\x00"),
            st.sampled_from("0123456789.,'’/-+() \u00a0éёΣςıİאבهةกำខ្မြ年月日janDec"),
        ),
        max_size=60,
    ),
    language=st.sampled_from(sorted(LANGUAGES)),
)
def test_any_text_has_words_the_same_each_time_and_in_either_composition(
    text: str, language: str, admin: psycopg.Connection
) -> None:
    for form in ("stemmed", "simple"):
        made = value(admin, "SELECT memsvc.to_words(%s, %s, %s)::text", [form, language, text])
        assert made == value(admin, "SELECT memsvc.to_words(%s, %s, %s)::text", [form, language, text])
        assert value(admin, "SELECT memsvc.word_count(%s::tsvector) >= 0", [made])
    shown = value(
        admin,
        "SELECT memsvc.whole_words(memsvc.words_behind(%s, 'simple', %s, "
        "tsvector_to_array(memsvc.to_words('simple', %s, %s))))",
        [text, language, language, text],
    )
    assert not [word for word in shown if word.startswith("#")]
