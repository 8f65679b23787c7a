"""Signs the identity tokens that row security checks.

A token is ``user.expiry.key.mac``: HMAC-SHA256 (RFC 2104) over the first three fields. The first one is ``user~epoch``
for a user who has moved between cells (``memsvc.db.epochs``). PostgreSQL checks a token with the pads in
``memsvc.identity_keys`` (``sql/functions/base/10_identity.sql``); only this process and that table know the secret. The
key's id is derived from the secret, so two secrets can both be valid while one replaces the other.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from dataclasses import dataclass, field
from uuid import UUID

BLOCK = 64


@dataclass(frozen=True, slots=True)
class Signer:
    """Makes tokens with one secret."""

    secret: bytes
    ttl_s: int
    key_id: str = field(init=False)
    """Public id of the secret: half of a digest that is used for nothing else."""

    def __post_init__(self) -> None:
        """Derive the id of the secret."""
        digest = hashlib.sha256(b"memsvc identity key id:" + self.secret).hexdigest()
        object.__setattr__(self, "key_id", digest[:16])

    def pads(self) -> tuple[bytes, bytes]:
        """The inner and outer pad of RFC 2104, 64 bytes each, for ``identity_keys``."""
        key = self.secret if len(self.secret) <= BLOCK else hashlib.sha256(self.secret).digest()
        key = key.ljust(BLOCK, b"\0")
        return bytes(b ^ 0x36 for b in key), bytes(b ^ 0x5C for b in key)

    def token(self, user_id: UUID, *, epoch: int = 0, now: float | None = None) -> str:
        """A token for one transaction of this user, valid for ``ttl_s`` seconds from ``now`` (Unix time)."""
        expiry = int((time.time() if now is None else now) + self.ttl_s)
        claim = f"{user_id}~{epoch}.{expiry}.{self.key_id}" if epoch else f"{user_id}.{expiry}.{self.key_id}"
        return f"{claim}.{hmac.digest(self.secret, claim.encode(), 'sha256').hex()}"

    def derived(self, purpose: str) -> bytes:
        """A 32-byte key for another purpose (signing JWTs), from which this secret cannot be computed."""
        return hmac.new(self.secret, f"memsvc {purpose}".encode(), hashlib.sha256).digest()
