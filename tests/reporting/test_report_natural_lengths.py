"""What is shown of documents of natural length: the histogram, the bins, the failures, several runs at once."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from rich.console import Console

from contextcliff.findings.failures import failures_figure, latency_figure
from contextcliff.findings.natural_lengths import length_classes
from contextcliff.findings.score import score_figure
from contextcliff.records.corpus import LengthAudit
from contextcliff.records.report import Report
from contextcliff.reporting.figures.run_curves import comparable_runs, draw_curves
from contextcliff.reporting.plan_report import render_audit
from contextcliff.reporting.schema import flatten
from tests.reporting.figure_texts import overlaps
from tests.simulated_reports import edited


@pytest.fixture(scope="module")
def report(cliff: Report) -> Report:
    return cliff


@given(st.lists(st.integers(0, 200_000), min_size=1, max_size=200))
def test_every_document_is_in_exactly_one_class(lengths: list[int]) -> None:
    classes = length_classes(lengths)
    assert sum(documents for _, _, documents in classes) == len(lengths)
    assert len(classes) <= 12
    assert all(high + 1 == low for (_, high, _), (low, _, _) in itertools.pairwise(classes))


def test_an_empty_set_has_no_class_and_can_still_be_drawn() -> None:
    assert length_classes(()) == []
    empty = LengthAudit(lengths=(), too_short=0, too_long=0, bins=())
    render_audit(empty, Console(file=StringIO()))


def of_documents(report: Report) -> Report:
    """The same scores in bins of documents: each from 0.6 to 1.3 of its median."""
    bins = tuple(
        replace(
            b,
            natural_lengths=True,
            asked_tokens=b.median_tokens,
            min_tokens=int(0.6 * b.median_tokens),
            max_tokens=int(1.3 * b.median_tokens),
        )
        for b in report.analysis.bins
    )
    return edited(report, bins=bins)


def spans(axes: Axes) -> list[tuple[int, int, float]]:
    """Start, end and height of each horizontal bar in the picture of bins."""
    (bars,) = (found for found in axes.collections if found.get_label() == "mean score, shortest to longest prompt")
    assert isinstance(bars, LineCollection)
    return [(int(low[0]), int(high[0]), float(low[1])) for low, high in bars.get_segments()]


def test_a_bin_of_documents_is_a_bar_from_its_shortest_to_its_longest_prompt(report: Report) -> None:
    natural = of_documents(report)
    figure = score_figure(natural)
    axes = figure.axes[0]
    bins = natural.analysis.bins
    assert spans(axes) == [(b.min_tokens, b.max_tokens, b.mean) for b in bins]
    intervals = [found for found in axes.collections if str(found.get_label()).endswith("interval")]
    assert len(intervals) == 1
    assert axes.get_xticks().tolist() == [*(b.min_tokens for b in bins), bins[-1].max_tokens]
    low, high = axes.get_xlim()
    assert low < bins[0].min_tokens < bins[-1].max_tokens < high
    assert overlaps(figure) == []


def test_no_line_joins_the_bins_of_documents(report: Report) -> None:
    (points,) = (
        line for line in score_figure(of_documents(report)).axes[0].lines if line.get_label() == "median prompt"
    )
    assert points.get_linestyle() == "None"
    times = latency_figure(of_documents(report)).axes[0].lines
    assert {line.get_linestyle() for line in times} == {"None"}


def test_a_column_of_failures_is_a_share_of_all_planned_samples(report: Report) -> None:
    figure = failures_figure(report)
    top = figure.axes[0].dataLim.y1
    assert 0.0 < top <= 1.0 + 1e-9


def test_runs_of_the_same_task_and_texts_are_drawn_together(report: Report, tmp_path: Path) -> None:
    others = {
        "same": edited(report, run_id="same", model="another"),
        "other-task": edited(report, run_id="other-task", task="another"),
        "other-texts": edited(report, run_id="other-texts", dataset="another"),
    }
    for name, other in others.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.json").write_text(json.dumps(flatten(other)), encoding="utf-8")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "report.json").write_text("{", encoding="utf-8")
    assert {other.run.run_id for other in comparable_runs(report, folder=tmp_path).values()} == {
        report.run.run_id,
        "same",
    }
    drawn = draw_curves(report, folder=tmp_path, dpi=50)
    assert drawn is not None
    assert drawn.name == f"runs-{report.run.task}.png"


def test_a_run_alone_has_no_picture_of_several(report: Report, tmp_path: Path) -> None:
    assert draw_curves(report, folder=tmp_path, dpi=50) is None


@pytest.mark.parametrize("policies", [("none", "q4_0"), ("none", "none")])
def test_runs_are_named_by_what_tells_them_apart(report: Report, tmp_path: Path, policies: tuple[str, str]) -> None:
    other = edited(report, run_id="b", kv_policy=policies[1], created_at="2027-01-01T00:00:00+00:00")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "report.json").write_text(json.dumps(flatten(other)), encoding="utf-8")
    names = list(comparable_runs(edited(report, kv_policy=policies[0]), folder=tmp_path))
    assert len(names) == len(set(policies))
    assert all(name.startswith(report.run.model) for name in names)
