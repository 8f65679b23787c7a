"""Identity tokens: their form, and that the database's pads compute the same mac as Python's hmac."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from uuid import UUID, uuid4

from hypothesis import given
from hypothesis import strategies as st

from memsvc.db.identity import BLOCK, Signer

USER = UUID("01a2007a-c597-78c1-a5e2-66232641b01d")
SECRET = b"k" * 40


def test_the_form_of_a_token() -> None:
    token = Signer(SECRET, 60).token(USER, now=1_000.9)
    user, expiry, key_id, mac = token.split(".")
    assert (user, expiry) == (str(USER), "1060")
    assert re.fullmatch(r"[0-9a-f]{16}", key_id)
    assert re.fullmatch(r"[0-9a-f]{64}", mac)
    assert mac == hmac.new(SECRET, f"{USER}.1060.{key_id}".encode(), hashlib.sha256).hexdigest()


def test_a_token_lives_from_now() -> None:
    expiry = int(Signer(SECRET, 60).token(USER).split(".")[1])
    assert time.time() + 58 <= expiry <= time.time() + 60


def test_user_time_and_secret_all_count() -> None:
    tokens = {
        Signer(secret, 60).token(user, now=now).rsplit(".", 1)[1]
        for secret in (SECRET, b"l" * 40)
        for user in (USER, uuid4())
        for now in (1_000, 1_001)
    }
    assert len(tokens) == 8


def test_the_keys_id_does_not_show_the_secret_and_differs_by_secret() -> None:
    assert Signer(SECRET, 60).key_id == Signer(SECRET, 3_600).key_id
    assert Signer(SECRET, 60).key_id != Signer(b"l" * 40, 60).key_id
    assert Signer(SECRET, 60).key_id not in {hashlib.sha256(SECRET).hexdigest()[:16], SECRET.hex()[:16]}


@given(st.binary(min_size=1, max_size=200), st.binary(max_size=200))
def test_the_pads_give_the_mac_of_rfc_2104(secret: bytes, claim: bytes) -> None:
    inner, outer = Signer(secret, 60).pads()
    assert len(inner) == len(outer) == BLOCK
    by_hand = hashlib.sha256(outer + hashlib.sha256(inner + claim).digest()).digest()
    assert by_hand == hmac.digest(secret, claim, "sha256")


def test_derived_keys_differ_by_purpose_and_are_no_token_macs() -> None:
    signer = Signer(SECRET, 60)
    assert len(signer.derived("jwt")) == 32
    assert signer.derived("jwt") == Signer(SECRET, 5).derived("jwt")
    assert len({signer.derived("jwt"), signer.derived("cursor"), SECRET, *signer.pads()}) == 5
