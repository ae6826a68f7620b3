"""Samples, searches, levels and timed requests for tests: lengths and scores in, `ScoredSample`s out."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from contextcliff.analysis.analyse import analyse, study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.bins import Group
from contextcliff.analysis.lengths import Item, LengthResult
from contextcliff.analysis.search import Path, StepScores, step_scores
from contextcliff.analysis.study import Finder, StudyFacts
from contextcliff.findings.finding import findings_with
from contextcliff.records.analysis import Analysis, Bin
from contextcliff.records.generation import Generation, ScoredSample
from contextcliff.records.sample import Recipe, Sample
from contextcliff.records.search_record import Key, SearchPlan
from contextcliff.statistics.clusters import Cluster
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.intervals import is_binary, lower_bound, shown_interval

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
        sample_id=f"s{number}", task="niah", context_tokens=length, built_tokens=length, depth=depth, trial=number,
        document_id=document, cluster=cluster, question="?", answers=("42",), recipe=_RECIPE, seed=number,
    )  # fmt: skip
    generation = None
    if score is not None:
        generation = Generation(
            text="42", finish_reason="stop", prompt_tokens=length if measured is None else measured,
            completion_tokens=1, cached_tokens=None, ttft_ms=ttft_ms, latency_ms=latency_ms,
        )  # fmt: skip
    if failure is None and score is None:
        failure = "timeout"
    if failure is None and score is not None and score < 1.0:
        failure = "wrong_needle"
    return ScoredSample(
        sample=sample, prompt_sha256=f"p{number}" if prompt is None else prompt, score=score, failure=failure,
        prediction="", generation=generation,
    )  # fmt: skip


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
    looks: int = 0,
) -> Analysis:
    """The analysis of a needle task's run, with every finding; `finders=()` leaves out all of them."""
    study = study_of(
        scored,
        AnalysisSettings(threshold=threshold, confidence=confidence, relative_to_baseline=relative, bins=bins,
                         baseline_tokens=baseline_tokens),
        StudyFacts(max_context_tokens=window, designed_lengths=designed, relative_by_default=relative_by_default,
                   looks=looks),
        controls=controls,
    )  # fmt: skip
    return analyse(study, findings_with() if finders is None else finders)


def finding(analysis: Analysis, record: type[T]) -> T:
    """A finding that the analysis has."""
    found = analysis.finding(record)
    assert found is not None
    return found


def of(cluster: str, samples: Sequence[ScoredSample]) -> list[ScoredSample]:
    """The same samples, all of one shared text; the document is called like it."""
    return [replace(s, sample=replace(s.sample, cluster=cluster, document_id=cluster or "x")) for s in samples]


def texts(length: int, *results: tuple[int, ...]) -> list[ScoredSample]:
    """Samples of one length: `(right, scored)` or `(right, scored, unscored)` for each shared text."""
    return [item for i, counts in enumerate(results) for item in right_of(length, *counts, text=f"text-{i}")]


def having(samples: Sequence[ScoredSample], **metadata: str | int | float) -> list[ScoredSample]:
    """The same samples with this metadata beside what they have."""
    return [replace(s, sample=replace(s.sample, metadata={**s.sample.metadata, **metadata})) for s in samples]


def controlled(samples: Sequence[ScoredSample], *controls: str) -> list[ScoredSample]:
    """The same samples, naming these controls."""
    return [replace(s, sample=replace(s.sample, controls=controls)) for s in samples]


def control(name: str, kind: str, score: float | None) -> ScoredSample:
    """A control sample."""
    found = scored_sample(100, score)
    return replace(found, sample=replace(found.sample, sample_id=name, control=kind))


def clusters(*results: tuple[float, int]) -> tuple[Cluster, ...]:
    """Clusters of `(sum of the scores, scored samples)`."""
    return tuple(Cluster(total=float(total), scored=n) for total, n in results)


def without_clusters(samples: Sequence[ScoredSample]) -> list[ScoredSample]:
    """The same samples as though they shared nothing."""
    return [replace(s, sample=replace(s.sample, cluster="")) for s in samples]


def repeated(length: int, items: Sequence[Sequence[float | None]], *, a_document: int = 1) -> list[ScoredSample]:
    """The repeats of each question, `a_document` questions on each document."""
    found = []
    for number, repeats in enumerate(items):
        document = f"document-{length}-{number // a_document}"
        for repeat, score in enumerate(repeats):
            made = scored_sample(length, score, document=document)
            question = replace(made.sample, cluster=document, item=f"question-{number}", repeat=repeat)
            found.append(replace(made, sample=question))
    return found


def drawn_items(
    rng: np.random.Generator, rate: float, *, n: int, within: float, between: float = 0.0, a_document: int = 1
) -> list[list[float]]:
    """`n` questions, three repeats each, right at `rate`; repeats correlate by `within`, a document's by `between`."""
    documents = _varied(rng, np.full(-(-n // a_document), rate), between).repeat(a_document)[:n]
    chances = _varied(rng, documents, within)
    return [[float(rng.random() < chance) for _ in range(3)] for chance in chances]


def _varied(rng: np.random.Generator, rates: NDArray[np.float64], correlation: float) -> NDArray[np.float64]:
    """Chances that vary by a beta distribution round each rate, so that right answers correlate so much."""
    if correlation == 0.0:
        return rates
    if correlation == 1.0:
        return (rng.random(rates.size) < rates).astype(float)
    spread = 1.0 / correlation - 1.0
    inside = np.clip(rates, 1e-9, 1.0 - 1e-9)
    return np.asarray(rng.beta(inside * spread, (1.0 - inside) * spread))


DEPTHS = tuple(i / 10 for i in range(11))
ScoreAt = Callable[[int, float], float | None]
"""The score of a sample at a length and a depth; None: it has none."""


def plan_of(*lengths: int, most_steps: int = 160, refine: bool = False) -> SearchPlan:
    return SearchPlan(lengths=lengths, most_steps=most_steps, refine=refine)


def coin(rate_at: Callable[[int, float], float], seed: int) -> ScoreAt:
    """A model that is right with a chance of its own at each length and depth."""
    rng = np.random.default_rng(seed)
    return lambda length, depth: float(rng.random() < rate_at(length, depth))


def searched(
    plan: SearchPlan,
    score_at: ScoreAt,
    settings: AnalysisSettings,
    *,
    depths: Sequence[float] = DEPTHS,
    most_asked: int = 10_000,
) -> list[ScoredSample]:
    """The samples that a search asks, up to `most_asked` of them, at depths that are drawn."""
    path = Path(plan, settings.search_rule(relative=settings.is_relative(by_default=False)))
    samples: list[ScoredSample] = []
    steps: dict[Key, StepScores] = {}
    while len(samples) < most_asked and (wanted := path.follow(steps)):
        for length, number in wanted:
            depth = random.Random(1_000 * length + number).choice(depths)
            made = scored_sample(length, score_at(length, depth), depth=depth)
            samples.append(replace(made, sample=replace(made.sample, step=number, trial=number)))
            steps[length, number] = step_scores(samples[-1:])
    return samples


def analysed_search(
    plan: SearchPlan,
    scored: Sequence[ScoredSample],
    settings: AnalysisSettings | None = None,
    *,
    finders: Sequence[Finder] | None = None,
) -> Analysis:
    """The analysis of such a search, with every finding."""
    facts = StudyFacts(max_context_tokens=8_192, designed_lengths=True, relative_by_default=False, search=plan)
    study = study_of(scored, settings or AnalysisSettings(), facts)
    return analyse(study, findings_with() if finders is None else finders)


def counted(results: Mapping[int, tuple[int, int]]) -> list[LengthResult]:
    """`{length: (right, scored)}`."""
    return [_level(length, (0.0,) * (n - right) + (1.0,) * right) for length, (right, n) in results.items()]


@lru_cache(maxsize=4096)
def _level(length: int, scores: tuple[float, ...]) -> LengthResult:
    binary = is_binary(scores)
    low, high = shown_interval(scores, 0.95, binary=binary) if scores else (None, None)
    found = Bin(
        asked_tokens=length, min_tokens=length, median_tokens=length, max_tokens=length, n_samples=len(scores),
        n_unscored=0, mean=mean_of(scores) if scores else None, ci_low=low, ci_high=high, std=None, failure_rate=None,
        tested_low=lower_bound(scores, 0.95) if scores else None, failures={}, ttft_ms_median=None,
        latency_ms_median=None,
    )  # fmt: skip
    items = (Item(cluster="", document="moby-dick", score=score, repeats=(score,)) for score in scores)
    return LengthResult(bin=found, items=tuple(items), binary=binary)


LENGTHS = (500, 1_000, 2_000, 4_000, 8_000)


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """What a request takes: a fixed part, a part for each token, and attention, in ms; times noise."""

    fixed: float = 30.0
    token: float = 0.5
    attention: float = 1e-4
    """Of a pair of tokens."""
    noise: float = 0.1
    """Standard deviation of the logarithm."""
    concurrency: int = 1
    """Requests at once: each waits for some of the others, and those of one round share a part of their noise."""
    factors: Mapping[int, float] | None = None
    """By length, what the time is multiplied with."""
    answer_ms: float = 250.0
    """What the whole answer takes beyond its first token."""

    def times(self, length: int, n: int, rng: np.random.Generator) -> list[float]:
        base = self.fixed + self.token * length + 0.5 * self.attention * length**2
        logs = rng.normal(0.0, self.noise, n)
        if self.concurrency > 1:
            rounds = rng.normal(0.0, self.noise, -(-n // self.concurrency)).repeat(self.concurrency)[:n]
            waited = rng.integers(0, self.concurrency, n) * 0.5
            logs = np.sqrt(0.5) * (logs + rounds) + np.log1p(waited)
        return [float(time) for time in base * (self.factors or {}).get(length, 1.0) * np.exp(logs)]


def timed(
    times: Mapping[int, Sequence[float]],
    *,
    cached: Mapping[int, Sequence[int | None]] | None = None,
    answer_ms: float = 250.0,
) -> tuple[Group, ...]:
    """A group a length, a sample each time (TTFT in ms), all answers right."""
    return tuple(
        Group(
            asked_tokens=length,
            samples=tuple(
                _with_cache(
                    scored_sample(length, 1.0, ttft_ms=time, latency_ms=time + answer_ms),
                    None if cached is None else cached[length][place],
                )
                for place, time in enumerate(of_length)
            ),
        )
        for length, of_length in times.items()
    )


def asked_of(
    server: Server, *, n: int, rng: np.random.Generator, lengths: Sequence[int] = LENGTHS
) -> tuple[Group, ...]:
    """`n` requests at each length."""
    return timed({length: server.times(length, n, rng) for length in lengths}, answer_ms=server.answer_ms)


def known(value: T | None) -> T:
    """The value, which there has to be."""
    assert value is not None
    return value


def _with_cache(item: ScoredSample, cached: int | None) -> ScoredSample:
    assert item.generation is not None
    return replace(item, generation=replace(item.generation, cached_tokens=cached))
