"""G1, without a run: how reports of planted laws are shown on the console, in two languages, and as a page; metrics.

Of a report that differs in one thing only what it shows otherwise is kept.
"""

from __future__ import annotations

import difflib
import io
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from contextcliff.analysis.analyse import analyse, study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.study import StudyFacts
from contextcliff.findings.facets import FacetRow
from contextcliff.findings.finding import findings_with, images_of
from contextcliff.records.corpus import AuditBin, LengthAudit
from contextcliff.records.generation import ScoredSample
from contextcliff.records.note import as_it_is
from contextcliff.records.positions import Positions
from contextcliff.records.report import Report
from contextcliff.reporting.console import render_console
from contextcliff.reporting.markdown import render_markdown
from contextcliff.reporting.text import catalogue
from contextcliff.tracking.metrics import measurements, tags
from contextcliff.writing.prose_findings import WritingTrend
from tests.make import Server, asked_of, curve, texts
from tests.reporting.made_reports import MEASURES, search_report
from tests.simulated_reports import (
    CLIFF,
    FLAT,
    FULL,
    NOTHING_SCORED,
    ONE_LENGTH,
    PARTIAL,
    WITHOUT_CAP,
    edited,
    findings_in,
    simulated,
)
from tests.writing.made_writing import make_round, make_rounds, with_writing

AUDIT = LengthAudit(
    lengths=(150, 900, 1_000, 1_100, 6_000, 9_000),
    too_short=0,
    too_long=1,
    bins=(
        AuditBin(min_tokens=150, max_tokens=1_000, documents=3, questions=9, drawn_documents=3, drawn_questions=6),
        AuditBin(min_tokens=1_100, max_tokens=6_000, documents=2, questions=6, drawn_documents=2, drawn_questions=6),
    ),
)


def analysed(samples: list[ScoredSample], *, window: int, positions: Positions | None = None) -> Report:
    facts = StudyFacts(max_context_tokens=window, designed_lengths=True, relative_by_default=False, positions=positions)
    study = study_of(samples, AnalysisSettings(latency_slo_ms=5_000.0), facts)
    return replace(simulated(), analysis=analyse(study, findings_with()))


def slow_and_shared() -> Report:
    """A resource cliff from 4,000 tokens on; a longer length of eight texts, not streamed."""
    server = Server(factors={4_000: 3.0, 8_000: 3.0})
    samples = [item for group in asked_of(server, n=20, rng=np.random.default_rng(1)) for item in group.samples]
    for item in texts(9_000, *[(5, 5), (2, 5)] * 4):
        assert item.generation is not None
        samples.append(replace(item, generation=replace(item.generation, streamed=False)))
    return analysed(samples, window=16_384)


def written() -> Report:
    worse = make_round(tokens=2048, trial=9, failure="repetition", details={"composite": 70.0})
    return with_writing(simulated(), [*make_rounds(rounds=8), worse])


def of_documents() -> Report:
    bins = tuple(
        replace(
            each,
            natural_lengths=True,
            min_tokens=int(0.6 * each.median_tokens),
            max_tokens=int(1.3 * each.median_tokens),
            n_documents=3,
            n_items=6,
            instability=0.5,
            within_item_variance=0.01,
        )
        for each in simulated().analysis.bins
    )
    return edited(simulated(), bins=bins, audit=AUDIT)


def beyond_training() -> Report:
    positions = Positions(trained_tokens=32_768, source="gguf", scaling="yarn", factor=4.0)
    results = {8_192: (400, 400), 32_768: (1_200, 1_200), 65_536: (30, 400), 131_072: (0, 1_200)}
    return analysed(curve(results), window=131_072, positions=positions)


REPORTS: dict[str, Callable[[], Report]] = {
    "cliff": lambda: simulated(CLIFF),
    "everything": lambda: simulated(FULL),
    "flat": lambda: simulated(FLAT),
    "no cap": lambda: simulated(WITHOUT_CAP),
    "partial": lambda: simulated(PARTIAL),
    "nothing scored": lambda: simulated(NOTHING_SCORED),
    "one length": lambda: simulated(ONE_LENGTH),
    "search": search_report,
    "search by a share": lambda: search_report(relative=True),
    "search that is open": lambda: search_report(most_asked=4),
    "slow and shared": slow_and_shared,
    "documents": of_documents,
    "beyond training": beyond_training,
    "writing": written,
}


def but(of: str, **changes: Any) -> tuple[str, Callable[[Report], Report]]:
    """That report, with other values; a dictionary changes fields of a finding, and a function makes one of it."""

    def change(report: Report) -> Report:
        found = findings_in(report)
        made = {
            name: replace(getattr(found, name), **value)
            if isinstance(value, dict)
            else value(getattr(found, name))
            if callable(value)
            else value
            for name, value in changes.items()
        }
        return edited(report, **made)

    return of, change


def bins(**changes: Any) -> tuple[str, Callable[[Report], Report]]:
    return "cliff", lambda report: edited(report, bins=tuple(replace(each, **changes) for each in report.analysis.bins))


def cap(**changes: Any) -> tuple[str, Callable[[Report], Report]]:
    return "cliff", lambda report: edited(report, safe_cap=replace(report.analysis.safe_cap, **changes))


NONE_FOUND = {"tokens": None, "initial": None, "reason": as_it_is("no fall (5 lengths)")}
UNRATED = {"n_judged": 0, "n_unjudged": 100, "mean_rating": None, "share": None, "ci_low": None, "ci_high": None}
SILENT = {"floor_n": 0, "floor": None, "floor_ci_low": None, "floor_ci_high": None}
FACETS = tuple(
    FacetRow(
        facet=facet,
        value=f"value {n}",
        n_samples=10 * n,
        mean=1 / n,
        ci_low=0.1,
        ci_high=1.0,
        cap_tokens=4096 if n < 2 else None,
    )
    for facet in ("hops", "topic")
    for n in (1, 2, 3)
)
TREND = WritingTrend(measure="mtld", scale="z", start=90.0, end=60.0, p_value=0.0001, p_holm=0.0009, exact=True)
TRENDS = (
    TREND,
    replace(TREND, measure="cloze_score", start=22.16, end=15.38, p_value=0.2, p_holm=0.4),
    replace(TREND, measure="vocabulary_diversity", start=0.537, end=0.542, p_value=None, p_holm=None),
    replace(TREND, measure="word_entropy", scale="raw", exact=False),
    replace(TREND, measure="comma_density", scale="raw", start=1.0, end=2.0, p_value=0.3, p_holm=0.6),
)
EDITS: dict[str, tuple[str, Callable[[Report], Report]]] = {
    "no bins": but("cliff", bins=(), cells=(), zones=(), mean=None),
    "nothing but a head": ("nothing scored", lambda report: edited(report, bins=(), cells=(), caps={}, notes=())),
    "a bound just under the threshold": bins(tested_low=0.7999),
    "shared texts": bins(n_clusters=4),
    "a share of the baseline": cap(relative_to_baseline=True),
    "no price": ("cliff", lambda report: edited(report, usage=replace(report.usage, usd=None))),
    "answers": (
        "cliff",
        lambda report: edited(
            bins(failures={"verbose": 5, "wrong": 2, "timeout": 1})[1](report), answer_measures=MEASURES
        ),
    ),
    "a guide that is sure at some lengths": but(
        "everything",
        guide=lambda it: replace(it, rows=tuple(replace(row, sure=row.asked_tokens < 2048) for row in it.rows)),
    ),
    "a half-life": but(
        "everything",
        half_life={"tokens": 6500, "ci_low": 4900, "ci_high": 9800, "censored": False, "initial": 0.98},
        half_life_lsq=7100,
    ),
    "a half-life beyond the longest test": but(
        "everything", half_life={"tokens": 30_000, "ci_low": 9_000, "ci_high": 90_000, "censored": True}
    ),
    "no half-life": but("everything", half_life={**NONE_FOUND, "ci_low": 21_000, "ci_high": None}, half_life_lsq=None),
    "a position that is not tested": but(
        "everything", position={"pattern": None, "p_value": None, "reason": as_it_is("there are 2 depths")}
    ),
    **{f"a position of p {p:g}": but("everything", position={"p_value": p}) for p in (0.0312, 0.001)},
    "facets": but("everything", facets=FACETS),
    "informative controls": but(
        "everything", notes=(), controls=lambda levels: tuple(replace(each, informative=True) for each in levels)
    ),
    "controls of which many show nothing": but(
        "everything",
        controls=lambda levels: tuple(
            replace(levels[0], asked_tokens=1000 * n, informative=n == 9) for n in range(1, 10)
        ),
    ),
    "controls of which none shows anything": but(
        "everything", controls=lambda levels: tuple(replace(each, informative=False) for each in levels)
    ),
    "a control that was not scored": but("everything", controls=lambda levels: (replace(levels[0], **SILENT),)),
    "a judge that rated nothing": but("everything", judgement=UNRATED),
    "trends of writing": but("writing", writing={"trends": TRENDS}),
    "writing that can't be measured": (
        "writing",
        lambda report: with_writing(
            edited(simulated(), bins=(), cells=()),
            [*make_rounds(measured=False), make_round(tokens=2048, trial=5, answered=False)],
        ),
    ),
}  # fmt: skip


def shown(report: Report) -> str:
    parts = {"page": render_markdown(report, figures=[f"figures/{name}.png" for name in images_of(report)])}
    for name, language in {name: catalogue(name) for name in ("en", "ja")}.items():
        console = Console(file=io.StringIO(), width=80, color_system=None, force_terminal=False)
        render_console(
            report, console=console, folder=Path("outputs/run"), tracking_command="mlflow ui", language=language
        )
        assert isinstance(console.file, io.StringIO)
        parts[name] = console.file.getvalue()
    return "\n".join(f"{'=' * 20} {name}\n{said}" for name, said in parts.items())


@cache
def shown_as(name: str) -> str:
    return shown(REPORTS[name]())


@pytest.mark.parametrize("report", REPORTS)
def test_reports(report: str, text: SnapshotAssertion) -> None:
    assert shown_as(report) == text


@pytest.mark.parametrize("report", REPORTS)
def test_metrics(report: str, numbers: SnapshotAssertion) -> None:
    """Every metric by its key, with its points by length, and every tag but sentences and digests."""
    made = REPORTS[report]()
    metrics: dict[str, list[Any]] = {}
    for each in measurements(made):
        metrics.setdefault(each.key, []).append([each.step, each.value] if each.step else each.value)
    kept = {name: value for name, value in tags(made).items() if " " not in value and not name.endswith("digest")}
    assert {"metrics": metrics, "tags": kept} == numbers


@pytest.mark.parametrize("edit", EDITS)
def test_edited_reports(edit: str, text: SnapshotAssertion) -> None:
    of, change = EDITS[edit]
    before, after = shown_as(of), shown(change(REPORTS[of]()))
    changed = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    assert "\n".join(line for line in changed if not line.startswith(("---", "+++", "@@"))) == text
