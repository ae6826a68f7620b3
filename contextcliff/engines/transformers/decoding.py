"""Computing an answer: the prompt's cache, by parts where a policy asks for it, then token by token.

Own loop and not `generate`: a cache that was evicted from is shorter than the positions that it stands for, and
`generate` takes its length for the next position. Where nothing is evicted or stored otherwise, the prompt is one
forward pass and the tokens are those of `generate`, bit by bit in float32 and in bfloat16.

Where the prompt is computed in two parts, as one that goes on from a kept prefix is, the last bits differ from one
pass. On the embedded model, greedy, 12 of 12 answers were the same in float32, and 9 of 12 in bfloat16: close calls
between two tokens fall the other way. That, and a tokenizer of a GGUF file that begins a prompt with two tokens
(`loading`), which changed 4 of 12 answers, is why kvpress's own pipeline at compression 0 answers differently from
`generate`; its positions and its masks are right. A context that is compressed or stored before the question is read
is computed in the same two parts whether it is kept or not, so that its answers do not depend on that at all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers.generation.logits_process import (
    LogitsProcessorList,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)
from transformers.modeling_layers import GradientCheckpointingLayer

from contextcliff.engines.transformers.cache_layers import (
    can_be_cut,
    fork,
    in_use,
    new_cache,
    settle,
    stores_otherwise,
)
from contextcliff.engines.transformers.entropy import EntropyMeter
from contextcliff.engines.transformers.eviction import Eviction
from contextcliff.engines.transformers.loading import Loaded
from contextcliff.engines.transformers.prompts import PromptTokens
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.sampling import Sampling
from contextcliff.records.kv_cache import CacheInUse

_WORTH_REUSING = 0.25
"""Share of a prompt that has to be computed already: below it, the earlier cache would only take memory."""
_LARGEST_SEED = 2**63 - 1


class StoppedError(Exception):
    """The answer is not wanted any more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawing:
    """The samplers of one request, in `generate`'s order; the largest score where the temperature is 0."""

    processors: Any
    generator: Any
    """None: greedy."""

    def next(self, tokens: list[int], scores: torch.Tensor) -> int:
        """The next token after `tokens`, by scores of the shape [vocabulary]."""
        # In 32 bits, as `generate` compares them.
        scores = scores.to(torch.float32)[None]
        if self.processors:
            scores = self.processors(torch.tensor([tokens], device=scores.device), scores)
        if self.generator is None:
            return int(scores[0].argmax())
        return int(torch.multinomial(scores[0].softmax(dim=-1), 1, generator=self.generator))


def drawing(sampling: Sampling, *, seed: int, device: Any) -> Drawing:
    """The samplers that are on. Tokens drawn with the same seed are the same on the same kind of device."""
    processors = LogitsProcessorList()
    if sampling.repetition_penalty != 1.0:
        processors.append(RepetitionPenaltyLogitsProcessor(sampling.repetition_penalty))
    if sampling.temperature == 0.0:
        return Drawing(processors=processors, generator=None)
    if sampling.temperature != 1.0:
        processors.append(TemperatureLogitsWarper(sampling.temperature))
    if sampling.top_k > 0:
        processors.append(TopKLogitsWarper(sampling.top_k))
    if sampling.top_p < 1.0:
        processors.append(TopPLogitsWarper(sampling.top_p))
    if sampling.min_p > 0.0:
        processors.append(MinPLogitsWarper(sampling.min_p))
    generator = torch.Generator(device=device)
    generator.manual_seed(seed % _LARGEST_SEED)
    return Drawing(processors=processors, generator=generator)


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One prompt to answer."""

    prompt: PromptTokens
    drawing: Drawing
    max_tokens: int
    on_tokens: Callable[[Sequence[int]], None]
    """Gets all tokens of the answer each time there is one more."""
    may_go_on: Callable[[], bool]
    """Whether the answer is still wanted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What came of one prompt."""

    tokens: tuple[int, ...]
    ended: bool
    """Whether the model ended it."""
    cached_tokens: int
    ttft_s: float
    latency_s: float
    entropy: tuple[float, ...]


@dataclass(kw_only=True, slots=True)
class _Kept:
    """The cache of the tokens that were computed last."""

    tokens: tuple[int, ...] = ()
    cache: Any = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Begun:
    """A cache to go on from."""

    cache: Any
    read: int
    """Tokens of the prompt that it stands for."""
    reused: int
    """Those of them that were computed for an earlier prompt."""


def _always() -> bool:
    return True


@dataclass(kw_only=True, slots=True)
class Decoder:
    """One model under one policy. Keeps the cache of the last prompt, or of the last context; not for two threads."""

    loaded: Loaded
    policy: KVPolicy
    dtype: str
    eviction: Eviction | None
    prefix_cache: bool
    meter: EntropyMeter | None
    cache_in_use: CacheInUse | None = None
    """Of the last prompt that was computed whole, as it stood when its context was read."""
    _kept: _Kept = field(default_factory=_Kept)
    _may_go_on: Callable[[], bool] = _always

    @property
    def splits(self) -> bool:
        """Whether the context is compressed or stored before the question is read.

        So is a context that many questions share: the question then reads what was stored of it, and not what was
        computed.
        """
        if self.eviction is not None and self._evicts:
            return not self.eviction.sees_question
        return stores_otherwise(self.policy, self.dtype)

    def forget(self) -> None:
        """Free what is kept."""
        self._kept = _Kept()

    def answer(self, request: Request) -> Answer:
        """Compute an answer. Raises `StoppedError` once it is not wanted any more."""
        prompt, drawing, started_s = request.prompt, request.drawing, time.perf_counter()
        with torch.inference_mode(), self.while_wanted(request.may_go_on):
            begun = self._begun(prompt)
            scores = self._read(prompt, begun)
            tokens = [drawing.next(list(prompt.tokens), scores)]
            first_s = time.perf_counter()
            request.on_tokens(tokens)
            while not (ended := tokens[-1] in self.loaded.end_tokens) and len(tokens) < request.max_tokens:
                scores = self._forward(tokens[-1:], begun.cache, position=len(prompt.tokens) + len(tokens) - 1)
                tokens.append(drawing.next([*prompt.tokens, *tokens], scores))
                request.on_tokens(tokens)
            if self.prefix_cache and can_be_cut(begun.cache) and not self._evicts:
                self._kept = _Kept(tokens=(*prompt.tokens, *tokens[:-1]), cache=begun.cache)
        return Answer(
            tokens=tuple(tokens),
            ended=ended,
            cached_tokens=begun.reused,
            ttft_s=first_s - started_s,
            latency_s=time.perf_counter() - started_s,
            entropy=() if self.meter is None else self.meter.by_layer,
        )

    @property
    def _evicts(self) -> bool:
        return self.eviction is not None and self.eviction.budget < 1.0

    def _begun(self, prompt: PromptTokens) -> _Begun:
        """The cache to go on from: empty, of a prompt that began alike, or of the context."""
        if not (self.splits and prompt.context):
            return self._cut_to(prompt)
        context = prompt.tokens[: prompt.context]
        if self._kept.tokens == context:
            return _Begun(cache=fork(self._kept.cache), read=prompt.context, reused=prompt.context)
        self.forget()  # makes room
        cache = self.empty()
        self._compressed(context, cache)
        if self.prefix_cache:
            self._kept = _Kept(tokens=context, cache=fork(cache))
        return _Begun(cache=cache, read=prompt.context, reused=0)

    def _cut_to(self, prompt: PromptTokens) -> _Begun:
        """The kept cache, cut where this prompt differs; an empty one where that is early."""
        kept = self._kept
        self.forget()  # it is cut in place, or makes room
        reused = self._worth_reusing(prompt, kept)
        if not reused:
            return _Begun(cache=self.empty(), read=0, reused=0)
        kept.cache.crop(reused)
        return _Begun(cache=kept.cache, read=reused, reused=reused)

    def _worth_reusing(self, prompt: PromptTokens, kept: _Kept) -> int:
        """Tokens of the kept cache that begin this prompt; 0 where they are too few. Some are left to compute."""
        if not kept.tokens or not can_be_cut(kept.cache):
            return 0
        most = len(prompt.tokens) - (1 if self.meter is None else self.meter.positions)
        pairs = zip(prompt.tokens, kept.tokens, strict=False)
        alike = next((place for place, (one, other) in enumerate(pairs) if one != other), len(kept.tokens))
        alike = min(alike, most)
        return alike if alike >= _WORTH_REUSING * len(prompt.tokens) else 0

    def empty(self) -> Any:
        """A cache for a prompt under the policy."""
        return new_cache(self.loaded.model, self.policy, self.dtype)

    def _compressed(self, tokens: Sequence[int], cache: Any) -> Any:
        """Read the beginning of a prompt under the policy; gives the scores of the next token."""
        pressed = self.eviction.applied(self.loaded.model, len(tokens)) if self.eviction is not None else nullcontext()
        with pressed:
            scores = self._forward(tokens, cache, position=0)
        settle(cache)
        self.cache_in_use = in_use(cache, tokens=len(tokens))
        return scores

    def _read(self, prompt: PromptTokens, begun: _Begun) -> Any:
        """Read what is left of a prompt; gives the scores of the first token of the answer."""
        with self.meter.measuring() if self.meter is not None else nullcontext():
            if begun.read == 0:
                return self._compressed(prompt.tokens, begun.cache)
            return self._forward(prompt.tokens[begun.read :], begun.cache, position=begun.read)

    def _forward(self, tokens: Sequence[int], cache: Any, *, position: int) -> Any:
        """Scores of the token after `tokens`, the first of which stands at a position of the prompt."""
        model = self.loaded.model
        positions = torch.arange(position, position + len(tokens), device=model.device)[None]
        output = model(
            input_ids=torch.tensor([list(tokens)], device=model.device),
            past_key_values=cache,
            position_ids=positions,
            use_cache=True,
            logits_to_keep=1,
        )
        return output.logits[0, -1]

    def __post_init__(self) -> None:
        """Look between two layers whether the answer is still wanted: a prefill can take minutes."""
        for module in self.loaded.model.modules():
            if isinstance(module, GradientCheckpointingLayer):
                module.register_forward_pre_hook(self._stop_where_not_wanted)

    @contextmanager
    def while_wanted(self, may_go_on: Callable[[], bool]) -> Iterator[None]:
        """Ask before each layer whether to go on; raises `StoppedError` where not."""
        self._may_go_on = may_go_on
        try:
            yield
        finally:
            self._may_go_on = _always

    def _stop_where_not_wanted(self, *_: object) -> None:
        if not self._may_go_on():
            raise StoppedError
