"""Drawing the next token from a model's scores."""

from __future__ import annotations

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

from contextcliff.models.sampling import Sampling

_LARGEST_SEED = 2**63 - 1


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
