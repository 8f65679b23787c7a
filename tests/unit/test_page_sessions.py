"""The halves of a session of the web page: together they are the credential, each alone is nothing."""

from __future__ import annotations

import base64
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st
from litestar.testing import RequestFactory

from memsvc.api.sessions import COOKIE, HEADER, begin, credential_of

CREDENTIALS = st.text(min_size=1, max_size=200)
ANYTHING = st.text(st.characters(min_codepoint=33, max_codepoint=126, blacklist_characters='",;\\'), max_size=60)


def credential(header: str | None, cookies: dict[str, str]) -> str:
    """What the service reads of a request."""
    headers = {} if header is None else {HEADER: header}
    if cookies:
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return credential_of(cast("Any", RequestFactory().get("/", headers=headers)))


@given(key=CREDENTIALS, other=CREDENTIALS, odd=ANYTHING)
def test_only_both_halves_of_one_session_are_the_credential(key: str, other: str, odd: str) -> None:
    session, cookie = begin(key, linked=False, secure=True)
    foreign, others = begin(other, linked=True, secure=True)
    mine, theirs = {cookie.key: cookie.value or ""}, {others.key: others.value or ""}
    assert credential(session.page, mine) == key
    assert credential(session.page, mine | theirs) == key
    assert credential(None, mine) == credential(session.page, {}) == credential(session.page, theirs) == ""
    assert credential(odd, mine) == ""
    assert credential(session.page, {cookie.key: odd}) != key
    session_id = session.page.partition(".")[0]
    assert credential(f"{session_id}.{foreign.page.partition('.')[2]}", mine) != key


def test_no_half_shows_the_credential_or_repeats() -> None:
    key = "mk_0123456789abcdef.AAAAAAAAAAAAAAAAAAAAAA"
    halves = set[str]()
    for _ in range(50):
        session, cookie = begin(key, linked=False, secure=False)
        pair = [session.page.partition(".")[2], (cookie.value or "")[2:]]
        for half in pair:
            assert key.encode()[:6] not in base64.urlsafe_b64decode(half + "=" * (-len(half) % 4))
        halves.update(pair)
        assert cookie.key.startswith(COOKIE)
    assert len(halves) == 100
