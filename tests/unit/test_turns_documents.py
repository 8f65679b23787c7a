"""What documents are called, which project a file is of, what is masked and kept, and which turns a chat has."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.errors import InvalidRequestError
from memsvc.text.secrets import mask, mask_values
from memsvc.turns.calls import CallIn, digest_of, document_of, told_error, tool_name
from memsvc.turns.chat_turns import chat_turns
from memsvc.turns.documents import document_name, on_disk
from memsvc.turns.projects import Project, find_project, project_at, remote_name
from memsvc.turns.results import BINARY, HEAD_CHARS, TAIL_CHARS, keep_result
from memsvc.turns.storing import LONGEST_ARGUMENT, _arguments

SEGMENT = st.text(
    st.characters(exclude_characters="/\\\0:", exclude_categories=["Cs", "C"]), min_size=1, max_size=8
).filter(lambda one: one.strip() == one and one not in {".", "..", "~"})
PATH = st.lists(SEGMENT, min_size=1, max_size=5)
NAMES = st.sampled_from(["github.com/kim/shop", "shop", "Laden"])


def _detours(path: list[str], detours: list[int]) -> str:
    """The same path with ``.``, ``x/..`` and doubled slashes in it."""
    told = ""
    for place, segment in enumerate(path):
        told += ("", "./", "x/../", "/")[detours[place % len(detours)] if place else 0] + segment
        told += "/" if place < len(path) - 1 else ""
    return told


@given(PATH, PATH, PATH, NAMES, st.lists(st.integers(0, 3), min_size=1, max_size=5))
def test_a_file_of_a_project_has_one_local_name_wherever_the_project_lies_and_however_it_is_written(
    root: list[str], other: list[str], path: list[str], name: str, detours: list[int]
) -> None:
    here = Project(name, "/" + "/".join(root))
    there = Project(name, "/" + "/".join(other))
    first = document_name("/".join(path), here)
    assert first.local == f"{name}//{'/'.join(path)}"
    assert first.identifier == f"{here.root}/{'/'.join(path)}"
    assert document_name(_detours(path, detours), here) == first
    assert document_name(f"{here.root}/{_detours(path, detours)}", here) == first
    assert document_name("/".join(path), there).local == first.local
    assert document_name("/".join(path), Project(name)).local == first.local
    assert document_name("/".join(path), Project(f"{name}2", here.root)).local != first.local
    assert document_name(first.identifier).identifier == first.identifier  # global: as ingested by path


@pytest.mark.parametrize(
    ("given_", "name"),
    [
        ("C:\\Work\\Shop\\..\\a.py", "c:/work/a.py"),
        ("c:/work/A.PY", "c:/work/a.py"),
        ("\\\\Server\\share\\x\\..\\a.py", "//server/share/a.py"),
        ("HTTP://User:pw@Example.ORG:80/a/../%7eb/%c3%a9?q=%2f#top", "http://example.org/~b/%C3%A9?q=%2F"),
        ("https://example.org", "https://example.org/"),
        ("https://[2001:DB8::1]:8443/x/", "https://[2001:db8::1]:8443/x/"),
        ("file:///srv/a%20b.md", "/srv/a b.md"),
        ("file:///C:/x/y.md", "c:/x/y.md"),
        ("/../../etc/hosts", "/etc/hosts"),
        ("urn:isbn:123", "urn:isbn:123"),
    ],
)
def test_addresses_and_paths_of_other_systems_have_a_normal_form(given_: str, name: str) -> None:
    told = document_name(given_, Project("shop", "/srv/shop"))
    assert (told.identifier, told.local) == (name, None)
    assert document_name(told.identifier) == document_name(told.identifier, Project("shop", "/srv/shop"))


def test_a_file_system_that_ignores_case_has_one_document_and_shows_the_path_as_it_came() -> None:
    folded = Project("shop", "/Users/Kim/Shop", ignores_case=True)
    told = document_name("/users/kim/shop/README.md", folded)
    assert (told.local, told.path) == ("shop//readme.md", "README.md")
    assert document_name("readme.MD", folded).identifier == told.identifier
    windows = Project("shop", "C:\\Shop")
    assert (
        document_name("src\\A.py", windows).local
        == document_name("c:/shop/SRC/a.py", windows).local
        == "shop//src/a.py"
    )


@pytest.mark.parametrize("given_", ["", "  ", "a\0b", "a.py", "../a.py", "x" * 501])
def test_a_name_that_leads_nowhere_is_refused(given_: str) -> None:
    with pytest.raises(InvalidRequestError):
        document_name(given_, Project("shop") if given_ != "a.py" else None)


def test_what_lies_outside_the_root_is_global() -> None:
    told = document_name("../other/a.py", Project("shop", "/srv/shop"))
    assert (told.identifier, told.local) == ("/srv/other/a.py", None)


def _git(folder: Path, url: str) -> None:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text(f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {url}\n')


def test_a_project_keeps_its_name_when_it_is_moved_renamed_and_cloned(tmp_path: Path) -> None:
    first = tmp_path / "one"
    _git(first, "git@GitHub.com:kim/shop.git")
    (first / "src").mkdir()
    (first / "src" / "a.py").write_text("x")
    found = find_project(first / "src" / "a.py")
    assert found is not None
    assert (found.name, found.root) == ("github.com/kim/shop", str(first))
    name = document_name("src/a.py", found)
    shutil.copytree(first, tmp_path / "clone")
    first.rename(tmp_path / "moved")
    for place in ("clone", "moved"):
        again = find_project(tmp_path / place / "src")
        assert again is not None
        assert document_name("src/a.py", again).local == name.local
    marked = tmp_path / "marked"
    (marked / "deep").mkdir(parents=True)
    (marked / "pyproject.toml").write_text('[project]\nname = "tickertape"\n')
    assert project_at(marked / "deep") == Project("tickertape", str(marked))
    (marked / "pyproject.toml").write_text("[broken")
    assert project_at(marked / "deep").name == "marked"
    (marked / ".memsvc-project").write_text("my // name\n")
    assert project_at(marked / "deep").name == "my / name"
    work = tmp_path / "work"
    work.mkdir()
    (work / ".git").write_text(f"gitdir: {tmp_path}/clone/.git/worktrees/work\n")
    (tmp_path / "clone" / ".git" / "worktrees" / "work").mkdir(parents=True)
    (tmp_path / "clone" / ".git" / "worktrees" / "work" / "commondir").write_text("../..\n")
    assert project_at(work).name == "github.com/kim/shop"
    assert [remote_name(one) for one in ("https://x:y@h.org:444/a/b.git/", "/srv/git/a", "ssh://git@h.org/a")] == [
        "h.org/a/b", None, "h.org/a",
    ]  # fmt: skip


def test_links_lead_to_one_document_and_a_loop_of_links_ends(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "auth.py").write_text("x")
    (tmp_path / "link").symlink_to(folder)
    (folder / "loop").symlink_to(folder / "loop")
    assert on_disk(str(tmp_path / "link" / "auth.py")) == on_disk("auth.py", str(folder)) == str(folder / "auth.py")
    assert on_disk("loop/x", str(folder)).startswith(str(folder))
    assert on_disk("gone/../deleted.py", str(folder)) == str(folder / "deleted.py")
    assert on_disk("https://example.org/../a") == "https://example.org/../a"
    assert os.path.isabs(on_disk("~/x"))  # noqa: PTH117


TOKENS = [
    "ghp_" + "a1" * 18, "sk-ant-api03-" + "x" * 30, "sk-proj-" + "Q" * 40, "AKIA" + "Z7" * 8, "xoxb-" + "1" * 20,
    "eyJhbGciOiJI.eyJzdWIiOiIx.sig_nature", "sk_live_" + "9" * 24, "AIza" + "b" * 35, "glpat-" + "c" * 20,
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "npm_" + "d" * 36,
]  # fmt: skip


@given(st.sampled_from(TOKENS), st.text(max_size=30), st.text(max_size=30), st.text(max_size=20))
def test_no_secret_survives_and_masking_again_changes_nothing(token: str, before: str, after: str, key: str) -> None:
    told = mask(f"{before} {token} {after}")
    assert token not in told
    assert mask(told) == told
    assert token not in json.dumps(mask_values({key: [f"{before} {token}"], f"x {token}": {"y": token}}))
    assert "hunter22" not in json.dumps(mask_values({"dbPassword": "hunter22", "auth": {"api_key": "hunter22"}}))


@pytest.mark.parametrize(
    "text",
    [
        "mysql -u kim --password hunter22 shop", "PGPASSWORD=hunter22 psql", "curl -H 'Authorization: Bearer hunter22'",
        "git clone https://kim:hunter22@example.org/a.git", 'client_secret: "hunter22"', "export API_KEY='hunter22'",
    ],
)  # fmt: skip
def test_what_stands_beside_the_name_of_a_secret_is_masked(text: str) -> None:
    assert "hunter22" not in mask(text)
    assert mask(mask(text)) == mask(text)


@pytest.mark.parametrize(
    "text",
    [
        "PASSWORD=$PW cmd", "API_KEY: ${API_KEY}", "max_tokens=500", "def login(password: str) -> None:",
        "token = next(stream)", "pytest -k test_password_reset", "the secret sauce is salt", "Author: Kim",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert mask(text) == text


@given(st.one_of(st.text(), st.binary(), st.text(min_size=1).map(lambda one: one * 3_000)))
def test_of_every_result_head_tail_size_and_digest_are_kept(result: str | bytes) -> None:
    raw = result.encode("utf-8", "surrogatepass") if isinstance(result, str) else result
    kept = keep_result(result)
    assert (kept.size, kept.sha256) == (len(raw), hashlib.sha256(raw).hexdigest())
    assert len(kept.head) <= HEAD_CHARS + TAIL_CHARS
    assert len(kept.tail) <= TAIL_CHARS
    assert "\0" not in kept.head + kept.tail
    (kept.head + kept.tail).encode()


def test_a_secret_at_a_cut_is_masked_and_a_large_result_takes_no_room() -> None:
    token = "ghp_" + "a1" * 18
    kept = keep_result(
        "x" * (HEAD_CHARS - 20) + f" {token} " + "y" * 50_000_000 + f" {token}" + "z" * (TAIL_CHARS - 20)
    )
    assert "ghp_" not in kept.head + kept.tail
    assert "a1a1a1" not in kept.head + kept.tail
    assert keep_result(b"\x00\xff\x80" * 10).head == BINARY


def test_masking_a_long_text_without_spaces_takes_no_longer_for_its_signs() -> None:
    begun = time.process_time()
    for text in (("x" * 60 + "+") * 3_000, "ab.-" * 45_000, "a://b" * 36_000):
        assert mask(text) == text
    assert time.process_time() - begun < 5, "it grows with the square of the length"


def test_arguments_that_are_far_too_long_are_cut_and_masked() -> None:
    token = "ghp_" + "a" * 40
    whole = _arguments({"content": "x" * (LONGEST_ARGUMENT - 20) + f" {token} " + "y" * 1_000_000, "path": "a.py"})
    assert whole["path"] == "a.py"
    assert whole["content"].endswith("…")
    assert len(whole["content"]) == LONGEST_ARGUMENT + 1
    assert "ghp_" not in whole["content"]
    many = _arguments({str(number): f"password={'z' * 100}" for number in range(2_000)})
    assert isinstance(many, str)
    assert many.endswith("…")
    assert len(many) <= LONGEST_ARGUMENT + 1
    assert "zzz" not in many


def test_what_a_call_says() -> None:
    assert [tool_name(one) for one in ("WebSearch", "READ", "mcp__fs__read_file", "bash")] == [
        "WEB_SEARCH", "READ", "MCP_FS_READ_FILE", "BASH",
    ]  # fmt: skip
    whole = CallIn(tool="Read", arguments={"file_path": "a.py"}, result="x\n")
    assert document_of(whole) == "a.py"
    assert digest_of(whole) == (hashlib.sha256(b"x\n").hexdigest(), 2)
    assert digest_of(CallIn(tool="Read", arguments={"file_path": "a.py", "offset": 3}, result="x\n")) is None
    assert digest_of(CallIn(tool="Grep", arguments={"path": "a.py"}, result="x\n")) is None
    assert digest_of(CallIn(tool="READ", arguments={"path": "a.py"}, result="No such file", ok=False)) is None
    assert digest_of(CallIn(tool="EDIT", arguments={"path": "a", "content": "part"}, result="1 replacement")) is None
    written = CallIn(tool="WRITE", arguments={"path": "a", "content": "all"}, result="written")
    assert digest_of(written) == (hashlib.sha256(b"all").hexdigest(), 3)
    assert told_error("one\nAttributeError: no 'x'\n\n2 warnings\n") == "AttributeError: no 'x'"


def _chat(*, answered: bool) -> list[dict[str, object]]:
    call = {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "auth.py"}'}}
    other = {"id": "c2", "type": "function", "function": {"name": "bash", "arguments": "{broken"}}
    chat: list[dict[str, object]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Fix the login."}, {"type": "image_url"}]},
        {"role": "assistant", "content": None, "tool_calls": [call, other]},
        {"role": "tool", "tool_call_id": "c1", "content": "def login"},
        {"role": "tool", "tool_call_id": "c2", "content": '{"exit_code": 1, "stderr": "boom"}'},
        {"role": "tool", "tool_call_id": "lost", "content": "?"},
        {"role": "assistant", "content": "Fixed."},
        {"role": "user", "content": "Thanks."},
    ]
    return [*chat, {"role": "assistant", "content": "Gladly."}] if answered else chat


def test_a_chat_becomes_turns_whose_ids_stay_while_it_goes_on() -> None:
    first, second = chat_turns(_chat(answered=False))
    assert (first.request, first.answer) == ("Fix the login.", "Fixed.")
    assert [(one.tool, one.arguments, one.ok, one.number) for one in first.calls] == [
        ("read_file", {"path": "auth.py"}, True, 0), ("bash", "{broken", False, 1),
    ]  # fmt: skip
    assert (second.request, second.calls, second.answer) == ("Thanks.", [], None)
    assert [one.id for one in chat_turns(_chat(answered=True))] == [first.id, second.id]
    assert chat_turns(_chat(answered=True))[1].answer == "Gladly."
