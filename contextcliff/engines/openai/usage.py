"""What a server's usage means: some leave out of `prompt_tokens` what their cache saved, be it the whole prompt."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from statistics import median

from contextcliff.records.generation import Generation

_MATTERS = 0.1
"""Cached share of a prompt from which on the two meanings can be told apart."""
_FITS = 0.05


@dataclass(kw_only=True, slots=True)
class Usage:
    """What has been learnt of the usage of one server.

    More cached tokens than prompt tokens can only be beside each other. Where there are fewer, the sum has to fit what
    the server counts for one of our tokens in prompts without a cached part, and the prompt tokens alone must not.
    """

    leaves_out_cached: bool = False
    _rates: deque[float] = field(default_factory=lambda: deque(maxlen=99))

    def of_whole_prompt(self, generation: Generation, *, built_tokens: int) -> Generation:
        """The generation with the count of its whole prompt; the built length where the server tells none."""
        if not generation.server_counted or not built_tokens:
            return generation
        counted, cached = generation.prompt_tokens, generation.cached_tokens or 0
        if not cached and counted:
            self._rates.append(counted / built_tokens)
        elif cached > counted:
            self.leaves_out_cached = True
        elif cached > _MATTERS * counted and self._rates:
            expected = median(self._rates) * built_tokens
            fits = abs(counted + cached - expected) <= _FITS * expected
            self.leaves_out_cached |= fits and counted < (1.0 - _MATTERS) * expected
        if self.leaves_out_cached:
            counted += cached
        if not counted:
            return replace(generation, prompt_tokens=built_tokens, server_counted=False)
        return replace(generation, prompt_tokens=counted)
