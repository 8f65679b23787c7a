"""What is so of all kinds of sources: recognising, ids, hostile files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.errors import BadFileError, ConfigurationError, InvalidRequestError, SourceUnknownError
from memsvc.sources.files import read_messages
from memsvc.sources.kinds import registry
from memsvc.sources.kinds.bundles import Bundle, opened
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Names, Placed, Reading
from memsvc.sources.messages import MessageIn
from tests.chats import EXPORTS, VARIANTS, packed, tree, write

STDIN: Any = None


def read(path: Path, *me: str) -> list[Placed]:
    """The messages of a path, as its kind reads them."""
    with opened(path, STDIN) as bundle:
        found = registry.recognised(bundle)
        assert found is not None
        kept = bundle.narrowed(found.detection.files)
        return list(found.kind.read(kept, Reading(frozenset(name.casefold() for name in me))))


def place(kind: str, folder: Path) -> Path:
    """The export of a kind: its file, or its folder if it has several."""
    root = tree(folder, EXPORTS[kind])
    return root if len(EXPORTS[kind]) > 1 else root / next(iter(EXPORTS[kind]))


def test_every_kind_has_a_sample() -> None:
    assert set(EXPORTS) == set(registry.kinds())


@pytest.mark.parametrize("kind", EXPORTS)
def test_a_kind_recognises_its_files_alone_and_says_why(tmp_path: Path, kind: str) -> None:
    with opened(place(kind, tmp_path), STDIN) as bundle:
        sure = {name: one.detect(bundle) for name, one in registry.kinds().items()}
        assert sure[kind].sure >= 0.9
        assert sure[kind].why
        assert [name for name, detection in sure.items() if detection.sure] == [kind]


@pytest.mark.parametrize("case", VARIANTS)
def test_every_other_form_of_a_kind_is_its_own_alone(tmp_path: Path, case: str) -> None:
    kind, files = VARIANTS[case]
    root = tree(tmp_path, files)
    with opened(root if len(files) > 1 else root / next(iter(files)), STDIN) as bundle:
        assert [name for name, one in registry.kinds().items() if one.detect(bundle).sure] == [kind]


@pytest.mark.parametrize("kind", EXPORTS)
def test_the_name_of_a_file_does_not_decide(tmp_path: Path, kind: str) -> None:
    if len(EXPORTS[kind]) == 1:
        [(name, content)] = EXPORTS[kind].items()
        path = write(tmp_path / name, content).rename(tmp_path / "some file")
        assert len(read(path)) == 2


@pytest.mark.parametrize("kind", EXPORTS)
def test_each_reading_gives_the_same_messages_with_ids_of_their_own(tmp_path: Path, kind: str) -> None:
    path = place(kind, tmp_path)
    first, second = read(path, "Jo"), read(path, "Jo")
    assert first == second
    ids = [(one.message.conversation, one.message.id, one.message.ordinal) for one in first]
    assert len(set(ids)) == len(ids) == 2
    assert all(one.message.id is not None or one.message.ordinal is not None for one in first)
    assert all(one.origin for one in first)


@pytest.mark.parametrize("kind", EXPORTS)
def test_a_zip_file_has_the_same_messages_as_its_files(tmp_path: Path, kind: str) -> None:
    whole = [one.message for one in read(place(kind, tmp_path / "whole"))]
    assert [one.message for one in read(packed(tmp_path / "export.zip", EXPORTS[kind]))] == whole


MADE_OF_LINES = {"jsonl", "whatsapp", "mail", "transcript", "signal", "copilot", "imessage"}


@pytest.mark.parametrize("kind", [kind for kind in EXPORTS if len(EXPORTS[kind]) == 1])
def test_a_cut_file_is_refused_or_ends_with_a_whole_message(tmp_path: Path, kind: str) -> None:
    path = place(kind, tmp_path)
    whole = path.read_bytes()
    texts = [one.message.text for one in read(path)]
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        got: list[str] = []
        is_whole = False
        with suppress(BadFileError):
            got = [message.text for _, message in read_messages(path)]
            is_whole = True
        assert not is_whole or kind in MADE_OF_LINES
        assert all(text in whole.decode() for text in got)
        assert len(got) <= len(texts)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def paths_in(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to all values within a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, one in inner for found in paths_in(one, (*path, key)))]


def changed(value: Any, path: tuple[Any, ...], new: object) -> Any:
    """A copy with another value at a path."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(copy[path[0]], path[1:], new)
    return copy


JSON_KINDS = [
    kind for kind, files in EXPORTS.items() if not any(isinstance(content, str | bytes) for content in files.values())
]


@pytest.mark.parametrize("kind", JSON_KINDS)
@given(data=st.data())
def test_a_value_of_another_type_anywhere_is_read_or_refused_with_a_code(
    tmp_path_factory: pytest.TempPathFactory, kind: str, data: st.DataObject
) -> None:
    files = dict(EXPORTS[kind])
    name = data.draw(st.sampled_from(sorted(files)))
    path = data.draw(st.sampled_from(paths_in(files[name])))
    files[name] = changed(files[name], path, data.draw(JSON))
    root = tree(tmp_path_factory.mktemp("hostile"), files)
    with suppress(BadFileError):  # any other error fails
        for _, message in read_messages(root if len(files) > 1 else root / name):
            assert isinstance(message, MessageIn)


CHAT = b'{"id": 7, "messages": [{"type": "message", "from_id": "user7", "date": "2026-02-01", %s}]}'
HOSTILE: dict[str, bytes] = {
    "deep": b"[" * 200_000 + b"]" * 200_000,
    "deep within": b'[{"mapping": {"a": {"message": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}}]",
    "not UTF-8": CHAT % b'"id": 1, "text": "caf\xe9"',
    "a lone surrogate": CHAT % b'"id": 1, "text": "\\ud83d"',
    "a huge number": CHAT % b'"id": 1e999, "text": "x"',
    "an impossible time": CHAT % b'"id": 1, "text": "x", "date_unixtime": "9999999999999999999"',
    "bytes": bytes(range(256)) * 9,
    "nothing": b"",
    "blanks": b" \n\n ",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_have_a_clear_error(tmp_path: Path, case: str) -> None:
    path = write(tmp_path / "file.json", HOSTILE[case])
    with pytest.raises(BadFileError, match=r"file\.json") as caught:
        list(read_messages(path))
    assert caught.value.code in {"bad_file", "source_unknown"}
    assert caught.value.advice


def test_a_huge_text_is_read_and_left_to_the_limits(tmp_path: Path) -> None:
    export = json.loads(json.dumps(EXPORTS["telegram"]["result.json"]))
    export["messages"][0]["text"] = "x" * 3_000_000
    assert len(read(write(tmp_path / "result.json", export))[0].message.text) == 3_000_000


# Zip files


def test_names_within_a_zip_file_lead_nowhere(tmp_path: Path) -> None:
    path = packed(tmp_path / "evil.zip", {"../../outside.jsonl": '{"text": "x"}\n'})
    (tmp_path / "in").mkdir()
    assert [message.text for _, message in read_messages(path)] == ["x"]
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["evil.zip", "in"]


def test_a_file_that_unpacks_to_far_more_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memsvc.sources.kinds.bundles.UNSUSPICIOUS_BYTES", 1_000)
    path = packed(tmp_path / "bomb.zip", {"talk.jsonl": b'{"text": "x"}\n' + b"\n" * 3_000_000})
    with pytest.raises(BadFileError, match="unpacks to more than"):
        list(read_messages(path))


def test_an_encrypted_zip_file_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "locked.zip", {"talk.jsonl": b'{"text": "x"}\n'})
    content = bytearray(path.read_bytes())
    content[6] |= 1  # the flag of encryption, in the member's header and in the directory
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(BadFileError, match=r"locked.zip cannot be read: .*(encrypted|password)"):
        list(read_messages(path))


def test_documents_that_are_zip_files_are_named(tmp_path: Path) -> None:
    path = packed(tmp_path / "letter.docx", {"[Content_Types].xml": "<x/>", "word/document.xml": "<x/>"})
    with pytest.raises(SourceUnknownError, match=r"letter\.docx looks like a document of Microsoft Office"):
        list(read_messages(path))


def test_unpacked_files_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "unpacked"))
    (tmp_path / "unpacked").mkdir()
    path = packed(tmp_path / "export.zip", EXPORTS["telegram"])
    with opened(path, STDIN) as bundle:
        assert bundle.document("result.json").fields
        assert list((tmp_path / "unpacked").rglob("*"))
    assert not list((tmp_path / "unpacked").iterdir())


def test_of_many_unpacked_files_few_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memsvc.sources.kinds.bundles.MOST_KEPT_BYTES", 100)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "unpacked"))
    (tmp_path / "unpacked").mkdir()
    files = {f"{number}.txt": f"{number} ".encode() * 30 for number in range(9)}
    with opened(packed(tmp_path / "export.zip", files), STDIN) as bundle:
        for _ in range(2):
            for name, content in files.items():
                assert bundle.path(name).read_bytes() == content
                assert sum(path.stat().st_size for path in (tmp_path / "unpacked").rglob("*") if path.is_file()) < 200


# Kinds of other packages


class Notes:
    """A kind of another package."""

    name = "notes"
    title = "notes of a test"
    has_people = False
    is_export = False
    sure = 1.0

    def detect(self, bundle: Bundle) -> Detection:
        file = bundle.files[0]
        is_mine = bundle.head(file).startswith(b"NOTES\n")
        return Detection(self.sure, "its first line", (file,)) if is_mine else NOT_MINE

    def read(self, bundle: Bundle, reading: Reading) -> Any:
        with bundle.path(bundle.files[0]).open() as lines:
            for number, line in enumerate(lines, 1):
                reading.odd["notes"] += 1
                yield Placed(
                    f"line {number}", MessageIn(conversation="notes", id=str(number), text=line), {"line": number}
                )


class Rival(Notes):
    """Another kind that claims the same files."""

    name = "rival"
    title = "notes of a rival"
    sure = 0.95


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Adds kinds of other packages."""

    def add(*classes: type) -> None:
        points = [
            SimpleNamespace(name=one.__name__.lower(), value="package:it", load=lambda it=one: it) for one in classes
        ]
        monkeypatch.setattr(registry, "entry_points", lambda group: points)
        registry.kinds.cache_clear()

    yield add
    monkeypatch.undo()
    registry.kinds.cache_clear()


def test_a_kind_of_another_package_is_read_like_ours(tmp_path: Path, added: Callable[..., None]) -> None:
    added(Notes)
    assert [one.message.text for one in read(write(tmp_path / "a", "NOTES\none\n"))] == ["NOTES\n", "one\n"]


def test_a_kind_does_not_take_the_name_of_another(tmp_path: Path, added: Callable[..., None]) -> None:
    added(type("Telegram", (Notes,), {}))
    with pytest.raises(ConfigurationError, match="more than one kind of source 'telegram'"):
        read(write(tmp_path / "a", "NOTES\n"))


def test_the_kind_of_the_docs_works(tmp_path: Path, added: Callable[..., None]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "sources.md").read_text()
    [code] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    added(names["Pager"])
    log = "PAGER 1\nmila [2026-02-01T10:00:00+01:00] Call me.\n\njo [2026-02-01T10:01:00+01:00] Soon.\n"
    assert [(one.message.speaker, one.message.role, one.where) for one in read(write(tmp_path / "log", log), "jo")] == [
        ("mila", "other", "log, line 2"), ("jo", "user", "log, line 4"),
    ]  # fmt: skip


def test_a_file_that_two_kinds_claim_is_not_guessed(tmp_path: Path, added: Callable[..., None]) -> None:
    added(Notes, Rival)
    with pytest.raises(SourceUnknownError, match=r"may be notes of a test .* or notes of a rival") as caught:
        list(read_messages(write(tmp_path / "a", "NOTES\n")))
    assert "--as notes or --as rival" in caught.value.advice


def test_a_kind_that_cannot_be_loaded_is_named(added: Callable[..., None]) -> None:
    class Broken:
        def __init__(self) -> None:
            raise OSError

    added(Broken)
    with pytest.raises(ConfigurationError, match=r"'broken' cannot be loaded: OSError\."):
        registry.kinds()


def test_names_of_people_who_are_called_alike() -> None:
    names = Names()
    assert [names.of("1", "Mila"), names.of("2", "Mila"), names.of("1", "Mila"), names.of("3", "Jo")] == [
        "Mila", "Mila (2)", "Mila", "Jo",
    ]  # fmt: skip


def test_a_kind_that_there_is_not(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match="no kind of source 'fax'") as caught:
        registry.kind_called("fax")
    assert "telegram" in caught.value.advice
