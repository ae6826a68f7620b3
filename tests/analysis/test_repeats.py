"""Questions that are put several times: each is one piece of evidence, and its score a fraction."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.analysis.bins import group, summarise
from contextcliff.analysis.lengths import LengthResult
from contextcliff.analysis.walk import AbsoluteThreshold
from contextcliff.findings.judge import judgement_of
from contextcliff.findings.position import position_pattern
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.intervals import lower_bound, shown_interval, wilson
from tests.make import known, repeated, scored_sample

outcomes = st.sampled_from([0.0, 1.0, 0.25, None])
questions = st.lists(st.lists(outcomes, min_size=1, max_size=3), min_size=1, max_size=30)


def level_of(samples: list[ScoredSample]) -> LengthResult:
    (result,) = summarise(group(samples, designed_lengths=True, bins=1), 0.95)
    return result


@given(questions, st.integers(min_value=1, max_value=4))
def test_an_interval_holds_its_mean_and_the_tested_bound_is_no_higher(
    items: list[list[float | None]], a_document: int
) -> None:
    found = level_of(repeated(500, items, a_document=a_document)).bin
    if found.mean is None:
        return
    assert known(found.ci_low) - 1e-9 <= found.mean <= known(found.ci_high) + 1e-9
    assert known(found.tested_low) <= found.mean + 1e-9


def test_right_and_wrong_repeats_of_one_question_make_a_fraction_and_not_a_wrong_answer() -> None:
    items = [[1.0, 1.0, 0.0]] * 20
    found = level_of(repeated(500, items))
    assert not found.binary
    assert (found.bin.ci_low, found.bin.ci_high) == shown_interval((2 / 3,) * 20, 0.95, binary=False)
    assert found.bin.tested_low == lower_bound((2 / 3,) * 20, 0.95)


@pytest.mark.parametrize(
    ("sampling", "measured"),
    [(Sampling(), False), (Sampling(temperature=0.7), True), (Sampling(temperature=0.7, seed=1), False)],
    ids=["greedy", "drawn", "one seed"],
)
def test_only_repeats_that_are_draws_of_their_own_measure_instability(sampling: Sampling, *, measured: bool) -> None:
    samples = group(repeated(500, [[1.0, 1.0, 0.0]] * 10), designed_lengths=True, bins=1)
    (result,) = summarise(samples, 0.95, draws_anew=sampling.draws_anew)
    assert (result.bin.instability, result.bin.within_item_variance) == (
        (1.0, pytest.approx(1 / 3)) if measured else (None, None)
    )


def test_an_unscored_repeat_counts_as_wrong_in_its_question_where_the_cap_is_tested() -> None:
    """Two of three repeats timed out: the third alone must not carry the question."""
    found = level_of(repeated(500, [[1.0, None, None]] * 20))
    assert found.bin.mean == 1.0
    assert found.if_unscored_wrong.scores == (1 / 3,) * 20
    assert found.if_unscored_right.scores == (1.0,) * 20
    assert found.bin.tested_low == lower_bound((1 / 3,) * 20, 0.95)
    assert not AbsoluteThreshold(threshold=0.8, confidence=0.95).is_shown_above(found)


def test_unscored_repeats_of_clustered_questions_count_against_their_cluster() -> None:
    found = level_of(repeated(500, [[1.0, None], [0.0, 1.0]] * 8, a_document=4))
    (wrong,) = {(round(c.total, 9), c.scored) for c in found.if_unscored_wrong.clusters}
    (right,) = {(round(c.total, 9), c.scored) for c in found.if_unscored_right.clusters}
    assert (wrong, right) == ((2.0, 4), (3.0, 4))


def test_prompts_that_are_one_draw_are_one_piece_of_evidence_of_a_position_effect() -> None:
    """Four samples of one prompt at temperature 0 agree at every depth; exchanged singly they would look like proof."""
    once = [scored_sample(500, float(depth > 0.4), depth=depth) for depth in (0.0, 0.25, 0.5, 0.75, 1.0)]
    four = [replace(s, sample=replace(s.sample, item=f"d{s.sample.depth}")) for s in once for _ in range(4)]
    single, shared = (position_pattern(group(s, designed_lengths=True, bins=1), 0.95) for s in (once, four))
    assert shared.p_value == single.p_value
    assert shared.n_samples == 5


def test_a_judge_that_disagrees_on_every_repeat_of_a_question_disagrees_once() -> None:
    samples = [
        replace(s, judge_rating=10 if s.sample.item == "question-0" else 1) for s in repeated(500, [[0.0] * 3] * 10)
    ]
    found = known(judgement_of(samples, judge="judge", right_from=7, confidence=0.95))
    assert (found.n_judged, found.disagreements) == (30, 3)
    assert found.share == pytest.approx(0.1)
    assert (found.ci_low, found.ci_high) == wilson(1, 10, 0.95)


def test_how_many_questions_would_settle_it_follows_from_their_own_spread() -> None:
    """Questions whose repeats differ vary less than right and wrong ones with the same mean."""
    threshold = AbsoluteThreshold(threshold=0.8, confidence=0.95)
    mixed = known(
        threshold.samples_to_settle(level_of(repeated(500, [[1.0, 1.0, 1.0]] * 12 + [[1.0, 1.0, 0.0]] * 8)), 0.87)
    )
    agreeing = known(threshold.samples_to_settle(level_of(repeated(500, [[1.0] * 3] * 13 + [[0.0] * 3] * 2)), 0.87))
    assert mixed < agreeing / 2
