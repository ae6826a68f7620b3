"""Engine `simulated`: a simulated model whose chance of a right answer is a known function of length and depth.

Tests check with it whether the analysis finds what is there, and users try a sweep with it before the sweep costs
anything. Where a sample has no right answer, it writes as the author does, or by the same law in a loop."""

from __future__ import annotations

import asyncio
import math
import random
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from itertools import cycle
from typing import ClassVar, Literal

from contextcliff.engines.engine import Deployment, Engine, OnToken, Served
from contextcliff.kv.policy import FORMATS, KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import Generation
from contextcliff.records.sample import Prompt, Sample
from contextcliff.seeding import seed_of
from contextcliff.settings import (
    Count,
    Fraction,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    settings,
)
from contextcliff.text.tokenizers import WordTokenizer

_WORDS_A_TOKEN = 0.75
_FORMLESS = 0.3
_NOT_THE_LAW = ("delay_ms", "concurrency", "tokens_in_flight", "speculation", "prefix_cache", "max_retries")


@settings
class Simulated(Engine):
    """The chance of a right answer by length, depth and KV policy.

    `law`: `cliff` falls from `ceiling` to `floor` within a tenth of an octave of `cliff_tokens`; `slope` falls
    linearly in log length over the `slope_octaves` below `cliff_tokens`; `flat` stays at `ceiling`.
    `position` lowers the chance by up to `position_strength` in the `middle`, at the `start` or at the `end`.
    A compressed cache shortens `cliff_tokens` by `quantised_shift` octaves for each halving of what it keeps; a scale
    of `model.rope` multiplies it."""

    law: Literal["cliff", "slope", "flat"] = "cliff"
    cliff_tokens: PositiveInt = 1500
    slope_octaves: PositiveFloat = 3.0
    ceiling: Fraction = 0.98
    floor: Fraction = 0.05
    position: Literal["none", "middle", "start", "end"] = "none"
    position_strength: Fraction = 0.5
    quantised_shift: NonNegativeFloat = 0.25
    seed: NonNegativeInt = 0
    delay_ms: NonNegativeFloat = 0.0
    """Time that an answer takes, drawn for each sample between half and one and a half of it."""
    concurrency: Count = 8

    name: ClassVar[str] = "simulated"
    is_paid: ClassVar[bool] = False
    computes_here: ClassVar[bool] = False

    def identity(self, model: Model, kv_policy: KVPolicy) -> Mapping[str, object]:
        kv_policy.refuse_declared(self.name)
        law = {key: value for key, value in asdict(self).items() if key not in _NOT_THE_LAW}
        cold = {} if self.prefix_cache else {"prefix_cache": False}
        return {"engine": self.name, "model": model.name, "kv": kv_policy.shown, **model.rope.identity(), **law, **cold}

    def chance(self, *, tokens: int, depth: float | None, kv_policy: KVPolicy, extension: float = 1.0) -> float:
        """The chance of a right answer, 0–1; `extension` is the factor of `model.rope`."""
        halvings = max(0.0, math.log2(FORMATS["f16"].bits / (sum(kv_policy.bits) / 2 * kv_policy.budget)))
        cliff = extension * self.cliff_tokens * 2 ** -(self.quantised_shift * halvings)
        share = _LAWS[self.law](math.log2(tokens / cliff), self.slope_octaves)
        position_loss = self.position_strength * _POSITIONS[self.position](0.5 if depth is None else depth)
        return (self.floor + (self.ceiling - self.floor) * share) * (1.0 - position_loss)

    @asynccontextmanager
    async def open(self, deployment: Deployment) -> AsyncIterator[SimulatedSession]:
        yield SimulatedSession(engine=self, deployment=deployment, tokenizer=WordTokenizer())


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulatedSession:
    engine: Simulated
    deployment: Deployment
    tokenizer: WordTokenizer

    served: ClassVar[Served] = Served()

    async def generate(
        self,
        sample: Sample,
        prompt: Prompt,
        sampling: Sampling,
        on_token: OnToken | None = None,
    ) -> Generation:
        tokens = sample.built_tokens  # counted by this tokenizer already; a second count would take the most time
        rng = random.Random(seed_of(self.engine.seed, self.deployment.model.name, sample.sample_id))
        chance = self.engine.chance(
            tokens=tokens,
            depth=sample.depth,
            kv_policy=self.deployment.kv_policy,
            extension=self.deployment.model.rope.factor or 1.0,
        )
        if sample.control is not None:  # one with its evidence has the ceiling, one without it none
            chance = self.engine.ceiling if sample.control == "ceiling" else 0.0
        if not sample.answers:
            text = _prose(prompt.user, loops=rng.random() >= chance, tokens=sampling.max_tokens, rng=rng)
        elif rng.random() < chance:
            text = sample.reference.reply or f"{'; '.join(sample.answers)}."
        else:
            text = _wrong_answer(sample, rng)
        if self.engine.delay_ms:
            await asyncio.sleep(self.engine.delay_ms / 1000.0 * (0.5 + rng.random()))
        if on_token is not None:
            on_token(text)
        completion = len(self.tokenizer.starts(text))
        return Generation(
            text=text,
            finish_reason="stop",
            prompt_tokens=tokens,
            completion_tokens=max(1, completion),  # servers count the token that ends an answer
            cached_tokens=None,
            ttft_ms=tokens * 0.25,
            latency_ms=tokens * 0.25 + completion * 10.0,
            served_model=f"simulated:{self.deployment.model.name}",
        )


# From octaves beyond the cliff, and octaves of the slope, to the share of the way from floor to ceiling.
_LAWS: Mapping[str, Callable[[float, float], float]] = {
    "cliff": lambda octaves, _: 1.0 / (1.0 + math.exp(min(50.0, max(-50.0, octaves / 0.02)))),
    "slope": lambda octaves, width: min(1.0, max(0.0, -octaves / width)),
    "flat": lambda _, __: 1.0,
}
# From depth to the share of `position_strength` that is lost there.
_POSITIONS: Mapping[str, Callable[[float], float]] = {
    "none": lambda _: 0.0,
    "middle": lambda depth: 4.0 * depth * (1.0 - depth),
    "start": lambda depth: 1.0 - depth,
    "end": lambda depth: depth,
}


def _scrambled(answer: str, rng: random.Random) -> str:
    kinds = ("123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    swap = {sign: rng.choice(kind.replace(sign, "")) for kind in kinds for sign in kind} | {
        "0": rng.choice("123456789")
    }
    return "".join(swap.get(sign) or _neighbour(sign) for sign in answer)


def _neighbour(sign: str) -> str:
    others = [other for step in (2, 1, -1) if (other := chr(ord(sign) + step)).isalnum()]
    return others[0] if others and sign.isalnum() else sign


_WRONG: tuple[Callable[[str, random.Random], str], ...] = (
    _scrambled,
    lambda answer, rng: f"It is {_scrambled(answer, rng)}.",
    lambda _, __: "I'm sorry, but the text does not mention it.",
    lambda _, __: "The text tells of a harbour.",
    lambda _, __: "",
)


def _wrong_answer(sample: Sample, rng: random.Random) -> str:
    answer = sample.answers[0]
    formless = rng.choice(_WRONG)(answer, rng)
    reply = sample.reference.reply
    if not reply or answer not in reply or rng.random() < _FORMLESS:
        return formless
    return reply.replace(answer, _scrambled(answer, rng))


_SENTENCE = re.compile(r"[^.!?。！？]+[.!?。！？]")
_MARKS = re.compile(r"""["“”‘()\[\]_—–]|(?<!\w)['’]|['’](?!\w)|--+""")


def _prose(context: str, *, loops: bool, tokens: int, rng: random.Random) -> str:
    """Sentences of the context with their words in another order: by every measure of prose the author's, and no copy.
    A text that `loops` says most of its sentences again, one of the last three."""
    known = _SENTENCE.findall(_MARKS.sub(" ", context)) or ["And so on."]
    fresh = cycle(rng.sample(known, len(known)))
    again = rng.uniform(0.6, 0.95) if loops else 0.0
    written: list[str] = []
    count = 0
    while count < tokens * 0.9:  # another tokenizer counts some more
        repeats = written and rng.random() < again
        written.append(rng.choice(written[-3:]) if repeats else _reordered(next(fresh).strip(), rng))
        count += len(WordTokenizer().starts(written[-1]))
    return " ".join(written)


def _reordered(sentence: str, rng: random.Random) -> str:
    words = sentence[:-1].split()
    between, parts = (" ", words) if len(words) > 1 else ("", [*sentence[:-1]])  # Japanese has no blanks
    text = between.join(rng.sample(parts, len(parts))).strip(" ,;:")
    return text[:1].upper() + text[1:] + sentence[-1]
