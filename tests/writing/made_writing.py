"""Continuation runs as a task and an analysis would leave them: rounds with every measure, and what is said of them."""

from __future__ import annotations

import random
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from contextcliff.records.corpus import Document
from contextcliff.records.fact import Said, said
from contextcliff.records.generation import Generation, ScoredSample
from contextcliff.records.report import Report
from contextcliff.records.sample import Recipe, Sample, Words
from contextcliff.writing.measures.measure import (
    AUTHOR_DISTANCE,
    AUTHOR_MEAN,
    AUTHOR_STD,
    BY_NAME,
    CLASSIC_COMPOSITE,
    COMPOSITE,
    MEASURES,
    ORIGINAL,
    Z,
)
from contextcliff.writing.prose_findings import (
    CompositeLevel,
    MeasureLevel,
    NeighbourStep,
    OutlierRound,
    Writing,
    WritingTest,
    WritingTier,
    WritingTrend,
)
from tests.simulated_reports import edited

TIERS = (2048, 4096, 8192, 16_384)
POINT = 43
PROSE = (
    "It was late when the door opened at last, and nobody spoke. “Sit down,” said the widow, and the clock in the hall "
    "went on as if no one had come. He looked about him for the chair that had always stood by the window."
)
NEXT_WORDS = "She had not expected him, and he saw it. The lamp was low, the fire was out, and the letters lay open."
DOCUMENT = Document(document_id="a-widow", title="A Widow", text=("x" * (POINT - 1)) + "\n" + NEXT_WORDS * 20)

_AUTHOR: Mapping[str, tuple[float, float, float]] = {
    # the author's mean and standard deviation, and what a doubling of the context adds
    "cloze_score": (22.4, 3.1, 1.6),
    "pct_unfamiliar_words": (0.272, 0.03, -0.008),
    "vocabulary_diversity": (0.541, 0.024, -0.018),
    "mtld": (92.0, 11.0, -5.0),
    "unique_word_ratio_100": (0.71, 0.02, -0.012),
    "word_entropy": (7.42, 0.13, -0.07),
    "char_entropy": (4.17, 0.03, -0.004),
    "bigram_repetition_rate": (0.061, 0.014, 0.02),
    "trigram_repetition_rate": (0.009, 0.006, 0.012),
    "long_range_repetition": (0.002, 0.002, 0.015),
    "compression_ratio": (2.05, 0.06, 0.06),
    "avg_sentence_length": (22.1, 3.4, -1.2),
    "sentence_length_variance": (168.0, 71.0, -22.0),
    "sentence_length_skewness": (0.9, 0.4, 0.03),
    "sentence_length_kurtosis": (0.7, 1.1, 0.1),
    "comma_density": (1.7, 0.4, -0.1),
    "semicolon_density": (0.21, 0.09, -0.02),
    "question_density": (0.05, 0.04, 0.0),
    "exclamation_density": (0.03, 0.03, 0.0),
    "avg_syllables_per_word": (1.38, 0.04, -0.004),
    "long_word_ratio": (0.148, 0.02, -0.003),
    "function_word_ratio": (0.51, 0.02, 0.003),
    "avg_word_length": (4.21, 0.11, -0.02),
    "copied_share": (0.0, 0.0, 0.02),
    "longest_copy_words": (4.0, 1.5, 1.4),
    "language_drift": (0.0, 0.0, 0.0),
    "reference_rouge_l": (0.14, 0.02, -0.003),
    "shortfall": (0.0, 0.0, 0.01),
    "continuation_length": (2000.0, 0.0, -45.0),
    "word_count": (360.0, 0.0, -8.0),
    "sentence_count": (24.0, 0.0, -1.0),
    "adjacent_coherence": (0.41, 0.05, -0.02),
    "global_coherence": (0.62, 0.04, -0.01),
    "local_coherence_3sent": (0.44, 0.05, -0.015),
    "coherence_variance": (0.02, 0.01, 0.001),
    "reference_similarity": (0.55, 0.05, -0.02),
}

_PLAIN = (1.0, 0.1, 0.0)
"""A measure that is none of these."""


def make_round(
    *,
    tokens: int = 2048,
    trial: int = 0,
    details: Mapping[str, float] | None = None,
    text: str = PROSE,
    failure: str | None = None,
    answered: bool = True,
    finish_reason: str = "length",
    item: str = "",
    answer_tokens: int | None = None,
) -> ScoredSample:
    """One round; `answered=False`: the server gave nothing."""
    sample = Sample(
        sample_id=f"continuation-{tokens}-{trial}",
        task="continuation",
        context_tokens=tokens,
        built_tokens=tokens - 12,
        depth=None,
        trial=trial,
        document_id=DOCUMENT.document_id,
        question="",
        answers=(),
        recipe=Recipe(user=(Words(text="a prompt"),)),
        seed=1000 + trial,
        item=item,
        answer_tokens=answer_tokens,
    )
    generation = Generation(
        text=text,
        finish_reason=finish_reason,
        prompt_tokens=tokens - 9,
        completion_tokens=512,
        cached_tokens=0,
        ttft_ms=310.0,
        latency_ms=9000.0,
    )
    found = dict(details or {})
    return ScoredSample(
        sample=sample,
        prompt_sha256="cd" * 32,
        score=1 - found.get(COMPOSITE, 0.0) / 100 if answered else None,
        failure=failure if answered else failure or "timeout",
        prediction=text if answered else "",
        generation=generation if answered else None,
        details=found if answered else {},
        graded=True,
        document=DOCUMENT,
    )


def make_rounds(
    *, tiers: Sequence[int] = TIERS, rounds: int = 3, coherence: bool = False, measured: bool = True
) -> list[ScoredSample]:
    """Rounds whose prose gets a little worse with every tier; without `coherence` nothing embedded the sentences."""
    drawn = random.Random(7)
    made = []
    for position, tokens in enumerate(tiers):
        for trial in range(rounds):
            details: dict[str, float] = {}
            for measure in MEASURES if measured else ():
                if measure.embeds and not coherence:
                    continue
                mean, std, slope = _AUTHOR.get(measure.name, _PLAIN)
                raw = mean + slope * position * 4 / len(tiers) + drawn.gauss(0, 0.8 * std + 0.02 * abs(slope))
                details[measure.name] = max(raw, 0.0) if mean >= 0 and "kurtosis" not in measure.name else raw
                details[ORIGINAL + measure.name] = mean - 0.2 * std
                details[AUTHOR_MEAN + measure.name] = mean
                details[AUTHOR_STD + measure.name] = std
                details[Z + measure.name] = (details[measure.name] - mean) / max(std, measure.floor)
            if measured:
                details[COMPOSITE] = 14 + 9 * position * 4 / len(tiers) + drawn.gauss(0, 3)
                details[CLASSIC_COMPOSITE] = 38 + 3 * position * 4 / len(tiers) + drawn.gauss(0, 2)
                details[AUTHOR_DISTANCE] = 1.1 + 0.2 * position
            late = position == len(tiers) - 1 and trial == rounds - 1 and rounds > 1
            made.append(
                make_round(
                    tokens=tokens,
                    trial=trial,
                    details=details,
                    failure="repetition" if late else None,
                    finish_reason="stop" if trial == 1 else "length",
                )
            )
    return made


def make_writing(scored: Sequence[ScoredSample] | None = None) -> Writing:
    """What an analysis says of such rounds (by default `make_rounds()`), its tests made up."""
    items = list(make_rounds() if scored is None else scored)
    lengths = sorted({item.sample.context_tokens for item in items})
    tiers = tuple(_tier(tokens, [i for i in items if i.sample.context_tokens == tokens]) for tokens in lengths)
    embeds = any("adjacent_coherence" in item.details for item in items)
    missing = tuple(m.name for m in MEASURES if not any(m.name in item.details for item in items))
    return Writing(
        document_id=DOCUMENT.document_id,
        continuation_point=POINT,
        tiers=tiers,
        tests=tuple(_tests(tiers)),
        trends=tuple(_trends(tiers)),
        steps=(NeighbourStep(context_tokens=lengths[-1], measure="cloze_score", change=4.18),) if tiers[1:] else (),
        verdict=Said(text="The prose degrades from 8,192 tokens on: bigram repetition rises."),
        settling_rounds=12,
        warnings=said(["3 rounds a length can't show a step between two lengths: the least p-value is 0.05."]),
        embeddings="all-MiniLM-L6-v2" if embeds else None,
        unmeasured=missing,
    )


def with_writing(report: Report, scored: Sequence[ScoredSample] | None = None) -> Report:
    """A report of a continuation run."""
    return edited(
        report,
        task="continuation",
        dataset="documents",
        run_id="continuation-smollm2-1a2b3c4d",
        writing=make_writing(scored),
    )


def writing_in(report: Report) -> Writing:
    """The writing of a report that has one."""
    writing = report.analysis.finding(Writing)
    assert writing is not None
    return writing


def _spread(values: Sequence[float]) -> tuple[float | None, float | None, float | None, float | None]:
    """Mean, standard deviation and a rough interval."""
    if not values:
        return None, None, None, None
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, None, None, None
    std = statistics.stdev(values)
    half = 1.96 * std / len(values) ** 0.5
    return mean, std, mean - half, mean + half


def _level(name: str, items: Sequence[ScoredSample]) -> MeasureLevel:
    def mean_of(key: str) -> float | None:
        values = [item.details[key] for item in items if key in item.details]
        return statistics.fmean(values) if values else None

    values = [item.details[name] for item in items if name in item.details]
    scores = [item.details[Z + name] for item in items if Z + name in item.details]
    mean, std, low, high = _spread(values)
    original = mean_of(ORIGINAL + name)
    return MeasureLevel(
        name=name,
        n=len(values),
        mean=mean,
        std=std,
        ci_low=low,
        ci_high=high,
        cv=std / abs(mean) if mean and std is not None else None,
        original=original,
        author_mean=mean_of(AUTHOR_MEAN + name),
        author_std=mean_of(AUTHOR_STD + name),
        z=mean_of(Z + name),
        z_std=statistics.stdev(scores) if len(scores) > 1 else None,
        converged=None if mean is None or original is None else abs(mean - original) <= 0.1 * abs(original),
    )


def _composite(key: str, items: Sequence[ScoredSample]) -> CompositeLevel:
    values = [item.details[key] for item in items if key in item.details]
    mean, std, low, high = _spread(values)
    return CompositeLevel(n=len(values), mean=mean, std=std, ci_low=low, ci_high=high)


def _tier(tokens: int, items: Sequence[ScoredSample]) -> WritingTier:
    answered = [item for item in items if item.score is not None]
    measured = any(item.details for item in answered)
    last = answered[-1].sample if answered else None
    return WritingTier(
        context_tokens=tokens,
        n_rounds=len(answered),
        n_unscored=len(items) - len(answered),
        n_distinct=len(answered),
        outcomes=dict(Counter(item.failure or "complete" for item in answered)),
        finish_reasons=dict(Counter(item.generation.finish_reason for item in answered if item.generation)),
        reading_level="11-12" if measured else None,
        composite=_composite(COMPOSITE, answered),
        composite_classic=_composite(CLASSIC_COMPOSITE, answered),
        measures=tuple(_level(measure.name, answered) for measure in MEASURES),
        outliers=(OutlierRound(sample_id=last.sample_id, trial=last.trial, measures=("cloze_score", "mtld")),)
        if last is not None and measured and len(answered) > 2
        else (),
    )


def _means(tier: WritingTier) -> dict[str, float]:
    return {level.name: level.mean for level in tier.measures if level.mean is not None}


def _tests(tiers: Sequence[WritingTier]) -> list[WritingTest]:
    first, *later = tiers
    made = []
    for position, tier in enumerate(later, start=1):
        for name, mean in _means(tier).items():
            worse = BY_NAME[name].worse
            if not worse or name not in _means(first) or BY_NAME[name].family is None:
                continue
            weight = position / len(later) * (1 if BY_NAME[name].family in ("repetition", "copying") else 0.4)
            p_holm = min(1.0, 0.9 * (1 - weight) ** 3 + 0.0004)
            made.append(
                WritingTest(
                    context_tokens=tier.context_tokens,
                    measure=name,
                    against="shortest",
                    n=tier.n_rounds,
                    n_baseline=first.n_rounds,
                    scale="raw",
                    shift=worse * (mean - _means(first)[name]),
                    p_value=p_holm / 3,
                    p_holm=p_holm,
                    effect=min(1.0, weight * 1.05 - 0.05),
                    size="large" if weight > 0.5 else "medium" if weight > 0.3 else "small",
                    degraded=p_holm < 0.05,
                )
            )
            made.append(replace(made[-1], against="author", n_baseline=30, p_holm=min(1.0, p_holm * 2), degraded=False))
    return made


def _trends(tiers: Sequence[WritingTier]) -> list[WritingTrend]:
    first, last = _means(tiers[0]), _means(tiers[-1])
    if len(tiers) < 2:
        return []
    return [
        WritingTrend(
            measure=name,
            scale="raw",
            start=first[name],
            end=last[name],
            p_value=0.004 if BY_NAME[name].family == "repetition" else 0.21,
            p_holm=0.03 if BY_NAME[name].family == "repetition" else 0.9,
            exact=True,
        )
        for name in first
        if name in last
    ]
