"""Generations on their way into the store: those that end at about the same time go in with one commit.

A commit waits for the disk, milliseconds on a fast one and tens on a slow one. It does so in a thread, so that
requests under way are served meanwhile, and what ends meanwhile makes the next group: the slower the disk, the larger
the groups. Nothing waits for a group to fill.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from contextcliff.execution.store import Answered, Store


@dataclass(kw_only=True, slots=True)
class GroupCommit:
    """Keeps generations for one event loop."""

    store: Store
    _group: list[Answered] = field(default_factory=list)
    _open: asyncio.Task[None] | None = None
    """Writes the group that still takes more."""
    _last: asyncio.Task[None] | None = None

    async def keep(self, answered: Answered) -> None:
        """Return when a generation is in the store for good; where the caller is cancelled, it gets there all the same.

        Raises `RunError` where the store can't be written.
        """
        self._group.append(answered)
        if self._open is None:
            self._open = self._last = asyncio.create_task(self._write(after=self._last))
        await asyncio.shield(self._open)

    async def ended(self) -> None:
        """Wait until nothing is on its way; those who wait for a group hear how it went."""
        if self._last is not None:
            await asyncio.wait([self._last])

    async def _write(self, *, after: asyncio.Task[None] | None) -> None:
        if after is not None:
            await asyncio.wait([after])
        group, self._group, self._open = self._group, [], None
        await asyncio.to_thread(self.store.keep, *group)
