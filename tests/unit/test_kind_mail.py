"""Mail: mailboxes and single mails, whose words they are, encodings, dates, HTML, attachments."""

from __future__ import annotations

import base64
from collections import Counter
from pathlib import Path

import pytest

from memsvc.errors import BadFileError
from memsvc.sources.files import read_messages
from memsvc.sources.kinds.bundles import opened
from memsvc.sources.kinds.kind import Placed, Reading
from memsvc.sources.kinds.mail import Mail
from memsvc.sources.kinds.quotes import own_words
from tests.chats import mail, mailbox, write


def read(tmp_path: Path, content: str | bytes, *me: str, odd: Counter[str] | None = None) -> list[Placed]:
    """The mails of a file."""
    reading = Reading(frozenset(me), odd=Counter() if odd is None else odd)
    with opened(write(tmp_path / "mails", content), None) as bundle:  # type: ignore[arg-type]
        assert Mail().detect(bundle).sure > 0.8
        return list(Mail().read(bundle, reading))


def text(tmp_path: Path, body: str, **headers: str) -> str:
    """The words of a mail that answers another one."""
    [one] = read(tmp_path, mail(body, references="<0@x>", message_id="<1@x>", **headers))
    return one.message.text


def test_a_mail_has_its_sender_time_thread_and_subject(tmp_path: Path) -> None:
    [one] = read(tmp_path, mail("It is under the mat.", message_id="<1@x>", subject="Keys"))
    message = one.message
    assert (message.text, message.speaker, message.role) == ("Keys\n\nIt is under the mat.", "Mila", "other")
    assert (message.conversation, message.id, message.said_at) == ("mail:1@x", "1@x", "2026-02-01T10:00:00+01:00")
    assert (one.title, one.where) == ("Keys", "mails")
    assert one.origin == {"id": "1@x", "subject": "Keys", "to": ["jo@example.org"]}


def test_a_thread_is_a_conversation_and_answers_lose_their_subject(tmp_path: Path) -> None:
    box = mailbox(
        mail("a", message_id="<1@x>", subject="Keys"),
        mail("b", message_id="<2@x>", references="<1@x>", in_reply_to="<1@x>", subject="Re: Keys"),
        mail("c", message_id="<3@x>", references="<1@x>\n <2@x>", subject="AW: Re: Keys"),
        mail("d", message_id="<4@x>", in_reply_to="<1@x>", subject="Keys"),
    )
    placed = read(tmp_path, box)
    assert {one.message.conversation for one in placed} == {"mail:1@x"}
    assert [one.message.text for one in placed] == ["Keys\n\na", "b", "c", "d"]
    assert {one.title for one in placed} == {"Keys"}
    assert [one.where for one in placed][:2] == ["mails, mail 1", "mails, mail 2"]


def test_who_is_the_owner_is_known_by_address_or_name(tmp_path: Path) -> None:
    content = mail("Hi", message_id="<1@x>")
    assert read(tmp_path, content, "mila@example.org")[0].message.role == "user"
    assert read(tmp_path, content, "mila")[0].message.role == "user"
    assert read(tmp_path, content, "jo")[0].message.role == "other"


def test_two_people_of_one_name_and_people_without_one(tmp_path: Path) -> None:
    box = mailbox(
        mail("a", message_id="<1@x>"),
        mail("b", message_id="<2@x>", **{"from": "Mila <mila@elsewhere.org>"}),
        mail("c", message_id="<3@x>", **{"from": "jo@example.org"}),
        mail("d", message_id="<4@x>", **{"from": '"Horn, =?utf-8?q?J=C3=BCrgen?=" <j@x.org>'}),
        mail("e", message_id="<5@x>", **{"from": "=?utf-8?b?15nXldeh15k=?= <y@x.org>"}),
        mail("f", message_id="<6@x>", **{"from": ""}),
    )
    assert [one.message.speaker for one in read(tmp_path, box)] == [
        "Mila", "Mila (mila@elsewhere.org)", "jo@example.org", "Horn, Jürgen", "יוסי", "",
    ]  # fmt: skip


QUOTES = {
    "lines with a mark": "Yes.\n\nOn Sun, 1 Feb 2026 at 10:00, Jo <jo@x.org> wrote:\n> Is it?\n> Jo\n",
    "a broken attribution": "Yes.\n\nOn Sun, 1 Feb 2026 at 10:00, Josephine\n<josephine@x.org> wrote:\n\n> Is it?\n",
    "German": "Yes.\n\nAm 01.02.2026 um 10:00 schrieb Jo Berg:\n> Ist er?\n",
    "French": "Yes.\n\nLe dim. 1 févr. 2026 à 10:00, Jo <jo@x.org> a écrit :\n> Oui ?\n",
    "Spanish": "Yes.\n\nEl dom, 1 feb 2026 a las 10:00, Jo (<jo@x.org>) escribió:\n> ¿Sí?\n",
    "Russian": "Yes.\n\n1 февр. 2026 г. в 10:00, Jo <jo@x.org> написал(а):\n> Да?\n",
    "Chinese": "Yes.\n\n2026年2月1日 10:00,Jo <jo@x.org> 写道：\n> 是吗\n",
    "Outlook": "Yes.\n\n-----Original Message-----\nFrom: Jo\nSent: Sunday\nI live in Rome.\n",
    "Outlook in German": "Yes.\n\n-----Ursprüngliche Nachricht-----\nVon: Jo\nIch wohne in Rom.\n",
    "headers of Outlook": (
        "Yes.\n\n________________________________\nFrom: Jo Berg <jo@x.org>\nSent: Sunday, February 1, 2026 10:00\n"
        "To: Mila\nSubject: Keys\n\nI live in Rome.\n"
    ),
    "bold headers": "Yes.\n\n*Von:* Jo\n*Gesendet:* Sonntag\n*An:* Mila\n*Betreff:* x\n\nIch wohne in Rom.\n",
    "forwarded by Gmail": "Yes.\n\n---------- Forwarded message ---------\nFrom: Jo\nI live in Rome.\n",
    "forwarded by Apple": "Yes.\n\nBegin forwarded message:\n\nFrom: Jo\nI live in Rome.\n",
    "an attribution and no marks": "Yes.\n\nOn Feb 1, 2026, at 10:00, Jo <jo@x.org> wrote:\n\nI live in Rome.\n",
}


@pytest.mark.parametrize("case", QUOTES)
def test_what_is_quoted_or_forwarded_is_not_the_senders(tmp_path: Path, case: str) -> None:
    odd: Counter[str] = Counter()
    [one] = read(tmp_path, mail(QUOTES[case], references="<0@x>", message_id="<1@x>"), odd=odd)
    assert one.message.text == "Yes."
    assert one.origin["quoted_lines"] >= 2
    assert odd == {"mails with quoted or forwarded parts": 1}


def test_answers_between_quoted_lines_are_kept_in_order(tmp_path: Path) -> None:
    body = "Hello Jo,\n\nOn 1 Feb 2026, Jo wrote:\n> Where is the key?\n\nUnder the mat.\n\n> And the cat?\n\nOut.\n"
    assert text(tmp_path, body) == "Hello Jo,\n\nUnder the mat.\n\nOut."


@pytest.mark.parametrize(
    "body",
    [
        "From: the garden to the house it is far.\nTo: do.",
        "On Monday Jo wrote: the key is gone.",
        "I wrote:\nnothing at all.",
        "Subject: one thing\nDate: another",
        "2 -> 3 and a > b",
        "- a list\n- of things --",
    ],
)
def test_words_that_only_look_like_quotes_are_kept(body: str) -> None:
    assert own_words(body) == (body, 0)


def test_a_mail_that_only_forwards_has_no_words_of_its_sender(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    content = mail("---------- Forwarded message ---------\nFrom: Jo\nI am Jo.", subject="Fwd: x", message_id="<1@x>")
    assert read(tmp_path, content, odd=odd) == []
    assert odd == {"mails with quoted or forwarded parts": 1, "mails without words of their sender": 1}


def test_of_html_only_what_a_reader_sees_is_read(tmp_path: Path) -> None:
    html = (
        "<html><head><style>p {color: red}</style></head><body><p>The key is <b>here</b>.</p>"
        '<div style="display:none">I live in Rome.</div><span hidden>Obey.</span><!-- no --><script>no()</script>'
        "<p>Bye,<br>Mila</p><div>On 1 Feb 2026 at 10:00, Jo &lt;jo@x.org&gt; wrote:</div>"
        "<blockquote type='cite'><div>I live in Rome.</div></blockquote></body></html>"
    )
    assert text(tmp_path, html, content_type="text/html; charset=utf-8") == "The key is here.\n\nBye,\nMila"


def multipart(kind: str, *parts: str) -> tuple[str, str]:
    """The type and the body of a mail with parts."""
    body = "".join(f"--b\n{part}\n" for part in parts) + "--b--\n"
    return f'multipart/{kind}; boundary="b"', body


def test_of_alternatives_the_plain_text_is_read_unless_it_is_empty(tmp_path: Path) -> None:
    html = "Content-Type: text/html\n\n<p>rich</p>\n"
    kind, body = multipart("alternative", "Content-Type: text/plain\n\nplain\n", html)
    assert text(tmp_path, body, content_type=kind) == "plain"
    kind, body = multipart("alternative", "Content-Type: text/plain\n\n \n", html)
    assert text(tmp_path, body, content_type=kind) == "rich"


def test_attachments_are_named_and_counted_but_not_read(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    kind, body = multipart(
        "mixed",
        "Content-Type: text/plain\n\nLook.\n",
        'Content-Type: application/pdf\nContent-Disposition: attachment; filename="plan.pdf"\n\nJVBERi0=\n',
        'Content-Type: text/plain\nContent-Disposition: attachment; filename="notes.txt"\n\nI live in Rome.\n',
        "Content-Type: message/rfc822\n\nFrom: Jo <jo@x.org>\nSubject: x\n\nI live in Rome.\n",
    )
    content = mail(body, references="<0@x>", message_id="<1@x>", content_type=kind)
    [one] = read(tmp_path, content, odd=odd)
    assert one.message.text == "Look."
    assert one.origin["files"] == ["plan.pdf", "notes.txt", "a mail"]
    assert odd == {"attachments": 3}


def test_signed_mails_are_read_and_encrypted_ones_are_left_out(tmp_path: Path) -> None:
    signature = "Content-Type: application/pgp-signature\n\n-----BEGIN PGP SIGNATURE-----\n"
    kind, body = multipart("signed", "Content-Type: text/plain\n\nSigned.\n", signature)
    assert text(tmp_path, body, content_type=kind) == "Signed."
    inline = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nInline.\n-----BEGIN PGP SIGNATURE-----\n\nabc\n"
    assert text(tmp_path, inline) == "Inline."
    odd: Counter[str] = Counter()
    kind, body = multipart("encrypted", "Content-Type: application/pgp-encrypted\n\nVersion: 1\n")
    box = mailbox(
        mail(body, message_id="<1@x>", content_type=kind),
        mail("x", message_id="<2@x>", content_type="application/pkcs7-mime; smime-type=enveloped-data"),
        mail("-----BEGIN PGP MESSAGE-----\n\nhQ\n-----END PGP MESSAGE-----", references="<1@x>", message_id="<3@x>"),
    )
    assert read(tmp_path, box, odd=odd) == []
    assert odd == {"encrypted mails": 2, "mails without words of their sender": 1}


@pytest.mark.parametrize(
    ("raw", "says", "encoding", "charset"),
    [
        ("Grüße".encode("latin-1"), "Grüße", "8bit", "iso-8859-1"),
        ("Grüße".encode("cp1252"), "Grüße", "8bit", "utf-8"),
        ("Grüße".encode(), "Grüße", "8bit", "klingon"),
        (b"Gr=C3=BC=C3=9Fe, l=\nang", "Grüße, lang", "quoted-printable", "utf-8"),
        (base64.b64encode("שלום".encode()), "שלום", "base64", "utf-8"),
        ("שלום".encode("cp1255"), "שלום", "8bit", "windows-1255"),
        ("こんにちは".encode("iso-2022-jp"), "こんにちは", "7bit", "iso-2022-jp"),
    ],
)
def test_encodings(tmp_path: Path, raw: bytes, says: str, encoding: str, charset: str) -> None:
    head = mail(
        "", references="<0@x>", message_id="<1@x>", content_type=f"text/plain; charset={charset}",
        content_transfer_encoding=encoding,
    )  # fmt: skip
    [one] = read(tmp_path, head.encode().rstrip(b"\n") + b"\n\n" + raw + b"\n")
    assert one.message.text == says


@pytest.mark.parametrize(
    ("date", "received", "said_at"),
    [
        ("Sun, 1 Feb 2026 10:00:00 -0000", "", "2026-02-01T10:00:00+00:00"),
        ("yesterday", "from a by b; Sun, 1 Feb 2026 09:30:00 +0100", "2026-02-01T09:30:00+01:00"),
        ("", "", "2026-02-01T09:00:00+00:00"),
        ("Mon, 01 Jan 1900 00:00:00 +0000", "", "2026-02-01T09:00:00+00:00"),
    ],
)
def test_a_date_that_is_missing_or_broken(tmp_path: Path, date: str, received: str, said_at: str) -> None:
    [one] = read(tmp_path, mailbox(mail("a", date=date, received=received, message_id="<1@x>", references="<0@x>")))
    assert one.message.said_at == said_at


def test_a_mail_without_any_date_is_left_out(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    assert read(tmp_path, mail("a", date="", message_id="<1@x>"), odd=odd) == []
    assert odd == {"mails without a date": 1}


def test_a_mail_without_an_id_gets_one_of_its_content(tmp_path: Path) -> None:
    first, second = read(tmp_path, mailbox(mail("a"), mail("b")))
    assert first.message.id != second.message.id
    assert [one.message.id for one in read(tmp_path, mailbox(mail("b")))] == [second.message.id]


def test_what_gmail_and_thunderbird_say_of_a_mail(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    box = mailbox(
        mail("a", message_id="<1@x>", x_gmail_labels="Inbox,Important"),
        mail("b", message_id="<2@x>", x_gmail_labels="Spam"),
        mail("c", message_id="<3@x>", x_mozilla_status="0009"),
        mail("d", message_id="<4@x>", x_mozilla_status="0001"),
        mail("e", message_id="<5@x>", auto_submitted="auto-replied"),
    ).replace("From x@example.org Sun Feb  1 09:00:00 2026", "From 17@xxx Sun Feb 01 09:00:00 +0000 2026")
    assert [(one.message.text, one.message.role) for one in read(tmp_path, box, odd=odd)] == [
        ("a", "other"), ("d", "other"), ("e", "tool"),
    ]  # fmt: skip
    assert odd == {"mails that are deleted, unwanted or not sent": 2}


def test_lines_that_begin_with_from_do_not_begin_a_mail(tmp_path: Path) -> None:
    body = "a\n\nFrom here it is far.\n\n>From there, too."
    placed = read(tmp_path, mailbox(mail(body, message_id="<1@x>"), mail("b", message_id="<2@x>")))
    assert [one.message.text for one in placed] == ["a\n\nFrom here it is far.\n\nFrom there, too.", "b"]


@pytest.mark.parametrize(
    "content",
    [
        "From: the garden\nSubject: it rained\n\nAll day.\n",
        "Mila: hello\nJo: hello\nDate: tomorrow\n",
        "From Mila with love, 10:00:00\n\nHello.\n",
        '{"From": "x", "Date": "y", "Message-ID": "z"}',
    ],
)
def test_what_is_no_mail_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(BadFileError):
        list(read_messages(write(tmp_path / "file", content)))


def test_damaged_parts_do_not_stop_a_mailbox(tmp_path: Path) -> None:
    deep = "".join(f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(3000))
    box = mailbox(
        mail(f"--b\n{deep}", message_id="<1@x>", content_type='multipart/mixed; boundary="b"'),
        mail("x", message_id="<2@x>", content_type="multipart/mixed"),
        mail("=?=", message_id="<3@x>", **{"from": "<<>>,;:@", "subject": "=?utf-8?b?%%%?="}),
        mail("fine", message_id="<4@x>", references="<0@x>"),
    )
    assert read(tmp_path, box)[-1].message.text == "fine"
