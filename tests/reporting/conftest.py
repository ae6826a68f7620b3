"""Reports as a run would leave them, one for each way in which a run can end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from contextcliff.records import (
    SCHEMA_VERSION,
    Bin,
    Counts,
    DepthCell,
    Generation,
    Guide,
    HalfLife,
    PositionPattern,
    Recipe,
    Report,
    SafeCap,
    Sample,
    ScoredSample,
    Usage,
    Words,
    Zone,
)

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


@pytest.fixture(scope="session")
def build() -> MakeReport:
    """Builds a report from what a test wants to be special about it."""
    return make_report


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
    return replace(report, half_life=half_life, caps=dict.fromkeys(report.caps))


@pytest.fixture(scope="session")
def one_length() -> Report:
    return make_report(
        lengths=(2048,),
        successes=(20,),
        cap=2048,
        censored=True,
        verdict="flat",
        reason="one length",
        depths=(0.5,),
    )


@pytest.fixture(params=["cliff", "flat", "without_cap", "partial", "nothing_scored", "one_length"], scope="session")
def any_report(request: pytest.FixtureRequest) -> Report:
    """Every one of the reports above, in turn."""
    report: Report = request.getfixturevalue(request.param)
    return report


@pytest.fixture(scope="session")
def make_scored() -> Callable[..., ScoredSample]:
    """Builds a scored sample; `answered=False` leaves out the generation."""

    def make(*, trial: int = 0, prediction: str = "481516", question: str = "?", answered: bool = True) -> ScoredSample:
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
        )

    return make
