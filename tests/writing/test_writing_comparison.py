"""The prose of several runs side by side, and of a candidate pair by pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from contextcliff.findings.finding import Image, Table
from contextcliff.records.comparison import ScoredPair
from contextcliff.reporting.comparison.comparison import parts_with
from contextcliff.statistics.pairs import Units, p_better, p_worse
from contextcliff.writing.contest import WritingSide
from contextcliff.writing.paired import MeasureDifference, difference_blocks, differences_sentence, measure_differences
from tests.make import known
from tests.reporting import made_reports
from tests.reporting.figure_texts import words
from tests.simulated_reports import CLIFF, simulated
from tests.writing.made_writing import make_rounds, make_writing, with_writing

SIDE = WritingSide(name="none", writing=make_writing(make_rounds()), rules="ours", word_list="ours", least_length="0.6")
Figures = Mapping[str, float]


def pair(place: int, before: Figures, after: Figures, *, tokens: int = 2048, **more: object) -> ScoredPair:
    made = ScoredPair(
        sample_id=f"r{tokens}-{place}",
        context_tokens=tokens,
        baseline=1.0,
        candidate=1.0,
        baseline_figures=before,
        candidate_figures=after,
    )
    return replace(made, **more)  # type: ignore[arg-type]


def shifted(measure: str, *, by: float, n: int = 20, start: float = 20.0) -> list[ScoredPair]:
    """Pairs of which the candidate's figure is higher by about as much."""
    noise = np.random.default_rng(3).normal(0.0, abs(by) / 5 or 1.0, size=n)
    return [pair(place, {measure: start}, {measure: start + by + float(each)}) for place, each in enumerate(noise)]


def joined(*some: Sequence[ScoredPair]) -> list[ScoredPair]:
    """The same rounds with the figures of all."""
    return [
        replace(
            each[0],
            baseline_figures={key: value for one in each for key, value in one.baseline_figures.items()},
            candidate_figures={key: value for one in each for key, value in one.candidate_figures.items()},
        )
        for each in zip(*some, strict=True)
    ]


def differences(
    pairs: Sequence[ScoredPair], *, side: WritingSide = SIDE, baseline: WritingSide = SIDE
) -> dict[str, MeasureDifference]:
    (found,) = measure_differences(baseline, [(side, pairs)], confidence=0.95).values()
    return {one.measure: one for one in found}


@pytest.mark.parametrize(
    ("measure", "by", "shown"),
    [
        ("composite", 5.0, "worse"),
        ("composite", -5.0, "better"),
        ("mtld", -5.0, "worse"),
        ("mtld", 5.0, "better"),
        ("trigram_repetition_rate", 0.2, "worse"),
        ("composite", 0.0, None),
        ("comma_density", 0.5, None),
    ],
)
def test_a_measure_is_worse_in_its_own_direction_and_one_without_a_direction_never(
    measure: str, by: float, shown: str | None
) -> None:
    one = differences(shifted(measure, by=by, start=1.0))[measure]
    assert one.shown == shown
    assert (one.p_worse is None) == (measure == "comma_density")


def test_its_p_value_is_that_of_the_exact_test_of_signs_whatever_the_unit_of_the_measure() -> None:
    steps = [3.0, -1.0, 2.0, 2.0, 4.0, -2.0, 1.0, 5.0]
    pairs = [pair(place, {"composite": 40.0}, {"composite": 40.0 + step}) for place, step in enumerate(steps)]
    one = differences(pairs)["composite"]
    units = Units.single(step / 5.0 for step in steps)
    assert (one.p_worse, one.p_better) == pytest.approx((p_better(units), p_worse(units)))
    assert one.p_worse_corrected == one.p_worse
    assert one.difference == pytest.approx(1.75)
    assert (one.baseline_mean, one.candidate_mean) == (40.0, 41.75)
    assert -1.0 < known(one.low) < 1.75 < known(one.high) < 5.0


def test_holm_corrects_for_the_tested_measures_of_all_candidates() -> None:
    one = shifted("composite", by=5.0, n=6)
    alone = differences(one)["composite"]
    assert (alone.p_worse, alone.shown) == (1 / 64, "worse")
    three = joined(one, shifted("mtld", by=0.0, n=6), shifted("comma_density", by=5.0, n=6))
    both = measure_differences(SIDE, [(replace(SIDE, name=name), three) for name in ("q4", "q8")], confidence=0.95)
    rows = {(name, each.measure): each for name, some in both.items() for each in some}
    # Two measures have a direction, of two candidates: four tests.
    assert rows["q4", "composite"].p_worse_corrected == 4 / 64
    assert rows["q4", "composite"].shown is None


def test_z_scores_are_compared_where_every_round_of_the_pairs_has_one() -> None:
    raw, z = shifted("mtld", by=-30.0, start=90.0), shifted("z.mtld", by=-2.0, start=0.5)
    one = differences(joined(raw, z))["mtld"]
    assert (one.scale, round(one.difference)) == ("z", -2)
    without = joined(raw, z)
    without[0] = replace(without[0], candidate_figures={"mtld": 60.0})
    one = differences(without)["mtld"]
    assert (one.scale, one.n_pairs) == ("raw", 20)


def test_the_sentence_names_what_is_shown_and_counts_the_rest() -> None:
    pairs = joined(
        [pair(n, {"composite": 20.0, "z.mtld": 0.0, "mtld": 80.0}, {"composite": 25.0, "z.mtld": 1.5, "mtld": 99.0})
         for n in range(12)],
        [pair(n, {"language_drift": 0.0, "comma_density": 1.0}, {"language_drift": 0.0, "comma_density": 2.0})
         for n in range(12)],
    )  # fmt: skip
    rows = list(differences(pairs).values())
    assert differences_sentence("q4", "none", rows) == (
        "q4 against none, pair by pair: worse in composite (+5.0, p < 0.001); better in MTLD (+1.50 sd, p < 0.001); "
        "1 of 3 measures: neither is shown."
    )
    quiet = [one for one in rows if one.measure in ("language_drift", "comma_density")]
    assert differences_sentence("q4", "none", quiet) == (
        "q4 against none, pair by pair: of 1 measure tested none is shown to be worse or better."
    )
    (commas,) = (one for one in quiet if not one.worse)
    assert differences_sentence("q4", "none", [commas]) == "q4 against none, pair by pair: no measure can be tested."
    (table,) = (block for block in difference_blocks({"q4": rows}, baseline="none") if isinstance(block, Table))
    assert {column.title: column.cells[0] for column in table.columns} == {
        **{"measure": "Composite (worse)", "better": "lower", "unit": "0-100", "baseline": "20.0", "candidate": "25.0"},
        **{"difference": "+5.0", "interval": "+5.0 to +5.0", "p worse": "< 0.001", "p better": "1.000", "pairs": "12"},
    }


def test_a_name_that_looks_like_a_formula_or_a_hidden_label_is_shown() -> None:
    report = with_writing(simulated(CLIFF), make_rounds(tiers=(2048, 4096), rounds=4))
    named = (made_reports.run_of(name) for name in ("$x$ costs $2", "_hidden"))
    runs = [replace(run, report=report, findings=report.analysis.findings) for run in named]
    (part,) = (each.compare(runs, confidence=0.95) for each in parts_with(runs[0].findings))
    texts = words(next(block for block in part.blocks if isinstance(block, Image)).draw())
    assert any(r"\$x\$ costs \$2" in text for text in texts)
    assert any("_hidden" in text for text in texts)
