"""Output whose reader may go away, as `head` and a closed pager do: the run goes on, and what it says is dropped."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast


class _Lasting:
    """A text stream that writes to nowhere once its pipe is closed; else it is the stream."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            self._let_go()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._let_go()

    def _let_go(self) -> None:
        """What is written from here on, and what is still buffered, goes to nowhere."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def lasting_streams() -> Iterator[None]:
    """Keep a closed pipe behind stdout or stderr from ending the block."""
    ours = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, _Lasting(stream)) for stream in ours)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        sys.stdout, sys.stderr = ours
