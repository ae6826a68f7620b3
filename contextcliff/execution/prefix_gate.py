"""Who goes first: of samples with one and the same prompt one is sent alone, the rest when it has ended.

Sent at once they would each compute the whole prompt; after the first, a server's prefix cache has it (rounds of one
context, repeats of one question). Meanwhile other prompts go.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable

from contextcliff.execution.store import PlannedSample


class PrefixGate:
    """Hands out samples in their order, except that a prompt's followers wait for its leader."""

    def __init__(self, planned: Iterable[PlannedSample]) -> None:
        self._coming = iter(planned)
        self._ready: deque[PlannedSample] = deque()
        self._waiting: defaultdict[str, list[PlannedSample]] = defaultdict(list)
        self._leaders: set[str] = set()
        self._computed: set[str] = set()

    def next(self) -> PlannedSample | None:
        """A sample that can go now; None where all that are left wait for a leader, or none is left."""
        if self._ready:
            return self._ready.popleft()
        for item in self._coming:
            prompt = item.prompt_sha256
            if prompt in self._leaders:
                self._waiting[prompt].append(item)
                continue
            if prompt not in self._computed:
                self._leaders.add(prompt)
            return item
        return None

    def ended(self, prompt_sha256: str) -> None:
        """A sample with this prompt has ended, whether with an answer or without: its followers may go."""
        self._leaders.discard(prompt_sha256)
        self._computed.add(prompt_sha256)
        self._ready.extend(self._waiting.pop(prompt_sha256, ()))
