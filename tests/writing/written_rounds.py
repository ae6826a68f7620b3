"""Rounds of a continuation run for the analysis tests: lengths and measures in, `ScoredSample`s and draws out."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from contextcliff.analysis.items import Item
from contextcliff.records.generation import Generation, ScoredSample
from contextcliff.records.sample import Recipe, Sample
from contextcliff.writing.levels import DrawnTier
from contextcliff.writing.prose_findings import Writing
from contextcliff.writing.verdict import writing_of

_RECIPE = Recipe(user=())
_number = itertools.count()


def written(
    length: int,
    details: Mapping[str, float],
    *,
    trial: int = 0,
    score: float | None = 0.7,
    failure: str | None = None,
    item: str = "",
    finish_reason: str = "length",
) -> ScoredSample:
    """One round; `score` None is an unanswered one."""
    number = next(_number)
    sample = Sample(
        sample_id=f"w{number}",
        task="continuation",
        context_tokens=length,
        built_tokens=length,
        depth=None,
        trial=trial,
        document_id="moby-dick",
        question="",
        answers=(),
        recipe=_RECIPE,
        seed=trial,
        item=item,
    )
    generation = None
    if score is not None:
        generation = Generation(
            text="Call me Ishmael.",
            finish_reason=finish_reason,
            prompt_tokens=length,
            completion_tokens=100,
            cached_tokens=None,
            ttft_ms=10.0,
            latency_ms=20.0,
        )
    return ScoredSample(
        sample=sample,
        prompt_sha256=f"p{number}",
        score=score,
        failure="timeout" if score is None and failure is None else failure,
        prediction="",
        generation=generation,
        details=dict(details),
    )


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
    usual: dict[str, Any] = {
        "confidence": 0.95,
        "document_id": "moby-dick",
        "continuation_point": 1_000,
        "author": {},
        "health": None,
        "settling_rounds": None,
        "embeddings": None,
    }
    return writing_of(scored, **{**usual, **kwargs})
