"""Passes a chat server's stream on to the client, and reads it on the way."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import msgspec

from memsvc.chat.afterwards import Afterwards
from memsvc.chat.hearing import Hearing
from memsvc.chat.remembering import Remembering
from memsvc.errors import UpstreamError
from memsvc.llm.upstream import UpstreamAnswer


def error_of(error: UpstreamError) -> dict[str, str | None]:
    """Return an error in the form of OpenAI's API."""
    return {"message": f"{error.message} {error.advice}", "type": "memsvc_error", "code": error.code, "param": None}


async def passing(
    answer: UpstreamAnswer, remembering: Remembering | None, afterwards: Afterwards
) -> AsyncGenerator[bytes]:
    """Yield the pieces of a stream as they come.

    The assistant's words are stored before their end is passed on, so a client that has read the answer finds it in
    memory. If the client disconnects first, the chat server's stream is closed, and what it said until then is stored.

    Args:
        answer: the stream, which is closed at the end.
        remembering: stores the answer; None: nothing is stored.
        afterwards: does the rest after the client has gone.
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
