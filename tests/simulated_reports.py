"""Reports of simulated runs: samples of a planted law, analysed as a run's are, each made once a test session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from types import MappingProxyType, SimpleNamespace

from contextcliff.analysis.analyse import analyse, study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.study import StudyFacts
from contextcliff.findings.finding import findings_with
from contextcliff.records.analysis import Analysis
from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import Counts, Report, RunRecord, Usage
from contextcliff.records.sample import Recipe, Words
from tests.make import scored_sample

LENGTHS = (512, 1024, 2048, 4096, 8192)
DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
JUDGE = "qwen3-4b"

RUN = RunRecord(
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
    max_context_tokens=8192,
    notes=(),
    server=("server http://127.0.0.1:8000/v1", "window 8,192 tokens"),
    created_at="2026-11-07T12:00:00+00:00",
    command="python -m contextcliff model=smollm2 task=niah",
)


@dataclass(frozen=True, kw_only=True)
class Law:
    """What a simulated model does: right answers and unscored samples by length. Wrong ones lie in the middle.

    `with_findings` adds what an analysis can say beside the cap: controls (the first length's ceiling is low), a judge
    that disagrees on six answers and leaves two unrated, and metadata that makes facets.
    """

    right: tuple[int, ...]
    lengths: tuple[int, ...] = LENGTHS
    n: int = 20
    unscored: tuple[int, ...] = ()
    depths: tuple[float, ...] = DEPTHS
    with_findings: bool = False


CLIFF = Law(right=(20, 20, 20, 20, 9))
SLOPE = Law(right=(20, 17, 12, 7, 3))
FLAT = Law(right=(20, 20, 20, 20, 20))
WITHOUT_CAP = Law(right=(4, 4, 4, 3, 2), n=4)
PARTIAL = Law(right=(20, 20, 20, 15, 4), unscored=(0, 0, 0, 3, 12))
NOTHING_SCORED = Law(right=(0, 0, 0, 0, 0), unscored=(20, 20, 20, 20, 20))
ONE_LENGTH = Law(right=(20,), lengths=(2048,), depths=(0.5,))
FULL = replace(CLIFF, with_findings=True)


@cache
def simulated(law: Law = CLIFF) -> Report:
    """The report of such a run."""
    scored = tuple(_samples(law))
    controls = tuple(_controls(law)) if law.with_findings else ()
    facts = StudyFacts(
        max_context_tokens=RUN.max_context_tokens, designed_lengths=True, relative_by_default=False,
        judge=JUDGE if law.with_findings else None, judge_right_from=7,
    )  # fmt: skip
    analysis = analyse(study_of(scored, AnalysisSettings(), facts, controls=controls), findings_with())
    missing = sum(law.unscored)
    return Report(
        run=replace(RUN, partial=0 < missing < len(scored)),
        analysis=analysis,
        usage=Usage(prompt_tokens=1_234_567, cached_tokens=1_000_000, computed_prompt_tokens=234_567,
                    completion_tokens=2_345, usd=0.0123, wall_s=187.4),
        counts=Counts(planned=len(scored), completed=len(scored) - missing, reused=12, unscored=missing,
                      controls=len(controls), errors={"timeout": 5, "rate_limit": 2} if missing else {}),
    )  # fmt: skip


def edited(report: Report, **changes: object) -> Report:
    """A report in which fields of the run or the analysis, or findings, are others; a finding of None is gone."""
    run, analysis = report.run, report.analysis
    parts: dict[str, object] = {}
    for name, value in changes.items():
        if name in ("usage", "counts"):
            parts[name] = value
        elif name == "notes":
            run, analysis = replace(run, notes=value), replace(analysis, notes=())  # type: ignore[arg-type]  # below
        elif name in {field.name for field in fields(RunRecord)}:
            run = replace(run, **{name: value})  # type: ignore[arg-type]  # a test names a field that it changes
        elif name in {field.name for field in fields(Analysis)}:
            analysis = replace(analysis, **{name: value})  # type: ignore[arg-type]  # as above
        else:
            analysis = replace(analysis, findings=_with_finding(analysis.findings, name, value))
    return replace(report, run=run, analysis=analysis, **parts)  # type: ignore[arg-type]  # as above


def findings_in(report: Report) -> SimpleNamespace:
    """The findings of a report by the names that they have in `report.json`."""
    flat: dict[str, object] = {}
    for section in findings_with(report.analysis.findings):
        finding = report.analysis.findings.get(section.key)
        if section.inline and finding is not None:
            flat |= {field.name: getattr(finding, field.name) for field in fields(finding)}  # type: ignore[arg-type]
        elif finding is not None:
            flat[section.key] = finding
    return SimpleNamespace(**flat)


def relaid(report: Report, *, lengths: Sequence[int], depths: Sequence[float] = DEPTHS, n: int = 20) -> Report:
    """A report of other lengths and depths: its bins over and over, for what only their number and width matter to."""
    bins = report.analysis.bins
    cell = report.analysis.cells[0]
    some = len(lengths) // 2
    return edited(
        report,
        bins=tuple(
            replace(
                bins[i % len(bins)], asked_tokens=tokens, min_tokens=tokens - 40, median_tokens=tokens - 12,
                max_tokens=tokens, n_samples=n, n_unscored=0 if i < some else 3, ttft_ms_median=tokens * 0.9,
                latency_ms_median=tokens * 0.9 + 480,
            )
            for i, tokens in enumerate(lengths)
        ),
        cells=tuple(replace(cell, asked_tokens=tokens, depth=depth) for tokens in lengths for depth in depths),
        safe_cap=replace(report.analysis.safe_cap, tokens=lengths[some]),
    )  # fmt: skip


def _with_finding(findings: Mapping[str, object], name: str, value: object) -> dict[str, object]:
    changed = dict(findings)
    for section in findings_with([name]):
        if section.inline and section.record is not None and name in {each.name for each in fields(section.record)}:
            changed[section.key] = replace(changed[section.key], **{name: value})  # type: ignore[type-var]
            return changed
    changed.pop(name, None)
    return changed if value is None else {**changed, name: value}


def _samples(law: Law) -> Iterator[ScoredSample]:
    for place, length in enumerate(law.lengths):
        missing = law.unscored[place] if law.unscored else 0
        # The edges of the text first, so that what goes wrong lies in the middle.
        order = sorted(range(law.n), key=lambda i: (-abs(law.depths[i % len(law.depths)] - 0.5), i))
        right = set(order[: law.right[place]])
        unscored = set(order[law.n - missing :])
        for i in range(law.n):
            yield _sample(law, length, i, score=None if i in unscored else float(i in right))


def _sample(law: Law, length: int, i: int, *, score: float | None) -> ScoredSample:
    """The server counts a little less than was asked for, but for one sample."""
    counted, ttft_ms = {0: length - 40, 1: length}.get(i, length - 12), length * 0.9
    failure, depth = "empty" if score == 0.0 and i % 3 == 0 else None, law.depths[i % len(law.depths)]
    made = scored_sample(
        length, score, failure=failure, depth=depth, measured=counted, ttft_ms=ttft_ms, latency_ms=ttft_ms + 480
    )
    sample = replace(
        made.sample,
        sample_id=f"niah-{length}-{i}",
        built_tokens=length - 12,
        trial=i // len(law.depths),
        document_id=f"essay {length} {i}",
        answers=("481516",),
        recipe=Recipe(user=(Words(text="a prompt"),)),
        seed=i,
        # As a dataset may hand it over: read-only, which can't be copied.
        metadata=MappingProxyType({"hops": 1 + i % 3, "topic": f"topic {i % 2 + 1}"} if law.with_findings else {}),
        controls=(f"ceiling-{length}-{i % 8}", f"floor-{length}-{i % 6}") if law.with_findings else (),
    )
    said = made.generation and replace(made.generation, text="481516", completion_tokens=6)
    rating = _rating(length, i, score) if law.with_findings else None
    prediction = "481516" if score else ""
    return replace(made, sample=sample, prompt_sha256="", prediction=prediction, generation=said, judge_rating=rating)


def _rating(length: int, i: int, score: float | None) -> int | None:
    if score is None or (length == 512 and i < 2):
        return None
    is_turned = (length == 8192 and score == 0.0 and i % 5 == 2) or (length == 1024 and i < 2)
    return 9 if (score == 1.0) != is_turned else 2


def _controls(law: Law) -> Iterator[ScoredSample]:
    for length in law.lengths:
        for kind, n in (("ceiling", 8), ("floor", 6)):
            for i in range(n):
                is_right = kind == "ceiling" and (length != law.lengths[0] or i < 3)
                item = _sample(replace(law, with_findings=False), length, i, score=float(is_right))
                yield replace(item, sample=replace(item.sample, sample_id=f"{kind}-{length}-{i}", control=kind))
