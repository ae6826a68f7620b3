"""Warnings and the effect of the text wherever a report is shown."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from contextcliff.analysis.analyse import analyse, study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.study import StudyFacts
from contextcliff.findings.finding import sections_with
from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import Report
from contextcliff.reporting.schema import flatten
from contextcliff.reporting.stored_reports import read_report
from tests.analysis.clustered_samples import texts
from tests.analysis.timed_requests import Server, asked_of
from tests.simulated_reports import CLIFF, simulated


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


def test_report_json_has_them_and_is_read_back(report: Report, tmp_path: Path) -> None:
    flat = flatten(report)
    canary = flat["warnings"][0]  # type: ignore[index]  # a list
    assert (canary["name"], canary["context_tokens"], canary["median_tokens"]) == ("latency_canary", 4_000, 4_000)
    assert set(canary["figures"]) == {"ttft_ms", "predicted_ms", "ratio"}
    assert canary["reason"].startswith("from 4,000 tokens on")
    (tmp_path / "report.json").write_text(json.dumps(flat), encoding="utf-8")
    assert flatten(read_report(tmp_path / "report.json")) == flat
