"""Certificates of a test's own authority, and a proxy that speaks TLS with any of them before a plain server."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.acceptance.killpoints import free_port

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Pair:
    """Files of a certificate and its key."""

    certificate: Path
    key: Path


class Authority:
    """Signs certificates for servers; its own is in ``file``."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._name, self._key = folder, name, ec.generate_private_key(ec.SECP256R1())
        self._certificate = self._sign(self._key, name, {}, DAY, of_authority=True)
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(self._certificate.public_bytes(serialization.Encoding.PEM))

    def issue(self, host: str = "127.0.0.1", *, lasts: timedelta = DAY) -> Pair:
        """Make a certificate for a host; one that lasts less than nothing has expired."""
        key = ec.generate_private_key(ec.SECP256R1())
        try:
            name: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(host))
        except ValueError:
            name = x509.DNSName(host)
        made = self._sign(key, host, {"host": name}, lasts)
        stem = self._folder / f"{self._name}-{host}-{int(lasts.total_seconds())}"
        pair = Pair(stem.with_suffix(".crt"), stem.with_suffix(".key"))
        pair.certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        pair.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return pair

    def _sign(
        self,
        key: ec.EllipticCurvePrivateKey,
        name: str,
        hosts: dict[str, x509.GeneralName],
        lasts: timedelta,
        *,
        of_authority: bool = False,
    ) -> x509.Certificate:
        until = datetime.now(UTC) + lasts
        usage = x509.KeyUsage(
            digital_signature=True, key_cert_sign=of_authority, crl_sign=of_authority, content_commitment=False,
            key_encipherment=False, data_encipherment=False, key_agreement=False, encipher_only=False,
            decipher_only=False,
        )  # fmt: skip
        built = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
            .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, self._name)]))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(until - 9 * DAY)
            .not_valid_after(until)
            .add_extension(x509.BasicConstraints(ca=of_authority, path_length=None), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )
        if hosts:
            built = built.add_extension(x509.SubjectAlternativeName(hosts.values()), critical=False)
        return built.sign(self._key, hashes.SHA256())


@contextmanager
def encrypted(port: int, pair: Pair) -> Iterator[int]:
    """Run a proxy with a certificate before a plain server on a loopback port; yields the proxy's port."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pair.certificate, pair.key)
    mine, started = free_port(), threading.Event()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while block := await reader.read(65_536):
                writer.write(block)
                await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pump(reader, back), pump(there, writer))

    async def main(ends: list[Callable[[], object]]) -> None:
        ended, loop = asyncio.Event(), asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, _context: None)  # clients that refuse the certificate
        ends.append(lambda: loop.call_soon_threadsafe(ended.set))
        async with await asyncio.start_server(serve, "127.0.0.1", mine, ssl=context):
            started.set()
            await ended.wait()

    end: list[Callable[[], object]] = []
    thread = threading.Thread(target=lambda: asyncio.run(main(end)), daemon=True)
    thread.start()
    try:
        assert started.wait(10)
        yield mine
    finally:
        end[0]()
        thread.join(10)
