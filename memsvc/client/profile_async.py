"""The part of ``AsyncMemory`` about the profile."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Unpack

from memsvc.client import options as o
from memsvc.client import profile_calls as calls
from memsvc.client.connection_async import AsyncConnection
from memsvc.erasing.memories import Receipt
from memsvc.profiles.blocks import Block, Profile
from memsvc.profiles.changes import Append, Replace


class AsyncMemoryProfile(AsyncConnection):
    """Blocks of text in core, working and archival memory."""

    async def profile(self, **place: Unpack[o.Place]) -> Profile:
        """Return the blocks of the profile, by tier."""
        return await self.send(calls.profile(place))

    async def read_block(self, name: str, **place: Unpack[o.Place]) -> Block:
        """Return one block of the profile."""
        return await self.send(calls.read_block(name, place))

    async def write_block(self, name: str, text: str, **options: Unpack[o.BlockOptions]) -> Block:
        """Set the whole text of a block."""
        return await self.send(calls.write_block(name, text, options))

    async def append_to_block(self, name: str, text: str, **options: Unpack[o.BlockChange]) -> Block:
        """Add lines to a block."""
        return await self.send(calls.change_block(name, Append(text=text), options))

    async def replace_in_block(self, name: str, old: str, new: str, **options: Unpack[o.BlockChange]) -> Block:
        """Replace a text that occurs exactly once in a block."""
        return await self.send(calls.change_block(name, Replace(old=old, new=new), options))

    def block_history(self, name: str, *, page: int = 50, **place: Unpack[o.Place]) -> AsyncIterator[Block]:
        """Yield all versions of a block, newest first."""
        return self.pages(calls.block_history(name, place, page))

    async def promote_block(self, name: str, **options: Unpack[o.BlockMove]) -> Block:
        """Move a block into core memory, from archival memory or from the working memory of a conversation."""
        return await self.send(calls.promote_block(name, options))

    async def demote_block(self, name: str, **options: Unpack[o.Demotion]) -> Block:
        """Move a block into archival memory, or into the working memory of a conversation."""
        return await self.send(calls.demote_block(name, options))

    async def forget_block(self, name: str, **place: Unpack[o.Place]) -> Receipt:
        """Erase a block with all its versions."""
        return await self.send(calls.forget_block(name, place))
