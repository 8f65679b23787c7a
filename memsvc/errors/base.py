"""The base class of all errors."""

from __future__ import annotations

from typing import Any, ClassVar


class MemsvcError(Exception):
    """Something went wrong in memsvc."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1
    hint: ClassVar[str] = ""
    passing: ClassVar[bool] = False
    """True: the same call can succeed later without anybody acting, so a job keeps trying."""

    def __init__(self, message: str = "", *, hint: str = "", **details: Any) -> None:
        """Build the error.

        Args:
            message: what is wrong with this input; the docstring's first line when empty.
            hint: what to do about it; the class's hint when empty.
            **details: machine-readable facts (row, field, limit), shown in problem+json.
        """
        text = message or (type(self).__doc__ or "").strip().splitlines()[0]
        super().__init__(text)
        self.message = text
        self.advice = hint or self.hint
        self.details: dict[str, Any] = details
