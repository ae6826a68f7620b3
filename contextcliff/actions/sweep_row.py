"""What a sweep's table says of one of its jobs."""

from __future__ import annotations

from contextcliff.actions.action import Invocation
from contextcliff.records.report import Report
from contextcliff.records.sweep import CurvePoint, JobState, SweepRow
from contextcliff.tracking.tracker import SweepPlace

_MOST_POINTS = 60


def row_of(report: Report, place: SweepPlace, *, folder: str) -> SweepRow:
    """The row of a job that has its report."""
    from contextcliff.findings import phrases
    from contextcliff.findings.kv_cache import KVCache  # needs numpy, which a job that is not begun yet does without

    run, analysis = report.run, report.analysis
    cap, cache = analysis.safe_cap, analysis.finding(KVCache)
    scored = [each for each in analysis.lengths if each.mean is not None]
    curve = tuple(
        CurvePoint(
            tokens=each.median_tokens,
            mean=each.mean,
            low=each.ci_low,
            high=each.ci_high,
            asked_tokens=0 if each.natural_lengths else each.asked_tokens,
        )
        for each in scored
        if each.mean is not None and each.ci_low is not None and each.ci_high is not None
    )
    return SweepRow(
        job=place.job,
        model=run.model,
        task=run.task,
        kv_policy=run.kv_policy,
        differing=place.differing,
        state="partial" if run.partial else "done",
        run_id=run.run_id,
        folder=folder,
        cap_tokens=cap.tokens,
        outcome=cap.outcome,
        limited_by=cap.limited_by,
        censored=cap.at_least,
        verdict=cap.verdict,
        shape=cap.shape or "",
        evidence=cap.evidence or "",
        fraction_of_window=cap.fraction_of_max,
        threshold=cap.threshold,
        threshold_score=phrases.threshold_score(report),
        confidence=cap.confidence,
        crossing_low=cap.ci_low,
        crossing_high=cap.ci_high,
        longest_tokens=max((each.median_tokens for each in scored), default=None),
        n_samples=report.counts.completed,
        mean_score=analysis.mean,
        prompt_tokens=report.usage.prompt_tokens,
        completion_tokens=report.usage.completion_tokens,
        usd=report.usage.usd,
        wall_s=report.usage.wall_s,
        kv_bytes_per_token=None if cache is None else cache.facts.bytes_per_token,
        # A tag of MLflow holds some thousand characters.
        curve=curve if len(curve) <= _MOST_POINTS else (),
    )


def row_without_report(
    invocation: Invocation, place: SweepPlace, *, state: JobState, error: str = "", run_id: str = ""
) -> SweepRow:
    """The row of a job that is under way, or that has failed."""
    return SweepRow(
        job=place.job,
        model=invocation.shown_model,
        task=invocation.task_name,
        kv_policy=invocation.shown_policy,
        differing=place.differing,
        state=state,
        error=error,
        run_id=run_id,
    )
