"""Computing answers: the prompt's tokens, their cache, by parts where a policy asks for it, then token by token.

Own loop and not `generate`: a cache that was evicted from is shorter than the positions that it stands for, and
`generate` takes its length for the next position. Where nothing is evicted or stored otherwise, the prompt is one
forward pass and the tokens are those of `generate`, bit by bit in float32 and in bfloat16.

Where the prompt is computed in two parts, as one that goes on from a kept prefix is, the last bits differ from one
pass. On the embedded model, greedy, 12 of 12 answers were the same in float32, and 9 of 12 in bfloat16: close calls
between two tokens fall the other way. That, and a tokenizer of a GGUF file that begins a prompt with two tokens
(`loading`), which changed 4 of 12 answers, is why kvpress's own pipeline at compression 0 answers differently from
`generate`; its positions and its masks are right. A context that is compressed or stored before the question is read
is computed in the same two parts whether it is kept or not, so that its answers do not depend on that at all.

Several prompts at once are padded on the left to one length, read in one pass, and answered token by token together:
for the cache as the model computes it, since a press scores positions and knows of no padding, and a cache in other
formats is stored prompt by prompt. What is computed together is summed in another order, so that close calls can fall
the other way, as on any server that batches; in float32 the answers of the tests are those of each prompt alone. No
beginning of a prompt is reused: a batch has as many beginnings as prompts.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
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

from contextcliff.engines.transformers.cache import (
    can_be_cut,
    fork,
    in_use,
    new_cache,
    pressed,
    settle,
    stores_otherwise,
)
from contextcliff.engines.transformers.entropy import EntropyMeter
from contextcliff.engines.transformers.loading import Loaded
from contextcliff.errors import EngineFault
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.sampling import Sampling
from contextcliff.records.kv_cache import CacheInUse
from contextcliff.records.sample import Passage, Prompt, Sample, Words
from contextcliff.text.tokenizers import HubTokenizer
from contextcliff.text.tokens import messages, plain_text

_WORTH_REUSING = 0.25
"""Share of a prompt that has to be computed already: below it, the earlier cache would only take memory."""
_LARGEST_SEED = 2**63 - 1
_PADDING = 0
"""Any token: it is masked."""


class StoppedError(Exception):
    """The answer is not wanted any more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptTokens:
    """The tokens of a prompt; the first `context` of them are before the question."""

    tokens: tuple[int, ...]
    context: int


def prompt_tokens(tokenizer: HubTokenizer, sample: Sample, prompt: Prompt, *, splits: bool) -> PromptTokens:
    """Tokenise a prompt once, and cut between two of its tokens; without `splits` all of it is the question.

    Context and question that are tokenised apart can be other tokens than the prompt. A token that reaches into the
    question is the question's. Raises `EngineFault` where the chat template changes the prompt, so that no question
    can be found in it.
    """
    if tokenizer.plain:
        text: str = plain_text(prompt)
    else:
        text = tokenizer.tokenizer.apply_chat_template(
            messages(prompt), add_generation_prompt=True, tokenize=False, **tokenizer.template_arguments
        )
    place = _question_start(sample, prompt, text) if splits else 0
    encoded = tokenizer.tokenizer(
        text, add_special_tokens=tokenizer.plain, return_offsets_mapping=True, return_tensors=None, verbose=False
    )
    ends = [end for _, end in encoded["offset_mapping"]]
    return PromptTokens(tokens=tuple(encoded["input_ids"]), context=bisect_left(ends, place + 1) if splits else 0)


def _question_start(sample: Sample, prompt: Prompt, text: str) -> int:
    """The character of the framed prompt at which the question begins.

    That is what stands after the last passage of a document; in a prompt without passages the question as it stands
    last. Where nothing stands after the text, the template's end alone comes after it. In a conversation it is sought
    in the last message, since an earlier one may say the same.
    """
    context = _context_of(sample, prompt).rstrip()
    find = text.rfind if prompt.turns else text.find
    if prompt.turns and not context:  # the last message is the question, and the earlier turns are its context
        return max(0, find(prompt.user.strip()))
    for sought in (context, context.lstrip()):
        if (start := find(sought)) >= 0:
            return start + len(sought)
    raise EngineFault(
        "bad_request",
        "the chat template changes the prompt, so that the context can't be told from the question; "
        "engine.api=completions sends it as it stands",
    )


def _context_of(sample: Sample, prompt: Prompt) -> str:
    pieces = sample.recipe.user
    last = max((place for place, piece in enumerate(pieces) if isinstance(piece, Passage)), default=None)
    if last is not None:
        after = sum(len(piece.text) for piece in pieces[last + 1 :] if isinstance(piece, Words))
        return prompt.user[: len(prompt.user) - after]
    place = prompt.user.rfind(sample.question) if sample.question else -1
    is_context = place > 0 or (place == 0 and prompt.turns)
    return prompt.user[:place] if is_context else prompt.user


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
    ttft_s: float
    latency_s: float
    cached_tokens: int = 0
    entropy: tuple[float, ...] = ()


class Decoder:
    """One model under one policy. Keeps the cache of the last prompt, or of the last context; not for two threads."""

    def __init__(
        self,
        loaded: Loaded,
        policy: KVPolicy,
        *,
        dtype: str,
        press: Any,
        prefix_cache: bool,
        meter: EntropyMeter | None,
    ) -> None:
        self.loaded, self.policy, self.dtype, self.press = loaded, policy, dtype, press
        self.prefix_cache, self.meter = prefix_cache, meter
        self.cache_in_use: CacheInUse | None = None
        """Of the last prompt that was computed whole, as it stood when its context was read."""
        self._kept: tuple[tuple[int, ...], Any] = ((), None)
        """The tokens that were computed last, and their cache."""
        self._wanted: Callable[[], bool] = lambda: True
        # Between two layers it looks whether the answer is still wanted: a prefill can take minutes.
        for module in loaded.model.modules():
            if isinstance(module, GradientCheckpointingLayer):
                module.register_forward_pre_hook(self._stop_where_not_wanted)

    @property
    def splits(self) -> bool:
        """Whether the context is compressed or stored before the question is read.

        So is a context that many questions share: the question then reads what was stored of it, and not what was
        computed.
        """
        if self._evicts:
            return not self.policy.sees_question
        return stores_otherwise(self.policy, self.dtype)

    @property
    def can_batch(self) -> bool:
        """Whether several prompts can be computed together."""
        return self.press is None and self.meter is None and not stores_otherwise(self.policy, self.dtype)

    @property
    def _evicts(self) -> bool:
        return self.press is not None and self.policy.budget < 1.0

    def forget(self) -> None:
        """Free what is kept."""
        self._kept = ((), None)

    def answers(self, requests: Sequence[Request]) -> list[Answer]:
        """Compute the answers. Raises `StoppedError` once none is wanted any more."""
        with torch.inference_mode(), self._while_wanted(lambda: any(each.may_go_on() for each in requests)):
            return [self._answer(requests[0])] if len(requests) == 1 else self._together(requests)

    def _answer(self, request: Request) -> Answer:
        prompt, drawing, started_s = request.prompt, request.drawing, time.perf_counter()
        cache, read, reused = self._begun(prompt)
        with self.meter.measuring() if self.meter is not None else nullcontext():
            if read == 0:
                scores = self._compressed(prompt.tokens, cache)
            else:
                scores = self._forward(prompt.tokens[read:], cache, position=read)
        tokens = [drawing.next(list(prompt.tokens), scores)]
        first_s = time.perf_counter()
        request.on_tokens(tokens)
        while not (ended := tokens[-1] in self.loaded.end_tokens) and len(tokens) < request.max_tokens:
            scores = self._forward(tokens[-1:], cache, position=len(prompt.tokens) + len(tokens) - 1)
            tokens.append(drawing.next([*prompt.tokens, *tokens], scores))
            request.on_tokens(tokens)
        if self.prefix_cache and can_be_cut(cache) and not self._evicts:
            self._kept = ((*prompt.tokens, *tokens[:-1]), cache)
        return Answer(
            tokens=tuple(tokens),
            ended=ended,
            cached_tokens=reused,
            ttft_s=first_s - started_s,
            latency_s=time.perf_counter() - started_s,
            entropy=() if self.meter is None else self.meter.by_layer,
        )

    def _begun(self, prompt: PromptTokens) -> tuple[Any, int, int]:
        """A cache to go on from: empty, of a prompt that began alike, or of the context.

        With the tokens of the prompt that it stands for, and how many of them were computed for an earlier prompt.
        """
        kept, cache = self._kept
        if not (self.splits and prompt.context):
            self.forget()  # it is cut in place, or makes room
            reused = self._worth_reusing(prompt, kept, cache)
            if not reused:
                return self._empty(), 0, 0
            cache.crop(reused)
            return cache, reused, reused
        context = prompt.tokens[: prompt.context]
        if kept == context:
            return fork(cache), prompt.context, prompt.context
        del cache
        self.forget()  # makes room
        cache = self._empty()
        self._compressed(context, cache)
        if self.prefix_cache:
            self._kept = (context, fork(cache))
        return cache, prompt.context, 0

    def _worth_reusing(self, prompt: PromptTokens, kept: tuple[int, ...], cache: Any) -> int:
        """Tokens of the kept cache that begin this prompt; 0 where they are too few. Some are left to compute."""
        if not kept or not can_be_cut(cache):
            return 0
        most = len(prompt.tokens) - (1 if self.meter is None else self.meter.positions)
        pairs = zip(prompt.tokens, kept, strict=False)
        alike = next((place for place, (one, other) in enumerate(pairs) if one != other), len(kept))
        alike = min(alike, most)
        return alike if alike >= _WORTH_REUSING * len(prompt.tokens) else 0

    def _empty(self) -> Any:
        return new_cache(self.loaded.model, self.policy, self.dtype)

    def _compressed(self, tokens: Sequence[int], cache: Any) -> torch.Tensor:
        """Read the beginning of a prompt under the policy; gives the scores of the next token."""
        with pressed(self.press, self.loaded.model, len(tokens)):
            scores = self._forward(tokens, cache, position=0)
        settle(cache)
        self.cache_in_use = in_use(cache, tokens=len(tokens))
        return scores

    def _forward(self, tokens: Sequence[int], cache: Any, *, position: int) -> torch.Tensor:
        """Scores of the token after `tokens`, the first of which stands at a position of the prompt."""
        positions = torch.arange(position, position + len(tokens), device=self.loaded.model.device)[None]
        return self._scores([list(tokens)], cache, positions)[0]

    def _scores(self, rows: list[list[int]], cache: Any, positions: torch.Tensor, **more: Any) -> torch.Tensor:
        """Scores of the token after each row."""
        model = self.loaded.model
        output = model(
            input_ids=torch.tensor(rows, device=model.device),
            past_key_values=cache,
            position_ids=positions,
            use_cache=True,
            logits_to_keep=1,
            **more,
        )
        scores: torch.Tensor = output.logits[:, -1]
        return scores

    def _together(self, requests: Sequence[Request]) -> list[Answer]:
        """Answer several prompts at once; the time to the first token is that of the whole batch."""
        started_s, device = time.perf_counter(), self.loaded.model.device
        lengths = torch.tensor([len(each.prompt.tokens) for each in requests], device=device)[:, None]
        longest = int(lengths.max())
        places = torch.arange(longest, device=device)[None]
        mask = (places >= longest - lengths).long()
        cache = self._empty()
        rows = [[_PADDING] * (longest - len(each.prompt.tokens)) + list(each.prompt.tokens) for each in requests]
        positions = (places - (longest - lengths)).clamp(min=0)
        scores = self._scores(rows, cache, positions, attention_mask=mask)
        self.cache_in_use = in_use(cache, tokens=longest * len(rows))
        written: list[list[int]] = [[] for _ in requests]
        ended_s = [0.0] * len(requests)
        first_s = 0.0
        while True:
            for row, (request, tokens) in enumerate(zip(requests, written, strict=True)):
                if ended_s[row]:
                    continue
                tokens.append(request.drawing.next([*request.prompt.tokens, *tokens], scores[row]))
                request.on_tokens(tokens)
                over = tokens[-1] in self.loaded.end_tokens or len(tokens) >= request.max_tokens
                if over or not request.may_go_on():
                    ended_s[row] = time.perf_counter() - started_s
            first_s = first_s or time.perf_counter() - started_s
            if all(ended_s):
                break
            mask = torch.cat([mask, mask.new_ones((len(rows), 1))], dim=-1)
            rows = [tokens[-1:] for tokens in written]
            step = mask.shape[-1] - longest - 1
            scores = self._scores(rows, cache, lengths + step, attention_mask=mask)
        ends = self.loaded.end_tokens
        return [
            Answer(tokens=tuple(tokens), ended=tokens[-1] in ends, ttft_s=first_s, latency_s=latency_s)
            for tokens, latency_s in zip(written, ended_s, strict=True)
        ]

    @contextmanager
    def _while_wanted(self, may_go_on: Callable[[], bool]) -> Iterator[None]:
        """Ask before each layer whether to go on; raises `StoppedError` where not."""
        before, self._wanted = self._wanted, may_go_on
        try:
            yield
        finally:
            self._wanted = before

    def _stop_where_not_wanted(self, *_: object) -> None:
        if not self._wanted():
            raise StoppedError
