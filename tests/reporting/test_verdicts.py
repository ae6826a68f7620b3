"""What is said, drawn and written of candidates that were decided against a baseline."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from contextcliff.analysis.paired import decide
from contextcliff.records.comparison import Matching, PairedDecision
from contextcliff.reporting.comparison.comparison import Comparison, DecidedRun
from contextcliff.reporting.comparison.comparison_output import write_comparison
from contextcliff.reporting.comparison.verdicts import (
    answer,
    forest_figure,
    gate_line,
    matching_notes,
    method_notes,
    points,
)
from tests.analysis.test_paired_decision import everywhere, in_blocks, matching_of, pairs_at, searched
from tests.make import known
from tests.reporting.figure_texts import overlaps, words
from tests.reporting.made_reports import printed, run_of

WORSE = everywhere(worse=12, better=2, right=26)
BETTER = everywhere(worse=2, better=12, right=26)
EQUAL = everywhere(worse=3, better=3, right=64)
FEW = everywhere(worse=1, better=1, right=8)


def decision_of(matching: Matching) -> PairedDecision:
    (found,) = decide([matching], confidence=0.95, margin=0.05)
    assert found is not None
    return found


def decided(matching: Matching, name: str = "q4_0") -> DecidedRun:
    return DecidedRun(run=run_of(name), decision=decision_of(matching))


NONE = DecidedRun(run=run_of("other"), decision=None, why_none="since no sample was asked in both")


@pytest.mark.parametrize(
    ("candidate", "sentence"),
    [
        (decided(WORSE), "q4_0 is worse than none: -25.0 points on average (-32.0 to -18.0), 160 pairs"),
        (decided(BETTER), "q4_0 is better than none: +25.0 points on average (+18.0 to +32.0), 160 pairs"),
        (
            decided(EQUAL),
            "q4_0 is not worse than none by 5 points or more: 0.0 points on average (-3.0 to +3.0), 280 pairs",
        ),
        (NONE, "other: no verdict against none, since no sample was asked in both"),
    ],
    ids=["worse", "better", "not worse", "none"],
)
def test_the_answer_is_one_sentence(candidate: DecidedRun, sentence: str) -> None:
    assert answer(candidate, baseline="none") == sentence


def test_of_runs_of_writing_the_difference_is_one_of_healthy_rounds(tmp_path: Path) -> None:
    healthy = decided(replace(WORSE, quantity="healthy"))
    assert answer(healthy, baseline="none") == (
        "q4_0 is worse than none: -25.0 points in the share of healthy rounds (-32.0 to -18.0), 160 pairs"
    )
    (meaning, _) = method_notes([healthy])
    assert meaning == (
        "a difference is the candidate's share of healthy rounds minus the baseline's, in points of a hundred, over"
        " samples that both were asked, each length counting alike; each end of its interval holds by itself at 95%"
    )
    write_comparison(compared(healthy), folder=tmp_path, dpi=None)
    assert "Area under the healthy share over log length: " in (tmp_path / "comparison.md").read_text("utf-8")
    figure = forest_figure([("q4_0", decision_of(replace(WORSE, quantity="healthy")))], baseline="")
    assert "difference of the share of healthy rounds from the baseline's, in points of a hundred" in words(figure)


def test_lengths_at_which_it_is_shown_are_named() -> None:
    good = [pair for tokens in (1_000, 2_000) for pair in pairs_at(tokens, right=40)]
    said = answer(decided(matching_of(*good, *pairs_at(8_000, worse=10, right=30))), baseline="none")
    assert said.startswith("q4_0 is worse than none (shown at 8,000 tokens asked): -8.3 points on average (")


def test_an_answer_that_cannot_be_given_says_how_many_pairs_are_missing() -> None:
    said = answer(decided(FEW), baseline="none")
    assert said.startswith("q4_0: can't tell whether it is worse than none by 5 points: 0.0 points on average (")
    assert said.endswith(f"; about {decision_of(FEW).more_pairs} more are likely to show it")


def test_points_have_a_sign_where_they_are_not_zero() -> None:
    expected = {0.0: "0.0", -0.0004: "0.0", 0.051: "+5.1", -1.0: "-100.0"}
    assert {share: points(share) for share in expected} == expected


def test_an_open_gate_says_nothing() -> None:
    both = [decided(EQUAL), decided(BETTER)]
    assert gate_line(both, baseline="none", on_unknown=True) is None
    assert gate_line([decided(FEW)], baseline="none", on_unknown=False) is None


def test_a_closed_gate_names_each_candidate_that_closes_it() -> None:
    line = gate_line([decided(WORSE), decided(EQUAL, "q8_0")], baseline="none", on_unknown=False)
    assert line == "action.gate=true: against none: q4_0 is worse, -25.0 points (-32.0 to -18.0), p < 0.001"
    line = known(gate_line([decided(FEW), NONE], baseline="none", on_unknown=True))
    assert line.startswith("action.gate_on_unknown=true: against none: q4_0 may be worse, 0.0 points (")
    assert line.endswith("; other has no verdict, since no sample was asked in both")


def test_what_is_left_out_is_counted() -> None:
    left = replace(everywhere(right=60, lost=2), only_baseline=7, only_candidate=1, other_prompt=3)
    first, second = matching_notes(decided(left))
    assert first == (
        "q4_0: samples that are no pairs: 7 only the baseline was asked, 1 only it was asked, 3 have another prompt "
        "under the same id"
    )
    assert second.startswith("q4_0: 8 pairs lack a score and are left out of the tests; if all of them told against it")


def test_units_are_told_where_pairs_share_texts() -> None:
    shared = matching_of(*(replace(pair, cluster=f"t{k % 4}") for k, pair in enumerate(EQUAL.pairs)))
    assert list(matching_notes(decided(shared))) == [
        "q4_0: its 280 pairs share texts or questions and are 4 independent pieces of evidence"
    ]


def test_the_method_is_that_of_the_runs() -> None:
    fixed = " ".join(method_notes([decided(EQUAL), decided(WORSE)]))
    assert "exact test of signs" in fixed
    assert "corrected for 2 candidates by Holm" in fixed
    in_search = decided(searched(*in_blocks(1_000, [(0, 0)])))
    assert "bets on pairs decide" in " ".join(method_notes([in_search]))
    assert "exact test of signs" not in " ".join(method_notes([in_search]))
    assert list(method_notes([NONE])) == []


def compared(*candidates: DecidedRun) -> Comparison:
    base = run_of("none")
    runs = (base, *(each.run for each in candidates))
    return Comparison(name="c", runs=runs, parts=(), notes=(), decided=candidates)


@pytest.mark.parametrize("n", [1, 8])
def test_the_console_begins_with_the_answers_and_fits_80_columns(n: int) -> None:
    text = printed(compared(*(decided(WORSE, f"candidate-{k}") for k in range(n))))
    lines = text.splitlines()
    assert lines[1].startswith("  - candidate-0 is worse than none")
    assert max(map(cell_len, lines)) <= 80
    assert text.count("-32.0 to -18.0") == 2 * n  # in the sentence and in the table


def test_files_have_every_figure_and_outside_text_is_escaped(tmp_path: Path) -> None:
    hostile = decided(WORSE, "<script>|evil`*")
    write_comparison(compared(hostile, NONE), folder=tmp_path, dpi=30)
    assert {path.name for path in tmp_path.iterdir()} >= {"differences.png", "curves.png", "comparison.md"}
    page = (tmp_path / "comparison.md").read_text(encoding="utf-8")
    assert "<script>" not in page
    assert page.index("## Verdicts") < page.index("## Runs")
    stored = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))
    assert stored["baseline"] == "none"
    worse, none = stored["candidates"]
    assert (worse["verdict"], worse["name"], none["verdict"]) == ("worse", "<script>|evil`*", None)
    assert none["reason"] == "since no sample was asked in both"
    decision = decision_of(WORSE)
    assert worse["decision"]["overall"]["low"] == decision.overall.low
    assert [each["p_worse"] for each in worse["decision"]["lengths"]] == [each.p_worse for each in decision.lengths]


def test_without_a_candidate_that_has_pairs_nothing_is_drawn_of_differences(tmp_path: Path) -> None:
    (tmp_path / "differences.png").touch()  # an earlier comparison's
    write_comparison(compared(NONE), folder=tmp_path, dpi=30)
    assert not (tmp_path / "differences.png").exists()


@pytest.mark.parametrize("n", [8, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 4))])
def test_the_labels_of_the_forest_plot_do_not_overlap(n: int) -> None:
    rows = [(f"a long name of a candidate {'x' * 9 * k}", decision_of(WORSE)) for k in range(n)]
    assert overlaps(forest_figure(rows, baseline="none")) == []


def test_one_length_has_no_area() -> None:
    assert decision_of(matching_of(*pairs_at(1_000, right=9))).area is None
