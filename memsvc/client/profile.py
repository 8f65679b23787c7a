"""The part of ``Memory`` about the profile. Written by ``make client``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Unpack

from memsvc.client import options as o
from memsvc.client import profile_calls as calls
from memsvc.client.connection import Connection
from memsvc.erasing.memories import Receipt
from memsvc.profiles.blocks import Block, Profile
from memsvc.profiles.changes import Append, Replace


class MemoryProfile(Connection):
    """Blocks of text in core, working and archival memory."""

    def profile(self, **place: Unpack[o.Place]) -> Profile:
        """Return the blocks of the profile, by tier."""
        return self.send(calls.profile(place))

    def read_block(self, name: str, **place: Unpack[o.Place]) -> Block:
        """Return one block of the profile."""
        return self.send(calls.read_block(name, place))

    def write_block(self, name: str, text: str, **options: Unpack[o.BlockOptions]) -> Block:
        """Set the whole text of a block."""
        return self.send(calls.write_block(name, text, options))

    def append_to_block(self, name: str, text: str, **options: Unpack[o.BlockChange]) -> Block:
        """Add lines to a block."""
        return self.send(calls.change_block(name, Append(text=text), options))

    def replace_in_block(self, name: str, old: str, new: str, **options: Unpack[o.BlockChange]) -> Block:
        """Replace a text that occurs exactly once in a block."""
        return self.send(calls.change_block(name, Replace(old=old, new=new), options))

    def block_history(self, name: str, *, page: int = 50, **place: Unpack[o.Place]) -> Iterator[Block]:
        """Yield all versions of a block, newest first."""
        return self.pages(calls.block_history(name, place, page))

    def promote_block(self, name: str, **options: Unpack[o.BlockMove]) -> Block:
        """Move a block into core memory, from archival memory or from the working memory of a conversation."""
        return self.send(calls.promote_block(name, options))

    def demote_block(self, name: str, **options: Unpack[o.Demotion]) -> Block:
        """Move a block into archival memory, or into the working memory of a conversation."""
        return self.send(calls.demote_block(name, options))

    def forget_block(self, name: str, **place: Unpack[o.Place]) -> Receipt:
        """Erase a block with all its versions."""
        return self.send(calls.forget_block(name, place))
