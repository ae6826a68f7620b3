"""The figures: which are drawn, and that what is written on them can be read."""

from __future__ import annotations

import logging
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes

from contextcliff.findings.drawing import depth_labels, legible
from contextcliff.findings.failures import latency_figure
from contextcliff.findings.score import heatmap_figure, score_figure
from contextcliff.records.note import as_it_is
from contextcliff.records.report import Report
from contextcliff.reporting.figures.report_figures import draw_figures
from tests.reporting.figure_texts import overlaps
from tests.simulated_reports import edited, findings_in, relaid


@pytest.mark.parametrize("depths", [1, 20])
@pytest.mark.parametrize(
    "lengths",
    [
        pytest.param([2048], id="one"),
        pytest.param([4096, 32_768, 1_048_576], id="three", marks=pytest.mark.slow),
        pytest.param([1000 * 2**i for i in range(8)], id="eight", marks=pytest.mark.slow),
        pytest.param([1000 * i for i in range(1, 31)], id="thirty-linear", marks=pytest.mark.slow),
        pytest.param([int(1024 * 2 ** (i / 2.9)) for i in range(30)], id="thirty-geometric", marks=pytest.mark.slow),
    ],
)
def test_no_text_covers_another(full: Report, lengths: list[int], depths: int) -> None:
    places = [i / max(1, depths - 1) for i in range(depths)]
    report = edited(relaid(full, lengths=lengths, depths=places, n=100), max_context_tokens=1_048_576)
    for draw in (score_figure, heatmap_figure, latency_figure):
        assert overlaps(draw(report)) == []


def test_without_cells_there_is_no_heatmap_and_without_bins_no_figure(cliff: Report, tmp_path: Path) -> None:
    assert list(draw_figures(edited(cliff, cells=(), profile=()), folder=tmp_path, dpi=40)) == [
        "score_by_length",
        "failures_by_length",
        "latency_by_length",
    ]
    assert draw_figures(edited(cliff, bins=(), cells=(), profile=()), folder=tmp_path / "none", dpi=40) == {}
    assert not (tmp_path / "none").exists()


def test_a_length_without_a_score_breaks_the_line(cliff: Report) -> None:
    middle = replace(cliff.analysis.bins[2], mean=None, ci_low=None, ci_high=None, tested_low=None, n_samples=0)
    axes: Axes = score_figure(edited(cliff, bins=(*cliff.analysis.bins[:2], middle, *cliff.analysis.bins[3:]))).axes[0]
    line = next(line for line in axes.lines if line.get_label() == "mean score")
    gaps = np.isnan(np.asarray(line.get_ydata(), dtype=float))
    assert gaps.tolist() == [False, False, True, False, False]
    assert any(line.get_label() == "nothing scored" for line in axes.lines)


@pytest.mark.parametrize("name", ["$x_{ 模型 \U0001f600 \t \x1b", "n" * 400])
def test_no_name_breaks_or_warns(full: Report, tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture) -> None:
    facets = tuple(replace(row, facet=name, value=f"{name} {row.value}") for row in findings_in(full).facets)
    position = replace(findings_in(full).position, pattern=None, reason=as_it_is(name))
    half_life = replace(findings_in(full).half_life, tokens=None, reason=as_it_is(name))
    with warnings.catch_warnings(), caplog.at_level(logging.WARNING):
        warnings.simplefilter("error")
        hostile = edited(full, model=name, task=name, facets=facets, position=position, half_life=half_life)
        draw_figures(hostile, folder=tmp_path, dpi=30)
    assert not caplog.records


@pytest.mark.slow
def test_drawing_touches_no_pyplot_and_importing_no_matplotlib(tmp_path: Path) -> None:
    program = (
        "import sys, contextcliff.reporting.files as f, contextcliff.reporting.console\n"
        "assert 'matplotlib' not in sys.modules\n"
        "from contextcliff.findings.drawing import blank\n"
        "blank(width=2, height=1)[0].savefig(sys.argv[1])\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "x.png")], check=True)


def test_depth_labels_tell_depths_apart() -> None:
    assert depth_labels([0.0, 0.5, 1.0]) == ["0.0", "0.5", "1.0"]
    assert depth_labels([0.0, 0.25, 1.0]) == ["0.00", "0.25", "1.00"]
    assert len(set(depth_labels([i / 199 for i in range(200)]))) == 200


def test_labels_that_are_kept_include_both_ends() -> None:
    assert legible([0.0, 0.1, 0.2, 1.0, 1.05], gap=0.3) == {0, 4}
    assert legible([], gap=1.0) == frozenset()
    assert legible([5.0], gap=1.0) == {0}
