"""Keeps requests apart in time, for servers that count them."""

from __future__ import annotations

import asyncio
import time

_SECONDS_A_MINUTE = 60.0


class Pace:
    """Lets one request begin every so many seconds; without limits at once.

    `requests_per_minute` is spread evenly rather than sent in bursts: servers count by windows of their own.
    """

    def __init__(self, *, requests_per_minute: float | None, seconds_between_requests: float) -> None:
        per_minute = 0.0 if requests_per_minute is None else _SECONDS_A_MINUTE / requests_per_minute
        self.interval_s = max(seconds_between_requests, per_minute)
        self._next = 0.0

    async def turn(self) -> None:
        """Wait until the next request may begin; turns are given in the order in which they are asked for."""
        now = time.monotonic()
        begin = max(now, self._next)
        self._next = begin + self.interval_s
        if begin > now:
            await asyncio.sleep(begin - now)
