"""What makes two requests the same question to the same model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from contextcliff.models.sampling import Sampling
from contextcliff.records.sample import Sample
from contextcliff.seeding import digest_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Respondent:
    """Who answers: engine, weights and KV policy (`identity`), how tokens are drawn, and the label."""

    identity: Mapping[str, object]
    sampling: Sampling
    label: str

    def key(self, sample: Sample, prompt_sha256: str, *, served: str | None = None) -> str:
        """The store's key of this respondent's answer to a prompt; `served` is the model's name as a server reports it.

        The seed is part of it only where tokens are drawn at random: a greedy answer to the same
        prompt is the same answer. A repeat is asked anew.
        """
        drawn = self.sampling.temperature > 0.0
        seed = (sample.seed if self.sampling.seed is None else self.sampling.seed) if drawn else None
        samplers = {
            name: value
            for name, value in asdict(self.sampling.for_answer(sample.answer_tokens)).items()
            if name != "seed"
        }
        again = (sample.repeat,) if sample.repeat else ()
        return digest_of(dict(self.identity), served, samplers, self.label, prompt_sha256, seed, *again)
