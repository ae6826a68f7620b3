"""A model on a server: requests are paced, put into its dialect, and sent until one answers or fails for good."""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING

from contextcliff.engines.engine import OnToken, Served
from contextcliff.engines.openai.exchange import Request, exchange
from contextcliff.engines.openai.http import Address
from contextcliff.engines.openai.serve import ServerProcess
from contextcliff.errors import EngineFault
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import NO_ROOM, NO_TOKENS, Generation
from contextcliff.records.sample import Prompt, Sample
from contextcliff.text.tokens import Tokenizer, plain_text

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_NONCE = "{nonce}"
_SAME_CONTEXT = 0.1
"""Share of a prompt that a slot has to hold already, as llama.cpp has it; else the longest unused is taken."""


class Slots:
    """The slots of a llama.cpp server. A prompt goes to the free one whose last prompt begins most like it."""

    def __init__(self, count: int = 0) -> None:
        self.count = count
        self._free = dict.fromkeys(range(count), "")

    @contextmanager
    def one_for(self, prompt: Prompt) -> Iterator[Mapping[str, int]]:
        """The field of a request that names a slot, which is busy inside the block; empty if none is free."""
        text, free = plain_text(prompt), self._free
        if not free:
            yield {}
            return
        shared = {slot: _shared_beginning(held, text) for slot, held in free.items()}
        slot = max(free, key=lambda each: shared[each] if shared[each] > _SAME_CONTEXT * len(text) else 0)
        del free[slot]
        try:
            yield {"id_slot": slot}
        finally:
            free[slot] = text


def _shared_beginning(one: str, other: str) -> int:
    return bisect_left(range(1, min(len(one), len(other)) + 1), True, key=lambda end: not other.startswith(one[:end]))


_IS_UNKNOWN = re.compile(
    r"(?:not|n['’]t) (?:yet |currently )?(?:support|permit|allow|recogni[sz]e|accept|implement|available)"
    r"|un(?:supported|recogni[sz]ed|known)(?! error)|unexpected (?:keyword|field|param|arg|prop|key|name)"
    r"|(?:was|is|were|are) unexpected|(?:no such|cannot find|not a valid) (?:field|param|arg|name)"
    r"|extra[_ ](?:forbidden|inputs|fields)|additional propert|cannot both be",
    re.IGNORECASE,
)
"""How servers say that they do not know a field: OpenAI, Azure, Mistral, vLLM, TGI, LiteLLM, Groq, Gemini."""
_CLAUSE = re.compile(r"[.;!?]\s|\\n|\}, ?\{")
_BOUNDS = ("max_completion_tokens", "max_tokens")
_STREAM = {"stream": True, "stream_options": {"include_usage": True}}


class Dialect:
    """Starts with every field, and gives one up for each refusal; `bound`, an answer's length, is never left out."""

    def __init__(self, bound: str = "max_tokens") -> None:
        self.bound = bound
        self.stream_ignored = False
        self.uncounted = False
        self.renamed: dict[str, str] = {}
        self.left_out: set[str] = set()

    def accepted(self, fields: Mapping[str, object]) -> dict[str, object]:
        return {self.renamed.get(name, name): value for name, value in fields.items() if name not in self.left_out}

    def concede(self, refusal: str, fields: Mapping[str, object]) -> bool:
        """Leave out what a server does not know, or rename the bound; False for another refusal."""
        refused = self._refused(refusal, fields)
        if refused is None:
            return False
        if refused in _STREAM:
            self.left_out |= {refused, "stream_options"}
        elif refused != self.bound:
            self.left_out.add(refused)
        elif refused not in self.renamed:
            self.renamed[refused] = next(name for name in _BOUNDS if name != refused)
        else:
            both = f"neither {refused} nor {self.renamed[refused]}"
            raise EngineFault("no_bound", f"the server takes {both}: {refusal}", fatal=True)
        return True

    def concessions(self) -> list[str]:
        others = sorted(self.left_out - set(_STREAM))
        lines = [f"{name} is refused and left out: the server's own default holds" for name in others]
        streams = "stream" not in self.left_out
        if not streams:
            lines.append("streaming is refused: the time to first token is the time of the whole answer")
        elif self.stream_ignored:
            lines.append("stream is ignored: the time to first token is the time of the whole answer")
        if self.uncounted:
            why = "stream_options is refused" if streams and "stream_options" in self.left_out else "no usage is sent"
            lines.append(f"{why}: token counts are the tokenizer's")
        return lines

    def _refused(self, refusal: str, fields: Mapping[str, object]) -> str | None:
        """Our name of the field that a refusal calls unknown. A mention says nothing: "requires fewer max_tokens"."""
        ours = {self.renamed.get(name, name): name for name in fields if name not in self.left_out}
        if "stream" in ours:
            ours |= dict.fromkeys(("streaming", "Streaming"), "stream")
        name = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, ours))})(?![\w-])")
        for clause in _CLAUSE.split(refusal):
            for said in _IS_UNKNOWN.finditer(clause):
                if named := list(name.finditer(clause)):
                    nearest = min(named, key=lambda at: max(at.start() - said.end(), said.start() - at.end()))
                    return ours[nearest[0]]
        # Some refuse streaming in other words, and no answer is lost or longer without it.
        mentioned = [ours[found] for found in name.findall(refusal)]
        return max((field for field in mentioned if field in _STREAM), key=len, default=None)


@dataclass(kw_only=True, slots=True)
class OpenAISession:
    """A model on a server, with what has been learnt of the server."""

    client: AsyncOpenAI
    address: Address
    model: str
    began: Served
    tokenizer: Tokenizer | None
    timeout_s: float
    sampler_names: Mapping[str, str]
    dialect: Dialect = field(default_factory=Dialect)
    fields: Mapping[str, object] = field(default_factory=dict)
    interval_s: float = 0.0
    slots: Slots = field(default_factory=Slots)
    process: ServerProcess | None = None
    next_start: float = 0.0
    leaves_out_cached: bool = False
    shortest_answered: float = inf

    @property
    def served(self) -> Served:
        learnt = self.dialect.concessions()
        if self.slots.count:
            learnt.append(f"{self.slots.count:,} slots: prompts of one context go to the same one, one after another")
        if self.leaves_out_cached:
            learnt.append("prompt_tokens leaves out cached_tokens: both are added")
        return replace(self.began, lines=(*self.began.lines, *learnt), slots=self.slots.count or None)

    async def generate(
        self, sample: Sample, prompt: Prompt, sampling: Sampling, on_token: OnToken | None = None
    ) -> Generation:
        """Send one prompt, without the fields that the server refuses, until it answers or a fault remains."""
        names, given = self.sampler_names, sampling.beside_temperature(sample.seed)
        with self.slots.one_for(prompt) as slot:
            fields: dict[str, object] = {
                **_STREAM,
                **slot,
                "temperature": sampling.temperature,
                self.dialect.bound: sampling.generated_tokens,
                **{names[name]: value for name, value in given.items() if name in names},
                # No other request has the nonce, that of an earlier run neither: the server may remember it.
                **{name: uuid.uuid4().hex if value == _NONCE else value for name, value in self.fields.items()},
            }
            while True:
                await self._wait()
                request = Request(
                    model=self.model,
                    prompt=prompt,
                    fields=self.dialect.accepted(fields),
                    api="completions" if self.began.plain else "chat",
                    built_tokens=sample.built_tokens,
                )
                try:
                    generation = await exchange(self.client, request, timeout_s=self.timeout_s, on_token=on_token)
                    self.dialect.stream_ignored |= "stream" in request.fields and not generation.streamed
                    self.dialect.uncounted |= not generation.server_counted
                    generation = self._with_whole_prompt(generation, built_tokens=sample.built_tokens)
                    self._check_answer(generation, sample, sampling)
                    return generation
                except EngineFault as fault:
                    if self.process is not None and self.process.has_ended:
                        raise EngineFault("server_ended", self.process.why_ended(), fatal=True) from fault
                    said, refused = self.address.hide_in(fault.detail), fault.kind == "bad_request"
                    # Of requests that are refused together, the first changes the dialect, and all are sent again.
                    outdated = refused and request.fields != self.dialect.accepted(fields)
                    if not outdated and not (refused and self.dialect.concede(said, fields)):
                        fault.detail, fault.args = said, (f"{fault.kind}: {said}",)
                        raise

    async def _wait(self) -> None:
        now = time.monotonic()
        start = max(now, self.next_start)
        self.next_start = start + self.interval_s
        if start > now:
            await asyncio.sleep(start - now)

    def _with_whole_prompt(self, generation: Generation, *, built_tokens: int) -> Generation:
        """The generation with the count of its whole prompt; the built length where the server counts nothing. More
        cached tokens than prompt tokens can only stand beside each other, and do so from then on."""
        counted, cached = generation.prompt_tokens, (generation.cached_tokens or 0) + (generation.written_tokens or 0)
        self.leaves_out_cached |= generation.server_counted and cached > counted
        if self.leaves_out_cached and generation.server_counted:
            counted += cached
        if not counted:
            return replace(generation, prompt_tokens=built_tokens, server_counted=False)
        return replace(generation, prompt_tokens=counted)

    def _check_answer(self, generation: Generation, sample: Sample, sampling: Sampling) -> None:
        if generation.text.strip():
            self.shortest_answered = min(self.shortest_answered, sample.built_tokens)
        if generation.completion_tokens == 0 and self.shortest_answered < sample.built_tokens:
            raise EngineFault(NO_TOKENS, "no token was generated, and a shorter prompt was answered", retryable=True)
        window = self.began.window
        is_cut = generation.finish_reason == "length" or (window is not None and generation.prompt_tokens + 1 >= window)
        if is_cut and generation.server_counted and generation.completion_tokens == 1 < sampling.generated_tokens:
            # Not tried again: an equal prompt leaves no more room.
            raise EngineFault(NO_ROOM, f"one token of an answer to a prompt of {generation.prompt_tokens:,} tokens")
