"""Engines with what the simulated one has not: answers that never come."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import ClassVar

from contextcliff.engines.engine import Deployment, OnToken
from contextcliff.engines.simulated import Simulated, SimulatedSession
from contextcliff.errors import EngineFault
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import Generation
from contextcliff.records.sample import Prompt, Sample
from contextcliff.settings import settings
from contextcliff.text.tokenizers import WordTokenizer


@settings
class OftenSilent(Simulated):
    """One request of five breaks off."""

    every: ClassVar[int] = 5

    @asynccontextmanager
    async def open(self, deployment: Deployment) -> AsyncIterator[SimulatedSession]:
        yield _Silent(engine=self, deployment=deployment, tokenizer=WordTokenizer())


@settings
class Silent(OftenSilent):
    """Every request breaks off."""

    every: ClassVar[int] = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class _Silent(SimulatedSession):
    async def generate(
        self, sample: Sample, prompt: Prompt, sampling: Sampling, on_token: OnToken | None = None
    ) -> Generation:
        assert isinstance(self.engine, OftenSilent)
        if int(sample.sample_id[-4:], 16) % self.engine.every == 0:
            raise EngineFault("timeout", "no answer", retryable=False)
        return await SimulatedSession.generate(self, sample, prompt, sampling, on_token)
