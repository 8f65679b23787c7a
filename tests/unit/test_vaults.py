"""A folder of notes is read: links and what they mean, tags, headings, blocks, tasks and days."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.documents.vaults.days import pattern_of
from memsvc.documents.vaults.flavours import detect
from memsvc.documents.vaults.form import Link, Note, Vault
from memsvc.documents.vaults.marks import marks
from memsvc.documents.vaults.reading import read_vault
from memsvc.errors import BadFileError

UUID = "01234567-89ab-cdef-0123-456789abcdef"
NOTION = "0123456789abcdef0123456789abcdef"


def made(folder: Path, files: Mapping[str, str | bytes]) -> Vault:
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_vault(folder)


def note(vault: Vault, path: str) -> Note:
    return next(one for one in vault.notes if one.path == path)


def links(text: str) -> list[tuple[int, str, str, str | None, str | None]]:
    return [(link.line, link.kind, link.target, link.section, link.alias) for link in marks(text).links]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[a]]", [(1, "wiki", "a", None, None)]),
        ("x\ny [[a b#H 1|shown]] z", [(2, "wiki", "a b", "H 1", "shown")]),
        ("[[a#^id-1]]", [(1, "wiki", "a", "^id-1", None)]),
        ("[[#Here]]", [(1, "wiki", "", "Here", None)]),
        ("![[pic.png|100]] ![[n]]", [(1, "embed", "pic.png", None, "100"), (1, "embed", "n", None, None)]),
        ("[t](../a%20b.md#h)", [(1, "markdown", "../a b.md", "h", "t")]),
        ("[t](<a b.md>)", [(1, "markdown", "a b.md", None, "t")]),
        ("[t][r]\n\n[r]: x.md", [(1, "markdown", "x.md", None, "t")]),
        ("![alt](p.png)", [(1, "image", "p.png", None, "alt")]),
        ("|a|b|\n|-|-|\n|[[x\\|y]]|c|", [(3, "wiki", "x", None, "y")]),
        ("# [[a_b_c]]", [(1, "wiki", "a_b_c", None, None)]),
        ("> - deep\n>   [[q]]", [(2, "wiki", "q", None, None)]),
        (f"(({UUID}))", [(1, "block", "", f"^{UUID}", None)]),
        (f"{{{{embed (({UUID}))}}}}", [(1, "embed", "", f"^{UUID}", None)]),
        ("{{embed [[p]]}}", [(1, "embed", "p", None, None)]),
        ("[shown]([[page]])", [(1, "wiki", "page", None, "shown")]),
        ("<!-- c --> [[a]]", [(1, "wiki", "a", None, None)]),
        ("%% c\n\nc %% [[a]]", [(3, "wiki", "a", None, None)]),
        ("<div>\n\n[[a]]\n\n</div>", [(3, "wiki", "a", None, None)]),
    ],
)
def test_a_link_is_found_with_its_line(text: str, expected: list[tuple[int, str, str, str | None, str | None]]) -> None:
    assert links(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "`[[a]]`", "``x ` [[a]]``", "```\n[[a]]\n```", "~~~\n[[a]]\n```\n[[b]]\n~~~", "    [[a]]",
        "- x\n\n  ```\n  [[a]]\n  ```",
        "<!-- [[a]] -->", "<!--\n\n[[a]]\n\n-->", "x <!-- a\n\n[[a]] --> y", "%% [[a]] %%", "%%\n\n[[a]]\n\n%%",
        "\\[[a]]", "[[]]", "[[a\nb]]", "[x](https://a.b/[[a]])", "[x](mailto:a@b.c)", "[x](#h)", "<https://a.b>",
        "```\n[[unclosed]]",
    ],
)  # fmt: skip
def test_code_comments_and_addresses_have_no_links(text: str) -> None:
    assert links(text) == []


def test_a_backtick_pairs_with_none_of_another_paragraph() -> None:
    assert links("a ` b\n\n<!-- [[no]] -->\n\nc ` [[yes]]") == [(5, "wiki", "yes", None, None)]


def test_a_comments_end_within_code_ends_no_comment() -> None:
    assert links("a `<!--` [[yes]] `-->`") == [(1, "wiki", "yes", None, None)]


def test_a_comment_that_holds_code_hides_it_and_no_more() -> None:
    text = "<!-- x\n\n```\n[[no]]\n```\n-->\n\n[[yes]]\n\n```\n<!--\n```\n\n[[yes2]] <!-- -->"
    assert [link[2] for link in links(text)] == ["yes", "yes2"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#a and #b/c-d, #e_f", ["a", "b/c-d", "e_f"]),
        ("# Heading", []),
        ("## Heading\n#tag", ["tag"]),
        ("`#a` \\#b x#c https://x.y/#d [t](u#e) &#35;", []),
        ("```\n#a\n```\n\n    #b", []),
        ("#1 #2024-01 #1a", ["1a"]),
        ("#größe #标签 #🎉", ["größe", "标签", "🎉"]),
        ("#[[two words]]", ["two words"]),
        ("- #x\n- **#y** and *#z*", ["x"]),
        ("#a_b_c_", ["a_b_c_"]),
        ("<!-- #a --> %% #b %%", []),
    ],
)
def test_a_tag_is_found_outside_code_headings_and_addresses(text: str, expected: list[str]) -> None:
    assert marks(text).tags == expected


def test_headings_and_blocks_have_lines() -> None:
    found = marks("# A *b* `c`\n\ntext\nmore ^one\n\nTitle\n---\n\n- item ^two\n  id:: x-1\n\n`^no`\n\n## B ^three", 10)
    assert [(heading.line, heading.level, heading.text) for heading in found.headings] == [
        (11, 1, "A b c"), (16, 2, "Title"), (24, 2, "B"),
    ]  # fmt: skip
    assert found.blocks == {"one": 13, "x-1": 19, "three": 24}


def test_frontmatter_gives_title_aliases_tags_and_metadata(tmp_path: Path) -> None:
    vault = made(
        tmp_path,
        {
            "a.md": "---\ntitle: The A\naliases: [First, 'Se, cond']\ntags:\n  - x\n  - '#y/z'\nkeywords: k\n"
            "author: Me\n---\n"
            "\n# H\n[[b]] #X",
            "b.md": "---\nalias: Bee\ntag: p q,r\n---\nb",
        },
    )
    a = note(vault, "a.md")
    assert (a.title, a.aliases[0], a.tags) == ("The A", "First", ("x", "y/z"))
    assert a.metadata == {"keywords": "k", "author": "Me"}
    assert (a.headings[0].line, a.links[0].line) == (11, 12)
    assert (note(vault, "b.md").aliases, note(vault, "b.md").tags) == (("Bee",), ("p", "q", "r"))


def test_bad_frontmatter_is_counted_and_the_text_kept(tmp_path: Path) -> None:
    vault = made(
        tmp_path,
        {
            "a.md": "---\nkey: {a: [\nfine: yes\n---\n[[b]]",
            "b.md": "---\nno frontmatter, you see?\n---\n\n#tag",
        },
    )
    assert note(vault, "a.md").metadata == {"fine": "yes"}
    assert note(vault, "a.md").links[0].resolves_to == ("b.md",)
    assert note(vault, "b.md").tags == ("tag",)
    assert note(vault, "b.md").text.startswith("---\nno frontmatter")
    assert vault.odd == {"frontmatter lines not understood": 1, "frontmatter not understood, kept as text": 1}


def meanings(vault: Vault, path: str) -> list[tuple[str, ...]]:
    return [link.resolves_to for link in note(vault, path).links]


def test_a_link_means_a_path_else_a_name_else_an_alias(tmp_path: Path) -> None:
    vault = made(
        tmp_path,
        {
            "s/a.md": "[[b]] [[B.md]] [[t/b]] [[s/b]] [[./b]] [[../t/b]] [[bee]] [[nothing]] [[dir]] [[#x]] [[u/c]]",
            "s/b.md": "", "t/b.md": "", "t/d.md": "---\naliases: [Bee, b]\n---", "dir/index.md": "", "x/u/C.md": "",
            "s/m.md": "[1](b.md) [2](../t/d.md) [3](t/d.md) [4](d) [5](../../out.md) [6](nothing.md)",
        },
    )  # fmt: skip
    both = ("s/b.md", "t/b.md")
    assert meanings(vault, "s/a.md") == [
        both, both, ("t/b.md",), ("s/b.md",), ("s/b.md",), ("t/b.md",), ("t/d.md",), (), ("dir/index.md",),
        ("s/a.md",), ("x/u/C.md",),
    ]  # fmt: skip
    assert meanings(vault, "s/m.md") == [("s/b.md",), ("t/d.md",), ("t/d.md",), ("t/d.md",), (), ()]
    assert [link.is_ambiguous for link in note(vault, "s/a.md").links][:3] == [True, True, False]
    assert [link.target for link in note(vault, "s/a.md").links if link.is_broken] == ["nothing"]


def test_names_are_compared_without_case_and_in_any_normal_form(tmp_path: Path) -> None:
    vault = made(tmp_path, {"Cafe\u0301.md": "", "a.md": "[[CAF\u00c9]]", "v1.2.md": "", "b.md": "[[V1.2]]"})
    assert meanings(vault, "a.md") == [("Cafe\u0301.md",)]
    assert meanings(vault, "b.md") == [("v1.2.md",)]


def test_the_name_in_its_own_case_wins_over_others(tmp_path: Path) -> None:
    vault = made(tmp_path, {"x/Note.md": "", "y/note.md": "", "a.md": "[[note]] [[NOTE]]"})
    assert meanings(vault, "a.md") == [("y/note.md",), ("x/Note.md", "y/note.md")]


def test_a_link_to_another_file_is_not_broken(tmp_path: Path) -> None:
    vault = made(
        tmp_path, {"s/a.md": "![[Pic.PNG]] ![x](../img/pic.png) [y](c.pdf)", "img/pic.png": b"", "s/c.pdf": b""}
    )
    assert [(link.file, link.is_broken) for link in note(vault, "s/a.md").links] == [
        ("img/pic.png", False), ("img/pic.png", False), ("s/c.pdf", False),
    ]  # fmt: skip


def test_notes_that_embed_each_other_are_read_once_each(tmp_path: Path) -> None:
    vault = made(tmp_path, {"a.md": "![[b]] ![[a]]", "b.md": "![[a]]"})
    assert [one.path for one in vault.notes] == ["a.md", "b.md"]
    assert meanings(vault, "a.md") == [("b.md",), ("a.md",)]


def test_a_vault_of_logseq_has_its_pages_properties_blocks_and_journals(tmp_path: Path) -> None:
    vault = made(
        tmp_path,
        {
            "logseq/config.edn": '{;; :journal/page-title-format "yyyy"\n '
            ':journal/page-title-format "EEE, do MMMM yyyy"}',
            "logseq/bak/pages/old.md": "[[x]]",
            "pages/a___b.md": "alias:: Ab, [[A B]]\ntags:: x, [[long one]]\ntype:: page\n\n- block\n  id:: " + UUID,
            "pages/c.md": f"- [[a/b]] [[ab]] (({UUID})) [[Sun, 29th November 2026]]\n- [[old]]",
            "journals/2026_11_29.md": "- TODO call\n  DEADLINE: <2026-12-01 Tue 10:00 .+1w>\n"
            "- DONE it #tag\n- TODOS are\n- LATER x SCHEDULED: <2026-12-02 Wed>",
        },
    )
    page = note(vault, "pages/a___b.md")
    assert vault.flavours == ("logseq",)
    assert (page.title, page.aliases, page.tags) == ("a/b", ("Ab", "A B"), ("x", "long one"))
    assert (page.metadata, page.blocks) == ({"type": "page"}, {UUID: 5})
    assert meanings(vault, "pages/c.md") == [
        ("pages/a___b.md",), ("pages/a___b.md",), ("journals/2026_11_29.md",), ("pages/a___b.md",), (),
    ]  # fmt: skip
    journal = note(vault, "journals/2026_11_29.md")
    assert (journal.date, journal.title) == ("2026-11-29", "Sun, 29th November 2026")
    assert [(task.line, task.text, task.state, task.due, task.scheduled) for task in journal.tasks] == [
        (1, "call", "open", "2026-12-01", None),
        (3, "it #tag", "done", None, None),
        (5, "x", "open", None, "2026-12-02"),
    ]


def test_daily_notes_of_obsidian_follow_its_settings(tmp_path: Path) -> None:
    vault = made(
        tmp_path,
        {
            ".obsidian/daily-notes.json": '{"format": "YYYY/MM-MMMM/[Day] D.M.YYYY", "folder": "Daily", "template": 1}',
            "Daily/2026/11-November/Day 29.11.2026.md": "",
            "Daily/2026/11-November/Day 31.11.2026.md": "",
            "Daily/2025/11-November/Day 29.11.2026.md": "",
            "2026-02-28.md": "", "2026-02-30.md": "", "x 2026-02-28.md": "",
        },
    )  # fmt: skip
    assert vault.flavours == ("obsidian",)
    assert {one.path: one.date for one in vault.notes if one.date} == {
        "Daily/2026/11-November/Day 29.11.2026.md": "2026-11-29",
        "2026-02-28.md": "2026-02-28",
    }


@pytest.mark.parametrize("written", ["YYYY", "MM-DD", "YYYY-[W]ww", "gggg-MM-DD", "", "Y" * 200])
def test_a_format_without_a_whole_date_names_no_days(written: str) -> None:
    assert pattern_of(written) is None


def test_tasks_have_states_and_dates(tmp_path: Path) -> None:
    text = (
        "- [ ] a 📅 2026-12-01\n- [x] b ✅ 2026-01-01\n  - [-] c [due:: 2026-12-02]\n"
        "1. [/] d (due:: 2026-12-03) ⏳ 2026-12-04\n"
        "* [X] e due:: [[2026-12-05]]\n- [ ] f 📅 2026-13-45\n"
        "- [y](z.md) link\n- [ ]\n- TODO g\n\n[ ] h\n\n```\n- [ ] i\n```"
    )
    found = note(made(tmp_path, {"a.md": text}), "a.md").tasks
    assert [(task.line, task.text, task.state, task.due, task.scheduled) for task in found] == [
        (1, "a", "open", "2026-12-01", None),
        (2, "b ✅ 2026-01-01", "done", None, None),
        (3, "c", "cancelled", "2026-12-02", None),
        (4, "d", "open", "2026-12-03", "2026-12-04"),
        (5, "e", "done", "2026-12-05", None),
        (6, "f 📅 2026-13-45", "open", None, None),
    ]


def test_notions_names_lose_their_ids(tmp_path: Path) -> None:
    vault = made(
        tmp_path, {f"P {NOTION}.md": f"[Q](P%20{NOTION}/Q%20{NOTION}.md)", f"P {NOTION}/Q {NOTION}.md": "[[P]]"}
    )
    assert vault.flavours == ("notion",)
    assert [one.title for one in vault.notes] == ["P", "Q"]
    assert [link.resolves_to for one in vault.notes for link in one.links] == [
        (f"P {NOTION}/Q {NOTION}.md",), (f"P {NOTION}.md",),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("files", "flavour", "sure"),
    [
        ({".obsidian/app.json": "{}", "a.md": ""}, "obsidian", 0.99),
        ({"logseq/config.edn": "{}", "a.md": ""}, "logseq", 0.99),
        ({"pages/a.md": "", "journals/b.md": ""}, "logseq", 0.6),
        ({".foam/x": "", "a.md": ""}, "foam", 0.95),
        ({".vscode/foam.json": "", "a.md": ""}, "foam", 0.95),
        ({".vscode/settings.json": '{"foam.files.ignore": []}', "a.md": ""}, "foam", 0.9),
        ({".vscode/extensions.json": '["foam.foam-vscode"]', "a.md": ""}, "foam", 0.9),
        ({f"a {NOTION}.md": "", f"b {NOTION}.md": ""}, "notion", 0.95),
        ({"a.md": "[[b]]", "b.md": "", "c.md": ""}, "markdown", 0.7),
        ({"a.md": "", "b.md": "", "c.md": ""}, "markdown", 0.4),
        ({"README.md": "", "x.py": ""}, "markdown", 0.2),
    ],
)
def test_a_folder_is_recognised(tmp_path: Path, files: dict[str, str], flavour: str, sure: float) -> None:
    made(tmp_path, files)
    surest = detect(tmp_path)[0]
    assert (surest.flavour, surest.sure) == (flavour, sure)
    assert surest.why
    assert {one.flavour for one in detect(tmp_path)} == {"obsidian", "logseq", "foam", "notion", "markdown"}


def test_a_folder_can_belong_to_two_programs(tmp_path: Path) -> None:
    assert made(tmp_path, {".obsidian/x": "", "logseq/config.edn": "", "a.md": ""}).flavours == ("obsidian", "logseq")


def test_drawings_and_hidden_folders_are_left_out(tmp_path: Path) -> None:
    vault = made(
        tmp_path,
        {
            "a.md": "![[d.excalidraw]]", "b.canvas": "{}", "c.excalidraw.md": "[[x]]",
            "d.excalidraw": "{}", "e.org": "",
            ".obsidian/n.md": "", ".git/n.md": "", ".trash/n.md": "", "logseq/bak/n.md": "",
            ".n.md": "", "node_modules/n.md": "",
        },
    )  # fmt: skip
    assert [one.path for one in vault.notes] == ["a.md"]
    assert vault.odd == {"drawings": 3, "notes in Org mode, which are not read": 1}
    assert note(vault, "a.md").links[0].file == "d.excalidraw"


def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    made(outside, {"secret.md": "x"})
    folder = tmp_path / "vault"
    made(folder, {"a.md": "", "sub/b.md": ""})
    (folder / "sub" / "loop").symlink_to(folder)
    (folder / "out").symlink_to(outside)
    (folder / "secret.md").symlink_to(outside / "secret.md")
    vault = read_vault(folder)
    assert [one.path for one in vault.notes] == ["a.md", "sub/b.md"]
    assert vault.odd == {"symbolic links": 3}


def test_what_cannot_be_read_is_counted(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "dir.md").mkdir()
    vault = made(
        tmp_path,
        {
            "a.md": "x",
            "big.md": b"x" * 5_000_001,
            "latin.md": b"caf\xe9",
            "utf16.md": "\ufeff[[a]]".encode("utf-16-le"),
        },
    )
    assert [one.path for one in vault.notes] == ["a.md", "latin.md", "utf16.md"]
    assert vault.odd == {"notes over 5 MB": 1, "text that is not UTF-8": 1}
    assert note(vault, "latin.md").text == "café"
    assert meanings(vault, "utf16.md") == [("a.md",)]


def test_a_note_that_vanishes_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path, {"a.md": "", "b.md": ""})
    opened = os.open

    def opening(path: Path, flags: int, *rest: int) -> int:
        if str(path).endswith("a.md"):
            Path(path).unlink(missing_ok=True)
        return opened(path, flags, *rest)

    monkeypatch.setattr(os, "open", opening)
    vault = read_vault(tmp_path, ("markdown",))
    assert ([one.path for one in vault.notes], vault.odd) == (["b.md"], {"files that vanished": 1})


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadFileError):
        read_vault(tmp_path / "none")


def test_the_hash_is_of_the_bytes_and_lines_end_alike(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf---\r\ntitle: T\r\n---\r\nx\r\n[[a]]\r\n"
    one = note(made(tmp_path, {"a.md": data}), "a.md")
    assert (one.hash, one.title, one.links[0].line) == (hashlib.sha256(data).hexdigest(), "T", 5)
    assert one.text == "---\ntitle: T\n---\nx\n[[a]]\n"


@pytest.mark.parametrize("sign", ["[", "[[", "![[", "#a ", "`", "%%", "<!--", "> ", "- ", "((", "*_", "[a](", "\\"])
def test_a_paragraph_of_signs_is_read(sign: str) -> None:
    assert len(marks(sign * 300).headings) == 0


def test_deep_outlines_keep_their_links() -> None:
    text = "\n".join(f"{'  ' * depth}- [[n{depth}]]" for depth in range(60))
    assert [link[2] for link in links(text)] == [f"n{depth}" for depth in range(60)]


@given(st.text(alphabet="[]()#|^!`%<->\\:*_ \n\tab1", max_size=80))
def test_any_text_is_read_and_lines_are_within_it(text: str) -> None:
    found = marks(text)
    count = text.count("\n") + 1
    lines = [
        *(link.line for link in found.links),
        *(heading.line for heading in found.headings),
        *found.blocks.values(),
    ]
    assert all(1 <= line <= count for line in lines)
    for link in found.links:
        assert isinstance(link, Link)
        if link.kind == "wiki" and link.target and "](" not in text:
            assert link.target in text.split("\n")[link.line - 1].replace("\\|", "|")
