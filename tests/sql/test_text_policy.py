"""The policy on secrets: applied wherever a user's text is stored, before anything of it is."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from sqlalchemy import text

from memsvc import observe
from memsvc.access.policies import app_policies, set_app_policy, set_user_policy, user_policies
from memsvc.access.users import Owner, add_user, app_id, owner_of
from memsvc.cli.ingest import ingest_files
from memsvc.db.engine import Database
from memsvc.documents.form import Chunk, ParsedDocument
from memsvc.errors import InvalidRequestError, PolicyLaxerError, TextRefusedError, UserUnknownError
from memsvc.graph.history import write
from memsvc.graph.operations import Alias, Node
from memsvc.profiles.write import write_block
from memsvc.settings import Settings
from memsvc.sources.documents import DocumentIn, store_document
from memsvc.sources.messages import MessageIn, append
from memsvc.text.policy import policy_of
from memsvc.turns.calls import CallIn
from memsvc.turns.storing import TurnIn, record_turn

SETTINGS = Settings()
CARD = "4532 0151 1283 3600"
IBAN = "DE89 3704 0044 0532 0130 00"
KEY = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
PASSWORD = "Blumen#77"
FULL = f"Karte {CARD}, Konto {IBAN}, token {KEY}, mein Passwort lautet {PASSWORD}"
MASKED = "Karte [card number], Konto [IBAN], token [API key], mein Passwort lautet [password]"
SECRETS = (CARD, IBAN, KEY, PASSWORD)


class Person(NamedTuple):
    """A user of an app of its own."""

    db: Database
    app: UUID
    user_id: UUID

    async def owner(self) -> Owner:
        return await owner_of(self.db, self.user_id)


@pytest.fixture
async def person(db: Database) -> Person:
    app = await app_id(db, f"policy-{secrets.token_hex(6)}")
    user = await add_user(db, app, name="Ada")
    return Person(db, app, user.user_id)


async def masking(person: Person, **treatments: str) -> Owner:
    await set_app_policy(person.db, person.app, treatments or {"all": "mask"})
    return await person.owner()


async def everything(admin: Any, user_id: UUID) -> str:
    """All rows of the user in all tables, as text."""
    tables = admin.execute(
        "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'user_id' "
        "WHERE c.relnamespace = 'memsvc'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
    ).fetchall()
    rows = [
        admin.execute(f'SELECT r::text FROM memsvc."{name}" AS r WHERE r.user_id = %s', (user_id,)).fetchall()
        for (name,) in tables
    ]
    return str(rows)


async def test_nothing_happens_unless_somebody_chooses_it(person: Person) -> None:
    owner = await person.owner()
    assert owner.policy.is_off
    [stored] = await append(person.db, owner, [MessageIn(conversation="c", text=FULL)], SETTINGS)
    assert stored.masked == {}
    async with person.db.transaction(owner.user_id) as connection:
        assert (await connection.execute(text("SELECT text FROM memsvc.passages"))).scalar_one() == FULL


async def test_no_table_has_a_masked_secret_whatever_door_it_came_through(person: Person, admin: Any) -> None:
    owner = await masking(person)
    [stored] = await append(
        person.db,
        owner,
        [MessageIn(conversation="c", text=FULL, caption=f"picture of {CARD}", speaker="Ada", metadata={"raw": FULL})],
        SETTINGS,
    )
    assert stored.masked == {"card": 3, "iban": 2, "key": 2, "password": 2}
    chunks = [Chunk(text=f"Rechnung. {FULL}", headings=(f"Bezahlt mit {CARD}",)), Chunk(text="Ende.")]
    parsed = ParsedDocument(format="md", title=f"Rechnung {IBAN}", chunks=chunks, metadata={"iban": IBAN})
    document = DocumentIn(identifier="/r.md", path="r.md", sha256="0" * 64, size=9, parse=lambda: parsed)
    kept = await store_document(person.db, owner, document, SETTINGS)
    assert kept.odd == {"masked: card number": 1, "masked: IBAN": 3, "masked: API key": 1, "masked: password": 1}
    call = CallIn(tool="BASH", arguments={"command": f"pay {CARD}"}, result=f"paid with {CARD}, {IBAN}\n" * 200)
    turn = TurnIn(conversation="work", id="t", request=FULL, answer=f"Done: {FULL}", calls=[call])
    done = await record_turn(person.db, owner, turn, SETTINGS)
    assert done.masked["password"] == 2
    await write(
        person.db,
        owner,
        [Node(type="Note", label=f"IBAN {IBAN}", description=FULL, data={"text": FULL}), Alias(node=0, alias=CARD)],
        asserted_by="user",
    )
    block = await write_block(person.db, owner, "bank", FULL)
    assert block.text == MASKED
    everywhere = await everything(admin, owner.user_id)
    assert [secret for secret in SECRETS if secret in everywhere] == []
    assert "[card number]" in everywhere
    assert MASKED in everywhere


async def test_a_refusal_names_the_kind_and_stores_nothing(person: Person, admin: Any) -> None:
    owner = await masking(person, card="refuse", iban="mask")
    before = await everything(admin, owner.user_id)
    message = MessageIn(conversation="c", text=FULL)
    parsed = ParsedDocument(format="md", title="t", chunks=[Chunk(text=FULL)])
    document = DocumentIn(identifier="/r.md", path="r.md", sha256="0" * 64, size=9, parse=lambda: parsed)
    refusals = (
        append(person.db, owner, [MessageIn(conversation="c", text="fine"), message], SETTINGS),
        store_document(person.db, owner, document, SETTINGS),
        record_turn(person.db, owner, TurnIn(conversation="w", request=FULL), SETTINGS),
        record_turn(
            person.db,
            owner,
            TurnIn(conversation="w", request="pay", calls=[CallIn(tool="BASH", arguments={"command": CARD})]),
            SETTINGS,
        ),
        write(person.db, owner, [Node(type="Note", label="n", description=FULL)], asserted_by="user"),
        write_block(person.db, owner, "bank", FULL),
    )
    counted = observe.SECRETS.labels(kind="card", treatment="refuse")._value.get()
    for attempt in refusals:
        with pytest.raises(TextRefusedError) as refused:
            await attempt
        assert refused.value.code == "text_refused"
        assert refused.value.details["kind"] == "card"
        assert not any(secret in f"{refused.value} {refused.value.details}" for secret in SECRETS)
    assert observe.SECRETS.labels(kind="card", treatment="refuse")._value.get() == counted + len(refusals)
    assert await everything(admin, owner.user_id) == before


async def test_a_secret_in_two_chunks_of_a_document_is_masked_in_both(person: Person, admin: Any) -> None:
    owner = await masking(person, private_key="mask")
    chunks = [
        Chunk(text="The key:\n-----BEGIN RSA PRIVATE KEY-----\nMIIBOgIBAAJBAK"),
        Chunk(text="secondline\nthird==\n-----END RSA PRIVATE KEY-----\nThanks"),
    ]
    parsed = ParsedDocument(format="md", title="t", chunks=chunks)
    document = DocumentIn(identifier="/k.md", path="k.md", sha256="1" * 64, size=9, parse=lambda: parsed)
    await store_document(person.db, owner, document, SETTINGS)
    everywhere = await everything(admin, owner.user_id)
    assert "MIIB" not in everywhere
    assert "secondline" not in everywhere
    assert "Thanks" in everywhere


async def test_a_user_may_be_stricter_than_the_app_and_never_laxer(person: Person) -> None:
    await set_app_policy(person.db, person.app, {"card": "mask"})
    owner = await person.owner()
    found = await set_user_policy(person.db, person.app, owner, {"card": "refuse", "iban": "mask"})
    assert (found.applied["card"], found.applied["iban"], found.applied["key"]) == ("refuse", "mask", "keep")
    with pytest.raises(PolicyLaxerError) as laxer:
        await set_user_policy(person.db, person.app, owner, {"card": "keep"})
    assert laxer.value.details == {"kinds": ["card"]}
    await set_user_policy(person.db, person.app, owner, {})  # back to what the app demands
    assert (await person.owner()).policy == policy_of({"card": "mask"})
    await set_user_policy(person.db, person.app, owner, {"iban": "mask"})
    await set_app_policy(person.db, person.app, {"iban": "refuse"})  # and an app that becomes stricter counts at once
    assert (await user_policies(person.db, owner)).applied["iban"] == "refuse"
    with pytest.raises(InvalidRequestError):
        await set_app_policy(person.db, person.app, {"cards": "mask"})
    with pytest.raises(InvalidRequestError):
        await set_app_policy(person.db, person.app, {"card": "drop"})
    assert (await app_policies(person.db, person.app)).own is None


async def test_an_app_sets_the_policy_of_its_own_users_alone(person: Person, other: Owner) -> None:
    with pytest.raises(UserUnknownError):
        await set_user_policy(person.db, person.app, other, {"card": "mask"})
    assert (await owner_of(person.db, other.user_id)).policy.is_off
    stranger = await app_id(person.db, f"stranger-{secrets.token_hex(6)}")
    with pytest.raises(UserUnknownError):
        await set_user_policy(person.db, stranger, await person.owner(), {})


async def test_who_changed_a_policy_is_in_the_audit_log(person: Person, admin: Any) -> None:
    owner = await masking(person, card="mask")
    await set_user_policy(person.db, person.app, owner, {"iban": "refuse"})
    rows = admin.execute(
        "SELECT action, details FROM memsvc.audit_log WHERE app_id = %s AND action LIKE '%%.policy' ORDER BY audit_id",
        (person.app,),
    ).fetchall()
    assert rows == [
        ("app.policy", {"before": {}, "after": {"card": "mask"}}),
        ("user.policy", {"before": {}, "after": {"iban": "refuse"}}),
    ]


async def test_the_same_message_again_is_known_and_changes_nothing(person: Person) -> None:
    owner = await masking(person)
    message = MessageIn(conversation="c", id="m", text=FULL)
    [first] = await append(person.db, owner, [message], SETTINGS)
    [again] = await append(person.db, owner, [message], SETTINGS)
    assert (first.outcome, again.outcome, again.passage_id) == ("created", "existing", first.passage_id)


async def test_background_work_masks_what_is_refused(person: Person) -> None:
    await set_app_policy(person.db, person.app, {"all": "refuse"})
    owner = await owner_of(person.db, person.user_id, refuses=False)
    await write(person.db, owner, [Node(type="Note", label="n", description=FULL)], asserted_by="sleep")
    async with person.db.transaction(owner.user_id) as connection:
        found = await connection.execute(text("SELECT description FROM memsvc.node_versions WHERE label = 'n'"))
        assert found.scalar_one() == MASKED


async def test_a_policy_of_a_newer_version_is_read_as_far_as_it_is_known(person: Person, admin: Any) -> None:
    admin.execute(
        'UPDATE memsvc.apps SET policy = \'{"card": "mask", "face": "blur"}\' WHERE app_id = %s', (person.app,)
    )
    assert (await person.owner()).policy == policy_of({"card": "mask"})


WHATSAPP = """[14.03.26, 18:00:01] Ada: My card is 4532 0151 1283 3600
[14.03.26, 18:00:09] Rui: Do not write that here!
[14.03.26, 18:01:00] Ada: Mein Passwort lautet Blumen#77
[14.03.26, 18:02:00] 4532 0151 1283 3600: Who is that?
"""


@pytest.mark.parametrize(
    ("treatments", "kept", "odd"),
    [
        (
            {"card": "mask", "password": "mask"},
            {"My card is [card number]", "Do not write that here!", "Mein Passwort lautet [password]", "Who is that?"},
            {},
        ),
        (
            {"card": "refuse"},
            {"Do not write that here!", "Mein Passwort lautet Blumen#77"},
            {"messages with a card number, which are refused": 2},
        ),
    ],
    ids=["mask", "refuse"],
)
async def test_an_export_of_chats_is_read_without_its_secrets(
    person: Person,
    settings: Settings,
    tmp_path: Path,
    *,
    treatments: dict[str, str],
    kept: set[str],
    odd: dict[str, int],
) -> None:
    (tmp_path / "WhatsApp Chat with Rui.txt").write_text(WHATSAPP)
    owner = await masking(person, **treatments)
    for _ in range(2):  # the second time nothing is new
        report = await ingest_files(person.db, settings, owner, [tmp_path / "WhatsApp Chat with Rui.txt"])
        [file] = report.files
        assert (file.outcome, file.differs) == ("stored", 0), file
        assert file.preview is not None
        assert {name: count for name, count in file.preview.odd.items() if "refused" in name} == odd
    async with person.db.transaction(owner.user_id) as connection:
        found = set((await connection.execute(text("SELECT text FROM memsvc.passages"))).scalars())
    assert found == kept


@pytest.mark.parametrize(
    "refused_row",
    [
        {"text": f"card {CARD}"},
        {"text": "a picture", "caption": f"a card, {CARD}"},
        {"text": "hello", "speaker": CARD},
        {"text": "hello", "metadata": {"seen": [{"note": CARD}]}},
    ],
    ids=lambda row: list(row)[-1],
)
async def test_a_table_with_a_refused_secret_is_refused_by_its_line(
    person: Person, settings: Settings, tmp_path: Path, refused_row: dict[str, Any]
) -> None:
    settings = settings.model_copy(update={"max_batch": 1})  # nothing is stored of earlier batches either
    rows = [{"conversation": "c", "text": "fine"}, {"conversation": "c", **refused_row}]
    (tmp_path / "chat.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    owner = await masking(person, card="refuse")
    with pytest.raises(InvalidRequestError) as refused:
        await ingest_files(person.db, settings, owner, [tmp_path / "chat.jsonl"])
    assert refused.value.code == "text_refused"
    assert "2" in refused.value.message
    assert CARD not in refused.value.message
    async with person.db.transaction(owner.user_id) as connection:
        assert (await connection.execute(text("SELECT count(*) FROM memsvc.passages"))).scalar_one() == 0


async def test_a_long_message_is_searched_beside_other_work(person: Person) -> None:
    owner = await masking(person)
    long = MessageIn(conversation="c", text=f"{'The heron stood in the water. ' * 20_000}{CARD}")
    waits: list[float] = []

    async def others() -> None:
        while True:
            begun = time.monotonic()
            await asyncio.sleep(0.01)
            waits.append(time.monotonic() - begun)

    beside = asyncio.create_task(others())
    [stored] = await append(person.db, owner, [long], SETTINGS)
    beside.cancel()
    assert stored.masked == {"card": 1}
    assert len(waits) > 3, "nothing else was done meanwhile"
