"""Engine `simulated`: a model with a planted law, in process and at once.

The chance of a right answer is a known function of length and depth, so that tests can tell whether
the analysis finds what is there, and so that any sweep can be tried before it costs anything. Where a
sample has no right answer it writes prose that decays by the same law.
"""

from __future__ import annotations

import math
import random
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Literal

from contextcliff.engines.engine import Deployment, OnToken, Served
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import Generation
from contextcliff.records.prompt import Prompt
from contextcliff.records.sample import Sample
from contextcliff.seeding import seed_of
from contextcliff.settings import Fraction, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, settings
from contextcliff.text.prose import sentences
from contextcliff.text.word_tokens import WordTokenizer

_FULL_BITS = 16.0
_WORDS_A_TOKEN = 0.75
_FORMLESS = 0.3


@settings
class Simulated:
    """A law by which answers go wrong.

    `law`: `cliff` falls from `ceiling` to `floor` within a tenth of an octave of `cliff_tokens`; `slope`
    falls linearly in log length over `slope_octaves` that end there; `flat` stays at `ceiling`.
    `position` takes up to `position_strength` off in the `middle`, at the `start` or at the `end`.
    A quantised cache moves the cliff by `quantised_shift` octaves for each halving of its bits, a scale of
    `model.rope` by its factor.
    """

    law: Literal["cliff", "slope", "flat"] = "cliff"
    cliff_tokens: PositiveInt = 1500
    slope_octaves: PositiveFloat = 3.0
    ceiling: Fraction = 0.98
    floor: Fraction = 0.05
    position: Literal["none", "middle", "start", "end"] = "none"
    position_strength: Fraction = 0.5
    quantised_shift: NonNegativeFloat = 0.25
    seed: NonNegativeInt = 0
    concurrency: PositiveInt = 8
    max_retries: NonNegativeInt = 0

    @property
    def name(self) -> str:
        """Name in reports."""
        return "simulated"

    def identity(self, model: Model, kv_policy: KVPolicy) -> Mapping[str, object]:
        """The law, the model's name and the policy: what a draw depends on."""
        law = {key: value for key, value in asdict(self).items() if key not in ("concurrency", "max_retries")}
        return {"engine": self.name, "model": model.name, "kv": kv_policy.name, **model.rope.identity(), **law}

    def chance(self, *, tokens: int, depth: float | None, kv_policy: KVPolicy, extension: float = 1.0) -> float:
        """The planted chance of a right answer; `extension` is the factor of a scaled window."""
        cliff = extension * self.cliff_tokens * 2 ** -(self.quantised_shift * _halvings(kv_policy))
        share = _LAWS[self.law](math.log2(tokens / cliff), self.slope_octaves)
        lost = self.position_strength * _POSITIONS[self.position](0.5 if depth is None else depth)
        return (self.floor + (self.ceiling - self.floor) * share) * (1.0 - lost)

    def download(self, model: Model) -> None:
        """Nothing is fetched."""

    def settle(self, model: Model) -> Model:
        """As it is."""
        return model

    @asynccontextmanager
    async def open(self, deployment: Deployment) -> AsyncIterator[SimulatedSession]:
        """Nothing to load."""
        yield SimulatedSession(engine=self, deployment=deployment, tokenizer=WordTokenizer())


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulatedSession:
    """The planted model, ready."""

    engine: Simulated
    deployment: Deployment
    tokenizer: WordTokenizer

    @property
    def served(self) -> Served:
        """Nothing to detect."""
        return Served()

    async def generate(
        self,
        sample: Sample,
        prompt: Prompt,  # noqa: ARG002 - the sample is all that the law asks
        sampling: Sampling,
        on_token: OnToken | None = None,
    ) -> Generation:
        """Answer right with the planted chance; the draw depends on model and sample, not on the policy."""
        tokens = sample.built_tokens  # by this very tokenizer: counting again would cost more than all the rest
        rng = random.Random(seed_of(self.engine.seed, self.deployment.model.name, sample.sample_id))
        chance = self._chance(sample)
        if not sample.answers:
            text = _writing(sample.seed, health=chance, tokens=sampling.max_tokens, rng=rng)
        elif rng.random() < chance:
            text = sample.reference.reply or f"{'; '.join(sample.answers)}."
        else:
            text = _wrong(sample, rng)
        if on_token is not None:
            on_token(text)
        completion = len(self.tokenizer.starts(text))
        return Generation(
            text=text,
            finish_reason="stop",
            prompt_tokens=tokens,
            completion_tokens=completion,
            cached_tokens=None,
            ttft_ms=tokens * 0.25,
            latency_ms=tokens * 0.25 + completion * 10.0,
            served_model=f"simulated:{self.deployment.model.name}",
        )

    def _chance(self, sample: Sample) -> float:
        """The planted chance; a control has the ceiling, or without evidence none at all."""
        if sample.control is not None:
            return self.engine.ceiling if sample.control == "ceiling" else 0.0
        return self.engine.chance(
            tokens=sample.built_tokens,
            depth=sample.depth,
            kv_policy=self.deployment.kv_policy,
            extension=self.deployment.model.rope.factor or 1.0,
        )


def _halvings(policy: KVPolicy) -> float:
    bits = {"f16": 16.0, "q8_0": 8.5, "q4_0": 4.5}
    return math.log2(_FULL_BITS / ((bits[policy.key_type] + bits[policy.value_type]) / 2))


_LAWS: Mapping[str, Callable[[float, float], float]] = {
    "cliff": lambda octaves, _: 1.0 / (1.0 + math.exp(min(50.0, max(-50.0, octaves / 0.02)))),
    "slope": lambda octaves, width: min(1.0, max(0.0, -octaves / width)),
    "flat": lambda _, __: 1.0,
}
_POSITIONS: Mapping[str, Callable[[float], float]] = {
    "none": lambda _: 0.0,
    "middle": lambda depth: 4.0 * depth * (1.0 - depth),
    "start": lambda depth: 1.0 - depth,
    "end": lambda depth: depth,
}


def _other(answer: str, rng: random.Random) -> str:
    """Another answer of the same look: digits for digits, letters for letters."""
    kinds = ("123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    swap = {sign: rng.choice(kind.replace(sign, "")) for kind in kinds for sign in kind} | {
        "0": rng.choice("123456789")
    }
    return "".join(swap.get(sign, sign) for sign in answer)


_WRONG: tuple[Callable[[str, random.Random], str], ...] = (
    _other,
    lambda answer, rng: f"It is {_other(answer, rng)}.",
    lambda _, __: "I'm sorry, but the text does not mention it.",
    lambda _, __: "The text tells of a harbour.",
    lambda _, __: "",
)


def _wrong(sample: Sample, rng: random.Random) -> str:
    """A wrong answer; where a form is asked for, as often in it as out of it."""
    answer = sample.answers[0]
    said = rng.choice(_WRONG)(answer, rng)
    if not sample.reference.reply or answer not in sample.reference.reply or rng.random() < _FORMLESS:
        return said
    return sample.reference.reply.replace(answer, _other(answer, rng))


def _writing(seed: int, *, health: float, tokens: int, rng: random.Random) -> str:
    """Prose that falls into repetition as health goes down."""
    fresh = sentences(seed=seed)
    written: list[str] = []
    words = 0.0
    while words < tokens * _WORDS_A_TOKEN:
        again = written and rng.random() > health
        sentence = rng.choice(written[-3:]) if again else next(islice(fresh, 1))
        written.append(sentence)
        words += len(sentence.split())
    return " ".join(written)
