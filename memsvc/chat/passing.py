"""A chat server's stream on its way to the client, heard in passing."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import msgspec

from memsvc.chat.afterwards import Afterwards
from memsvc.chat.hearing import Hearing
from memsvc.chat.remembering import Remembering
from memsvc.errors import UpstreamError
from memsvc.llm.upstream import UpstreamAnswer


def error_of(error: UpstreamError) -> dict[str, str | None]:
    """An error as OpenAI's clients understand it."""
    return {"message": f"{error.message} {error.advice}", "type": "memsvc_error", "code": error.code, "param": None}


async def passing(
    answer: UpstreamAnswer, remembering: Remembering | None, afterwards: Afterwards
) -> AsyncGenerator[bytes]:
    """The pieces of a stream as they come.

    The assistant's words are stored before their end is passed on: who has read the answer finds it in memory. Where
    the client goes first, the chat server is broken off, and what it said till then is stored.

    Args:
        answer: the stream; closed in the end.
        remembering: None: nothing is remembered.
        afterwards: does what is left when the client has gone.
    """
    heard, ended = Hearing(), remembering is None
    try:
        async for piece in answer.pieces():
            heard.piece(piece)
            if remembering is not None and not ended and heard.finish:
                ended = True
                await remembering.end(heard)
            yield piece
    except UpstreamError as error:
        if remembering is not None:
            remembering.tell(error)
        yield b"data: " + msgspec.json.encode({"error": error_of(error)}) + b"\n\n"
    finally:
        afterwards.start(answer.close())
        if remembering is not None and not ended:
            remembering.end_later(heard)
