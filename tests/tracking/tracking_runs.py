"""A small finished run to hand to a tracker, and an upload that a spawned process can call."""

from __future__ import annotations

from dataclasses import replace
from multiprocessing.synchronize import Barrier
from pathlib import Path
from types import MappingProxyType

from contextcliff.records.analysis import (
    Bin,
    ControlLevel,
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
from contextcliff.records.report import Counts, Report, Usage
from contextcliff.tracking.mlflow import MLflowTracker
from contextcliff.tracking.tracker import Tracked

LENGTHS = (512, 1024, 4096)


def bin_at(tokens: int, mean: float | None, failures: dict[str, int] | None = None) -> Bin:
    return Bin(
        asked_tokens=tokens,
        min_tokens=tokens - 9,
        median_tokens=tokens - 5,
        max_tokens=tokens - 1,
        n_samples=20,
        n_unscored=0,
        mean=mean,
        ci_low=None if mean is None else mean - 0.1,
        ci_high=mean,
        tested_low=None if mean is None else mean - 0.08,
        std=0.1,
        failure_rate=None if mean is None else 1 - mean,
        # The analysis may hand over read-only mappings, which can't be copied or pickled.
        failures=MappingProxyType(failures or {}),
        ttft_ms_median=12.5,
        latency_ms_median=tokens / 10,
    )


def control_at(tokens: int, *, ceiling: float | None, floor: float | None) -> ControlLevel:
    return ControlLevel(
        asked_tokens=tokens,
        ceiling_n=0 if ceiling is None else 5,
        ceiling=ceiling,
        ceiling_ci_low=None if ceiling is None else 0.5,
        ceiling_ci_high=None if ceiling is None else 1.0,
        floor_n=0 if floor is None else 5,
        floor=floor,
        floor_ci_low=None if floor is None else 0.0,
        floor_ci_high=None if floor is None else 0.4,
        informative=True,
    )


def report(run_id: str = "qwen-niah-f16-1a2b", **changes: object) -> Report:
    made = Report(
        schema_version=1,
        run_id=run_id,
        fingerprint="f" * 16,
        label="",
        partial=False,
        model="qwen",
        engine="llamacpp",
        kv_policy="none",
        task="niah",
        dataset="essays",
        tokenizer="server",
        max_context_tokens=8192,
        bins=(
            bin_at(512, 1.0),
            bin_at(1024, 0.95, {"wrong-needle": 1}),
            bin_at(4096, 0.4, {"empty": 2, "wrong-needle": 10}),
        ),
        cells=(),
        zones=(Zone(name="stable", min_tokens=512, max_tokens=1024),),
        safe_cap=SafeCap(
            tokens=1024,
            ci_low=1024,
            ci_high=4096,
            censored=False,
            fraction_of_max=0.125,
            rule="walk_up",
            threshold=0.8,
            relative_to_baseline=False,
            confidence=0.95,
            verdict="cliff",
            reason="the score falls below 0.8 at 4,096 tokens",
        ),
        caps={"walk_up": 1024, "half_life": None, "writing": 512},
        half_life=HalfLife(tokens=3000, ci_low=2100, ci_high=5200, censored=False, reason="fitted", initial=0.99),
        half_life_lsq=3300,
        profile=(
            DepthPoint(depth=0.0, n_samples=30, mean=0.9, ci_low=0.7, ci_high=1.0),
            DepthPoint(depth=1.0, n_samples=30, mean=0.6, ci_low=0.4, ci_high=0.8),
        ),
        position=PositionPattern(pattern="primacy", p_value=0.004, n_samples=60, reason="early evidence is found"),
        guide=Guide(
            rows=(
                GuideRow(asked_tokens=512, n_samples=20, mean=1.0, ci_low=0.92, ci_high=1.0, level="safe", sure=True),
            ),
            advice=("safe at 507 tokens",),
        ),
        facets=(FacetRow(facet="hops", value="2", n_samples=60, mean=0.78, ci_low=0.7, ci_high=0.9, cap_tokens=None),),
        controls=(control_at(512, ceiling=1.0, floor=0.0), control_at(4096, ceiling=0.9, floor=None)),
        audit=None,
        judgement=Judgement(
            judge="qwen3-4b",
            n_judged=50,
            n_unjudged=10,
            mean_rating=7.5,
            right_from=7,
            disagreements=5,
            judge_only=3,
            exact_only=2,
            share=0.1,
            ci_low=0.04,
            ci_high=0.21,
        ),
        mean=0.78,
        successes=47,
        usage=Usage(
            prompt_tokens=1000,
            cached_tokens=400,
            computed_prompt_tokens=600,
            completion_tokens=90,
            usd=None,
            wall_s=12.5,
        ),
        counts=Counts(planned=60, completed=60, reused=3, unscored=0, controls=0, errors={}),
        notes=(),
        server=(),
        created_at="2026-11-01T10:00:00Z",
        command="contextcliff model=qwen",
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # a test names the field it changes


def tracked(folder: Path, made: Report | None = None, **changes: object) -> Tracked:
    """The run with its result files, written to `folder`."""
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    for name in ("report.json", "report.md", "samples.jsonl", "manifest.json", "figures/curve.png"):
        (folder / name).write_text(f"content of {name}", encoding="utf-8")
    whole = Tracked(
        report=made or report(),
        folder=folder,
        parameters={"model.name": "qwen", "task.lengths": "[512, 1024, 4096]"},
        samples=[
            {
                **{"sample_id": "s1", "context_tokens": 512, "score": 1.0, "cached_tokens": None, "answers": ["7"]},
                "metadata": {"hops": 2, "topic": "a city"},
            },
            {
                **{"sample_id": "s2", "context_tokens": 1024, "score": None, "cached_tokens": 8, "answers": ["9"]},
                "metadata": {},
            },
        ],
    )
    return replace(whole, **changes)  # type: ignore[arg-type]  # as above


def upload_at_once(uri: str, folder: str, number: int, barrier: Barrier) -> None:
    """One of several processes: waits for the others with MLflow already imported, then uploads."""
    import mlflow.tracking  # noqa: F401

    mine = tracked(Path(folder) / str(number), report(run_id=f"run-{number}"))
    barrier.wait(timeout=60)
    MLflowTracker(uri=uri).log(mine)
