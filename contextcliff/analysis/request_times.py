"""The requests of one length whose times say how long a prompt takes: those that the server had to read.

A prompt that was sent before, or begins like one, comes out of the server's cache in no time. Where the server says
how many tokens its cache saved, requests are left out of which it saved more than half. Where it does not, only the
slowest of those counts that have the same prompt or share a text: the cache can't have served that one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from contextcliff.records.generation import Generation, ScoredSample

_MOST_SAVED = 0.5


def computed_tokens(generation: Generation) -> int:
    """Tokens of the prompt that no cache saved; all of them where the server does not say."""
    return generation.prompt_tokens - (generation.cached_tokens or 0)


def fresh_requests(samples: Iterable[ScoredSample]) -> tuple[ScoredSample, ...]:
    """The answered requests of which the server read at least half of the prompt, a prompt once; in a fixed order."""
    slowest: dict[Hashable, ScoredSample] = {}
    for item in samples:
        generation = item.generation
        if generation is None or generation.prompt_tokens < 1:
            continue
        if computed_tokens(generation) < (1.0 - _MOST_SAVED) * generation.prompt_tokens:
            continue
        is_shared = generation.cached_tokens is None and item.sample.cluster
        key = ("text", item.sample.cluster) if is_shared else ("prompt", item.prompt_sha256)
        held = slowest.get(key)
        if held is None or _ttft_ms(held) < generation.ttft_ms:
            slowest[key] = item
    return tuple(sorted(slowest.values(), key=lambda item: (_ttft_ms(item), item.sample.sample_id)))


def _ttft_ms(item: ScoredSample) -> float:
    return 0.0 if item.generation is None else item.generation.ttft_ms
