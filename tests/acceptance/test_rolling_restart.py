"""Two API processes behind nginx, and two workers, restarted one after another under load: nobody notices."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Part, Rig, assert_books_right, free_port, wait_until
from tests.servers import program

pytestmark = [pytest.mark.acceptance, pytest.mark.slow]
CLIENTS = 6
DRAIN_S = 1.5
CONFIGURATION = """
pid {folder}/pid; error_log {folder}/error.log warn; daemon off; worker_processes 1;
events {{ worker_connections 512; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  upstream memsvc {{
    server 127.0.0.1:{first} max_fails=1 fail_timeout=1s;
    server 127.0.0.1:{second} max_fails=1 fail_timeout=1s;
    keepalive 16;
  }}
  map $http_upgrade $kept {{ default upgrade; '' ''; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://memsvc;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $kept;
      proxy_next_upstream error timeout;
    }}
  }}
}}
"""
"""As docs/operations.md has it. A POST is sent to the next process only where nothing of it was sent to the first."""


@contextmanager
def proxy(folder: Path, ports: list[int]) -> Iterator[str]:
    """Run nginx before two API processes; yields its address."""
    port = free_port()
    folder.mkdir()
    (folder / "nginx.conf").write_text(CONFIGURATION.format(folder=folder, first=ports[0], second=ports[1], port=port))
    process = subprocess.Popen(
        [program("nginx", "nginx"), "-c", f"{folder}/nginx.conf", "-p", str(folder), "-g", "user root;"]
        if os.geteuid() == 0
        else [program("nginx", "nginx"), "-c", f"{folder}/nginx.conf", "-p", str(folder)],
        stderr=subprocess.DEVNULL,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until(lambda: _answers(url))
        yield url
    finally:
        process.terminate()
        process.wait(30)


def _answers(url: str) -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(f"{url}/health", timeout=5).status_code == 200
    return False


class Load:
    """Clients that store and recall until they are told to stop; what they were answered."""

    def __init__(self, url: str, key: str) -> None:
        self.answers: Counter[str] = Counter()
        self.failed: list[str] = []
        self.stored: set[str] = set()
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._work, args=(url, key, one)) for one in range(CLIENTS)]

    def _work(self, url: str, key: str, number: int) -> None:
        with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=60) as api:
            turn = 0
            while not self._over.is_set():
                turn += 1
                text = f"client {number} said {turn}"
                said = {"conversation": f"c{number}", "text": text}  # no id: it may not be sent twice
                for path, body in (("/v1/messages", said), ("/v1/recall", {"query": text}), ("/v1/me", None)):
                    try:
                        answer = api.get(path) if body is None else api.post(path, json=body)
                        outcome = str(answer.status_code)
                        detail = answer.text[:200]
                    except httpx.TransportError as error:
                        outcome, detail = type(error).__name__, str(error)
                    with self._lock:
                        self.answers[outcome] += 1
                        if not outcome.startswith("2"):
                            self.failed.append(f"{path}: {outcome} {detail}")
                        elif path == "/v1/messages":
                            self.stored.add(text)

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()


def restart(rig: Rig, part: Part, command: str, **settings: str) -> Part:
    """SIGTERM, wait for the end, and start another one; an API is waited for."""
    part.process.send_signal(signal.SIGTERM)
    code, _, errors = part.finish()
    assert code == 0, errors
    return begin(rig, command, **settings)


def begin(rig: Rig, command: str, **settings: str) -> Part:
    """Start an API or a worker, and wait until it works."""
    part = rig.start(command, database_url=rig.admin_url(), **settings)
    if "port" in settings:
        wait_until(lambda: _answers(f"http://127.0.0.1:{settings['port']}"))
    else:
        part.reaches(lambda: "is running" in part.errors.read_text())
    return part


async def hear(url: str, key: str, over: threading.Event) -> list[tuple[int | None, dict[str, str]]]:
    """Listen, and connect again whenever the service closes; the codes and the last message before each close."""
    heard: list[tuple[int | None, dict[str, str]]] = []
    cursor, last = "now", {"type": ""}
    while not over.is_set():
        try:
            address = f"{url.replace('http', 'ws')}/ws?cursor={cursor}"
            async with connect(address, additional_headers={"Authorization": f"Bearer {key}"}) as socket:
                while not over.is_set():
                    with suppress(TimeoutError):
                        last = json.loads(await asyncio.wait_for(socket.recv(), 0.2))
                        cursor = last.get("cursor", cursor)
        except ConnectionClosed as closed:
            heard.append((closed.rcvd.code if closed.rcvd else None, last))
    return heard


def test_a_rolling_restart_fails_no_request(prepared: Path) -> None:
    with (
        private_folder(prepared) as data,
        Rig(data, drain_s=str(DRAIN_S), embedding_model="") as rig,
        rig.admin() as admin,
    ):
        rig.ok("user", "add", "--name", "Ada")
        key = rig.ok("key", "create", "--user", "Ada", "--scope", "read", "--scope", "write").strip()
        ports = [free_port(), free_port()]
        apis = [begin(rig, "api", port=str(port)) for port in ports]
        workers = [begin(rig, "worker") for _ in range(2)]
        over = threading.Event()
        heard: list[tuple[int | None, dict[str, str]]] = []
        with proxy(data.parent / "nginx", ports) as url:
            listener = threading.Thread(target=lambda: heard.extend(asyncio.run(hear(url, key, over))))
            listener.start()
            with Load(url, key) as load:
                time.sleep(1)
                for number, port in enumerate(ports):
                    workers[number].process.send_signal(signal.SIGTERM)
                    apis[number] = restart(rig, apis[number], "api", port=str(port))
                    assert workers[number].finish()[0] == 0
                    workers[number] = begin(rig, "worker")
                time.sleep(1)
            over.set()
            listener.join()
        assert load.failed == []
        assert sum(load.answers.values()) > 50
        assert [code for code, _ in heard] == [1012] * len(heard)
        assert heard
        assert all(last.get("code") == "restarting" for _, last in heard)
        texts = "SELECT text, count(*) FROM memsvc.passages GROUP BY text"
        assert dict(admin.execute(texts).fetchall()) == dict.fromkeys(load.stored, 1), "lost, or there twice"
        for part in (*apis, *workers):
            part.process.send_signal(signal.SIGTERM)
            assert part.finish()[0] == 0
        rig.ok("jobs", "run")
        assert_books_right(admin)


def test_a_process_that_was_told_to_stop_says_so_and_still_serves(prepared: Path) -> None:
    with private_folder(prepared) as data, Rig(data, drain_s="3", embedding_model="") as rig, rig.admin():
        rig.ok("user", "add", "--name", "Ada")
        key = rig.ok("key", "create", "--user", "Ada").strip()
        part = begin(rig, "api", port=str(rig.port))
        with httpx.Client(base_url=rig.url, headers={"Authorization": f"Bearer {key}"}, timeout=30) as api:
            kept = api.get("/v1/me")
            assert "connection" not in kept.headers
            part.process.send_signal(signal.SIGTERM)
            wait_until(lambda: httpx.get(f"{rig.url}/health").status_code == 503)
            assert httpx.get(f"{rig.url}/health").json()["status"] == "stopping"
            served = api.get("/v1/me")
            assert (served.status_code, served.headers["connection"]) == (200, "close")
        assert part.finish()[0] == 0
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{rig.url}/health")
