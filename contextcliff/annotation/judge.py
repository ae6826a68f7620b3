"""A judge beside the exact score: another model rates each answer from 1 to 10 by a rubric.

As LLMTest_NeedleInAHaystack has it, but next to the exact score and never in its place: what is reported is how often
the two disagree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from pydantic import Field, PlainValidator

from contextcliff.engines.engine import Deployment, Engine
from contextcliff.errors import keys_named
from contextcliff.execution.budget import Budget, Meter
from contextcliff.execution.runner import Runner
from contextcliff.execution.schedule import Listed
from contextcliff.execution.scoring import recall
from contextcliff.execution.signals import Stop, Stoppable
from contextcliff.execution.store import PlannedSample, Respondent, Store
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import Generation, ScoredSample
from contextcliff.records.report import shown_model
from contextcliff.records.sample import Prompt, Recipe, Sample, Words
from contextcliff.reporting.progress import progress_of
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
_SECTIONS = {"model": "judge.model", "engine": "judge.engine"}


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

    def check(self, budget: Budget) -> None:
        """Raise `ConfigError` without weights or a key, or without a price under a budget of dollars."""
        self.respondent()
        with keys_named(**_SECTIONS):
            self.engine.check()
        self.meter(budget)

    async def open_once(self) -> None:
        """Raise what keeps the judge from rating, before anything is paid for."""
        with keys_named(**_SECTIONS):
            async with self.engine.open(self.room):
                pass

    @property
    def room(self) -> Deployment:
        return Deployment(model=self.model, kv_policy=_PLAIN_CACHE, context_tokens=_CONTEXT_TOKENS)

    def meter(self, budget: Budget) -> Meter:
        """Counts what the judge takes. Raises `ConfigError` where a budget of dollars meets one without a price."""
        return Meter(budget, self.model.price, sampling=self.sampling, key="judge.model")

    def respondent(self) -> Respondent:
        """Who rates. Raises `ConfigError` for weights that are absent."""
        with keys_named(**_SECTIONS):
            identity = self.engine.identity(self.model, _PLAIN_CACHE)
        return Respondent(identity=identity, sampling=self.sampling, label="judge")

    def requests(self, scored: Iterable[ScoredSample], *, served: str | None) -> Mapping[str, PlannedSample]:
        """What the judge is asked, by the sample_id of the answer; equal requests are one."""
        asked = partial(_request, self.rubric, self.respondent(), served)
        return {
            item.sample.sample_id: asked(item.sample, item.generation.text, right=item.score == 1.0)
            for item in scored
            if item.score is not None and item.generation is not None
        }

    def requests_ahead(
        self, planned: Iterable[PlannedSample], store: Store, *, run_id: str, sampling: Sampling
    ) -> tuple[PlannedSample, ...]:
        """What it is yet to be asked: of stored answers, and of others as long as `sampling` lets them be."""
        ordinary = {item.key: item for item in planned if item.sample.is_ordinary}
        coming = {item.key: item for item in store.missing(ordinary.values())}
        run, asked = store.run(run_id), partial(_request, self.rubric, self.respondent())
        served = None if run is None else run.facts.judge_served
        stored = recall(store, run_id, [item for key, item in ordinary.items() if key not in coming])
        # What an answer scores does not enter the judge's request, and prose takes long to score.
        of_stored = [
            asked(served, each.sample, each.generation.text)
            for each in stored
            if each.unscored is None and each.generation is not None
        ]
        longest = [asked(None, each.sample, longest_answer(each.sample, sampling)) for each in coming.values()]
        return (*store.missing(of_stored), *longest)


def longest_answer(sample: Sample, sampling: Sampling) -> str:
    tokens = sampling.for_answer(sample.answer_tokens).max_tokens
    asked = f"{sample.question}{''.join(sample.answers)}"
    # Scripts that set no spaces have tokens of a character or less.
    return "x" * (_CHARACTERS_A_TOKEN * tokens) if asked.isascii() else "語" * tokens


def _request(
    rubric: str, respondent: Respondent, served: str | None, asked: Sample, answer: str, *, right: bool = False
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
    plain = sum(character.isascii() for character in user)
    sample = Sample(
        sample_id=f"judge-{identity[:16]}",
        task="judge",
        context_tokens=0,
        # By a tokenizer that is not known, rather too many: a budget counts by it.
        built_tokens=_FRAME_TOKENS + -(-plain // 3) + 2 * (len(user) - plain),
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


_RATING = re.compile(r"(?<![\d.])(10|[1-9])(?![\d]|\.\d)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Ratings:
    """A judge's ratings of a run."""

    by_sample: Mapping[str, int | None]
    """None where there is none, or none that can be read."""
    replies: tuple[Generation, ...]
    not_asked: int


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


async def ask_judge(
    judge: Judge, scored: Sequence[ScoredSample], store: Store, *, run_id: str, budget: Budget, progress: bool
) -> tuple[Stop | None, str]:
    """Have every answer rated that has no rating yet, within what is left of the budget.

    Returns why it stopped before its end, and then about how many answers the judge was not asked. Raises `RunError`
    where it can't be reached; the answers are stored by then, and the same command goes on."""
    meter = judge.meter(budget)
    async with judge.engine.open(judge.room) as session:
        served = session.served.model
        name = shown_model(served or judge.model.name or judge.engine.name, engine=judge.engine.name)
        store.change_facts(run_id, lambda facts: replace(facts, judge=name, judge_served=served))
        requests = judge.requests(scored, served=served)
        missing = store.missing({item.key: item for item in requests.values()}.values())
        runner = Runner(
            session=session,
            engine=judge.engine,
            sampling=judge.sampling,
            documents={},
            store=store,
            run_id=judge_run_id(run_id),
            meter=meter,
        )
        tokens, shown = sum(item.sample.built_tokens for item in missing), progress and bool(missing)
        with progress_of(f"judge · {name}", total_tokens=tokens, total_samples=len(missing), shown=shown) as told:
            async with Stoppable() as stoppable:
                async for outcome in runner.answers(Listed(missing)):
                    told.advance(outcome.sample.built_tokens, answer=outcome.text)
    stop = stoppable.stop or ("out of budget" if meter.ran_out else None)
    unrated = sum(store.generation(item.key) is None for item in requests.values())
    return stop, f"the judge was not asked about {unrated:,} of {len(requests):,} answers; " if stop else ""
