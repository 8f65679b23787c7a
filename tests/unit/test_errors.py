"""Every error class says what went wrong and what to do, under a code of its own."""

from __future__ import annotations

import inspect
import re
from http import HTTPStatus

import pytest

from memsvc import errors
from memsvc.errors import EmptyTextError, MemsvcError

CLASSES = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, MemsvcError)]
# 1: a defect; 2: the input; 3: what is there; 4: who asks; then sysexits.h: unavailable, configuration.
EXIT_CODES = {1, 2, 3, 4, 69, 78}


def test_there_are_errors_and_their_codes_are_unique() -> None:
    codes = [kind.code for kind in CLASSES]
    assert len(codes) > 15
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", code) for code in codes)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.code)
def test_an_error_class_is_complete(kind: type[MemsvcError]) -> None:
    assert kind.__name__.endswith("Error")
    assert "code" in vars(kind), "it inherits the code of another error"
    assert "__doc__" in vars(kind)
    first, *rest = (kind.__doc__ or "").strip().splitlines()
    assert re.fullmatch(r"[A-Z].{10,90}\.", first)
    assert not rest
    assert kind is MemsvcError or re.search(r"[.?]$|\w$", kind.hint)
    assert kind is MemsvcError or len(kind.hint) > 10
    assert 400 <= HTTPStatus(kind.status) < 600
    assert kind.exit_code in EXIT_CODES
    assert (kind.exit_code in {1, 69, 78}) == (kind.status >= 500)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.code)
def test_the_docstring_is_the_message(kind: type[MemsvcError]) -> None:
    error = kind()
    assert str(error) == error.message == (kind.__doc__ or "").strip()
    assert (error.advice, error.details) == (kind.hint, {})


def test_message_hint_and_details_can_be_given() -> None:
    error = EmptyTextError("Row 3 is empty.", hint="Fill it.", row=3)
    assert (str(error), error.advice, error.details) == ("Row 3 is empty.", "Fill it.", {"row": 3})
    assert EmptyTextError("Row 3 is empty.").advice == EmptyTextError.hint
