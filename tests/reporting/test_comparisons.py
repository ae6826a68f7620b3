"""Comparisons: what is said, drawn and written of candidates, KV policies side by side, and what parts add."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.cells import cell_len

from contextcliff.analysis.paired import decide
from contextcliff.findings.finding import Lines, Text
from contextcliff.findings.kv_cache import KVCache
from contextcliff.records.comparison import CandidateVerdict, Matching, PairedDecision
from contextcliff.records.kv_cache import CachedLayers, CacheFacts
from contextcliff.reporting.comparison import comparison, verdicts
from contextcliff.reporting.comparison.comparison import (
    ComparedRun,
    Comparison,
    ComparisonPart,
    DecidedRun,
    PartResult,
    parts_with,
)
from contextcliff.reporting.comparison.comparison_output import write_comparison
from contextcliff.reporting.comparison.kv_comparison import (
    PolicyRow,
    frontier,
    overrides_of,
    recommended,
)
from tests.analysis.test_kv_limits import CACHE
from tests.analysis.test_paired_decision import everywhere, in_steps, searched
from tests.make import known
from tests.reporting.figure_texts import overlaps
from tests.reporting.made_reports import compared, printed, run_of
from tests.reporting.report_pages import HOSTILE, assert_tame
from tests.simulated_reports import CLIFF, FLAT

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
        (
            decided(replace(WORSE, quantity="healthy")),
            "q4_0 is worse than none: -25.0 points in the share of healthy rounds (-32.0 to -18.0), 160 pairs",
        ),
        (NONE, "other: no verdict against none, since no sample was asked in both"),
    ],
    ids=["worse", "better", "not worse", "healthy", "none"],
)
def test_the_answer_is_one_sentence(candidate: DecidedRun, sentence: str) -> None:
    assert verdicts.answer(candidate, baseline="none") == sentence


def test_what_pairs_can_not_decide_says_how_many_are_missing_and_a_gate_names_what_closes_it() -> None:
    said = verdicts.answer(decided(FEW), baseline="none")
    assert said.startswith("q4_0: can't tell whether it is worse than none by 5 points: 0.0 points on average (")
    assert said.endswith(f"; about {decision_of(FEW).more_pairs} more are likely to show it")
    for open_to, on_unknown in (([decided(EQUAL), decided(BETTER)], True), ([decided(FEW)], False)):
        assert verdicts.gate_line(open_to, baseline="none", on_unknown=on_unknown) is None
    line = verdicts.gate_line([decided(WORSE), decided(EQUAL, "q8_0")], baseline="none", on_unknown=False)
    assert line == "action.gate=true: against none: q4_0 is worse, -25.0 points (-32.0 to -18.0), p < 0.001"
    line = known(verdicts.gate_line([decided(FEW), NONE], baseline="none", on_unknown=True))
    assert line.startswith("action.gate_on_unknown=true: against none: q4_0 may be worse, 0.0 points (")
    assert line.endswith("; other has no verdict, since no sample was asked in both")


def test_what_is_left_out_is_counted() -> None:
    left = replace(everywhere(right=60, lost=2), only_baseline=7, only_candidate=1, other_prompt=3)
    first, second = verdicts.matching_notes(decided(left))
    assert first == (
        "q4_0: samples that are no pairs: 7 only the baseline was asked, 1 only it was asked, 3 have another prompt "
        "under the same id"
    )
    assert second.startswith("q4_0: 8 pairs lack a score; each verdict has to hold if all of them tell against it")


def test_the_method_is_that_of_the_runs() -> None:
    fixed = " ".join(verdicts.method_notes([decided(EQUAL), decided(WORSE)]))
    assert "exact test of signs" in fixed
    assert "corrected for 2 candidates by Holm" in fixed
    in_search = decided(searched(*in_steps(1_000, [(0, 0)])))
    assert "bets on pairs decide" in " ".join(verdicts.method_notes([in_search]))
    assert "exact test of signs" not in " ".join(verdicts.method_notes([in_search]))
    assert list(verdicts.method_notes([NONE])) == []


def decided_comparison(*candidates: DecidedRun) -> Comparison:
    base = run_of("none")
    runs = (base, *(each.run for each in candidates))
    return Comparison(name="c", runs=runs, parts=(), notes=(), decided=candidates)


@pytest.mark.parametrize("n", [1, 8])
def test_the_console_begins_with_the_answers_and_fits_80_columns(n: int) -> None:
    text = printed(decided_comparison(*(decided(WORSE, f"candidate-{k}") for k in range(n))))
    lines = text.splitlines()
    assert lines[1].startswith("  - candidate-0 is worse than none")
    assert max(map(cell_len, lines)) <= 80
    assert text.count("-32.0 to -18.0") == 2 * n  # in the sentence and in the table


def test_files_have_every_figure_outside_text_is_escaped_and_what_an_earlier_comparison_left_goes(
    tmp_path: Path,
) -> None:
    for name in ("memory.png", "writing.html", "mine.txt"):  # an earlier comparison's, and one's own
        (tmp_path / name).touch()
    hostile = decided(WORSE, "<script>|evil`*")
    run = replace(hostile.run, source="/home/ada/run-1", parameters={"dataset.path": "/home/ada/1.txt"})
    hostile = replace(hostile, run=run)
    write_comparison(decided_comparison(hostile, NONE), folder=tmp_path, dpi=30)
    assert {path.name for path in tmp_path.iterdir()} == {
        *("comparison.json", "comparison.html", "comparison.md", "comparison.csv", "curves.png", "differences.png"),
        "mine.txt",
    }
    page = (tmp_path / "comparison.md").read_text(encoding="utf-8")
    assert "<script>" not in page
    assert page.index("## Verdicts") < page.index("## Runs")
    for file in tmp_path.glob("comparison.*"):  # on whose disk the runs lie is nobody's business
        assert "/home/ada" not in file.read_text(encoding="utf-8")
    stored = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))
    assert (stored["runs"][1]["source"], stored["runs"][1]["parameters"]["dataset.path"]) == ("run-1", "1.txt")
    assert stored["baseline"] == "none"
    worse, none = stored["candidates"]
    assert (worse["verdict"], worse["name"], none["verdict"]) == ("worse", "<script>|evil`*", None)
    assert none["reason"] == "since no sample was asked in both"
    decision = decision_of(WORSE)
    assert worse["decision"]["overall"]["low"] == decision.overall.low
    assert [each["p_worse"] for each in worse["decision"]["lengths"]] == [each.p_worse for each in decision.lengths]


@pytest.mark.parametrize("n", [8, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 4))])
def test_the_labels_of_the_forest_plot_do_not_overlap(n: int) -> None:
    rows = [(f"a long name of a candidate {'x' * 9 * k}", decision_of(WORSE)) for k in range(n)]
    assert overlaps(verdicts.forest_figure(rows, baseline="none")) == []


class LuckComparison(ComparisonPart):
    """A toy: counts lucky runs."""

    key = "luck"

    def compare(
        self, runs: Sequence[ComparedRun], *, decided: Sequence[DecidedRun] = (), confidence: float
    ) -> PartResult:
        return PartResult(
            title="Luck",
            notes=("luck is no skill",),
            lines=(f"{len(runs)} lucky runs",),
            blocks=(Lines(lines=(Text(text="all were lucky"),)),),
            data={"luck": confidence},
            data_of_runs={run.name: {"lucky": True} for run in runs},
            columns=("luck",),
            cells={(runs[0].name, 512): {"luck": 7.0}},
        )


def test_what_a_part_adds_stands_on_console_page_json_and_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "PARTS", {"luck": f"{__name__}.LuckComparison"})
    runs = (run_of("a"), run_of("b"))
    (part,) = parts_with(["luck", "half_life"])
    lucky = compared(*runs, parts=[part.compare(runs, confidence=0.9)])
    write_comparison(lucky, folder=tmp_path, dpi=30)
    stored = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))
    assert stored["luck"] == 0.9
    assert stored["runs"][1]["lucky"] is True
    rows = list(csv.DictReader(io.StringIO((tmp_path / "comparison.csv").read_text(encoding="utf-8"))))
    assert [row["luck"] for row in rows] == ["7.0", *[""] * 9]
    page = (tmp_path / "comparison.md").read_text(encoding="utf-8")
    assert "## Luck\n\n- all were lucky" in page
    assert "LUCK\n  - 2 lucky runs" in printed(lucky)


def test_the_page_has_the_curves_the_caps_and_what_is_to_be_read_first_and_hostile_names_are_text(
    tmp_path: Path,
) -> None:
    runs = (run_of("a", CLIFF), run_of("b", FLAT), run_of(HOSTILE))
    comparison = replace(compared(*runs), notes=("mind <b>this</b>",), name=HOSTILE)
    write_comparison(comparison, folder=tmp_path, dpi=40)
    page = (tmp_path / "comparison.html").read_text(encoding="utf-8")
    assert_tame(page, scripts=0)
    assert re.search("<svg[^>]*>.*a \\(cap 4,084\\)<.*b \\(cap at least 8,180\\)<.*</svg>", page, flags=re.DOTALL)
    assert "mind &lt;b&gt;this&lt;/b&gt;" in page
    assert '<td style="text-align:right">4,084' in page


def row(
    policy: str, size: float, verdict: CandidateVerdict | None = None, cap: int | None = None, **facts: Any
) -> PolicyRow:
    made = CacheFacts(
        **{
            "policy": policy,
            "key_type": "f16",
            "value_type": "f16",
            "layers": () if math.isnan(size) else (CachedLayers(n_layers=1, bytes_per_token=size),),
            **facts,
        }
    )
    cache: KVCache = replace(CACHE, facts=made)
    safe_cap = SimpleNamespace(tokens=cap)
    run = SimpleNamespace(report=SimpleNamespace(analysis=SimpleNamespace(safe_cap=safe_cap)))
    decided = (
        None
        if verdict is None
        else SimpleNamespace(decision=SimpleNamespace(verdict=verdict, more_pairs=None, longest=None))
    )
    return PolicyRow(run=run, cache=cache, decided=decided)  # type: ignore[arg-type]


BASE = row("none", 100.0)


@pytest.mark.parametrize(
    ("others", "used"),
    [
        ([row("q8_0", 50.0, "not_worse"), row("q4_0", 25.0, "worse")], "q8_0"),
        ([row("q8_0", 50.0, "not_worse"), row("q4_0", 25.0, "better")], "q4_0"),
        ([row("q8_0", 50.0, "unknown"), row("q4_0", 25.0, "worse")], "none"),
        ([row("q8_0", 50.0, "worse"), row("q4_0", 25.0, "worse")], "none"),
        ([row("f32", 200.0, "better")], "none"),
        ([row("q4_0", 25.0, "not_worse"), row("q8_0", 50.0, "worse")], "none"),  # one of many passes by chance
        ([row("q4_0", 25.0, "not_worse"), row("q8_0", 50.0, "unknown")], "none"),
        ([row("fp8", math.nan, "better"), row("q8_0", 50.0, "not_worse")], "q8_0"),
    ],
)
def test_the_smallest_cache_is_used_up_to_the_first_that_is_not_shown_to_be_as_good(
    others: list[PolicyRow], used: str
) -> None:
    assert recommended([BASE, *others])[0].facts.policy == used


def test_a_recommendation_says_a_lower_cap_and_what_has_no_size() -> None:
    base, lower = row("none", 100.0, cap=4_000), row("q8_0", 50.0, "not_worse", cap=3_000)
    assert recommended([base, lower, row("fp8", math.nan, "better")])[1] == (
        "it is not worse than f16; its own cap is lower, 3,000 of 4,000 tokens; without its size fp8 can be judged, but"
        " not recommended"
    )


def test_the_overrides_ask_for_the_policy_of_the_run() -> None:
    assert overrides_of(row("q8_0", 1.0)) == "kv_policy=q8_0"
    evicting = row("snapkv-0.5", 1.0, option="snapkv", evicts=True, budget=0.5, sees_question=True)
    assert overrides_of(evicting) == "kv_policy=snapkv kv_policy.budget=0.5 kv_policy.sees_question=true"
    mixed = row("q8_0-q4_0", 1.0, option="q8_0", key_type="q8_0", value_type="q4_0")
    assert overrides_of(mixed) == "kv_policy=q8_0 kv_policy.key_type=q8_0 kv_policy.value_type=q4_0"


def test_the_frontier_has_what_no_other_policy_beats_in_both() -> None:
    caps = {"none": (100.0, 4_000), "q8_0": (50.0, 4_000), "q4_0": (25.0, 1_000), "bad": (60.0, 900)}
    rows = [row(name, size, cap=cap) for name, (size, cap) in caps.items()]
    assert [each.facts.policy for each in frontier(rows)] == ["q4_0", "q8_0"]
