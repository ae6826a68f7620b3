"""Progress where lines can't be drawn anew, in a file or a pipe: a plain line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable

EVERY_S = 30.0
_MINUTE_S = 60


class PlainProgress:
    """Writes how much has ended, at most every `EVERY_S` seconds. Totals are None where they are not known."""

    def __init__(
        self,
        write: Callable[[str], object],
        *,
        total_tokens: int | None = None,
        total_samples: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._write, self._clock = write, clock
        self._total_tokens, self._total_samples = total_tokens, total_samples
        self._expected_tokens: int | None = None
        self._tokens = self._samples = 0
        self._began_s = self._written_s = clock()

    def advance(self, tokens: int, *, answer: str = "") -> None:  # noqa: ARG002 - shown on a terminal
        """A sample of so many prompt tokens has ended."""
        self._tokens += tokens
        self._samples += 1
        now_s = self._clock()
        if now_s - self._written_s >= EVERY_S:
            self._written_s = now_s
            self.say()

    def expect(self, tokens_left: int) -> None:
        """So many tokens are expected to be left, where the total is not known."""
        self._expected_tokens = self._tokens + tokens_left

    def remark(self, line: str) -> None:
        """Write a line of its own."""
        self._write(f"{line}\n")

    def say(self) -> None:
        """Write the line."""
        took_s = self._clock() - self._began_s
        noun = "sample" if (self._total_samples or self._samples) == 1 else "samples"
        line = f"{_of(self._tokens, self._total_tokens)} tokens, {_of(self._samples, self._total_samples)} {noun}"
        self._write(f"{line}, {_time(took_s)}{self._left(took_s)}\n")

    def _left(self, took_s: float) -> str:
        left = time_left(self._tokens, self._total_tokens or self._expected_tokens, took_s=took_s)
        about = "about " if self._total_tokens is None else ""
        return "" if left is None else f", {about}{left} left"


def time_left(tokens: int, total_tokens: int | None, *, took_s: float) -> str | None:
    """What is left of some work by its tokens: longer prompts take longer. None where that can't be said."""
    if total_tokens is None or not 0 < tokens < total_tokens:
        return None
    return _time(took_s * (total_tokens / tokens - 1))


def _of(done: int, total: int | None) -> str:
    return f"{done:,}" if total is None else f"{done:,}/{total:,}"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), _MINUTE_S)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
