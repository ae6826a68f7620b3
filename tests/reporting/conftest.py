"""Reports as a run would leave them, one for each way in which a run can end."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import pytest

from contextcliff.records.analysis import (
    Bin,
    ControlLevel,
    DepthCell,
    DepthPoint,
    FacetRow,
    Guide,
    GuideRow,
    HalfLife,
    Judgement,
    PositionPattern,
    SafeCap,
    Zone,
)
from contextcliff.records.generation import Generation, ScoredSample
from contextcliff.records.prompt import Recipe, Words
from contextcliff.records.report import SCHEMA_VERSION, Counts, Report, Usage
from contextcliff.records.sample import Sample

MakeReport = Callable[..., Report]


def make_bin(*, tokens: int, successes: int, n: int = 20, unscored: int = 0) -> Bin:
    """A length with 0/1 scores; the server counted a little less than was asked for."""
    mean = successes / n if n else None
    half = 1.96 * math.sqrt(0.25 / n) if n else 0.0
    return Bin(
        asked_tokens=tokens,
        min_tokens=tokens - 40,
        median_tokens=tokens - 12,
        max_tokens=tokens,
        n_samples=n,
        n_unscored=unscored,
        mean=mean,
        ci_low=None if mean is None else max(0.0, mean - half),
        ci_high=None if mean is None else min(1.0, mean + half * 0.6),
        tested_low=None if mean is None else max(0.0, mean - 0.8 * half - unscored / (n + unscored)),
        std=None if mean is None else math.sqrt(mean * (1 - mean)),
        failure_rate=None if mean is None else 1 - mean,
        failures={"wrong_needle": n - successes - (n - successes) // 3, "empty": (n - successes) // 3},
        ttft_ms_median=None if mean is None else tokens * 0.9,
        latency_ms_median=None if mean is None else tokens * 0.9 + 480,
    )


def make_report(
    *,
    lengths: Sequence[int] = (512, 1024, 2048, 4096, 8192),
    successes: Sequence[int] = (20, 20, 19, 19, 9),
    n: int = 20,
    unscored: Sequence[int] = (),
    depths: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 1.0),
    cap: int | None = 4096,
    censored: bool = False,
    verdict: str = "cliff",
    reason: str = "the score falls from 0.95 to 0.45 between 4,096 and 8,192 tokens",
    window: int = 8192,
) -> Report:
    """A report with one bin a length and one cell a length and depth."""
    missing = list(unscored) or [0] * len(lengths)
    bins = tuple(
        make_bin(tokens=tokens, successes=good, n=n - lost, unscored=lost)
        for tokens, good, lost in zip(lengths, successes, missing, strict=True)
    )
    cells = tuple(
        DepthCell(
            asked_tokens=b.asked_tokens,
            depth=depth,
            n_samples=b.n_samples // len(depths),
            mean=None if b.mean is None else max(0.0, b.mean - 0.3 * math.sin(math.pi * depth) * (1 - b.mean)),
        )
        for b in bins
        for depth in depths
    )
    zones: tuple[Zone, ...] = ()
    if cap is not None:
        zones = (Zone(name="stable", min_tokens=0, max_tokens=cap),)
        if cap < lengths[-1]:
            middle = (cap + lengths[-1]) // 2
            zones += (
                Zone(name="transition", min_tokens=cap, max_tokens=middle),
                Zone(name="degraded", min_tokens=middle, max_tokens=lengths[-1]),
            )
    scored = sum(b.n_samples for b in bins)
    full = sum(successes) if scored else 0
    return Report(
        schema_version=SCHEMA_VERSION,
        run_id="20261107-niah-1a2b3c",
        fingerprint="1a2b3c4d5e6f",
        label="",
        partial=False,
        model="smollm2-135m-instruct",
        engine="llamacpp",
        kv_policy="f16",
        task="niah",
        dataset="essays",
        tokenizer="model",
        max_context_tokens=window,
        bins=bins,
        cells=cells,
        zones=zones,
        safe_cap=SafeCap(
            tokens=cap,
            ci_low=cap,
            ci_high=None if censored or cap is None else lengths[-1],
            censored=censored,
            fraction_of_max=None if cap is None else cap / window,
            rule="walk_up",
            threshold=0.8,
            relative_to_baseline=False,
            confidence=0.95,
            verdict=verdict,
            reason=reason,
        ),
        caps={"walk_up": cap, "blueprint": 4000, "absolute": 5120, "half_life": None},
        half_life=HalfLife(tokens=9100, ci_low=7000, ci_high=None, censored=True, reason="fitted to 5 lengths"),
        half_life_lsq=None,
        profile=(),
        position=PositionPattern(pattern=None, p_value=None, n_samples=0, reason="not tested"),
        guide=Guide(rows=(), advice=()),
        facets=(),
        controls=(),
        judgement=None,
        audit=None,
        mean=full / scored if scored else None,
        successes=full,
        usage=Usage(
            prompt_tokens=1_234_567,
            cached_tokens=1_000_000,
            computed_prompt_tokens=234_567,
            completion_tokens=2_345,
            usd=0.0123,
            wall_s=187.4,
        ),
        counts=Counts(
            planned=scored + sum(missing),
            completed=scored,
            reused=12,
            unscored=sum(missing),
            controls=0,
            errors={"timeout": 5, "rate_limit": 2} if sum(missing) else {},
        ),
        notes=("All samples share one haystack: the claim is about that text.",),
        server=("server http://127.0.0.1:8000/v1", "window 8,192 tokens"),
        created_at="2026-11-07T12:00:00+00:00",
        command="python -m contextcliff model=smollm2 task=niah",
    )


def with_findings(report: Report, *, facets: Sequence[FacetRow] | None = None) -> Report:
    """The same report with everything that an analysis can say beside the cap; its first length can't show a cliff."""
    first = report.analysis.bins[0].asked_tokens
    depths = sorted({cell.depth for cell in report.analysis.cells})
    return replace(
        report,
        bins=tuple(replace(b, n_clusters=4) for b in report.analysis.bins),
        cells=tuple(
            replace(cell, ceiling=0.4 if cell.asked_tokens == first else 1.0, floor=0.0, informative=False)
            if cell.asked_tokens == first
            else replace(cell, ceiling=1.0, floor=0.0)
            for cell in report.analysis.cells
        ),
        half_life=HalfLife(
            tokens=6500,
            ci_low=4900,
            ci_high=9800,
            censored=False,
            reason="the score halves every 6,500 tokens (95% CI 4,900–9,800), by a decay fitted to 5 lengths",
            initial=0.98,
        ),
        half_life_lsq=7100,
        profile=tuple(
            DepthPoint(
                depth=depth,
                n_samples=20,
                mean=0.95 - 0.3 * math.sin(math.pi * depth),
                ci_low=0.75 - 0.3 * math.sin(math.pi * depth),
                ci_high=1.0 - 0.3 * math.sin(math.pi * depth),
            )
            for depth in depths
        ),
        position=PositionPattern(
            pattern="middle_collapse",
            p_value=0.0031,
            n_samples=100,
            reason="the mean score is 0.93 in the first third (n = 40), 0.65 in the middle third (n = 20)",
        ),
        guide=Guide(
            rows=tuple(map(_guide_row, report.analysis.bins)),
            advice=("safe from 500 to 4,084 tokens: use it as it is",),
        ),
        facets=tuple(make_facets() if facets is None else facets),
        controls=tuple(_control_level(b, informative=b.asked_tokens != first) for b in report.analysis.bins),
        audit=None,
        judgement=Judgement(
            judge="qwen3-4b",
            n_judged=98,
            n_unjudged=2,
            mean_rating=7.94,
            right_from=7,
            disagreements=6,
            judge_only=4,
            exact_only=2,
            share=6 / 98,
            ci_low=0.028,
            ci_high=0.127,
        ),
    )


def make_facets(*, facets: int = 2, values: int = 3, name: str = "hops", value: str = "value") -> list[FacetRow]:
    """Rows of some facets, their scores spread over the whole range."""
    return [
        FacetRow(
            facet=name if i == 0 else f"{name}_{i}",
            value=f"{value} {j + 1}",
            n_samples=10 * (j + 1),
            mean=1 - j / values,
            ci_low=max(0.0, 0.8 - j / values),
            ci_high=min(1.0, 1.1 - j / values),
            cap_tokens=4096 if j == 0 else None,
        )
        for i in range(facets)
        for j in range(values)
    ]


def _guide_row(b: Bin) -> GuideRow:
    mean, low, high = b.mean or 0.0, b.ci_low or 0.0, b.ci_high or 0.0
    level = "safe" if mean > 0.9 else "danger" if mean < 0.5 else "caution"
    return GuideRow(
        asked_tokens=b.asked_tokens,
        n_samples=b.n_samples,
        mean=mean,
        ci_low=low,
        ci_high=high,
        level=level,
        sure=mean == 1.0,
    )


def _control_level(b: Bin, *, informative: bool) -> ControlLevel:
    return ControlLevel(
        asked_tokens=b.asked_tokens,
        ceiling_n=8,
        ceiling=1.0 if informative else 0.4,
        ceiling_ci_low=0.68 if informative else 0.17,
        ceiling_ci_high=1.0 if informative else 0.69,
        floor_n=6,
        floor=0.0,
        floor_ci_low=0.0,
        floor_ci_high=0.39,
        informative=informative,
    )


@pytest.fixture(scope="session")
def build() -> MakeReport:
    """Builds a report from what a test wants to be special about it."""
    return make_report


@pytest.fixture(scope="session")
def add_findings() -> MakeReport:
    """Adds to a report everything that can be said beside the cap."""
    return with_findings


@pytest.fixture(scope="session")
def facet_rows() -> Callable[..., list[FacetRow]]:
    """Builds rows of as many facets and values as a test wants."""
    return make_facets


@pytest.fixture(scope="session")
def cliff() -> Report:
    return make_report()


@pytest.fixture(scope="session")
def flat() -> Report:
    return make_report(
        successes=(20, 20, 20, 20, 20), cap=8192, censored=True, verdict="flat", reason="no length is worse"
    )


@pytest.fixture(scope="session")
def without_cap() -> Report:
    return make_report(
        successes=(4, 4, 4, 3, 2),
        n=4,
        cap=None,
        verdict="insufficient_evidence",
        reason="4 samples cannot show 0.80 at 95%; 14 samples with the full score would",
    )


@pytest.fixture(scope="session")
def partial() -> Report:
    report = make_report(successes=(20, 20, 18, 15, 4), unscored=(0, 0, 0, 3, 12))
    return replace(report, partial=True)


@pytest.fixture(scope="session")
def nothing_scored() -> Report:
    report = make_report(
        successes=(0, 0, 0, 0, 0),
        unscored=(20, 20, 20, 20, 20),
        cap=None,
        verdict="insufficient_evidence",
        reason="no sample was scored",
    )
    half_life = HalfLife(tokens=None, ci_low=None, ci_high=None, censored=False, reason="no score to fit")
    return replace(report, half_life=half_life, caps=dict.fromkeys(report.analysis.caps))


@pytest.fixture(scope="session")
def one_length() -> Report:
    report = make_report(
        lengths=(2048,),
        successes=(20,),
        cap=2048,
        censored=True,
        verdict="flat",
        reason="one length",
        depths=(0.5,),
    )
    reason = "a decay takes scores at 3 lengths or more, and there are 1"
    return replace(report, half_life=replace(report.half_life, tokens=None, ci_low=None, censored=False, reason=reason))


@pytest.fixture(scope="session")
def full() -> Report:
    """A report with every finding that there is."""
    return with_findings(make_report())


@pytest.fixture(
    params=["full", "cliff", "flat", "without_cap", "partial", "nothing_scored", "one_length"], scope="session"
)
def any_report(request: pytest.FixtureRequest) -> Report:
    """Every one of the reports above, in turn."""
    report: Report = request.getfixturevalue(request.param)
    return report


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
            sample_id=f"niah-2048-0.5-{trial}",
            task="niah",
            context_tokens=2048,
            built_tokens=2040,
            depth=0.5,
            trial=trial,
            document_id="essays",
            question=question,
            answers=("481516",),
            recipe=Recipe(user=(Words(text="a prompt"),)),
            seed=7,
            cluster="essays#2",
            # As a dataset may hand it over: read-only, which can't be copied.
            metadata=MappingProxyType(metadata or {}),
            control=control,
        )
        generation = Generation(
            text=prediction,
            finish_reason="stop",
            prompt_tokens=2044,
            completion_tokens=6,
            cached_tokens=1900,
            ttft_ms=210.5,
            latency_ms=350.0,
        )
        return ScoredSample(
            sample=sample,
            prompt_sha256="ab" * 32,
            score=1.0 if answered else None,
            failure=None if answered else "timeout",
            prediction=prediction if answered else "",
            generation=generation if answered else None,
            judge_rating=9 if answered else None,
        )

    return make
