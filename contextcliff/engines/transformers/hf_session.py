"""A loaded model that answers in a thread of its own, so that the event loop goes on."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace

import torch

from contextcliff.engines.engine import OnToken, Served
from contextcliff.engines.openai.reasoning import Reply, split_reasoning
from contextcliff.engines.transformers.batching import answers, can_batch
from contextcliff.engines.transformers.decoding import Answer, Decoder, Request, StoppedError, drawing
from contextcliff.engines.transformers.loading import free_memory
from contextcliff.engines.transformers.prompts import PromptTokens, prompt_tokens
from contextcliff.errors import EngineFault, one_line
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import Generation
from contextcliff.records.sample import Prompt, Sample
from contextcliff.text.tokenizers import HubTokenizer

_MS_PER_S = 1000
_LONGEST_DETAIL = 200
_HALF_CHARACTER = "\ufffd"


@dataclass(kw_only=True, slots=True)
class TransformersSession:
    """A model that answers one prompt after another, or several at once."""

    decoder: Decoder
    tokenizer: HubTokenizer
    began: Served
    """What was known of the model when it was loaded."""
    window: int | None
    thread: Executor
    """Of one thread."""
    batch: int = 1
    """Most prompts that are computed together."""
    _out_of_memory: int | None = None
    """Tokens of the shortest prompt that did not fit into memory."""
    _waiting: deque[_Waiting] = field(default_factory=deque)
    _at_once: int = 1
    """Prompts that are computed together: `batch`, or fewer where that took too much memory."""

    def __post_init__(self) -> None:
        """Begin with whole batches, where the policy can be computed so."""
        self._at_once = self.batch if can_batch(self.decoder) else 1

    @property
    def served(self) -> Served:
        """That, and once there was a prompt what the cache of the last one took when its context was read."""
        return replace(self.began, cache=self.decoder.cache_in_use)

    async def generate(
        self, sample: Sample, prompt: Prompt, sampling: Sampling, on_token: OnToken | None = None
    ) -> Generation:
        """Answer one prompt. Raises `EngineFault`: `overflow` past the model's window, `oom` out of memory.

        A prompt that is at least as long as one that ran out of memory is not tried: it would take as long to fail.
        """
        loop, cancelled = asyncio.get_running_loop(), threading.Event()

        def emit(text: str) -> None:
            if on_token is not None and not cancelled.is_set():
                loop.call_soon_threadsafe(on_token, text)

        waiting = _Waiting(
            sample=sample,
            prompt=prompt,
            sampling=sampling,
            text=_Growing(tokenizer=self.tokenizer, emit=emit),
            may_go_on=lambda: not cancelled.is_set(),
        )
        self._waiting.append(waiting)
        try:
            await loop.run_in_executor(self.thread, self._answer_some)
            return await asyncio.wrap_future(waiting.generation)
        finally:
            cancelled.set()

    def _answer_some(self) -> None:
        """Answer those that have waited longest, as many as are computed at once; nothing where none waits any more."""
        asked: list[_Waiting] = []
        while self._waiting and len(asked) < self._at_once:
            waiting = self._waiting.popleft()
            if waiting.may_go_on() and self._begin(waiting):
                asked.append(waiting)
        if asked:
            self._compute(asked)

    def _begin(self, waiting: _Waiting) -> bool:
        """Tokenise; False where there is nothing to compute."""
        try:
            asked = prompt_tokens(self.tokenizer, waiting.sample, waiting.prompt, splits=self.decoder.splits)
            room = self._room(asked)
            if self._out_of_memory is not None and len(asked.tokens) >= self._out_of_memory:
                raise EngineFault("oom", f"a prompt of {self._out_of_memory:,} tokens did not fit into memory")
            sampling, seed = waiting.sampling, waiting.sampling.seed
            waiting.request = Request(
                prompt=asked,
                drawing=drawing(
                    sampling,
                    seed=waiting.sample.seed if seed is None else seed,
                    device=self.decoder.loaded.model.device,
                ),
                max_tokens=sampling.generated_tokens if room is None else min(sampling.generated_tokens, room),
                on_tokens=waiting.text.grow,
                may_go_on=waiting.may_go_on,
            )
        # Whoever waits for the answer gets the error.
        except Exception as error:  # noqa: BLE001
            waiting.generation.set_exception(error)
            return False
        return True

    def _compute(self, asked: Sequence[_Waiting]) -> None:
        """Answer them together; where that takes too much memory, in halves."""
        requests = [each.request for each in asked if each.request is not None]
        try:
            computed = answers(self.decoder, requests) if len(requests) > 1 else [self.decoder.answer(requests[0])]
        except StoppedError:
            for each in asked:
                each.generation.cancel()
            return
        # A press may refuse a prompt with an assertion, and torch with any of these.
        except (RuntimeError, MemoryError, AssertionError, ValueError, IndexError) as error:
            detail = one_line(str(error), longest=_LONGEST_DETAIL) or type(error).__name__
            ran_out = is_out_of_memory(error)
        else:
            for each, answer in zip(asked, computed, strict=True):
                each.generation.set_result(self._generation(each, answer))
            return
        # Outside of the handler: its traceback holds the tensors.
        self.decoder.forget()
        if ran_out:
            free_memory()
        if ran_out and len(asked) > 1:
            half = len(asked) // 2
            self._at_once = min(self._at_once, half)
            self._compute(asked[:half])
            self._compute(asked[half:])
            return
        for each, request in zip(asked, requests, strict=True):
            tokens = len(request.prompt.tokens)
            if ran_out:
                self._out_of_memory = tokens
                fault = EngineFault("oom", f"a prompt of {tokens:,} tokens: {detail}")
            else:
                fault = EngineFault("bad_request", f"torch or the press failed: {detail}")
            each.generation.set_exception(fault)

    def _generation(self, waiting: _Waiting, answer: Answer) -> Generation:
        reply = waiting.text.end(answer)
        return Generation(
            text=reply.answer,
            reasoning=reply.reasoning,
            finish_reason="stop" if answer.ended else "length",
            prompt_tokens=0 if waiting.request is None else len(waiting.request.prompt.tokens),
            completion_tokens=len(answer.tokens),
            cached_tokens=answer.cached_tokens,
            ttft_ms=answer.ttft_s * _MS_PER_S,
            latency_ms=answer.latency_s * _MS_PER_S,
            served_model=self.tokenizer.name,
            attention_entropy=answer.entropy,
        )

    def _room(self, asked: PromptTokens) -> int | None:
        """Tokens that the answer may take in the window; None where that is unknown."""
        if self.window is None:
            return None
        if len(asked.tokens) >= self.window:
            raise EngineFault(
                "overflow", f"the prompt has {len(asked.tokens):,} tokens, and the window {self.window:,}"
            )
        return self.window - len(asked.tokens)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an allocation failed, on a GPU or in the machine's memory."""
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    return isinstance(error, RuntimeError) and any(
        words in str(error) for words in ("can't allocate memory", "not enough memory", "out of memory")
    )


@dataclass(kw_only=True, slots=True)
class _Waiting:
    """A prompt on its way."""

    sample: Sample
    prompt: Prompt
    sampling: Sampling
    text: _Growing
    may_go_on: Callable[[], bool]
    request: Request | None = None
    generation: Future[Generation] = field(default_factory=Future)


@dataclass(kw_only=True, slots=True)
class _Growing:
    """The text of an answer, given out as far as its characters are whole."""

    tokenizer: HubTokenizer
    emit: Callable[[str], None]
    written: str = ""

    def grow(self, tokens: Sequence[int]) -> None:
        text = self._text(tokens)
        if text.endswith(_HALF_CHARACTER):  # the rest of it may come with the next token
            return
        self._write(text)

    def end(self, answer: Answer) -> Reply:
        self._write(self._text(answer.tokens))
        # The marks of reasoning may be special tokens.
        marked = self._text(answer.tokens[:-1] if answer.ended else answer.tokens, skip_special_tokens=False)
        reply = split_reasoning(marked)
        return reply if reply.answer != marked else Reply(answer=self.written, reasoning="")

    def _write(self, text: str) -> None:
        piece, self.written = text[len(self.written) :], text
        if piece:
            self.emit(piece)

    def _text(self, tokens: Sequence[int], *, skip_special_tokens: bool = True) -> str:
        text: str = self.tokenizer.tokenizer.decode(
            list(tokens), skip_special_tokens=skip_special_tokens, clean_up_tokenization_spaces=False
        )
        return text
