"""Warnings and the effect of the text wherever a report is shown."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from contextcliff.analysis.analyse import analyse, study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.study import StudyFacts
from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import Report
from contextcliff.reporting.console import render_console
from contextcliff.reporting.files import write_report_files
from contextcliff.reporting.reporting_settings import LanguageName
from contextcliff.reporting.schema import flatten
from contextcliff.reporting.section_list import sections_with
from contextcliff.reporting.stored_reports import read_report
from contextcliff.reporting.words.language import LANGUAGES
from contextcliff.tracking.metrics import measurements, tags
from tests.analysis.clustered_samples import texts
from tests.analysis.timed_requests import Server, asked_of
from tests.simulated_reports import CLIFF, edited, simulated


@pytest.fixture(scope="module")
def report() -> Report:
    """All answers right, with a resource cliff from 4,000 tokens on; a longer length of eight texts, not streamed."""
    server = Server(factors={4_000: 3.0, 8_000: 3.0})
    samples = [item for group in asked_of(server, n=20, rng=np.random.default_rng(1)) for item in group.samples]
    samples += [_in_one_piece(item) for item in texts(9_000, *[(5, 5), (2, 5)] * 4)]
    facts = StudyFacts(max_context_tokens=16_384, designed_lengths=True, relative_by_default=False)
    study = study_of(samples, AnalysisSettings(latency_slo_ms=5_000.0), facts)
    return replace(simulated(CLIFF), analysis=analyse(study, sections_with()))


def _in_one_piece(item: ScoredSample) -> ScoredSample:
    assert item.generation is not None
    return replace(item, generation=replace(item.generation, streamed=False))


def test_the_page_has_each_warning_with_its_zone_its_definition_and_the_times_behind_it(
    report: Report, tmp_path: Path
) -> None:
    write_report_files(report, scored=(), manifest={}, folder=tmp_path / "run", figures=True)
    page = (tmp_path / "run" / "report.md").read_text(encoding="utf-8")
    section = page.split("## Early warnings")[1].split("\n## ")[0]
    assert "- Latency canary: from 4,000 tokens on the first token takes" in section
    (row,) = (line for line in section.splitlines() if line.startswith("| Latency canary"))
    assert [cell.strip() for cell in row.split("|")][2:4] == ["4,000", "stable"]
    assert "### Time to read the prompt" in section
    assert "### Limit on latency" in section
    assert "| latency | 2,000 |" in page.split("every cap rule")[1]
    assert "of the variance of the scores lies between texts" in page.split("## Text effect")[1]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_console_shows_warnings_beside_the_zones(report: Report, tmp_path: Path, language: LanguageName) -> None:
    out = io.StringIO()
    render_console(
        report,
        console=Console(file=out, width=80),
        folder=tmp_path,
        tracking_command=None,
        language=LANGUAGES[language],
    )
    title, name = {"en": ("EARLY WARNINGS", "Latency canary"), "ja": ("早期の警告", "遅延の予兆")}[language]
    assert name in out.getvalue().split(title)[1]


def test_a_run_without_warnings_has_no_such_list_on_the_console(tmp_path: Path) -> None:
    out = io.StringIO()
    quiet = edited(simulated(CLIFF), early_warnings=None)
    render_console(quiet, console=Console(file=out, width=80), folder=tmp_path, tracking_command=None)
    assert "EARLY WARNINGS" not in out.getvalue()


def test_report_json_has_them_and_is_read_back(report: Report, tmp_path: Path) -> None:
    flat = flatten(report)
    canary = flat["warnings"][0]  # type: ignore[index]  # a list
    assert (canary["name"], canary["context_tokens"], canary["median_tokens"]) == ("latency_canary", 4_000, 4_000)
    assert set(canary["figures"]) == {"ttft_ms", "predicted_ms", "ratio"}
    assert canary["reason"].startswith("from 4,000 tokens on")
    (tmp_path / "report.json").write_text(json.dumps(flat), encoding="utf-8")
    assert flatten(read_report(tmp_path / "report.json")) == flat


def test_they_are_metrics_and_a_tag(report: Report) -> None:
    points = {(point.key, point.step): point.value for point in measurements(report)}
    assert points["warnings/latency_canary_tokens", 0] == 4_000
    assert points["warnings/latency_canary_ratio", 4_000] == pytest.approx(3.0, rel=0.2)
    assert points["caps/latency", 0] == 2_000
    assert ("by_length/ttft_ms_per_token", 500) in points
    assert 0.0 <= points["texts/icc", 0] <= 1.0
    assert "latency_canary" in tags(report)["warnings"]
