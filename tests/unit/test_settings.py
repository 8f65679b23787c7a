"""Settings: from the environment and ``.env``; secrets are made once, kept private, and never shown."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from pydantic import ValidationError
from sqlalchemy import make_url

from memsvc.db.engine import Database
from memsvc.errors import ConfigurationError
from memsvc.settings import MIN_SECRET_CHARS, Settings
from memsvc.settings.secrets import SECRET_NAMES, read_or_make_secrets

SECRET = "a-secret-that-must-never-be-shown-anywhere"
URL = f"postgresql://me:{SECRET}@host/db"


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("MEMSVC_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def test_the_defaults_work_without_anything() -> None:
    settings = Settings.load()
    assert settings.embedded
    assert (settings.host, settings.port) == ("127.0.0.1", 8765)
    assert settings.data_dir.is_absolute()


def test_the_environment_counts_more_than_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("MEMSVC_PORT=1111\nMEMSVC_POOL_SIZE=3\nMEMSVC_UNKNOWN=x\nOTHER=y\n")
    monkeypatch.setenv("MEMSVC_PORT", "2222")
    settings = Settings.load()
    assert (settings.port, settings.pool_size) == (2222, 3)


def test_an_empty_url_means_the_embedded_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSVC_DATABASE_URL", "")
    assert Settings.load().embedded
    monkeypatch.setenv("MEMSVC_DATABASE_URL", URL)
    assert not Settings.load().embedded


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MEMSVC_PORT", "0"), ("MEMSVC_PORT", "70000"), ("MEMSVC_PORT", "http"), ("MEMSVC_POOL_SIZE", "many"),
        ("MEMSVC_LOG_LEVEL", "loud"), ("MEMSVC_PASSAGE_TOKENS", "1"), ("MEMSVC_IDENTITY_TTL_S", "1e9"),
        ("MEMSVC_DATABASE_URL", f"mysql://me:{SECRET}@host/db"),
        ("MEMSVC_IDENTITY_SECRET", SECRET[: MIN_SECRET_CHARS - 1]),
    ],
)  # fmt: skip
def test_a_wrong_value_is_named_and_never_shown(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError) as caught:
        Settings.load()
    assert caught.value.message.startswith(f"{name}: ")
    assert value not in str(caught.value)
    assert SECRET[:20] not in repr(caught.value)
    assert caught.value.__cause__ is None


def test_files_of_secrets_count_less_than_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "memsvc_llm_key").write_text(f"{SECRET}\n")
    (tmp_path / "memsvc_database_url").write_text(URL)
    (tmp_path / "llm_model").write_text("of another program")
    assert Settings.load().llm_key is None
    monkeypatch.setenv("MEMSVC_SECRETS_DIR", str(tmp_path))
    monkeypatch.setenv("MEMSVC_DATABASE_URL", "postgresql://elsewhere/db")
    given = Settings.load()
    assert given.llm_key is not None
    assert given.llm_key.get_secret_value() == SECRET
    assert given.database_url is not None
    assert given.database_url.get_secret_value() == "postgresql://elsewhere/db"
    assert given.llm_model is None


def test_a_folder_of_secrets_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMSVC_SECRETS_DIR", str(tmp_path / "nowhere"))
    with pytest.raises(ConfigurationError, match=r"MEMSVC_SECRETS_DIR: .*nowhere"):
        Settings.load()
    (tmp_path / "file").touch(mode=0o700)
    monkeypatch.setenv("MEMSVC_SECRETS_DIR", str(tmp_path / "file"))
    with pytest.raises(ConfigurationError, match="MEMSVC_SECRETS_DIR"):
        Settings.load()


def test_secrets_stand_in_no_representation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in SECRET_NAMES:
        monkeypatch.setenv(f"MEMSVC_{name.upper()}", SECRET)
    monkeypatch.setenv("MEMSVC_DATABASE_URL", URL)
    given = Settings.load()
    for shown in (repr(given), str(given), f"{given}", repr(given.model_dump()), given.model_dump_json()):
        assert SECRET not in shown
    assert [given.secret(name) for name in SECRET_NAMES] == [SECRET] * len(SECRET_NAMES)
    assert not (tmp_path / "secrets.json").exists()

    made = Settings.model_validate({"data_dir": tmp_path / "made"})
    values = [made.secret(name) for name in SECRET_NAMES]
    for shown in (repr(made), repr(made.model_dump()), made.model_dump_json()):
        assert not any(value in shown for value in values)


def test_made_secrets_are_private_strong_and_stay(tmp_path: Path) -> None:
    data = tmp_path / "a" / "b"
    settings = Settings.model_validate({"data_dir": data})
    values = {name: settings.secret(name) for name in SECRET_NAMES}
    assert len(set(values.values())) == len(SECRET_NAMES)
    assert all(len(value) >= MIN_SECRET_CHARS for value in values.values())
    assert [path.name for path in data.iterdir()] == ["secrets.json"]
    assert stat.S_IMODE((data / "secrets.json").stat().st_mode) == 0o600
    assert Settings.model_validate({"data_dir": data}).secret("app_password") == values["app_password"]


def test_a_given_secret_counts_more_than_the_kept_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    read_or_make_secrets(tmp_path / "secrets.json")
    monkeypatch.setenv("MEMSVC_APP_PASSWORD", "given")
    settings = Settings.model_validate({"data_dir": tmp_path})
    assert settings.secret("app_password") == "given"
    assert settings.secret("identity_secret") == json.loads((tmp_path / "secrets.json").read_text())["identity_secret"]


def test_processes_that_make_secrets_at_once_agree(tmp_path: Path) -> None:
    with ProcessPoolExecutor(4, mp_context=multiprocessing.get_context("spawn")) as processes:
        list(processes.map(abs, range(4)))  # all are up
        for number in range(25):
            path = tmp_path / f"{number}" / "secrets.json"
            found = list(processes.map(read_or_make_secrets, [path] * 4))
            assert found == [json.loads(path.read_text())] * 4
            assert [kept.name for kept in path.parent.iterdir()] == ["secrets.json"]


def test_processes_that_find_an_older_file_agree_on_what_it_lacks(tmp_path: Path) -> None:
    with ProcessPoolExecutor(4, mp_context=multiprocessing.get_context("spawn")) as processes:
        list(processes.map(abs, range(4)))
        for number in range(25):
            path = tmp_path / f"{number}.json"
            path.write_text(json.dumps({name: name for name in SECRET_NAMES[:-1]}))
            found = list(processes.map(read_or_make_secrets, [path] * 4))
            assert found == [json.loads(path.read_text())] * 4
            assert found[0].keys() == set(SECRET_NAMES)
            assert all(found[0][name] == name for name in SECRET_NAMES[:-1])
            assert [kept.name for kept in tmp_path.iterdir()] == [path.name]
            path.unlink()


@pytest.mark.parametrize("content", ["", "{", "\x00\x01"])
def test_secrets_that_cannot_be_read_are_a_clear_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "secrets.json").write_text(content)
    with pytest.raises(ConfigurationError, match=r"secrets\.json cannot be read"):
        read_or_make_secrets(tmp_path / "secrets.json")


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError) as caught:
        read_or_make_secrets(tmp_path / "file" / "secrets.json")
    assert "MEMSVC_DATA_DIR" in caught.value.advice


def test_settings_do_not_change(tmp_path: Path) -> None:
    settings = Settings.model_validate({"data_dir": tmp_path})
    with pytest.raises(ValueError, match="frozen"):
        settings.port = 1


def test_a_policy_on_secrets_that_nobody_understands_ends_the_start() -> None:
    for wrong in ("card", "card=hide", "card:mask"):
        with pytest.raises(ValidationError):
            Settings(text_policy=wrong)
    given = {"text_policy": "card=mask, password=refuse,", "app_password": "x", "identity_secret": "y" * 32}
    known, url = Settings.model_validate(given), make_url("postgresql+psycopg://127.0.0.1/x")
    assert Database(url, known).policy.told()["password"] == "refuse"
    with pytest.raises(ConfigurationError, match="MEMSVC_TEXT_POLICY"):
        Database(url, known.model_copy(update={"text_policy": "cards=mask"}))
