"""What of a request is new, for clients that send their history, its end or nothing again: a model of a chat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Literal, cast

from hypothesis import given
from hypothesis import strategies as st

from memsvc.chat.keeping import Talk, gathered
from memsvc.chat.known import LAST, Known, Stored, candidates, placed, said_by, unknown_history
from memsvc.chat.request import ChatRequest, Utterance

TALK = cast(
    "Talk", SimpleNamespace(conversation="chat", session="", owner=SimpleNamespace(name="Ada"), settings=None)
)  # fmt: skip
What = Literal["answers", "fails", "answers again"]
Step = tuple[str, str, What]
WHAT: Sequence[What] = ("answers", "fails", "answers again")


def request_of(*turns: tuple[str, str]) -> ChatRequest:
    """A request with these turns."""
    said = [Utterance(at=at, role=role, text=text) for at, (role, text) in enumerate(turns)]
    return ChatRequest(said=said, passing=lambda _block, _model: b"")


@dataclass
class Session:
    """What a session stores, by the rules of ``append_messages`` for ids."""

    stored: list[Stored] = field(default_factory=list)

    @property
    def texts(self) -> list[Any]:
        """Digests of what the user said, in order."""
        return [one.said for one in self.stored if one.role == "user"]

    def known(self, request: ChatRequest) -> Known:
        """What the look-up finds."""
        taken = {one.id for one in self.stored} & set(candidates(request, "chat", "").values())
        return Known(last=self.stored[: -LAST - 1 : -1], taken=frozenset(taken))

    def take(self, request: ChatRequest) -> str:
        """Store what is new of a request; returns the identity of its last message."""
        gathering = gathered(request, self.known(request), TALK, None)
        for _, message in gathering.messages:
            said = said_by(Utterance(at=0, role="user", text=message.text))
            self._append(Stored("user", said, str(message.id)))
        return gathering.message_id

    def answer(self, message_id: str, text: str) -> None:
        """Store an answer."""
        said = said_by(Utterance(at=0, role="assistant", text=text))
        self._append(Stored("assistant", said, f"answer:{message_id}:{said[1]}"))

    def _append(self, one: Stored) -> None:
        if one.id not in {other.id for other in self.stored}:
            self.stored.append(one)


def chat(steps: Sequence[Step], shown: int) -> tuple[Session, list[Any]]:
    """Chat with a client that sends its last ``shown`` turns; what is stored, and what was said."""
    session, history, said = Session(), list[tuple[str, str]](), list[Any]()
    for text, answer, what in steps:
        history.append(("user", text))
        said.append(said_by(Utterance(at=0, role="user", text=text)))
        request = request_of(*history[-shown:])
        message_id = session.take(request)
        if what == "fails":
            message_id = session.take(request)
        session.answer(message_id, answer)
        if what == "answers again":
            session.answer(session.take(request), f"{answer} Or so.")
        history.append(("assistant", f"{answer} Or so." if what == "answers again" else answer))
    return session, said


@given(st.lists(st.tuples(st.sampled_from(["Yes.", "No."]), st.just("Noted."), st.sampled_from(WHAT)), max_size=8))
def test_a_client_with_history_loses_nothing_and_stores_nothing_twice(steps: list[Step]) -> None:
    session, said = chat(steps, shown=1_000)
    assert session.texts == said


@given(st.lists(st.sampled_from(WHAT), max_size=50), st.integers(min_value=2, max_value=9))
def test_a_client_that_sends_only_the_end_of_its_history_does_not_either(whats: list[What], shown: int) -> None:
    session, said = chat([(f"Text {n}.", f"Answer {n}.", what) for n, what in enumerate(whats)], shown)
    assert session.texts == said


@given(st.lists(st.tuples(st.sampled_from(["Yes.", "No."]), st.just("Noted."), st.sampled_from(WHAT[:2])), max_size=8))
def test_a_client_without_history_may_repeat_itself(steps: list[Step]) -> None:
    session, said = chat([("Hello.", "Noted.", "answers"), *steps], shown=1)
    assert session.texts == said


ROWS = st.lists(st.tuples(st.sampled_from(["Yes.", "No."]), st.sampled_from(WHAT)), max_size=60)


@given(ROWS, st.sampled_from([(), ("Other.",), ("Yes.", "Other.")]))
def test_a_client_that_sends_only_what_the_user_says_stores_each_once(
    steps: list[tuple[str, What]], earlier: tuple[str, ...]
) -> None:
    session, row = Session(), list[tuple[str, str]]()
    for text in earlier:
        session.answer(session.take(request_of(("user", text))), "Before.")
    begin = [said_by(Utterance(at=0, role="user", text=text)) for text in earlier]
    for number, (text, what) in enumerate(steps):
        row.append(("user", f"{text} {number}"))
        for _ in range(2):  # also when it is sent again
            message_id = session.take(request_of(*row))
        if what != "fails":
            session.answer(message_id, "Noted.")
            if len(row) > 1 or not earlier:  # one text alone, behind an answer, is said again
                session.take(request_of(*row))
    assert session.texts == begin + [said_by(Utterance(at=0, role="user", text=text)) for _, text in row]


@given(st.lists(st.sampled_from(["Yes.", "No."]), max_size=80))
def test_a_row_that_nobody_answers_may_repeat_itself(texts: list[str]) -> None:
    session = Session()
    for number in range(1, len(texts) + 1):
        session.take(request_of(*(("user", text) for text in texts[:number])))
    assert session.texts == [said_by(Utterance(at=0, role="user", text=text)) for text in texts]


def test_a_chat_that_begins_like_an_earlier_one_loses_nothing() -> None:
    session = Session()
    for _ in range(2):
        chat = list[tuple[str, str]]()
        for text in ("Hello.", "I moved.", "Really.", "To Porto."):
            chat.append(("user", text))
            for _ in range(2):  # also when another answer is asked for
                message_id = session.take(request_of(*chat))
            session.answer(message_id, "Noted.")
            chat.append(("assistant", "Noted."))
    assert len(session.texts) == 8


def test_a_row_is_laid_beside_what_is_stored() -> None:
    session = Session()
    session.take(request_of(("user", "A"), ("user", "B")))

    def repeated(*turns: tuple[str, str]) -> list[int]:
        request = request_of(*turns)
        return sorted(placed(request, session.known(request), candidates(request, "chat", "")).stored)

    assert repeated(("user", "A"), ("user", "B"), ("user", "B")) == [0, 1]
    assert repeated(("user", "summary"), ("user", "A"), ("user", "B")) == [1, 2]
    assert repeated(("user", "B")) == [0]
    assert repeated(("user", "C")) == []
    assert repeated(("user", "B"), ("assistant", "Noted."), ("user", "B")) == []


def test_history_that_is_not_known_is_told() -> None:
    session = Session()
    session.answer(session.take(request_of(("user", "A"))), "Noted.")
    known = Known(last=session.stored[::-1])
    later = [("user", "A"), ("assistant", "Noted."), ("user", "B"), ("assistant", "x"), ("user", "C")]
    assert unknown_history(request_of(*later), known) == range(2, 4)
    assert unknown_history(request_of(*later[:3]), known) == range(0)
    assert unknown_history(request_of(*later), Known(last=[])) == range(4)
