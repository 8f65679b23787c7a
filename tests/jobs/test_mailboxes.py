"""Mailboxes: new mails are read once, nothing is changed on their server, and the password is nowhere."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from jobs.steps import all_steps
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import InvalidRequestError, MailboxFailedError
from memsvc.feeds import mailboxes
from memsvc.feeds.feeds import Feed, add, look, run, runs
from memsvc.feeds.mailboxes import fetch_new
from memsvc.feeds.planning import begin_due
from memsvc.feeds.wanted import Door, FeedIn, Mailbox
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from tests.fakes.imap_server import Mails, imap_server
from tests.sql.world import value

pytestmark = pytest.mark.slow
STORED = "SELECT count(*) FROM memsvc.passages WHERE user_id = %s AND kind = 'message'"
ROLES = (
    "SELECT array_agg(p.role ORDER BY p.said_at) FROM memsvc.passages AS p WHERE p.user_id = %s AND p.kind = 'message'"
)
WORD = "correct horse"


def mail(number: int, sender: str = "ines@example.org", words: str = "The heron is back.") -> bytes:
    """A mail."""
    return (
        f"From: Someone <{sender}>\r\nTo: m@example.org\r\nSubject: heron {number}\r\n"
        f"Message-ID: <{number}@example.org>\r\n"
        f"Date: Mon, 02 Mar 2026 10:{number % 60:02}:00 +0100\r\n\r\n{words} {number}\r\n"
    ).encode()


@pytest.fixture(params=["none", "tls"])
def server(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Mails, str]]:
    """A server with three mails, plain or with a certificate that this machine trusts, and how it is spoken to."""
    monkeypatch.setenv("MAIL_WORD_OF_TESTS", WORD)
    context = None
    if request.param == "tls":
        (tmp_path / "cert.pem").write_bytes(certificate())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tmp_path / "cert.pem")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    with imap_server(context) as mails:
        mails.password = WORD
        mails.mails = {3: mail(3), 5: mail(5, "m@example.org", "I saw it, too."), 8: mail(8)}
        yield mails, request.param


def certificate() -> bytes:
    """A key and a certificate for localhost, which it signed itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private + made.public_bytes(serialization.Encoding.PEM)


async def added(db: Database, owner: Owner, settings: Settings, server: tuple[Mails, str], **more: Any) -> Feed:
    """Add the mailbox and read it."""
    mails, security = server
    box = Mailbox(host="localhost", port=mails.port, username="m@example.org", security=security, **more)  # type: ignore[arg-type]
    door = Door(by_operator=True, mailbox=box, secret="env:MAIL_WORD_OF_TESTS")
    feed = await add(db, owner, FeedIn(kind="imap", rule="every 2 hours"), settings, door)
    await run_due(db, all_steps(settings, None))
    return feed


async def again(db: Database, owner: Owner, settings: Settings, feed: Feed) -> Feed:
    """Read a mailbox again."""
    await run(db, owner, feed.feed_id, settings, Door(by_operator=True))
    await run_due(db, all_steps(settings, None))
    return await look(db, owner, feed.feed_id)


async def test_new_mails_are_read_once_and_nothing_is_changed(  # noqa: PLR0917 - fixtures
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, server: tuple[Mails, str],
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    mails, _ = server
    feed = await added(db, owner, settings, server)
    assert value(admin, STORED, [owner.user_id]) == 3
    assert value(admin, ROLES, [owner.user_id]) == ["other", "user", "other"]
    fetched = mails.commands.count("UID")
    await again(db, owner, settings, feed)
    assert mails.commands.count("UID") == fetched + 1, "it asked what is new, and fetched nothing"
    mails.mails[9] = mail(9)
    shown = await again(db, owner, settings, feed)
    assert (shown.last_error, value(admin, STORED, [owner.user_id])) == (None, 4)
    latest = (await runs(db, owner, feed.feed_id)).items[0]
    assert (latest.files, latest.created) == (1, 1)
    mails.validity += 1  # the server was restored: its UIDs mean other mails
    mails.mails = {uid - 2: content for uid, content in mails.mails.items()} | {20: mail(20)}
    await again(db, owner, settings, feed)
    assert value(admin, STORED, [owner.user_id]) == 5
    assert mails.changing == []
    kept = admin.execute("SELECT f::text, i::text FROM memsvc.feeds AS f, memsvc.ingest_files AS i").fetchall()
    assert WORD not in f"{kept}{caplog.text}"


async def test_a_mailbox_that_fails_says_why_and_loses_nothing(  # noqa: PLR0917 - fixtures
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, server: tuple[Mails, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    mails, security = server
    mails.password = "another"
    feed = await added(db, owner, settings, server)
    assert (await look(db, owner, feed.feed_id)).last_error == "mailbox_refused"
    monkeypatch.delenv("MAIL_WORD_OF_TESTS")
    assert (await again(db, owner, settings, feed)).last_error == "configuration"
    monkeypatch.setenv("MAIL_WORD_OF_TESTS", WORD)
    mails.password, mails.breaks_after = WORD, 2
    assert (await again(db, owner, settings, feed)).last_error == "mailbox_failed"
    assert value(admin, STORED, [owner.user_id]) == 0
    mails.breaks_after = None
    shown = await again(db, owner, settings, feed)
    assert (shown.last_error, shown.failures, value(admin, STORED, [owner.user_id])) == (None, 0, 3)
    if security == "tls":
        monkeypatch.delenv("SSL_CERT_FILE")
        assert (await again(db, owner, settings, feed)).last_error == "mailbox_failed", "it trusts any certificate"


@pytest.mark.parametrize("server", ["none"], indirect=True)
async def test_a_large_mailbox_is_read_in_several_runs(  # noqa: PLR0917 - fixtures
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, server: tuple[Mails, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    mails, _ = server
    monkeypatch.setattr(mailboxes, "MOST_MAILS", 10)
    mails.mails = {uid: mail(uid) for uid in range(1, 26)}
    feed = await added(db, owner, settings, server)
    counts = [value(admin, STORED, [owner.user_id])]
    while await begin_due(db):
        await run_due(db, all_steps(settings, None))
        counts.append(value(admin, STORED, [owner.user_id]))
    assert counts == [10, 20, 25]
    shown = await look(db, owner, feed.feed_id)
    assert shown.next_run is not None
    assert shown.next_run > datetime.now(UTC) + timedelta(minutes=1)


def test_names_of_mailboxes_and_sizes(server: tuple[Mails, str]) -> None:
    mails, security = server
    box = Mailbox(host="localhost", port=mails.port, username="m", mailbox="Entwürfe", security=security)  # type: ignore[arg-type]
    cursor: dict[str, Any] = {}
    seen: list[list[int]] = []
    while not seen or cursor.get("more"):
        found = fetch_new(box, WORD, cursor, most_bytes=300)
        seen.append([one.uid for one in found.mails])
        cursor = found.cursor
    assert seen == [[3], [5], [8]]
    assert cursor == {"validity": 7, "uid": 8}
    with pytest.raises(MailboxFailedError):
        fetch_new(Mailbox(host="localhost", port=1, username="m", security="none"), WORD, {}, most_bytes=1)


async def test_without_tls_only_this_machine_is_read(db: Database, owner: Owner, settings: Settings) -> None:
    box = Mailbox(host="mail.example.org", username="m@example.org", security="none", port=143)
    door = Door(by_operator=True, mailbox=box, secret="env:MAIL_WORD_OF_TESTS")
    with pytest.raises(InvalidRequestError):
        await add(db, owner, FeedIn(kind="imap"), settings, door)
