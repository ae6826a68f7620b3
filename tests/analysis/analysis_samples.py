"""Scored samples for the analysis tests: lengths and scores in, `ScoredSample`s out."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TypeVar

from contextcliff.analysis.analyse import analyse, study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.study import Finder, StudyFacts
from contextcliff.findings.finding import sections_with
from contextcliff.records.analysis import Analysis
from contextcliff.records.generation import Generation, ScoredSample
from contextcliff.records.sample import Recipe, Sample

T = TypeVar("T")

_RECIPE = Recipe(user=())
_number = itertools.count()


def scored_sample(
    length: int,
    score: float | None,
    *,
    failure: str | None = None,
    depth: float | None = None,
    measured: int | None = None,
    document: str = "moby-dick",
    cluster: str = "",
    prompt: str | None = None,
    ttft_ms: float = 10.0,
    latency_ms: float = 20.0,
) -> ScoredSample:
    """A sample asked and built at `length`; `score` None is an unscored one, without a generation."""
    number = next(_number)
    sample = Sample(
        sample_id=f"s{number}",
        task="niah",
        context_tokens=length,
        built_tokens=length,
        depth=depth,
        trial=number,
        document_id=document,
        cluster=cluster,
        question="?",
        answers=("42",),
        recipe=_RECIPE,
        seed=number,
    )
    generation = None
    if score is not None:
        generation = Generation(
            text="42",
            finish_reason="stop",
            prompt_tokens=length if measured is None else measured,
            completion_tokens=1,
            cached_tokens=None,
            ttft_ms=ttft_ms,
            latency_ms=latency_ms,
        )
    if failure is None and score is None:
        failure = "timeout"
    if failure is None and score is not None and score < 1.0:
        failure = "wrong_needle"
    return ScoredSample(
        sample=sample,
        prompt_sha256=f"p{number}" if prompt is None else prompt,
        score=score,
        failure=failure,
        prediction="",
        generation=generation,
    )


def right_of(length: int, right: int, n: int, unscored: int = 0, *, text: str = "") -> list[ScoredSample]:
    """`right` full scores among `n` scored samples, and `unscored` more; of one shared text where it has a name."""
    scores: list[float | None] = [1.0] * right + [0.0] * (n - right) + [None] * unscored
    return [scored_sample(length, score, document=text or "moby-dick", cluster=text) for score in scores]


def curve(results: Mapping[int, tuple[int, ...]]) -> list[ScoredSample]:
    """Samples of several lengths: `{length: (right, scored)}` or `{length: (right, scored, unscored)}`."""
    return [item for length, counts in results.items() for item in right_of(length, *counts)]


def fractional(results: Mapping[int, Sequence[float | None]]) -> list[ScoredSample]:
    """Samples of several lengths with the scores given."""
    return [scored_sample(length, score) for length, scores in results.items() for score in scores]


def analysed(
    scored: Sequence[ScoredSample],
    *,
    threshold: float = 0.8,
    confidence: float = 0.95,
    relative: bool | None = None,
    baseline_tokens: int | None = None,
    bins: int = 10,
    designed: bool = True,
    window: int = 8_192,
    relative_by_default: bool = False,
    controls: Sequence[ScoredSample] = (),
    finders: Sequence[Finder] | None = None,
) -> Analysis:
    """The analysis of a needle task's run, with every finding; `finders=()` leaves out all of them."""
    study = study_of(
        scored,
        AnalysisSettings(
            threshold=threshold,
            confidence=confidence,
            relative_to_baseline=relative,
            bins=bins,
            baseline_tokens=baseline_tokens,
        ),
        StudyFacts(max_context_tokens=window, designed_lengths=designed, relative_by_default=relative_by_default),
        controls=controls,
    )
    return analyse(study, sections_with() if finders is None else finders)


def finding(analysis: Analysis, record: type[T]) -> T:
    """A finding that the analysis has."""
    found = analysis.finding(record)
    assert found is not None
    return found
