"""What memsvc writes into notes stays in its section; the owner's bytes are the same before, with and after it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from memsvc.documents.vaults import writing
from memsvc.documents.vaults.days import Days
from memsvc.documents.vaults.form import Flavour, Note
from memsvc.documents.vaults.history import Entry, History
from memsvc.documents.vaults.reading import read_note, read_vault
from memsvc.documents.vaults.sections import BEGIN, END, Content, LinkTo, as_text, owners_bytes, sections
from memsvc.documents.vaults.writing import Writer, sidecar_of
from memsvc.errors import BadFileError, NoteChangedError, NoteConflictError, NoteReadOnlyError

FLAVOURS: tuple[Flavour, ...] = ("obsidian",)
SOME = Content(
    summary="About it.", facts=("Anna lives in Bern.",), links=(LinkTo(path="b/c.md", text="the same trip"),)
)
MORE = Content(facts=("Anna lives in Rome.", "Ben knows Anna."))
NOTHING = Content()
EXAMPLE = f"```\n{BEGIN}\nx\n{END}\n```\n"

PIECES = st.sampled_from([
    "a", "# b", "\n", "\r\n", "\r", "\n\n", "```", "~~~", "    ", "- ", "> ", "---", "<!--", "-->", "%%", "[[x]]", "#t",
    "<pre>", "`", "\ufeff", "é", "🎉", " ", "\t", "^id", "- [ ] t", "k:: v", EXAMPLE, "\x0b", "\u2028", "\x00",
])  # fmt: skip
OWNERS = st.lists(PIECES, max_size=14).map(lambda pieces: "".join(pieces).encode())
SAID = st.one_of(
    st.text(max_size=30), st.sampled_from([BEGIN, END, f"x\n{END}\ny", "```", "# h", "[[x]]", "#t", "^id", "\r", "%%"])
)
CONTENTS = st.builds(
    Content,
    summary=SAID,
    facts=st.lists(SAID, max_size=3).map(tuple),
    links=st.lists(
        st.builds(LinkTo, path=st.sampled_from(["b.md", "d/e f.md", "a]].md", "x|y#z.md", f"{END}.md"]), text=SAID),
        max_size=2,
    ).map(tuple),
)  # fmt: skip


class Desk:
    """A folder with one note and what writes to it."""

    def __init__(self, folder: Path, data: bytes, flavours: tuple[Flavour, ...] = FLAVOURS) -> None:
        self.folder = folder
        self.place = folder / "a.md"
        self.place.write_bytes(data)
        self.flavours = flavours
        self.history = folder / ".memsvc" / "history.jsonl"
        self.writer = Writer(folder, self.history, flavours)

    def note(self) -> Note:
        found = read_note("a.md", self.place.read_bytes(), self.flavours, Days(self.folder, self.flavours), Counter())
        assert found is not None
        return found

    def write(self, content: Content, *, beside: bool = False) -> bool:
        return self.writer.apply(self.writer.plan(self.note(), content, beside=beside))

    def data(self) -> bytes:
        return self.place.read_bytes()


@pytest.fixture(scope="module", autouse=True)
def quick_disks() -> Iterator[None]:
    """No test cuts the power, and waiting for disks would take minutes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, b"# A\n\nText.\n")


@pytest.mark.slow
@given(OWNERS, CONTENTS)
@example(b"x\ny\r", SOME)
@example(b"x\r\ny", SOME)
@example(b"```\nopen", SOME)
@example(b"", SOME)
@example(b"\xef\xbb\xbf", SOME)
@example(b"<!-- open", SOME)
@example(EXAMPLE.encode(), SOME)
def test_write_then_read_is_the_same_note_and_undo_gives_the_same_bytes(data: bytes, content: Content) -> None:
    found = sections(as_text(data))
    assume(not found.spans and not found.strays)
    with tempfile.TemporaryDirectory() as name:
        desk = Desk(Path(name), data)
        before = desk.note()
        wrote = desk.write(content)
        once = desk.data()
        assert once.startswith(data)
        assert wrote == (once != data)
        assert owners_bytes(once) == (data, int(wrote))
        assert desk.note() == before
        told = desk.history.read_bytes() if wrote else b""
        assert not desk.write(content)
        assert desk.data() == once
        assert not wrote or desk.history.read_bytes() == told
        assert desk.writer.undo("a.md") == wrote
        assert desk.data() == data
        assert not desk.writer.undo("a.md")


@pytest.mark.slow
@given(OWNERS, st.lists(CONTENTS, min_size=1, max_size=4))
def test_undo_goes_back_through_all_states(data: bytes, contents: list[Content]) -> None:
    found = sections(as_text(data))
    assume(not found.spans and not found.strays)
    with tempfile.TemporaryDirectory() as name:
        desk = Desk(Path(name), data)
        states = []
        for content in contents:
            state = desk.data()
            if desk.write(content):
                states.append(state)
            assert owners_bytes(desk.data())[0] == data
        for state in reversed(states):
            assert desk.writer.undo("a.md")
            assert desk.data() == state
        assert desk.data() == data


@pytest.mark.slow
@given(OWNERS, OWNERS, CONTENTS)
def test_what_stands_around_the_section_is_kept(before: bytes, after: bytes, content: Content) -> None:
    with tempfile.TemporaryDirectory() as name:
        desk = Desk(Path(name), b"x")
        desk.write(SOME)
        section = desk.data()[1:]
        mixed = before + section + after
        found = sections(as_text(mixed))
        assume(len(found.spans) == 1 and not found.strays)
        start, stop = (len(as_text(mixed)[:at].encode()) for at in found.spans[0])
        assume(mixed[start:stop] == section)
        desk.place.write_bytes(mixed)
        note = desk.note()
        desk.write(content)
        written = desk.data()
        assert written.startswith(before)
        assert written.endswith(after)
        assert desk.note() == note
        if written == mixed:
            assert desk.writer.undo("a.md")
            assert desk.data() == owners_bytes(mixed)[0]
        else:
            assert desk.writer.undo("a.md")
            assert desk.data() == mixed


def test_the_section_says_what_it_should(desk: Desk) -> None:
    plan = desk.writer.plan(desk.note(), SOME)
    assert plan.is_change
    assert desk.data() == b"# A\n\nText.\n"
    assert desk.writer.apply(plan)
    assert desk.data().decode() == (
        "# A\n\nText.\n\n<!-- memsvc:begin -->\n### memsvc\n\nAbout it.\n\n- Anna lives in Bern.\n\n"
        "- [[b/c|c]]: the same trip\n<!-- memsvc:end -->\n"
    )
    assert "+- Anna lives in Bern." in plan.diff
    assert not [line for line in plan.diff.splitlines()[2:] if line.startswith("-")]


def test_programs_without_wiki_links_get_paths(tmp_path: Path) -> None:
    desk = Desk(tmp_path, b"", ("notion",))
    desk.write(Content(links=(LinkTo(path="b/c d.md"),)))
    assert "- [c d](b/c%20d.md)\n" in desk.data().decode()


def test_a_name_that_would_break_a_link_is_text(desk: Desk) -> None:
    desk.write(Content(links=(LinkTo(path="x]] y.md"),)))
    assert "- x\\]\\] y\n" in desk.data().decode()


def test_nothing_to_say_removes_the_section(desk: Desk) -> None:
    original = desk.data()
    desk.write(SOME)
    assert desk.write(NOTHING)
    assert desk.data() == original
    assert desk.writer.undo("a.md")
    assert b"Anna" in desk.data()


def test_git_sees_nothing_outside_the_section(desk: Desk) -> None:
    def git(*arguments: str) -> str:
        command = ["git", "-C", str(desk.folder), "-c", "user.name=x", "-c", "user.email=x@example.org", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    git("init", "-q")
    git("add", "a.md")
    git("commit", "-qm", "x")
    desk.write(SOME)
    added, removed, _ = git("diff", "--numstat").split("\t")
    assert (removed, int(added)) == ("0", desk.data().count(b"\n") - 3)
    data = desk.data()
    begin, end = data.index(b"\n" + BEGIN.encode()), data.index(END.encode()) + len(END) + 1
    desk.place.write_bytes(data[:begin] + data[end:])
    assert not git("diff")


def test_an_edit_within_the_section_is_shown_and_kept(desk: Desk) -> None:
    desk.write(SOME)
    edited = desk.data().replace(b"Bern", b"Basel")
    desk.place.write_bytes(edited)
    plan = desk.writer.plan(desk.note(), MORE)
    assert plan.conflict == "The section that memsvc wrote was edited."
    assert "-- Anna lives in Bern." in plan.diff
    assert "+- Anna lives in Basel." in plan.diff
    with pytest.raises(NoteConflictError):
        desk.writer.apply(plan)
    with pytest.raises(NoteConflictError):
        desk.writer.undo("a.md")
    assert desk.data() == edited
    assert desk.writer.accept("a.md")
    assert not desk.writer.accept("a.md")
    assert desk.write(MORE)
    assert b"Rome" in desk.data()
    assert desk.writer.undo("a.md")
    assert desk.data() == edited
    assert desk.writer.undo("a.md")
    assert desk.data() == b"# A\n\nText.\n"


def test_a_section_that_the_owner_removed_stays_removed_until_that_is_accepted(desk: Desk) -> None:
    desk.write(SOME)
    desk.place.write_bytes(b"# A\n")
    assert desk.writer.plan(desk.note(), SOME).conflict == "The section that memsvc wrote was removed."
    assert desk.writer.accept("a.md")
    assert desk.write(SOME)


def test_a_section_without_history_is_a_conflict(desk: Desk) -> None:
    desk.write(SOME)
    desk.history.unlink()
    assert "does not know" in desk.writer.plan(desk.note(), MORE).conflict


@pytest.mark.parametrize(
    "text",
    [
        f"{BEGIN}\nx\n",
        f"x\n{END}\n",
        f"{BEGIN}\n{BEGIN}\n{END}\n",
        f"{BEGIN}\n{END}\n{BEGIN}\n{END}\n",
        f"{END}\n{BEGIN}",
    ],
)
def test_markers_that_do_not_fit_are_a_conflict(desk: Desk, text: str) -> None:
    desk.place.write_text(text, encoding="utf-8")
    plan = desk.writer.plan(desk.note(), SOME)
    assert "without its other half" in plan.conflict
    with pytest.raises(NoteConflictError):
        desk.writer.accept("a.md")
    assert desk.data() == text.encode()


def test_programs_may_change_line_breaks_and_blanks_at_ends(desk: Desk) -> None:
    desk.write(SOME)
    desk.place.write_bytes(desk.data().replace(b"\n", b"\r\n").replace(b"Bern.", b"Bern. ").rstrip())
    assert not desk.writer.plan(desk.note(), MORE).conflict
    assert not desk.write(SOME)


def test_an_owner_may_write_below_the_section(desk: Desk) -> None:
    desk.place.write_bytes(b"one")
    desk.write(SOME)
    desk.place.write_bytes(desk.data() + b"# two")
    assert desk.note().text == "one\n# two"
    desk.write(MORE)
    assert desk.data().startswith(b"one\n<!-- memsvc:begin")
    assert desk.data().endswith(b"end -->\n# two")


@pytest.mark.parametrize("when", ["before the plan", "after the plan", "while writing"])
def test_a_note_that_changed_since_is_not_written(desk: Desk, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    note = desk.note()
    if when == "before the plan":
        desk.place.write_bytes(b"other")
        with pytest.raises(NoteChangedError):
            desk.writer.plan(note, SOME)
    else:
        plan = desk.writer.plan(note, SOME)
        if when == "after the plan":
            desk.place.write_bytes(b"other")
        else:
            begin = History.begin

            def beginning(*arguments: object, **named: object) -> int:
                desk.place.write_bytes(b"other")
                return begin(*arguments, **named)  # type: ignore[arg-type]

            monkeypatch.setattr(History, "begin", beginning)
        with pytest.raises(NoteChangedError):
            desk.writer.apply(plan)
    assert desk.data() == b"other"
    assert sorted(path.name for path in desk.folder.iterdir()) in (["a.md"], [".memsvc", "a.md"])


def test_a_note_that_is_gone_is_not_made_again(desk: Desk) -> None:
    note = desk.note()
    desk.place.unlink()
    with pytest.raises(NoteChangedError):
        desk.writer.plan(note, SOME)


def test_permissions_stay(desk: Desk) -> None:
    desk.place.chmod(0o640)
    desk.write(SOME)
    assert desk.place.stat().st_mode & 0o777 == 0o640
    assert desk.history.stat().st_mode & 0o777 == 0o600
    assert desk.history.parent.stat().st_mode & 0o777 == 0o700


def test_a_write_protected_note_stays(desk: Desk) -> None:
    desk.place.chmod(0o444)
    with pytest.raises(NoteReadOnlyError):
        desk.write(SOME)
    assert b"Anna" not in desk.data()
    desk.place.chmod(0o644)
    assert desk.write(SOME)


@pytest.mark.parametrize("data", [b"caf\xe9", "\ufeffx".encode("utf-16-le")])
def test_a_note_in_another_encoding_is_not_written(tmp_path: Path, data: bytes) -> None:
    desk = Desk(tmp_path, data)
    with pytest.raises(NoteReadOnlyError):
        desk.write(SOME)
    assert desk.data() == data


def test_no_path_leads_out_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    (tmp_path / "out.md").write_text("x", encoding="utf-8")
    (folder / "link.md").symlink_to(tmp_path / "out.md")
    (folder / "sub").symlink_to(tmp_path)
    writer = Writer(folder, folder / "h", FLAVOURS)
    for path in ("../out.md", "link.md", "sub/out.md", str(tmp_path / "out.md"), "x/../../out.md", "."):
        with pytest.raises(NoteReadOnlyError):
            writer.undo(path)


@pytest.mark.parametrize("crash", ["before the note", "after the note"])
def test_a_crash_leaves_the_note_whole_and_known(desk: Desk, monkeypatch: pytest.MonkeyPatch, crash: str) -> None:
    original = desk.data()
    desk.write(MORE)
    first = desk.data()

    def crashing(*arguments: object, **named: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if crash == "before the note":
            patch.setattr(writing, "write", crashing)
        else:
            patch.setattr(History, "done", crashing)
        with pytest.raises(KeyboardInterrupt):
            desk.write(SOME)
    assert (desk.data() == first) == (crash == "before the note")
    assert not desk.writer.plan(desk.note(), SOME).conflict
    desk.write(SOME)
    assert b"Bern" in desk.data()
    assert desk.writer.undo("a.md")
    assert desk.data() == first
    assert desk.writer.undo("a.md")
    assert desk.data() == original


def test_a_line_of_the_history_that_a_crash_cut_is_passed_over(desk: Desk) -> None:
    original = desk.data()
    desk.write(SOME)
    whole = desk.history.read_bytes()
    desk.history.write_bytes(whole + b'{"id":3,"at":"2026')
    assert desk.write(MORE)
    assert desk.history.read_bytes().startswith(whole + b'{"id":3,"at":"2026\n{"id":2,')
    desk.writer.undo("a.md")
    desk.writer.undo("a.md")
    assert desk.data() == original


@pytest.mark.parametrize("line", [b"[]", b"x", b'{"id":"x"}', b'{"done":true}'])
def test_a_damaged_history_is_an_error(desk: Desk, line: bytes) -> None:
    desk.write(SOME)
    desk.history.write_bytes(line + b"\n" + desk.history.read_bytes())
    with pytest.raises(BadFileError, match="Line 1 of the history"):
        desk.write(MORE)


def test_the_history_only_grows(desk: Desk) -> None:
    seen = b""
    for content in (SOME, MORE, None):
        assert desk.writer.undo("a.md") if content is None else desk.write(content)
        now = desk.history.read_bytes()
        assert now.startswith(seen)
        assert now.endswith(b"\n")
        seen = now
    entries: Sequence[Entry] = History(desk.history).entries()
    assert [(one.id, one.done, one.action) for one in entries if not one.done] == [
        (1, False, "write"), (2, False, "write"), (3, False, "undo"),
    ]  # fmt: skip


def test_a_note_beside_is_made_left_out_and_taken_back(desk: Desk) -> None:
    original = desk.data()
    before = read_vault(desk.folder)
    assert desk.write(SOME, beside=True)
    beside = desk.folder / "a.memsvc.md"
    assert b"Anna lives in Bern" in beside.read_bytes()
    assert desk.data() == original
    after = read_vault(desk.folder)
    assert (after.notes, after.odd) == (before.notes, {"notes that memsvc wrote": 1})
    assert not desk.write(SOME, beside=True)
    assert desk.write(MORE, beside=True)
    assert desk.writer.undo(sidecar_of("a.md"))
    assert desk.writer.undo(sidecar_of("a.md"))
    assert not beside.exists()


def test_a_note_beside_in_which_the_owner_wrote_is_a_note(desk: Desk) -> None:
    desk.write(SOME, beside=True)
    beside = desk.folder / "a.memsvc.md"
    beside.write_bytes(beside.read_bytes() + b"mine\n")
    assert [note.path for note in read_vault(desk.folder).notes] == ["a.md", "a.memsvc.md"]
    assert desk.writer.undo("a.memsvc.md")
    assert beside.read_bytes() == b"mine\n"


def test_nothing_to_say_removes_a_note_beside(desk: Desk) -> None:
    assert not desk.write(NOTHING, beside=True)
    desk.write(SOME, beside=True)
    assert desk.write(NOTHING, beside=True)
    assert not (desk.folder / "a.memsvc.md").exists()
    assert desk.writer.undo("a.memsvc.md")
    assert b"Anna" in (desk.folder / "a.memsvc.md").read_bytes()
