"""A judge beside the exact score: another model rates each answer from 1 to 10 by a rubric.

As LLMTest_NeedleInAHaystack has it, but next to the exact score and never in its place: what is reported is how often
the two disagree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, PlainValidator

from contextcliff.engines.engine import Deployment, Engine
from contextcliff.execution.store import PlannedSample, Respondent, Store
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import Generation, ScoredSample
from contextcliff.records.sample import Prompt, Recipe, Sample, Words
from contextcliff.seeding import digest_of, seed_of
from contextcliff.settings import Int, NonNegativeInt, PositiveInt, settings

_MOST_CHARACTERS = 4_000
"""Of an answer; a judge need not read a runaway text to its end."""
_CHARACTERS_A_TOKEN = 6
"""Of an answer that is as long as it may be; English has four to five."""
_FRAME_TOKENS = 64
"""The judge's chat template, which is not known before it is open."""
_CONTEXT_TOKENS = 4_096
_PLAIN_CACHE = KVPolicy(name="none")


@settings
class Judge:
    """The model that rates, the engine that runs it, and the rubric."""

    model: Model
    engine: Annotated[Engine, PlainValidator(lambda built: built)]  # built by its own group already
    max_tokens: PositiveInt
    thinking_tokens: NonNegativeInt
    right_from: Annotated[Int, Field(ge=1, le=10)]
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
        return {
            item.sample.sample_id: _request(
                item.sample, item.generation.text, self.rubric, respondent, served=served, right=item.score == 1.0
            )
            for item in scored
            if item.score is not None and item.generation is not None
        }

    def longest_requests(self, samples: Iterable[Sample], sampling: Sampling) -> tuple[PlannedSample, ...]:
        """What rating takes, one a sample, of answers that are not there yet: as long as `sampling` lets them be."""
        respondent = self.respondent()
        return tuple(
            _request(sample, _longest_answer(sample, sampling), self.rubric, respondent, served=None, right=False)
            for sample in samples
        )


def _longest_answer(sample: Sample, sampling: Sampling) -> str:
    tokens = sampling.for_answer(sample.answer_tokens).max_tokens
    asked = f"{sample.question}{''.join(sample.answers)}"
    # Scripts that set no spaces have tokens of a character or less.
    return "x" * (_CHARACTERS_A_TOKEN * tokens) if asked.isascii() else "語" * tokens


def _request(
    asked: Sample, answer: str, rubric: str, respondent: Respondent, *, served: str | None, right: bool
) -> PlannedSample:
    said = answer[:_MOST_CHARACTERS]
    reference = "; ".join(asked.answers)
    # JSON-like fences would be an answer's to forge: its lines are quoted one by one.
    quoted = "\n".join(f"> {line}" for line in said.splitlines()) or "> (nothing)"
    user = (
        f"{rubric}\n\nQuestion: {asked.question}\nReference answer: {reference}\n"
        f"Answer to rate, each line after a >:\n{quoted}\n\n"
        "Reply with one whole number from 1 to 10 and nothing else."
    )
    prompt = Prompt(user=user)
    identity = digest_of("judge", user)
    sample = Sample(
        sample_id=f"judge-{identity[:16]}",
        task="judge",
        context_tokens=0,
        built_tokens=_most_tokens(user),
        depth=None,
        trial=0,
        document_id="",
        question=asked.question,
        answers=("10" if right else "1",),
        recipe=Recipe(user=(Words(text=user),)),
        seed=seed_of(identity),
        control="ceiling",
    )
    return PlannedSample(
        sample=sample, prompt_sha256=prompt.sha256, key=respondent.key(sample, prompt.sha256, served=served)
    )


def _most_tokens(text: str) -> int:
    """Tokens of a prompt by a tokenizer that is not known, rather too many: a budget counts by it."""
    plain = sum(character.isascii() for character in text)
    return _FRAME_TOKENS + -(-plain // 3) + 2 * (len(text) - plain)


_RATING = re.compile(r"(?<![\d.])(10|[1-9])(?![\d]|\.\d)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Ratings:
    """A judge's ratings of a run."""

    by_sample: Mapping[str, int | None]
    """None where there is none, or none that can be read."""
    replies: tuple[Generation, ...]
    """What the judge said, each reply once: equal answers to a question are one request."""
    not_asked: int
    """Answers that were never put to it: the run stopped before."""


def judge_run_id(run_id: str) -> str:
    """Under which the faults of a run's judge are kept."""
    return f"{run_id}/judge"


def rating_of(reply: str) -> int | None:
    """The first whole number from 1 to 10 in a judge's reply: `8`, `Rating: 8/10`, `[[8]]`; None without one."""
    rating = _RATING.search(reply)
    return None if rating is None else int(rating[1])


def recall_ratings(
    judge: Judge, scored: Sequence[ScoredSample], store: Store, *, run_id: str, served: str | None
) -> Ratings:
    """What the judge of a run said of its answers, as far as it was asked."""
    requests = judge.requests(scored, served=served)
    replies = {
        request.key: store.generation(request.key, prompt_sha256=request.prompt_sha256) for request in requests.values()
    }
    failed = dict(store.faults(judge_run_id(run_id)))
    return Ratings(
        by_sample={
            sample_id: None if reply is None else rating_of(reply.text)
            for sample_id, request in requests.items()
            for reply in [replies[request.key]]
        },
        replies=tuple(reply for reply in replies.values() if reply is not None),
        not_asked=sum(
            replies[request.key] is None and request.sample.sample_id not in failed for request in requests.values()
        ),
    )
