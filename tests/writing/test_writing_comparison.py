"""What a comparison says of the prose of several runs: every run told apart, nothing of a name obeyed."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from rich.console import Console

from contextcliff.analysis.paired_decision import decide
from contextcliff.records.comparison import Matching, ScoredPair
from contextcliff.reporting.comparison.comparison import ComparedRun, Comparison, DecidedRun
from contextcliff.reporting.comparison.comparison_output import render_comparison, write_comparison
from contextcliff.reporting.comparison.part_list import parts_with
from contextcliff.reporting.run_names import facts_of
from contextcliff.writing.comparison import sides, written_runs
from contextcliff.writing.comparison_figures import core_figure, measures_figure
from tests.reporting.figure_texts import overlaps, words
from tests.simulated_reports import CLIFF, edited, simulated
from tests.writing.made_writing import make_rounds, make_writing, with_writing

EVIL = "=cmd|' /C x'!A0 <script>$x$ | [a](b) \x1b[31m_"


def run_of(place: int, name: str, *, coherence: bool = False) -> ComparedRun:
    """A continuation run of ours; every second one lacks the longest length."""
    scored = make_rounds(tiers=(2048, 4096, 8192)[: 3 - place % 2], rounds=4, coherence=coherence)
    report = edited(with_writing(simulated(CLIFF), scored), run_id=f"run-{place}")
    return ComparedRun(
        name=name,
        facts=facts_of(report),
        source=f"/home/ada/run-{place}",
        parameters={"model": report.run.model, "text": name, "dataset.path": f"/home/ada/{place}.txt"},
        lengths=tuple(sorted({each.asked_tokens for each in report.analysis.bins})),
        report=report,
        findings=report.analysis.findings,
    )


def silent_run(name: str) -> ComparedRun:
    """A run of ours without prose."""
    report = simulated(CLIFF)
    lengths = tuple(each.asked_tokens for each in report.analysis.bins)
    return ComparedRun(
        name=name, facts=facts_of(report), source="there", parameters={}, lengths=lengths, report=report, findings={}
    )


def compared(names: list[str], *, silent: str | None = None, coherence: bool = False) -> Comparison:
    runs = [run_of(place, name, coherence=coherence) for place, name in enumerate(names)]
    if silent is not None:
        runs.append(silent_run(silent))
    parts = parts_with(key for run in runs for key in run.findings)
    results = tuple(part.compare(runs, confidence=0.95) for part in parts)
    return Comparison(name="c", runs=tuple(runs), parts=results, notes=("a note",))


def figures_of(comparison: Comparison) -> list[Figure]:
    return [figure.draw() for part in comparison.parts for figure in part.figures]


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3, 6])
@pytest.mark.parametrize("coherence", [False, True])
def test_the_figures_name_every_run_and_no_text_covers_another(count: int, coherence: bool) -> None:
    names = [f"model-{place} · q{place}_0" for place in range(count)]
    comparison = compared(names, coherence=coherence)
    figures = figures_of(comparison)
    assert len(figures) == 2
    for figure in figures:
        assert set(names) <= set(words(figure))
        assert overlaps(figure) == []


def test_a_name_that_looks_like_a_formula_or_a_hidden_label_is_shown() -> None:
    texts = words(figures_of(compared(["$x$ costs $2", "_hidden"]))[0])
    assert any(r"\$x\$ costs \$2" in text for text in texts)
    assert any("_hidden" in text for text in texts)


@pytest.mark.slow
def test_everything_is_written_and_a_second_comparison_leaves_nothing_of_the_first(tmp_path: Path) -> None:
    write_comparison(compared(["a", "b"], silent="c"), folder=tmp_path, dpi=50)
    assert {path.name for path in tmp_path.iterdir()} == {
        *("comparison.json", "comparison.md", "comparison.csv", "comparison.html"),
        *("curves.png", "writing_core.png", "writing_measures.png"),
    }
    write_comparison(compared(["a"], silent="c"), folder=tmp_path, dpi=50)
    assert {path.name for path in tmp_path.iterdir()} == {
        *("comparison.json", "comparison.md", "comparison.csv", "comparison.html", "curves.png"),
    }


def test_without_figures_the_page_has_neither_images_nor_gaps(tmp_path: Path) -> None:
    write_comparison(compared(["a", "b"]), folder=tmp_path, dpi=None)
    assert not list(tmp_path.glob("*.png"))
    page = (tmp_path / "comparison.md").read_text(encoding="utf-8")
    assert "## Writing" in page
    assert ".png" not in page
    assert "\n\n\n" not in page


def decided_comparison(name: str = "q4", *, lost: int = 0) -> Comparison:
    """A candidate that wrote half a page of the same words in each round of the baseline; of `lost` nothing came."""
    base, other = run_of(0, "none"), run_of(2, name)
    pairs = tuple(
        ScoredPair(
            sample_id=str(place),
            context_tokens=2048,
            baseline=1.0,
            candidate=None if place < lost else 0.0,
            baseline_figures={"healthy": 1.0, "composite": 20.0, "mtld": 80.0},
            candidate_figures={"healthy": 0.0, "composite": 60.0, "mtld": 30.0 + place},
        )
        for place in range(12)
    )
    (decision,) = decide(
        [Matching(pairs=pairs, only_baseline=0, only_candidate=0, other_prompt=0, searched=False, quantity="healthy")],
        confidence=0.95,
        margin=0.05,
    )
    decided = (DecidedRun(run=other, decision=decision, pairs=pairs),)
    (part,) = parts_with(["writing"])
    result = part.compare((base, other), decided=decided, confidence=0.95)
    return Comparison(name="c", runs=(base, other), parts=(result,), notes=(), baseline=base, decided=decided)


def test_a_candidate_is_tested_measure_by_measure_before_the_contests(tmp_path: Path) -> None:
    comparison = decided_comparison()
    (part,) = comparison.parts
    assert part.lines[0] == (
        "q4 against none, pair by pair: worse in composite (+40.0, p < 0.001), MTLD (-44.5, p < 0.001)."
    )
    assert part.lines[1].startswith("Composite (lower is better): ")
    write_comparison(comparison, folder=tmp_path, dpi=None)
    stored = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))
    rows = {row["measure"]: row for row in stored["measure_differences"]}
    assert list(rows) == ["composite", "mtld"]
    assert rows["mtld"] | {"p_better": 0, "p_better_corrected": 0} == {
        "candidate": "q4",
        "measure": "mtld",
        "worse": -1,
        "scale": "raw",
        "baseline_mean": 80.0,
        "candidate_mean": 35.5,
        "difference": -44.5,
        "low": rows["mtld"]["low"],
        "high": rows["mtld"]["high"],
        "n_pairs": 12,
        "n_units": 12,
        "n_unmeasured": 0,
        "p_worse": 1 / 4096,
        "p_better": 0,
        "p_worse_corrected": 2 / 4096,
        "p_better_corrected": 0,
        "shown": "worse",
        "reason": "",
    }
    page = (tmp_path / "comparison.md").read_text(encoding="utf-8")
    assert "### q4 against none, pair by pair" in page
    assert "| Composite (worse) | lower | 0-100 | 20.0 | 60.0 | +40.0 | +40.0 to +40.0 | &lt; 0.001 |" in page


def test_rounds_that_were_not_answered_are_in_no_difference() -> None:
    (part,) = decided_comparison(lost=9).parts
    assert part.lines[0] == "q4 against none, pair by pair: of 2 measures tested none is shown to be worse or better."


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("comparison")
    write_comparison(compared(["a", "b", EVIL], silent="c"), folder=folder, dpi=50)
    return folder


def test_the_table_has_a_row_a_run_and_length(written: Path) -> None:
    rows = list(csv.DictReader(io.StringIO((written / "comparison.csv").read_text(encoding="utf-8"))))
    of_a = [row for row in rows if row["run"] == "a" and row["cloze_score"]]
    tiers = make_writing(make_rounds(tiers=(2048, 4096, 8192), rounds=4)).tiers
    assert [int(row["context_length"]) for row in of_a] == [tier.context_tokens for tier in tiers]
    cloze = next(level for level in tiers[0].measures if level.name == "cloze_score")
    assert (float(of_a[0]["cloze_score"]), float(of_a[0]["cloze_score_std"]), of_a[0]["cloze_score_n"]) == (
        *(cloze.mean, cloze.std, "4"),
    )
    # A run without prose has scores, and no measure as 0.
    of_c = [row for row in rows if row["run"] == "c"]
    assert len(of_c) == 5
    assert {row["cloze_score"] for row in of_c} == {""}
    assert all(row["score"] for row in of_c)


def test_no_file_says_on_whose_disk_the_runs_lie(written: Path) -> None:
    for file in ("comparison.json", "comparison.md", "comparison.csv", "comparison.html"):
        assert "/home/ada" not in (written / file).read_text(encoding="utf-8")
    run = json.loads((written / "comparison.json").read_text(encoding="utf-8"))["runs"][1]
    assert (run["source"], run["parameters"]["dataset.path"]) == ("run-1", "1.txt")


def test_the_figures_say_how_wide_the_bands_are() -> None:
    runs = sides(written_runs([run_of(0, "a"), run_of(1, "b")], key="writing"))
    narrower = [replace(run, writing=replace(run.writing, confidence=0.9)) for run in runs]
    for figure in (core_figure(narrower), measures_figure(narrower, measures=["cloze_score"])):
        assert any("Bands: 90% bootstrap intervals" in text for text in words(figure))
    assert any("Bands: 90% and 95% bootstrap" in text for text in words(core_figure([narrower[0], runs[1]])))


def test_one_run_with_prose_is_compared_with_nothing_and_keeps_its_figures(tmp_path: Path) -> None:
    (result,) = compared(["a"], silent="c").parts
    assert (result.lines, result.blocks, result.figures) == ((), (), ())
    assert set(result.data_of_runs) == {"a"}
    write_comparison(compared(["a"], silent="c"), folder=tmp_path, dpi=30)
    stored = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))
    assert (stored["measures"], stored["measure_differences"]) == ([], [])
    assert [bool(run["writing_verdict"]) for run in stored["runs"]] == [True, False]


def test_nothing_of_a_name_is_obeyed(written: Path) -> None:
    table = (written / "comparison.csv").read_text(encoding="utf-8")
    assert "'=cmd" in table
    page = (written / "comparison.md").read_text(encoding="utf-8")
    assert "<script>" not in page
    assert "[a](b)" not in page
    for file in ("comparison.csv", "comparison.md", "comparison.json"):
        assert "\x1b" not in (written / file).read_text(encoding="utf-8")


def printed(comparison: Comparison) -> str:
    stream = io.StringIO()
    render_comparison(
        comparison, console=Console(file=stream, width=80, color_system=None), folder=Path("outputs/comparisons/c")
    )
    return stream.getvalue()


def test_the_console_has_a_row_a_run_the_core_measures_and_the_folder_within_80_columns() -> None:
    told = printed(compared(["one · " + "x" * 90, "two"], silent="three"))
    assert all(len(line) <= 80 for line in told.splitlines())
    flat = " ".join(told.split())
    assert "Cloze score (lower is better)" in flat
    assert "4,096 cliff" in flat
    assert "outputs/comparisons/c" in flat
    assert "a note" in flat
