"""Reports as a run would leave them, one for each way in which a run can end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import pytest

from contextcliff.findings.facets import FacetRow
from contextcliff.records.generation import Generation, ScoredSample
from contextcliff.records.report import Report
from contextcliff.records.sample import Recipe, Sample, Words
from tests.simulated_reports import CLIFF, FLAT, FULL, simulated

MakeFacets = Callable[..., tuple[FacetRow, ...]]


@pytest.fixture(scope="session")
def facet_rows() -> MakeFacets:
    """Builds rows of as many facets and values as a test wants, their scores spread over the whole range."""

    def make(*, facets: int = 2, values: int = 3, name: str = "hops", value: str = "value") -> tuple[FacetRow, ...]:
        return tuple(
            FacetRow(
                facet=name if i == 0 else f"{name}_{i}", value=f"{value} {j + 1}", n_samples=10 * (j + 1),
                mean=1 - j / values, ci_low=max(0.0, 0.8 - j / values), ci_high=min(1.0, 1.1 - j / values),
                cap_tokens=4096 if j == 0 else None,
            )
            for i in range(facets)
            for j in range(values)
        )  # fmt: skip

    return make


@pytest.fixture(scope="session")
def cliff() -> Report:
    return simulated(CLIFF)


@pytest.fixture(scope="session")
def flat() -> Report:
    return simulated(FLAT)


@pytest.fixture(scope="session")
def full() -> Report:
    """A report with every finding of a needle task."""
    return simulated(FULL)


@pytest.fixture(scope="session")
def make_scored() -> Callable[..., ScoredSample]:
    """Builds a scored sample; `answered=False` leaves out the generation."""

    def make(
        *,
        trial: int = 0,
        prediction: str = "481516",
        question: str = "?",
        answered: bool = True,
        control: str | None = None,
        metadata: Mapping[str, str | int | float] | None = None,
    ) -> ScoredSample:
        sample = Sample(
            sample_id=f"niah-2048-0.5-{trial}", task="niah", context_tokens=2048, built_tokens=2040, depth=0.5,
            trial=trial, document_id="essays", question=question, answers=("481516",),
            recipe=Recipe(user=(Words(text="a prompt"),)), seed=7, cluster="essays#2", control=control,
            # As a dataset may hand it over: read-only, which can't be copied.
            metadata=MappingProxyType(metadata or {}),
        )  # fmt: skip
        generation = Generation(
            text=prediction, finish_reason="stop", prompt_tokens=2044, completion_tokens=6, cached_tokens=1900,
            ttft_ms=210.5, latency_ms=350.0,
        )  # fmt: skip
        return ScoredSample(
            sample=sample, prompt_sha256="",
            score=1.0 if answered else None,
            failure=None if answered else "timeout", prediction=prediction if answered else "",
            generation=generation if answered else None, judge_rating=9 if answered else None,
        )  # fmt: skip

    return make
