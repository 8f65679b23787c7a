"""The calls about the profile, as in ``memsvc.client.calls``."""

from __future__ import annotations

from memsvc.client import options as o
from memsvc.client.calls import Call, at, read
from memsvc.db.paging import Page
from memsvc.erasing.memories import Receipt
from memsvc.profiles.blocks import Block, Profile
from memsvc.profiles.changes import Change


def profile(place: o.Place) -> Call[Profile]:
    """Read all blocks."""
    return read("/v1/profile", Profile, {**place})


def read_block(name: str, place: o.Place) -> Call[Block]:
    """Read one block."""
    return read(at("/v1/profile/{}", name), Block, {**place})


def write_block(name: str, text: str, options: o.BlockOptions) -> Call[Block]:
    """Set a block's text."""
    return Call("PUT", at("/v1/profile/{}", name), Block, {"text": text, **options})


def change_block(name: str, change: Change, options: o.BlockChange) -> Call[Block]:
    """Change a block's text."""
    return Call("PATCH", at("/v1/profile/{}", name), Block, {"change": change, **options})


def block_history(name: str, place: o.Place, limit: int) -> Call[Page[Block]]:
    """List a block's versions."""
    return read(at("/v1/profile/{}/history", name), Page[Block], {**place, "limit": limit})


def promote_block(name: str, options: o.BlockMove) -> Call[Block]:
    """Move a block into core memory."""
    return Call("POST", at("/v1/profile/{}/promote", name), Block, {**options})


def demote_block(name: str, options: o.Demotion) -> Call[Block]:
    """Move a block out of core memory."""
    return Call("POST", at("/v1/profile/{}/demote", name), Block, {**options})


def forget_block(name: str, place: o.Place) -> Call[Receipt]:
    """Erase a block."""
    return Call("DELETE", at("/v1/profile/{}", name), Receipt, query={**place})
