"""SMS Backup & Restore: short messages, multimedia messages, groups, emoji, hostile XML."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from memsvc.errors import BadFileError, SourceUnknownError
from memsvc.sources.files import read_messages
from memsvc.sources.kinds.bundles import opened
from memsvc.sources.kinds.kind import Placed, Reading
from memsvc.sources.kinds.sms import Sms
from tests.chats import sms, smses, write


def read(tmp_path: Path, content: str | bytes, odd: Counter[str] | None = None) -> list[Placed]:
    """The messages of a backup."""
    with opened(write(tmp_path / "sms.xml", content), None) as bundle:  # type: ignore[arg-type]
        assert Sms().detect(bundle).sure > 0.9
        return list(Sms().read(bundle, Reading(odd=Counter() if odd is None else odd)))


def mms(box: int, address: str, *inner: str, name: str = "(Unknown)") -> str:
    return f'<mms date="1769936405000" msg_box="{box}" address="{address}" contact_name="{name}">{"".join(inner)}</mms>'


def test_a_message_has_its_partner_and_time(tmp_path: Path) -> None:
    first, second = read(tmp_path, smses(sms(1, 1, "The key\n& more."), sms(2, 2, "Thanks!")))
    assert (first.message.speaker, first.message.role, first.message.text) == ("Mila", "other", "The key\n& more.")
    assert (second.message.speaker, second.message.role) == ("", "user")
    assert (first.message.conversation, first.title) == ("sms:+491701234567", "Mila")
    assert (first.message.said_at, first.origin) == ("2026-02-01T09:00:01+00:00", {"id": "1769936401000"})


def test_unknown_contacts_services_and_two_people_of_one_name(tmp_path: Path) -> None:
    placed = read(
        tmp_path,
        smses(
            sms(1, 1, "a", contact_name="(Unknown)"), sms(2, 1, "b", address="DHL", contact_name="null"),
            sms(3, 1, "c"), sms(4, 1, "d", address="(0171) 765-43 21"),
        ),
    )  # fmt: skip
    assert [one.message.speaker for one in placed] == ["+491701234567", "DHL", "+491701234567", "Mila"]
    assert placed[3].message.conversation == "sms:01717654321"


def test_drafts_and_empty_messages_are_counted(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    content = smses(sms(1, 3, "draft"), sms(2, 5, "failed"), sms(3, 1, ""), sms(4, 1, "null"), sms(5, 1, "fine"))
    assert [one.message.text for one in read(tmp_path, content, odd)] == ["fine"]
    assert odd == {"messages that were not sent": 2, "messages with a file or picture alone": 2}


def test_the_same_words_again_are_two_messages_and_a_longer_backup_keeps_the_ids(tmp_path: Path) -> None:
    ids = [one.message.id for one in read(tmp_path, smses(sms(1, 1, "ok"), sms(1, 1, "ok")))]
    assert len(set(ids)) == 2
    assert [one.message.id for one in read(tmp_path, smses(sms(1, 1, "ok"), sms(1, 1, "ok"), sms(2, 1, "ok")))][
        :2
    ] == ids


def test_halves_of_emoji_and_control_characters(tmp_path: Path) -> None:
    raw = (
        smses(sms(1, 1, "X"), sms(2, 1, "Y"))
        .replace("X", "ok &#55357;&#56832;&#10;bye &#55357; &#8;")
        .replace("Y", "שלום")
    )
    first, second = read(tmp_path, raw)
    assert (first.message.text, second.message.text) == ("ok 😀\nbye \ufffd \ufffd", "שלום")


def test_an_emoji_across_two_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = smses(sms(1, 1, "X")).replace("X", "&#55357;&#56832;" * 40)
    for size in (7, 8, 11, 16, 64):
        monkeypatch.setattr("memsvc.sources.kinds.sms.PIECE_BYTES", size)
        assert read(tmp_path, raw)[0].message.text == "😀" * 40


def test_multimedia_messages_have_text_and_files(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    parts = (
        '<parts><part ct="application/smil" text="&lt;smil/&gt;"/><part ct="text/plain" text="Look"/>'
        '<part ct="image/jpeg" name="null" cl="otter.jpg" data="AAAA"/><part ct="text/plain" text="here"/></parts>'
    )
    alone = '<parts><part ct="image/png" name="b.png" data="AA"/></parts>'
    placed = read(
        tmp_path, smses(mms(1, "0170", parts, name="Mila"), mms(2, "0170", alone), mms(4, "0170", parts)), odd
    )
    assert [(one.message.text, one.message.speaker) for one in placed] == [("Look\nhere", "Mila")]
    assert placed[0].origin["files"] == ["otter.jpg"]
    assert odd == {"messages with a file or picture alone": 1, "messages that were not sent": 1}


def test_in_a_group_the_sender_is_an_address(tmp_path: Path) -> None:
    text = '<parts><part ct="text/plain" text="Hi all"/></parts>'
    addresses = '<addrs><addr address="+49 171" type="137"/><addr address="+49 170" type="151"/></addrs>'
    first, second = read(
        tmp_path,
        smses(
            mms(1, "+49 171~+49 170", text, addresses, name="Mila, Jo"),
            mms(2, "+49170~+49171", text, '<addrs><addr address="insert-address-token" type="137"/></addrs>'),
        ),
    )
    assert (first.message.speaker, first.message.role, first.title) == ("+49171", "other", "Mila, Jo")
    assert second.message.role == "user"
    assert {first.message.conversation, second.message.conversation} == {"sms:+49170~+49171"}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('<!DOCTYPE smses [<!ENTITY a "aa">]>\n' + smses(sms(1, 1, "x")), "XML|document type"),
        (smses(sms(1, 1, "x")).replace("<smses", "<smses x='&lol;'"), "not XML"),
        (smses(sms(1, 1, "x"), sms(2, 1, "y"))[:-30], "not XML"),
        (smses(sms(1, 1, "x", date="soon")), "message 1: 'soon' is not a time"),
        (smses(sms(1, 1, "x", date="9" * 30)), "is not a time"),
        (smses(sms(1, 1, "caf\xe9")).encode("latin-1"), "not XML"),
    ],
)
def test_damaged_and_hostile_files_are_refused(tmp_path: Path, content: str | bytes, says: str) -> None:
    with pytest.raises(BadFileError, match=says):
        list(read_messages(write(tmp_path / "sms.xml", content)))


def test_a_document_type_after_comments_is_refused(tmp_path: Path) -> None:
    content = smses(sms(1, 1, "&a;")).replace("?>\n", "?>\n<!-- <smses -->", 1)
    bomb = content.replace("<!-- <smses -->", '<!DOCTYPE smses [<!ENTITY a "aaaa">]><!-- <smses -->')
    with opened(write(tmp_path / "sms.xml", bomb), None) as bundle, pytest.raises(BadFileError, match="document type"):  # type: ignore[arg-type]
        list(Sms().read(bundle, Reading()))


@pytest.mark.parametrize("content", ["<smses2 count='1'/>", "<calls><call number='1'/></calls>", "smses"])
def test_other_files_are_no_backup(tmp_path: Path, content: str) -> None:
    with pytest.raises(SourceUnknownError):
        list(read_messages(write(tmp_path / "file.xml", content)))


def test_an_empty_backup(tmp_path: Path) -> None:
    assert read(tmp_path, smses()) == []
