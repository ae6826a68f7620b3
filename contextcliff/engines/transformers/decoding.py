"""Computing answers: the prompt's tokens, their cache, by parts where a policy asks for it, then token by token.

Own loop and not `generate`: a cache that was evicted from is shorter than the positions that it stands for, and
`generate` takes its length for the next position. Where nothing is evicted or stored otherwise, the prompt is one
forward pass and the tokens are those of `generate`, bit by bit in float32 and in bfloat16.

Where the prompt is computed in two parts, as one that goes on from a kept prefix is, the last bits differ from one
pass, and close calls between two tokens can fall the other way. A context that is compressed or stored before the
question is read is computed in the same two parts whether it is kept or not, so that its answers do not depend on it.

Several prompts at once are padded on the left to one length: for the cache as the model computes it, since a press
scores positions and knows of no padding, and a cache in other formats is stored prompt by prompt. No beginning of a
prompt is reused: a batch has as many beginnings as prompts."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import nullcontext
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

from contextcliff.engines.openai.reasoning import split_reasoning
from contextcliff.engines.transformers.cache import (
    EntropyMeter,
    StoredLayer,
    can_be_cut,
    fitted_masks,
    fork,
    in_use,
    new_cache,
    press_for,
    pressed,
    stores_otherwise,
)
from contextcliff.engines.transformers.loading import Loaded
from contextcliff.errors import EngineFault
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import Generation
from contextcliff.records.kv_cache import CacheInUse
from contextcliff.records.sample import Passage, Prompt, Sample, Words
from contextcliff.text.tokenizers import HubTokenizer
from contextcliff.text.tokens import messages, plain_text

_WORTH_REUSING = 0.25
"""Share of a prompt that has to be computed already: below it, the earlier cache would only take memory."""
_LARGEST_SEED = 2**63 - 1
_PADDING = 0
_HALF_CHARACTER = "\ufffd"
_MS_PER_S = 1000


def prompt_tokens(
    tokenizer: HubTokenizer, sample: Sample, prompt: Prompt, *, splits: bool
) -> tuple[tuple[int, ...], int]:
    """The tokens of a prompt, and how many of them are before the question; none without `splits`.

    It is tokenised once and cut between two tokens: context and question that are tokenised apart can be other tokens
    than the prompt. A token that reaches into the question is the question's."""
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
    return tuple(encoded["input_ids"]), bisect_left(ends, place + 1) if splits else 0


def _question_start(sample: Sample, prompt: Prompt, text: str) -> int:
    """The character of the framed prompt at which the question begins: in its last message, behind the context."""
    start = text.rfind(prompt.user.strip())  # templates may strip it
    if start < 0:
        raise EngineFault(
            "bad_request",
            "the chat template changes the prompt, so that the context can't be told from the question; "
            "engine.api=completions sends it as it stands",
        )
    return start + len(_context_of(sample, prompt).strip())


def _context_of(sample: Sample, prompt: Prompt) -> str:
    """What of the last message is no question: all up to its last passage; without one, up to where the question stands
    last. Nothing of the last message of a conversation that is the question."""
    pieces = sample.recipe.user
    last = max((place for place, piece in enumerate(pieces) if isinstance(piece, Passage)), default=None)
    if last is not None:
        after = sum(len(piece.text) for piece in pieces[last + 1 :] if isinstance(piece, Words))
        return prompt.user[: len(prompt.user) - after]
    place = prompt.user.rfind(sample.question) if sample.question else -1
    is_context = place > 0 or (place == 0 and prompt.turns)
    return prompt.user[:place] if is_context else prompt.user


@dataclass(kw_only=True, slots=True)
class Request:
    """A prompt on its way, and its answer as it is written; text is given out as far as its characters are whole."""

    tokenizer: HubTokenizer
    tokens: tuple[int, ...]
    context: int
    """How many of them are before the question."""
    sampling: Sampling
    seed: int
    max_tokens: int
    emit: Callable[[str], None]
    may_go_on: Callable[[], bool]
    device: Any
    generation: Future[Generation] = field(default_factory=Future)
    written: list[int] = field(default_factory=list)
    _processors: Any = field(default_factory=LogitsProcessorList)
    _generator: torch.Generator | None = None
    """None: greedy."""
    _shown: str = ""

    def __post_init__(self) -> None:
        sampling, add = self.sampling, self._processors.append
        if sampling.repetition_penalty != 1.0:
            add(RepetitionPenaltyLogitsProcessor(sampling.repetition_penalty))
        if sampling.temperature == 0.0:
            return
        if sampling.temperature != 1.0:
            add(TemperatureLogitsWarper(sampling.temperature))
        if sampling.top_k > 0:
            add(TopKLogitsWarper(sampling.top_k))
        if sampling.top_p < 1.0:
            add(TopPLogitsWarper(sampling.top_p))
        if sampling.min_p > 0.0:
            add(MinPLogitsWarper(sampling.min_p))
        self._generator = torch.Generator(device=self.device)
        self._generator.manual_seed(self.seed % _LARGEST_SEED)

    def draw(self, scores: torch.Tensor) -> None:
        scores = scores.to(torch.float32)[None]  # in 32 bits, as `generate` compares them
        if self._processors:
            so_far = torch.tensor([[*self.tokens, *self.written]], device=scores.device)
            scores = self._processors(so_far, scores)
        if self._generator is None:
            token = scores[0].argmax()
        else:
            token = torch.multinomial(scores[0].softmax(dim=-1), 1, generator=self._generator)
        self.written.append(int(token))
        text = self._text(self.written)
        if not text.endswith(_HALF_CHARACTER):  # the rest of it may come with the next token
            self._show(text)

    def reply(self, *, ended: bool) -> tuple[str, str]:
        """The whole answer, apart from its reasoning; `ended` by the model, with its last token."""
        self._show(self._text(self.written))
        # The marks of reasoning may be special tokens.
        marked = self._text(self.written[:-1] if ended else self.written, skip_special_tokens=False)
        answer, thought = split_reasoning(marked)
        return (answer, thought) if answer != marked else (self._shown, "")

    def _show(self, text: str) -> None:
        piece, self._shown = text[len(self._shown) :], text
        if piece:
            self.emit(piece)

    def _text(self, tokens: list[int], *, skip_special_tokens: bool = True) -> str:
        text: str = self.tokenizer.tokenizer.decode(
            tokens, skip_special_tokens=skip_special_tokens, clean_up_tokenization_spaces=False
        )
        return text


class Decoder:
    """One model under one policy. Keeps the cache of the last prompt, or of the last context; not for two threads."""

    def __init__(self, loaded: Loaded, policy: KVPolicy, *, prefix_cache: bool, entropy_positions: int = 0) -> None:
        """`entropy_positions`: of how many last tokens the attention entropy is measured. Raises `ConfigError`."""
        self.model, self.end_tokens, self.device = loaded.model, loaded.end_tokens, loaded.model.device
        self.policy, self.prefix_cache = policy, prefix_cache
        self.press = press_for(policy, self.model)
        self.meter = EntropyMeter(self.model, positions=entropy_positions) if entropy_positions else None
        stored = stores_otherwise(policy, self.model)
        self._evicts = self.press is not None and policy.budget < 1.0
        self.splits = not policy.sees_question if self._evicts else stored
        """Whether the context is compressed or stored before the question is read, which then reads what was stored of
        it, and not what was computed: so does one of many questions about a context that they share."""
        self.can_batch = self.press is None and self.meter is None and not stored
        self.cache_in_use: CacheInUse | None = None
        self._kept: tuple[tuple[int, ...], Any] = ((), None)
        self._computed: Sequence[Request] = ()
        # Between two layers it looks whether the answer is still wanted: a prefill can take minutes.
        layers = (each for each in self.model.modules() if isinstance(each, GradientCheckpointingLayer))
        self._hooks = [each.register_forward_pre_hook(self._stop_where_not_wanted) for each in layers]
        if self.press is not None:
            self._hooks += fitted_masks(self.model)

    def forget(self) -> None:
        self._kept = ((), None)

    def close(self) -> None:
        self.forget()
        for hook in self._hooks:
            hook.remove()

    def answers(self, requests: Sequence[Request]) -> list[Generation]:
        """Compute the answers, together where there are several. Raises `CancelledError` once none is wanted."""
        self._computed, first, started_s = requests, requests[0], time.perf_counter()
        with torch.inference_mode():
            if len(requests) == 1:
                mask, (cache, scores, reused) = None, self._read(first)
            else:
                mask, cache, scores, reused = *self._read_together(requests), 0
            ends = torch.tensor([[len(each.tokens)] for each in requests], device=self.device)
            first_s, ended_s = 0.0, [0.0] * len(requests)
            while True:
                for row, request in enumerate(requests):
                    if ended_s[row]:
                        continue
                    request.draw(scores[row])
                    over = self._ended(request) or len(request.written) >= request.max_tokens
                    if over or not request.may_go_on():
                        ended_s[row] = time.perf_counter() - started_s
                first_s = first_s or time.perf_counter() - started_s
                if all(ended_s):
                    break
                if mask is not None:
                    mask = torch.cat([mask, mask.new_ones((len(requests), 1))], dim=-1)
                scores = self._scores([each.written[-1:] for each in requests], cache, starts=ends, mask=mask)
                ends = ends + 1
        self._computed = ()
        if mask is None and self.prefix_cache and can_be_cut(cache) and not self._evicts:
            self._kept = ((*first.tokens, *first.written[:-1]), cache)
        replies = [request.reply(ended=self._ended(request)) for request in requests]
        return [
            Generation(
                text=answer,
                reasoning=thought,
                finish_reason="stop" if self._ended(request) else "length",
                prompt_tokens=len(request.tokens),
                completion_tokens=len(request.written),
                cached_tokens=reused,
                ttft_ms=first_s * _MS_PER_S,
                latency_ms=latency_s * _MS_PER_S,
                served_model=request.tokenizer.name,
                attention_entropy=() if self.meter is None else self.meter.by_layer,
            )
            for request, (answer, thought), latency_s in zip(requests, replies, ended_s, strict=True)
        ]

    def _ended(self, request: Request) -> bool:
        return request.written[-1] in self.end_tokens

    def _read(self, request: Request) -> tuple[Any, torch.Tensor, int]:
        """A prompt's cache, the scores behind it, and how many of its tokens were computed for an earlier prompt."""
        cache, read, reused = self._begun(request)
        with nullcontext() if self.meter is None else self.meter.measuring():
            if read == 0:
                scores = self._compressed(request.tokens, cache)
            else:
                scores = self._scores([request.tokens[read:]], cache, starts=read)
        return cache, scores, reused

    def _begun(self, request: Request) -> tuple[Any, int, int]:
        """A cache to go on from, the tokens that it stands for, and those of them computed for an earlier prompt."""
        (kept, cache), tokens, context = self._kept, request.tokens, request.tokens[: request.context]
        if self.splits and context:
            if kept == context:
                return fork(cache), len(context), len(context)
            del cache
            self.forget()  # makes room
            cache = new_cache(self.model, self.policy)
            self._compressed(context, cache)
            if self.prefix_cache:
                self._kept = (context, fork(cache))
            return cache, len(context), 0
        self.forget()  # it is cut in place, or makes room
        most = len(tokens) - (1 if self.meter is None else self.meter.positions)  # some are left to compute
        pairs = zip(tokens, kept, strict=False)
        alike = min(most, next((place for place, (one, other) in enumerate(pairs) if one != other), len(kept)))
        if alike < _WORTH_REUSING * len(tokens) or not can_be_cut(cache):
            return new_cache(self.model, self.policy), 0, 0
        cache.crop(alike)
        return cache, alike, alike

    def _compressed(self, tokens: tuple[int, ...], cache: Any) -> torch.Tensor:
        """Read the beginning of a prompt under the policy; gives the scores of the next token."""
        with pressed(self.press, self.model, len(tokens)):
            scores = self._scores([tokens], cache, starts=0)
        for layer in cache.layers:
            if isinstance(layer, StoredLayer):
                layer.settle()
        self.cache_in_use = in_use(cache, tokens=len(tokens))
        return scores

    def _read_together(self, requests: Sequence[Request]) -> tuple[torch.Tensor, Any, torch.Tensor]:
        lengths = torch.tensor([[len(each.tokens)] for each in requests], device=self.device)
        longest, cache = int(lengths.max()), new_cache(self.model, self.policy)
        mask = (torch.arange(longest, device=self.device)[None] >= longest - lengths).long()
        rows = [[_PADDING] * (longest - len(each.tokens)) + list(each.tokens) for each in requests]
        scores = self._scores(rows, cache, starts=lengths - longest, mask=mask)
        self.cache_in_use = in_use(cache, tokens=longest * len(rows))
        return mask, cache, scores

    def _scores(
        self, rows: Sequence[Sequence[int]], cache: Any, *, starts: torch.Tensor | int, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Scores of the token after each row, whose first one stands at `starts` of its prompt; before 0 is padding."""
        positions = torch.arange(len(rows[0]), device=self.device)[None] + starts
        output = self.model(
            input_ids=torch.tensor(rows, device=self.device),
            attention_mask=mask,
            past_key_values=cache,
            position_ids=positions.clamp(min=0),
            use_cache=True,
            logits_to_keep=1,
        )
        scores: torch.Tensor = output.logits[:, -1]
        return scores

    def _stop_where_not_wanted(self, *_: object) -> None:
        if self._computed and not any(each.may_go_on() for each in self._computed):
            raise CancelledError
