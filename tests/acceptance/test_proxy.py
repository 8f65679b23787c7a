"""The proxies of ops/proxy before a real API, with a certificate of our own: nginx and Caddy of Debian's packages."""

from __future__ import annotations

import asyncio
import socket
import ssl
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from websockets.asyncio.client import connect

from memsvc.client import AsyncMemory, UnavailableError
from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig, free_port, wait_until
from tests.fakes import upstream
from tests.servers import answers, program

pytestmark = pytest.mark.acceptance
PROXIES = Path(__file__).parents[2] / "ops" / "proxy"
NAME = "memory.example"


# Certificates -------------------------------------------------------------------------------------------------------


def name_of(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


class Authority:
    """Signs certificates."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.certificate = self._sign(name_of("tests"), self._key, timedelta(days=2), ca=True)
        self.path = folder / "ca.crt"
        self.path.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))

    def issue(self, lifetime: timedelta) -> tuple[Path, Path]:
        """A certificate of the name, and its key; one with a negative lifetime has run out."""
        key = ec.generate_private_key(ec.SECP256R1())
        paths = self.folder / "server.crt", self.folder / "server.key"
        paths[0].write_bytes(self._sign(name_of(NAME), key, lifetime).public_bytes(serialization.Encoding.PEM))
        form = serialization.PrivateFormat.PKCS8
        paths[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
        return paths

    def _sign(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, lifetime: timedelta, *, ca: bool = False
    ) -> x509.Certificate:
        until = datetime.now(UTC) + lifetime
        return (
            x509.CertificateBuilder(
                issuer_name=name_of("tests"), subject_name=subject, public_key=key.public_key(),
                serial_number=x509.random_serial_number(), not_valid_before=until - timedelta(days=9),
                not_valid_after=until,
            )
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )  # fmt: skip


# Proxies ------------------------------------------------------------------------------------------------------------


@dataclass
class Front:
    """A proxy that listens here; clients find it by its name."""

    port: int
    plain_port: int
    authority: Authority

    @property
    def url(self) -> str:
        """Its address."""
        return f"https://{NAME}:{self.port}"

    @property
    def trust(self) -> ssl.SSLContext:
        """What clients believe."""
        return ssl.create_default_context(cafile=str(self.authority.path))


@contextmanager
def proxy(kind: str, folder: Path, api_port: int, lifetime: timedelta = timedelta(days=1)) -> Iterator[Front]:
    """A proxy as its file says, with paths and ports of this machine."""
    folder.mkdir()
    front = Front(free_port(), free_port(), Authority(folder))
    certificate, key = front.authority.issue(lifetime)
    here = {"127.0.0.1:8765": f"127.0.0.1:{api_port}", "/etc/memsvc/tls": str(folder)}
    if kind == "nginx":
        text = (PROXIES / "nginx.conf").read_text()
        here |= {
            "listen 443 ssl": f"listen 127.0.0.1:{front.port} ssl", "listen [::]:443 ssl;": "",
            "listen 80": f"listen 127.0.0.1:{front.plain_port}", "listen [::]:80;": "",
        }  # fmt: skip
        whole = folder / "whole.conf"
        places = "".join(
            f"{each}_temp_path {folder}/{each};\n" for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        whole.write_text(
            f"daemon off; pid {folder}/pid; error_log {folder}/log; worker_processes 1; user root;\n"
            f"events {{ }}\nhttp {{\n{places}include {folder}/site.conf;\n}}\n"
        )
        command = [program("nginx", "nginx-light"), "-p", str(folder), "-c", str(whole), "-e", str(folder / "log")]
        site = folder / "site.conf"
    else:
        text = (PROXIES / "Caddyfile").read_text()
        here |= {f"{NAME} {{": f"{NAME}:{front.port} {{\n\ttls {certificate} {key}"}
        site = folder / "Caddyfile"
        command = [program("caddy", "caddy"), "run", "--config", str(site), "--adapter", "caddyfile"]
        text = f"{{\n\tadmin off\n\tauto_https disable_redirects\n}}\n{text}"
    for theirs, ours in here.items():
        assert theirs in text or theirs == "/etc/memsvc/tls", theirs
        text = text.replace(theirs, ours)
    site.write_text(text)
    with (folder / "out").open("wb") as out:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=folder,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(folder), "XDG_DATA_HOME": str(folder)},
        )  # fmt: skip
    try:
        wait_until(lambda: answers(front.port) or process.poll() is not None, seconds=30)
        assert process.poll() is None, (folder / "out").read_text() + (folder / "log").read_text()
        yield front
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture(autouse=True)
def name_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name in the certificate is this machine."""
    real = socket.getaddrinfo

    def found(host: object, *rest: object, **named: object) -> object:
        return real("127.0.0.1" if host in {NAME, NAME.encode()} else host, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", found)


@dataclass
class Api:
    """A running API, a key of its user, and its chat server."""

    rig: Rig
    key: str
    model: upstream.FakeUpstream


@pytest.fixture(scope="module")
async def api(prepared: Path) -> AsyncIterator[Api]:
    """The API behind the proxies; its chat server says a word each half second."""
    with private_folder(prepared) as data, Rig(data, embedding_model="", log_level="warning") as rig, rig.admin():
        rig.ok("user", "add", "--name", "Ada")
        key = rig.ok("key", "create", "--user", "Ada").strip()
        async with upstream.serving() as model:
            model.act = slowly
            settings = {"chat_url": model.url, "chat_model": "any", "public_url": f"https://{NAME}"}
            await asyncio.to_thread(rig.wait_healthy, rig.start("api", **settings))
            yield Api(rig, key, model)


WORDS = ("One", "two", "three", "four")
PAUSE_S = 0.5


async def slowly(_asked: upstream.Asked, writer: asyncio.StreamWriter) -> None:
    """Stream an answer word by word."""
    writer.write(upstream.STREAM_HEAD + upstream.event({"role": "assistant"}))
    for word in WORDS:
        writer.write(upstream.event({"content": word}))
        await writer.drain()
        await asyncio.sleep(PAUSE_S)
    writer.write(upstream.event({}, "stop") + b"data: [DONE]\n\n")
    await writer.drain()


# Tests --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["nginx", "caddy"])
async def test_all_goes_through_a_proxy_with_tls(api: Api, kind: str, tmp_path: Path) -> None:
    with proxy(kind, tmp_path / kind, api.rig.port) as front:
        headers = {"Authorization": f"Bearer {api.key}"}
        async with httpx.AsyncClient(base_url=front.url, verify=front.trust, headers=headers, timeout=60) as http:
            # Store and recall; a websocket hears of it.
            address = front.url.replace("https", "wss", 1)
            async with connect(f"{address}/ws", ssl=front.trust, additional_headers=headers) as socket_:
                assert "READY" in str(await asyncio.wait_for(socket_.recv(), 30))
                stored = await http.post(
                    "/v1/messages", json={"conversation": kind, "text": f"The heron likes {kind}."}
                )
                assert stored.is_success, stored.text
                heard = ""
                while "SOURCE_UPDATE" not in heard:
                    heard = str(await asyncio.wait_for(socket_.recv(), 30))
            found = await http.post("/v1/recall", json={"query": f"heron {kind}"})
            assert f"The heron likes {kind}." in found.text
            # An answer comes word by word.
            arrived: list[float] = []
            body = {"model": "any", "stream": True, "messages": [{"role": "user", "content": "Count."}]}
            async with http.stream("POST", "/v1/chat/completions", json=body) as answer:
                async for line in answer.aiter_lines():
                    arrived += [time.monotonic() for word in WORDS if f'"{word}' in line]
            assert len(arrived) == len(WORDS)
            assert arrived[-1] - arrived[0] > PAUSE_S * (len(WORDS) - 1) * 0.6, "the proxy kept it back"
            # Bounds.
            try:
                big = await http.post("/v1/documents", files={"file": ("big.txt", b"x" * 75_000_000)})
                assert big.status_code == 413
            except httpx.TransportError:
                assert kind == "caddy", "it alone hangs up while the client still sends"
            assert (await http.get("/metrics")).status_code == 404
            assert (await http.get("/health")).headers["Strict-Transport-Security"] == "max-age=31536000"
            if kind == "nginx":
                plain = await http.get(f"http://{NAME}:{front.plain_port}/v1/nodes?limit=5")
                assert plain.status_code == 308
                assert plain.headers["Location"] == f"https://{NAME}/v1/nodes?limit=5"


@pytest.mark.parametrize("kind", ["nginx", "caddy"])
async def test_a_certificate_that_ran_out_is_refused_and_says_so(api: Api, kind: str, tmp_path: Path) -> None:
    with proxy(kind, tmp_path / kind, api.rig.port, timedelta(minutes=-1)) as front:
        way = httpx.AsyncHTTPTransport(verify=front.trust)
        async with AsyncMemory(front.url, api.key, transport=way) as memory:
            with pytest.raises(UnavailableError, match="certificate has expired"):
                await memory.recall("heron")


async def test_without_the_api_the_proxy_says_so(api: Api, tmp_path: Path) -> None:
    with proxy("nginx", tmp_path / "nginx", free_port()) as front:
        way = httpx.AsyncHTTPTransport(verify=front.trust)
        async with AsyncMemory(front.url, api.key, transport=way) as memory:
            with pytest.raises(UnavailableError, match="502"):
                await memory.recall("heron")
