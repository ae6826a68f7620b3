"""A loaded model that answers in a thread of its own, so that the event loop goes on."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import torch

from contextcliff.engines.engine import OnToken, Served
from contextcliff.engines.openai.exchange import split_reasoning
from contextcliff.engines.transformers.decoding import Answer, Decoder, StoppedError
from contextcliff.engines.transformers.drawing import drawing
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
    """A model that answers one prompt after another."""

    decoder: Decoder
    tokenizer: HubTokenizer
    began: Served
    """What was known of the model when it was loaded."""
    window: int | None
    thread: Executor
    """Of one thread."""
    _out_of_memory: int | None = None
    """Tokens of the shortest prompt that did not fit into memory."""

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

        try:
            return await loop.run_in_executor(
                self.thread, lambda: self._answer(sample, prompt, sampling, emit, lambda: not cancelled.is_set())
            )
        finally:
            cancelled.set()

    def _answer(
        self,
        sample: Sample,
        prompt: Prompt,
        sampling: Sampling,
        emit: Callable[[str], None],
        may_go_on: Callable[[], bool],
    ) -> Generation:
        asked = prompt_tokens(self.tokenizer, sample, prompt, splits=self.decoder.splits)
        room = self._room(asked)
        seed = sample.seed if sampling.seed is None else sampling.seed
        text = _Growing(tokenizer=self.tokenizer, emit=emit)
        answer = self._computed(
            asked,
            sampling,
            seed=seed,
            max_tokens=sampling.generated_tokens if room is None else min(sampling.generated_tokens, room),
            on_tokens=text.grow,
            may_go_on=may_go_on,
        )
        text.end(answer.tokens)
        reply = split_reasoning(text.written)
        return Generation(
            text=reply.answer,
            reasoning=reply.reasoning,
            finish_reason="stop" if answer.ended else "length",
            prompt_tokens=len(asked.tokens),
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

    def _computed(
        self,
        asked: PromptTokens,
        sampling: Sampling,
        *,
        seed: int,
        max_tokens: int,
        on_tokens: Callable[[Sequence[int]], None],
        may_go_on: Callable[[], bool],
    ) -> Answer:
        tokens = len(asked.tokens)
        if self._out_of_memory is not None and tokens >= self._out_of_memory:
            raise EngineFault("oom", f"a prompt of {self._out_of_memory:,} tokens did not fit into memory")
        try:
            return self.decoder.answer(
                asked,
                drawing(sampling, seed=seed, device=self.decoder.loaded.model.device),
                max_tokens=max_tokens,
                on_tokens=on_tokens,
                may_go_on=may_go_on,
            )
        except StoppedError:
            raise asyncio.CancelledError from None
        # A press may refuse a prompt with an assertion, and torch with any of these.
        except (RuntimeError, MemoryError, AssertionError, ValueError, IndexError) as error:
            detail = one_line(str(error), longest=_LONGEST_DETAIL) or type(error).__name__
            if not is_out_of_memory(error):
                self.decoder.forget()
                raise EngineFault("bad_request", f"torch or the press failed: {detail}") from error
        # Outside of the handler: its traceback holds the tensors.
        self._out_of_memory = tokens
        self.decoder.forget()
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        raise EngineFault("oom", f"a prompt of {tokens:,} tokens: {detail}")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an allocation failed, on a GPU or in the machine's memory."""
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    return isinstance(error, RuntimeError) and any(
        words in str(error) for words in ("can't allocate memory", "not enough memory", "out of memory")
    )


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

    def end(self, tokens: Sequence[int]) -> None:
        self._write(self._text(tokens))

    def _write(self, text: str) -> None:
        piece, self.written = text[len(self.written) :], text
        if piece:
            self.emit(piece)

    def _text(self, tokens: Sequence[int]) -> str:
        text: str = self.tokenizer.tokenizer.decode(
            list(tokens), skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text
