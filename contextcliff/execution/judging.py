"""A judge beside the exact score: another model rates each answer from 1 to 10 by a rubric.

As LLMTest_NeedleInAHaystack has it, but next to the exact score and never in its place: what is reported is how often
the two disagree. A rating that can't be had or read leaves its answer unjudged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field, PlainValidator

from contextcliff.engines.engine import Deployment, Engine
from contextcliff.execution.keys import Respondent
from contextcliff.execution.store import PlannedSample, Store
from contextcliff.kv.policy import KVPolicy
from contextcliff.models import Model
from contextcliff.records import Prompt, Recipe, Sample, ScoredSample, Words
from contextcliff.sampling import Sampling
from contextcliff.seeding import digest_of, seed_of
from contextcliff.settings import NonNegativeInt, PositiveInt, settings

JUDGE_FACT = "judge"
"""The fact of a run that holds the name of its judge's model."""

_RATING = re.compile(r"(?<![\d.])(10|[1-9])(?![\d]|\.\d)")
_MOST_CHARACTERS = 4_000
"""Of an answer; a judge need not read a runaway text to its end."""
_CONTEXT_TOKENS = 4_096
_PLAIN_CACHE = KVPolicy(name="none")


@settings
class Judge:
    """The model that rates, the engine that runs it, and the rubric."""

    model: Model
    engine: Annotated[Engine, PlainValidator(lambda built: built)]  # built by its own group already
    max_tokens: PositiveInt
    thinking_tokens: NonNegativeInt
    right_from: Annotated[int, Field(ge=1, le=10)]
    rubric: Annotated[str, Field(min_length=1)]

    @property
    def sampling(self) -> Sampling:
        """Greedy."""
        return Sampling(max_tokens=self.max_tokens, thinking_tokens=self.thinking_tokens)

    @property
    def deployment(self) -> Deployment:
        """An unquantised cache, and room for one answer."""
        return Deployment(model=self.model, kv_policy=_PLAIN_CACHE, context_tokens=_CONTEXT_TOKENS)

    def respondent(self) -> Respondent:
        """Who rates. Raises `ConfigError` for weights that are absent."""
        return Respondent(
            identity=self.engine.identity(self.model, _PLAIN_CACHE), sampling=self.sampling, label="judge"
        )

    def requests(self, scored: Sequence[ScoredSample], *, served: str | None) -> Mapping[str, PlannedSample]:
        """What the judge is asked, by the sample_id of the answer; equal requests are one."""
        respondent = self.respondent()
        answered = (item for item in scored if item.score is not None and item.generation is not None)
        return {item.sample.sample_id: self._request(item, respondent, served) for item in answered}

    def _request(self, item: ScoredSample, respondent: Respondent, served: str | None) -> PlannedSample:
        said = "" if item.generation is None else item.generation.text[:_MOST_CHARACTERS]
        reference = "; ".join(item.sample.answers)
        # JSON-like fences would be an answer's to forge: its lines are quoted one by one.
        quoted = "\n".join(f"> {line}" for line in said.splitlines()) or "> (nothing)"
        user = (
            f"{self.rubric}\n\nQuestion: {item.sample.question}\nReference answer: {reference}\n"
            f"Answer to rate, each line after a >:\n{quoted}\n\n"
            "Reply with one whole number from 1 to 10 and nothing else."
        )
        prompt = Prompt(user=user)
        identity = digest_of("judge", user)
        sample = Sample(
            sample_id=f"judge-{identity[:16]}",
            task="judge",
            context_tokens=0,
            built_tokens=max(1, len(user) // 4),
            depth=None,
            trial=0,
            document_id="",
            question=item.sample.question,
            answers=("10" if item.score == 1.0 else "1",),
            recipe=Recipe(user=(Words(text=user),)),
            seed=seed_of(identity),
            control="ceiling",
        )
        return PlannedSample(
            sample=sample, prompt_sha256=prompt.sha256, key=respondent.key(sample, prompt.sha256, served=served)
        )


def rating_of(reply: str) -> int | None:
    """The first whole number from 1 to 10 in a judge's reply: `8`, `Rating: 8/10`, `[[8]]`; None without one."""
    found = _RATING.search(reply)
    return None if found is None else int(found[1])


def recall_ratings(
    judge: Judge, scored: Sequence[ScoredSample], store: Store, *, served: str | None
) -> Mapping[str, int | None]:
    """Each answer's rating by sample_id; None where there is none, or none that can be read."""
    found: dict[str, int | None] = {}
    for sample_id, request in judge.requests(scored, served=served).items():
        reply = store.generation(request.key)
        found[sample_id] = None if reply is None else rating_of(reply.text)
    return found
