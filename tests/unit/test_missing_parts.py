"""What the command line says where a search had to do without something."""

from __future__ import annotations

import pytest

from memsvc.cli.common import note_missing


@pytest.mark.parametrize(
    ("degraded", "doctor", "helps"),
    [
        (["vector"], True, ""), (["vector", "reranker"], True, ""), (["llm"], True, ""),
        (["words"], False, "ask in other words"), (["order"], False, "install memsvc again"),
        (["vector", "words"], True, "ask in other words"),
    ],
)  # fmt: skip
def test_the_doctor_is_named_for_models_alone(
    capsys: pytest.CaptureFixture[str], degraded: list[str], doctor: bool, helps: str
) -> None:
    note_missing(degraded)
    said = capsys.readouterr().err
    assert said.startswith(f"Searched without: {', '.join(degraded)}. ")
    assert said.count("memsvc doctor") == doctor
    assert helps in said


def test_where_nothing_is_missing_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    note_missing([])
    assert capsys.readouterr().err == ""
