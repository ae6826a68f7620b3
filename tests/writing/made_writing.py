"""Continuation runs as a task and an analysis would leave them: rounds with every measure, and what is said of them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from contextcliff.analysis.analyse import study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.lengths import Item
from contextcliff.analysis.study import StudyFacts
from contextcliff.records.corpus import Document
from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import Report
from contextcliff.records.sample import Recipe, Words
from contextcliff.writing.levels import DrawnTier, health_of
from contextcliff.writing.measures import measure as measures
from contextcliff.writing.prose_findings import Health, Writing
from contextcliff.writing.task.continuation_scoring import fault_of
from contextcliff.writing.verdict import writing_of
from tests.make import known, scored_sample
from tests.simulated_reports import edited, relaid

TIERS = (2048, 4096, 8192, 16_384)
POINT = 43
PROSE = (
    "It was late when the door opened at last, and nobody spoke. “Sit down,” said the widow, and the clock in the hall "
    "went on as if no one had come. He looked about him for the chair that had always stood by the window."
)
NEXT_WORDS = "She had not expected him, and he saw it. The lamp was low, the fire was out, and the letters lay open."
DOCUMENT = Document(document_id="a-widow", title="A Widow", text=("x" * (POINT - 1)) + "\n" + NEXT_WORDS * 20)

_AUTHOR: Mapping[str, tuple[float, float, float]] = {
    "cloze_score": (22.4, 3.1, 1.6), "pct_unfamiliar_words": (0.272, 0.03, -0.008),
    "vocabulary_diversity": (0.541, 0.024, -0.018), "mtld": (92.0, 11.0, -5.0),
    "unique_word_ratio_100": (0.71, 0.02, -0.012), "word_entropy": (7.42, 0.13, -0.07),
    "char_entropy": (4.17, 0.03, -0.004), "bigram_repetition_rate": (0.061, 0.014, 0.02),
    "trigram_repetition_rate": (0.009, 0.006, 0.012), "long_range_repetition": (0.002, 0.002, 0.015),
    "compression_ratio": (2.05, 0.06, 0.06), "avg_sentence_length": (22.1, 3.4, -1.2),
    "sentence_length_variance": (168.0, 71.0, -22.0), "sentence_length_skewness": (0.9, 0.4, 0.03),
    "sentence_length_kurtosis": (0.7, 1.1, 0.1), "comma_density": (1.7, 0.4, -0.1),
    "semicolon_density": (0.21, 0.09, -0.02), "question_density": (0.05, 0.04, 0.0),
    "exclamation_density": (0.03, 0.03, 0.0), "avg_syllables_per_word": (1.38, 0.04, -0.004),
    "long_word_ratio": (0.148, 0.02, -0.003), "function_word_ratio": (0.51, 0.02, 0.003),
    "avg_word_length": (4.21, 0.11, -0.02), "copied_share": (0.0, 0.0, 0.02), "longest_copy_words": (4.0, 1.5, 1.4),
    "language_drift": (0.0, 0.0, 0.0), "reference_rouge_l": (0.14, 0.02, -0.003), "shortfall": (0.0, 0.0, 0.01),
    "continuation_length": (2000.0, 0.0, -45.0), "word_count": (360.0, 0.0, -8.0),
    "sentence_count": (24.0, 0.0, -1.0), "adjacent_coherence": (0.41, 0.05, -0.02),
    "global_coherence": (0.62, 0.04, -0.01), "local_coherence_3sent": (0.44, 0.05, -0.015),
    "coherence_variance": (0.02, 0.01, 0.001), "reference_similarity": (0.55, 0.05, -0.02),
}  # fmt: skip
"""The author's mean and standard deviation of each measure, and what a doubling of the context adds."""


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
) -> ScoredSample:
    """One round; `answered=False`: the server gave nothing."""
    found = {measures.AUTHOR_LIMIT: 30.0, **(details or {})}
    found[measures.HEALTHY] = float(fault_of(found, failure) is None)
    score = 1 - found.get(measures.COMPOSITE, 0.0) / 100 if answered else None
    made = scored_sample(
        tokens, score, measured=tokens - 9, document=DOCUMENT.document_id, ttft_ms=310.0, latency_ms=9000.0
    )
    sample = replace(
        made.sample,
        sample_id=f"continuation-{tokens}-{trial}",
        task="continuation",
        built_tokens=tokens - 12,
        trial=trial,
        question="",
        answers=(),
        recipe=Recipe(user=(Words(text="a prompt"),)),
        seed=1000 + trial,
        item=item,
    )
    told = {"text": text, "finish_reason": finish_reason, "completion_tokens": 512, "cached_tokens": 0}
    return replace(
        made,
        sample=sample,
        prompt_sha256="",
        failure=failure if answered else failure or "timeout",
        prediction=text if answered else "",
        generation=made.generation and replace(made.generation, **told),  # type: ignore[arg-type]  # its fields
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
            for measure in measures.MEASURES if measured else ():
                if measure.embeds and not coherence:
                    continue
                mean, std, slope = _AUTHOR[measure.name]
                raw = mean + slope * position * 4 / len(tiers) + drawn.gauss(0, 0.8 * std + 0.02 * abs(slope))
                details[measure.name] = max(raw, 0.0) if mean >= 0 and "kurtosis" not in measure.name else raw
                details[measures.ORIGINAL + measure.name] = mean - 0.2 * std
                details[measures.AUTHOR_MEAN + measure.name] = mean
                details[measures.AUTHOR_STD + measure.name] = std
                details[measures.Z + measure.name] = (details[measure.name] - mean) / max(std, measure.floor)
            if measured:
                details[measures.COMPOSITE] = 14 + 9 * position * 4 / len(tiers) + drawn.gauss(0, 3)
                details[measures.CLASSIC_COMPOSITE] = 38 + 3 * position * 4 / len(tiers) + drawn.gauss(0, 2)
                details[measures.AUTHOR_DISTANCE] = 1.1 + 0.2 * position
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
    """What the analysis says of such rounds, by default of `make_rounds()`; of equal rounds it is asked once."""
    rounds = make_rounds() if scored is None else scored
    key = repr(rounds)
    if key not in _analysed:
        _analysed[key] = _writing_of(rounds)
    return _analysed[key]


_analysed: dict[str, Writing] = {}
"""By the rounds, whose details are no key as they are."""


def _writing_of(scored: Sequence[ScoredSample]) -> Writing:
    drawn = random.Random(11)
    return writing_of(
        scored,
        confidence=0.95,
        document_id=DOCUMENT.document_id,
        continuation_point=POINT,
        author={measure.name: [drawn.gauss(0, 1) for _ in range(30)] for measure in measures.MEASURES},
        health=_health(scored),
        settling_rounds=None,
        embeddings="all-MiniLM-L6-v2" if any("adjacent_coherence" in item.details for item in scored) else None,
    )


def _health(scored: Sequence[ScoredSample]) -> Health | None:
    """The walk over these rounds, by the task's own threshold; None where no round was measured."""
    found = study_of(
        scored,
        AnalysisSettings(threshold=0.7),
        StudyFacts(
            max_context_tokens=32_768, designed_lengths=True, relative_by_default=False, quantity=measures.HEALTHY
        ),
    )
    return None if found.sequence is None else health_of(found.sequence.results, found.safe_cap)


def with_writing(report: Report, scored: Sequence[ScoredSample] | None = None) -> Report:
    """A report of a continuation run."""
    return edited(
        report,
        task="continuation",
        dataset="documents",
        run_id="continuation-smollm2-1a2b3c4d",
        writing=make_writing(scored),
    )


def by_health(report: Report, tiers: Sequence[int], scored: Sequence[ScoredSample] | None = None) -> Report:
    """A report of a continuation run whose cap is by its healthy rounds."""
    laid = relaid(report, lengths=tiers)
    cap = replace(laid.analysis.safe_cap, quantity="healthy", threshold=0.7)
    return with_writing(edited(laid, safe_cap=cap, cells=()), scored)


def writing_in(report: Report) -> Writing:
    """The writing of a report that has one."""
    writing = known(report.analysis.finding(Writing))
    return writing


_number = itertools.count()


def written(
    length: int,
    details: Mapping[str, float],
    *,
    trial: int = 0,
    score: float | None = 0.7,
    failure: str | None = None,
    item: str = "",
) -> ScoredSample:
    """A round with these details alone, whose prompt has its length; `score` None is an unanswered one."""
    made = make_round(tokens=length, trial=trial, failure=failure, item=item, answered=score is not None)
    generation = None if made.generation is None else replace(made.generation, prompt_tokens=length)
    sample = replace(made.sample, sample_id=f"w{next(_number)}")
    return replace(made, sample=sample, generation=generation, score=score, details=dict(details), graded=False)


def rounds_of(length: int, **measures: Sequence[float]) -> list[ScoredSample]:
    """A round for each place in the measures' values."""
    columns = [dict(zip(measures, values, strict=True)) for values in zip(*measures.values(), strict=True)]
    return [written(length, details, trial=trial) for trial, details in enumerate(columns)]


def drawn(length: int, **measures: Sequence[float]) -> DrawnTier:
    """The same as draws; a double underscore in a name is a dot."""
    names = [name.replace("__", ".") for name in measures]
    draws = tuple(
        Item(score=0.7, repeats=(0.7,), details=dict(zip(names, values, strict=True)))
        for values in zip(*measures.values(), strict=True)
    )
    return DrawnTier(context_tokens=length, draws=draws)


def writing(scored: Sequence[ScoredSample], **kwargs: Any) -> Writing:
    """`writing_of` with ordinary arguments."""
    usual: dict[str, Any] = {"confidence": 0.95, "document_id": "moby-dick", "continuation_point": 1_000, "author": {}}
    return writing_of(scored, **{**usual, "health": None, "settling_rounds": None, "embeddings": None, **kwargs})
