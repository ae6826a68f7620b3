"""Which samples of two runs are pairs, and how their files are read back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contextcliff.actions.compare import match, samples_of, why_no_pairs
from contextcliff.errors import ConfigError
from contextcliff.records.report import Report
from contextcliff.reporting.comparison.comparison import ComparedRun
from contextcliff.reporting.data_files import StoredSample, stored_samples
from contextcliff.reporting.run_names import facts_of
from tests.reporting.made_reports import search_report
from tests.simulated_reports import simulated


def sample(name: str, **changes: Any) -> StoredSample:
    return replace(StoredSample(sample_id=name, context_tokens=1_000, prompt_sha256=f"of {name}", score=1.0), **changes)


def by_id(*samples: StoredSample) -> dict[str, StoredSample]:
    return {each.sample_id: each for each in samples}


def test_samples_are_pairs_by_id_and_prompt_and_what_is_none_is_counted() -> None:
    there = by_id(sample("a"), sample("b"), sample("c"), sample("d", score=None))
    here = by_id(sample("a", score=0.0), sample("b", prompt_sha256="another"), sample("d"), sample("e"), sample("f"))
    found = match(simulated(), simulated(), there=there, here=here)
    assert [(pair.sample_id, pair.baseline, pair.candidate) for pair in found.pairs] == [("a", 1, 0), ("d", None, 1)]
    assert (found.only_baseline, found.only_candidate, found.other_prompt) == (1, 2, 1)
    assert (found.n_unscored, found.searched) == (1, False)


def test_what_a_run_asked_to_stay_paired_is_a_pair_and_is_not_missed_in_the_other() -> None:
    there = by_id(sample("a"), sample("b", replayed=True))
    here = by_id(sample("a", replayed=True), sample("c", replayed=True))
    found = match(simulated(), simulated(), there=there, here=here)
    assert [pair.sample_id for pair in found.pairs] == ["a"]
    assert (found.only_baseline, found.only_candidate) == (0, 0)


def test_samples_that_are_one_draw_in_either_run_are_one_piece_of_evidence() -> None:
    there = by_id(sample("a"), sample("b"), sample("c", item="question"))
    here = by_id(sample("a", item="one draw"), sample("b", item="one draw"), sample("c"))
    found = match(simulated(), simulated(), there=there, here=here)
    assert [pair.item for pair in found.pairs] == ["one draw", "one draw", "question"]


def test_a_search_gives_the_order_of_its_lengths_and_the_size_of_its_steps() -> None:
    report = search_report()
    there = by_id(sample("a", step=0), sample("z", step=0, context_tokens=999))
    found = match(report, simulated(), there=there, here=there)
    assert found.searched
    assert found.lengths[:5] == (512, 1_024, 2_048, 4_096, 8_192)
    assert found.lengths[-2:] == (999, 1_000)  # which the baseline did not test
    assert (found.n_walk_lengths, found.step_samples) == (5, 1)


def other(**changes: Any) -> Report:
    report = simulated()
    return replace(report, run=replace(report.run, **changes))


def writing(**changes: Any) -> Report:
    """A report whose cap is tested on healthy rounds."""
    report = other(**changes)
    cap = replace(report.analysis.safe_cap, quantity="healthy")
    return replace(report, analysis=replace(report.analysis, safe_cap=cap))


@pytest.mark.parametrize(
    ("baseline", "candidate", "here", "why"),
    [
        (other(), other(task="tracing"), "b", "since they were not asked the same: task niah there and tracing here"),
        (other(), other(dataset="mine"), "b", "since they were not asked the same: dataset essays there and mine here"),
        (other(), other(tokenizer="another"), "b", "since they were not asked the same: tokenizer "),
        (writing(), other(), "a", "since they were not asked the same: caps of healthy there and score here"),
        (other(), other(), "b", "since no sample was asked in both"),
        (other(), other(), "a", "since all 1 samples of one id have other prompts"),
    ],
)
def test_two_runs_without_a_pair_say_what_differs(baseline: Report, candidate: Report, here: str, why: str) -> None:
    there, own = by_id(sample("a")), by_id(sample(here, prompt_sha256="x"))
    nothing = match(baseline, candidate, there=there, here=own)
    assert nothing.pairs == ()
    assert why_no_pairs(baseline, candidate, nothing).startswith(why)


LINE = {"sample_id": "a", "context_tokens": 512, "prompt_sha256": "x", "score": 1.0, "depth": 0.5, "output": "…"}


def read(folder: Path, *lines: str) -> list[StoredSample]:
    (folder / "samples.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return list(stored_samples(folder, asked="action.baseline"))


def test_a_line_of_an_earlier_version_lacks_step_and_question_and_is_read(tmp_path: Path) -> None:
    (found,) = read(tmp_path, json.dumps(LINE))
    assert (found.sample_id, found.score, found.step, found.item, found.replayed) == ("a", 1.0, None, "", False)


ROUND = {**LINE, "figures": {"healthy": 0.0, "composite": 40.0}}


def compared(report: Report, folder: Path) -> ComparedRun:
    facts = facts_of(report)
    return ComparedRun(name="a", facts=facts, source=str(folder), parameters={}, lengths=(), report=report, findings={})


def test_the_outcome_of_a_round_of_writing_is_whether_it_is_healthy(tmp_path: Path) -> None:
    (tmp_path / "samples.jsonl").write_text(json.dumps(ROUND), encoding="utf-8")
    here = samples_of(compared(writing(), tmp_path), asked="action.baseline")
    there = {"a": replace(here["a"], score=None)}
    found = match(writing(), writing(), there=there, here=here)
    assert found.quantity == "healthy"
    assert [(pair.baseline, pair.candidate) for pair in found.pairs] == [(None, 0.0)]
    assert found.pairs[0].candidate_figures == {"healthy": 0.0, "composite": 40.0}


def test_a_file_of_an_earlier_version_is_refused_where_it_does_not_say_what_is_healthy(tmp_path: Path) -> None:
    (tmp_path / "samples.jsonl").write_text(json.dumps(LINE), encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        samples_of(compared(writing(), tmp_path), asked="action.baseline")
    assert str(refused.value) == (
        f"action.baseline: {tmp_path}/samples.jsonl doesn't say whether a is healthy; write it again with "
        "action=analyze"
    )
    assert samples_of(compared(other(), tmp_path), asked="action.baseline")["a"].score == 1.0
