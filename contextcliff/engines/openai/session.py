"""An open connection to a server and one model on it: paces requests, and adapts them to what the server accepts."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf
from statistics import median
from typing import TYPE_CHECKING

from contextcliff.engines.engine import OnToken, Served
from contextcliff.engines.openai.detection import ServerFacts
from contextcliff.engines.openai.dialect import Dialect
from contextcliff.engines.openai.exchange import Api, Request, Slots, exchange
from contextcliff.engines.openai.server_access import ApiKey
from contextcliff.engines.openai.server_process import ServerProcess
from contextcliff.errors import EngineFault
from contextcliff.models.model import Model
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import NO_ROOM, NO_TOKENS, Generation
from contextcliff.records.positions import Positions
from contextcliff.records.sample import Prompt, Sample
from contextcliff.text.tokens import Tokenizer

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_SECONDS_PER_MINUTE = 60.0
_MATTERS = 0.1
"""Cached share of a prompt from which on the two meanings can be told apart."""
_FITS = 0.05
_NONCE = "{nonce}"


class Pace:
    """Spaces the starts of requests out in time; without limits they start at once.

    `requests_per_minute` is spread evenly rather than sent in bursts, since servers count in windows of their own.
    """

    def __init__(self, *, requests_per_minute: float | None, seconds_between_requests: float) -> None:
        per_minute = 0.0 if requests_per_minute is None else _SECONDS_PER_MINUTE / requests_per_minute
        self.interval_s = max(seconds_between_requests, per_minute)
        self._next_start = 0.0

    async def wait(self) -> None:
        """Wait until the next request may start; requests start in the order in which they wait."""
        now = time.monotonic()
        start = max(now, self._next_start)
        self._next_start = start + self.interval_s
        if start > now:
            await asyncio.sleep(start - now)


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
        counted, cached = generation.prompt_tokens, (generation.cached_tokens or 0) + (generation.written_tokens or 0)
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


@dataclass(kw_only=True, slots=True)
class OpenAISession:
    """A model on a server, with what has been learnt of the server so far."""

    client: AsyncOpenAI
    key: ApiKey
    facts: ServerFacts
    model: Model
    tokenizer: Tokenizer | None
    dialect: Dialect
    pace: Pace
    api: Api
    timeout_s: float
    sampler_names: Mapping[str, str]
    """The samplers that are sent beside `temperature`: our name to the server's."""
    max_tokens_name: str
    slots: Slots
    uncached_fields: Mapping[str, str | int | bool] = field(default_factory=dict)
    """What forbids the server to reuse the beginning of an earlier prompt; `{nonce}` is a new text in each request."""
    process: ServerProcess | None = None
    """The server, where it was started for this session."""
    usage: Usage = field(default_factory=Usage)
    policy_lines: tuple[str, ...] = ()
    """What is said of a KV policy that can't be read back."""
    shortest_answered: float = inf
    """Tokens of the shortest prompt that was answered with a text."""

    @property
    def served(self) -> Served:
        """What was detected, and what the server has refused so far."""
        trained = self.facts.trained_tokens
        lines = list(self.facts.lines())
        if self.key.login:
            lines.append("asked with the user and password of engine.base_url, and no API key")
        if unsent := sorted(set(Sampling().beside_temperature(0)) - set(self.sampler_names)):
            why = "this kind of server has no such sampler" if self.sampler_names else "engine.sampler_names=null"
            lines.append(f"not sent, {why}: {', '.join(unsent)}")
        lines += [*self.policy_lines, *self.dialect.concessions()]
        if self.slots.count:
            lines.append(f"{self.slots.count:,} slots: prompts of one context go to the same one, one after another")
        if self.usage.leaves_out_cached:
            lines.append("prompt_tokens leaves out cached_tokens: both are added")
        return Served(
            model=self.facts.model,
            window=self.facts.window,
            lines=tuple(lines),
            plain=self.api == "completions",
            slots=self.slots.count or None,
            positions=None if trained is None else Positions(trained_tokens=trained, source="server"),
        )

    async def generate(
        self, sample: Sample, prompt: Prompt, sampling: Sampling, on_token: OnToken | None = None
    ) -> Generation:
        """Send one prompt, without the fields that the server refuses, until it answers or a fault remains."""
        with self.slots.one_for(prompt) as slot:
            return await self._generate(sample, prompt, sampling, {**slot, **self._fields(sample, sampling)}, on_token)

    async def _generate(
        self,
        sample: Sample,
        prompt: Prompt,
        sampling: Sampling,
        fields: Mapping[str, object],
        on_token: OnToken | None,
    ) -> Generation:
        while True:
            await self.pace.wait()
            request = self._request(sample, prompt, fields)
            try:
                generation = await exchange(self.client, request, timeout_s=self.timeout_s, on_token=on_token)
                self.dialect.answered(streamed=generation.streamed, counted=generation.server_counted)
                generation = self.usage.of_whole_prompt(generation, built_tokens=sample.built_tokens)
                self._check_answer(generation, sample, sampling)
                return generation
            except EngineFault as fault:
                if self.process is not None and self.process.has_ended:
                    raise EngineFault("server_ended", self.process.why_ended(), fatal=True) from fault
                refused = fault.kind == "bad_request"
                # Requests in flight together are refused together. The first refusal changes the dialect; the others
                # are sent again in it.
                outdated = refused and request != self._request(sample, prompt, fields)
                if not outdated and not (refused and self.dialect.concede(self.key.hide_in(fault.detail), fields)):
                    raise self._without_key(fault) from fault

    def _check_answer(self, generation: Generation, sample: Sample, sampling: Sampling) -> None:
        """Raise `EngineFault` for an answer of no token, or of the only one that the window had room for."""
        if generation.text.strip():
            self.shortest_answered = min(self.shortest_answered, sample.built_tokens)
        if generation.completion_tokens == 0 and self.shortest_answered < sample.built_tokens:
            raise EngineFault(NO_TOKENS, "no token was generated, and a shorter prompt was answered", retryable=True)
        window = self.facts.window
        is_cut = generation.finish_reason == "length" or (window is not None and generation.prompt_tokens + 1 >= window)
        if is_cut and generation.server_counted and generation.completion_tokens == 1 < sampling.generated_tokens:
            # Not tried again: an equal prompt leaves no more room.
            raise EngineFault(NO_ROOM, f"one token of an answer to a prompt of {generation.prompt_tokens:,} tokens")

    def _request(self, sample: Sample, prompt: Prompt, fields: Mapping[str, object]) -> Request:
        return Request(
            model=self.facts.model,
            prompt=prompt,
            fields=self.dialect.accepted(fields),
            api=self.api,
            streams=self.dialect.streams,
            stream_usage=self.dialect.stream_usage,
            built_tokens=sample.built_tokens,
        )

    def _fields(self, sample: Sample, sampling: Sampling) -> dict[str, object]:
        names = self.sampler_names
        given = sampling.beside_temperature(sample.seed)
        return {
            "temperature": sampling.temperature,
            self.max_tokens_name: sampling.generated_tokens,
            **{names[name]: value for name, value in given.items() if name in names},
            # No other request has the nonce, that of an earlier run neither: the server may remember it.
            **{name: uuid.uuid4().hex if value == _NONCE else value for name, value in self.uncached_fields.items()},
            **self.model.extra_body,
        }

    def _without_key(self, fault: EngineFault) -> EngineFault:
        return EngineFault(
            fault.kind,
            self.key.hide_in(fault.detail),
            retryable=fault.retryable,
            fatal=fault.fatal,
            retry_after_s=fault.retry_after_s,
        )
