"""Which sample of the grid is the k-th of a length: places with replacement, and never a sample twice."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from contextcliff.tasks.task import draws

SIZES = {"places": st.integers(1, 60), "turns": st.integers(1, 6)}


@given(**SIZES, more=st.integers(0, 40))
def test_the_samples_of_a_length_stay_those_that_they_are_when_more_are_asked(
    places: int, turns: int, more: int
) -> None:
    few = list(islice(draws(7, "niah", 4096, places=places, turns=turns), 40))
    many = list(islice(draws(7, "niah", 4096, places=places, turns=turns), 40 + more))
    assert many[:40] == few
    assert len({*many}) == len(many)


@given(**SIZES)
def test_trials_of_a_place_and_a_kind_are_used_from_the_first_on(places: int, turns: int) -> None:
    trials = defaultdict(list)
    for place, trial in islice(draws(7, "niah", 4096, places=places, turns=turns), 200):
        assert 0 <= place < places
        trials[place, trial % turns].append(trial // turns)
    assert all(used == list(range(len(used))) for used in trials.values())


def test_without_turns_a_trial_is_how_often_its_depth_was_drawn_before() -> None:
    seen: Counter[int] = Counter()
    for place, trial in islice(draws(7, "niah", 4096, places=11), 300):
        assert trial == seen[place]
        seen[place] += 1


def test_every_sample_falls_on_each_place_and_kind_alike_whatever_came_before() -> None:
    drawn = [list(islice(draws(seed, "niah", 4096, places=5, turns=2), 3)) for seed in range(2_000)]
    for number in range(3):
        counts = Counter((row[number][0], row[number][1] % 2) for row in drawn)
        assert stats.chisquare([counts[place, turn] for place in range(5) for turn in range(2)]).pvalue > 1e-4
    repeated = sum(row[0][0] == row[1][0] for row in drawn)
    assert stats.binomtest(repeated, 2_000, 1 / 5).pvalue > 1e-4


def test_seeds_tasks_and_lengths_have_draws_of_their_own() -> None:
    coordinates = [(0, "niah", 4096), (1, "niah", 4096), (0, "tracing", 4096), (0, "niah", 8192)]
    assert len({tuple(islice(draws(*each, places=11), 20)) for each in coordinates}) == len(coordinates)
