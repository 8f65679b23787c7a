"""Redis and RabbitMQ by TLS: what is trusted, what is refused, and that errors say why and show no password."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from memsvc.db.engine import Database
from memsvc.errors import ConfigurationError, QueueUnavailableError
from memsvc.queue.capability import check_queue, checked
from memsvc.queue.targets import target
from memsvc.settings import Settings
from tests.acceptance.killpoints import MEMSVC, free_port
from tests.certificates import Authority, encrypted
from tests.jobs.relay.conftest import Server, ask, in_queue, process, until
from tests.jobs.relay.test_relayed_work import states

pytestmark = pytest.mark.slow
EXPIRED = timedelta(days=-1)


def settings_of(url: str, ca: Path | None) -> Settings:
    return Settings.model_validate({"queue_url": url, "queue_ca_file": ca})


def refused(url: str, ca: Path | None, password: str) -> str:
    """What a refused connection says at a start and to the doctor; neither may show the password."""
    with pytest.raises(ConfigurationError) as caught:
        checked(settings_of(url, ca))
    [check] = check_queue(settings_of(url, ca))
    assert check.state == "warning"
    assert caught.value.message in check.says
    assert password not in check.says
    assert "mistaken" not in check.says
    return caught.value.message


async def test_jobs_are_relayed_and_done_by_tls(
    database: Database, watcher: psycopg.Connection, server: Server, relay_environment: dict[str, str]
) -> None:
    await ask(database, 40, 40)
    environment = {
        **relay_environment, "MEMSVC_QUEUE_URL": server.tls_url(), "MEMSVC_QUEUE_CA_FILE": str(server.authority.file),
        "MEMSVC_EMBEDDING_MODEL": "",
    }  # fmt: skip
    with process([str(MEMSVC), "relay"], environment), process([str(MEMSVC), "worker"], environment):
        await until(lambda: states(watcher) == {"done": 80})
    assert in_queue(watcher) == 0


def test_the_authority_is_trusted_and_the_doctor_says_so(server: Server) -> None:
    [check] = check_queue(settings_of(server.tls_url(), server.authority.file))
    assert (check.state, "by TLS" in check.says) == ("ok", True)
    [check] = check_queue(settings_of(server.url, None))
    assert (check.state, "by TLS" in check.says) == ("ok", False)


def test_another_authority_is_not_trusted(server: Server, tmp_path: Path) -> None:
    for ca in (None, Authority(tmp_path, "another").file):
        assert "certificate is not trusted" in refused(server.tls_url(), ca, server.password)


def test_a_certificate_that_expired_is_not_trusted(server: Server) -> None:
    with encrypted(server.port, server.authority.issue(lasts=EXPIRED)) as port:
        said = refused(server.tls_url(port), server.authority.file, server.password)
    assert "certificate has expired" in said
    with encrypted(server.port, server.authority.issue()) as port:  # the proxy itself is no hindrance
        checked(settings_of(server.tls_url(port), server.authority.file))


def test_a_certificate_of_another_host_is_not_trusted(server: Server) -> None:
    with encrypted(server.port, server.authority.issue("queue.example")) as port:
        said = refused(server.tls_url(port), server.authority.file, server.password)
    assert "certificate is not trusted" in said
    assert "127.0.0.1" in said


@pytest.mark.parametrize("encrypted_too", [False, True], ids=["plain", "TLS"])
def test_a_wrong_password_is_refused_and_not_shown(server: Server, *, encrypted_too: bool) -> None:
    url = server.tls_url() if encrypted_too else server.url
    said = refused(url.replace(server.password, "mistaken"), server.authority.file, server.password)
    assert "refuses the login" in said


def test_a_port_without_tls_is_told_from_a_server_that_is_away(server: Server) -> None:
    [check] = check_queue(settings_of(server.tls_url(server.port), server.authority.file))
    assert check.state == "warning"
    assert "TLS" in check.says
    away = settings_of(server.tls_url(free_port()), server.authority.file)
    with closing(checked(away)) as later, pytest.raises(QueueUnavailableError, match="nobody listens"):  # it may come
        later.waiting("models")
    [check] = check_queue(away)
    assert (check.state, "nobody listens there" in check.says) == ("warning", True)


def test_a_file_without_certificates_is_an_error(server: Server, tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_text("nothing")
    for wrong in (tmp_path / "empty.pem", tmp_path / "missing.pem"):
        with pytest.raises(ConfigurationError, match="MEMSVC_QUEUE_CA_FILE"):
            target(server.tls_url(), ca=wrong)


@pytest.mark.parametrize("command", ["worker", "relay", "doctor"])
def test_commands_say_why_at_their_start(command: str, server: Server, relay_environment: dict[str, str]) -> None:
    environment = {**relay_environment, "MEMSVC_QUEUE_URL": server.url.replace(server.password, "mistaken")}
    if command == "doctor":
        arguments = [str(MEMSVC), command, "--json"]
        done = subprocess.run(
            arguments, env=os.environ | environment, capture_output=True, encoding="utf-8", check=False
        )
        [line] = [check for check in json.loads(done.stdout)["checks"] if check["name"] == "queue server"]
        assert "refuses the login" in line["says"]
        said = done.stdout + done.stderr
    else:
        with process([str(MEMSVC), command], environment) as started:
            _, said = started.communicate(timeout=60)
        assert started.returncode == 78, said
        assert "refuses the login" in said
    assert server.password not in said
    assert "mistaken" not in said
    assert "Traceback" not in said
