"""A KV cache that is not worse: by the pairs at the longest length that the baseline can do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contextcliff.analysis.paired import decide, is_settled, longest_done
from contextcliff.records.comparison import Matching, PairedDecision
from tests.analysis.cache_laws import LAWS, CacheLaw, simulated
from tests.analysis.test_paired_decision import matching_of, pairs_at
from tests.make import known
from tests.statistics.simulated_walks import fewest_hits, most_errors, simulated_runs

LENGTHS = (1_000, 2_000, 4_000, 8_000)


def caches(**at_longest: int) -> Matching:
    """Caches that give the same 22 answers at each shorter length, and these at the longest."""
    short = [pair for tokens in LENGTHS[:-1] for pair in pairs_at(tokens, right=22)]
    return replace(matching_of(*short, *pairs_at(8_000, **at_longest)), longest=(8_000, 8_000))


def decided(matching: Matching) -> PairedDecision:
    (found,) = decide([matching], confidence=0.95, margin=0.05)
    return known(found)


def test_a_mean_over_lengths_is_not_enough_and_the_pairs_that_the_longest_lacks_are_said() -> None:
    few = caches(right=22)
    found = decided(few)
    assert (found.verdict, found.longest_tokens, known(found.longest).n_pairs) == ("unknown", 8_000, 22)
    assert known(found.more_pairs) > 0
    assert decided(replace(few, longest=None)).verdict == "not_worse"
    assert decided(caches(right=60)).verdict == "not_worse"


def test_a_fall_at_the_longest_length_alone_keeps_it_from_being_not_worse() -> None:
    assert decided(caches(right=57, worse=3)).verdict == "unknown"
    assert decided(caches(right=50, worse=10)).verdict == "worse"


def test_what_is_missing_at_the_longest_length_counts_against_the_candidate() -> None:
    assert decided(caches(right=60, lost=4)).verdict == "unknown"


def test_the_longest_length_is_the_longest_at_which_the_baseline_is_not_low() -> None:
    assert longest_done([(1_000, 1.0), (2_000, 0.2), (4_000, 0.1), (8_000, None)]) == 2_000
    assert longest_done([(1_000, 0.0), (2_000, None)]) is None


@pytest.mark.parametrize(
    ("kinds", "settled"),
    [
        ({"right": 70}, False),
        ({"right": 80}, True),
        ({"right": 40, "worse": 20}, True),
        ({"right": 80, "lost": 10}, False),
    ],
)
def test_pairs_are_asked_until_they_say_that_it_is_worse_there_or_is_not(kinds: dict[str, int], settled: bool) -> None:
    assert is_settled([[pair] for pair in pairs_at(8_000, **kinds)], confidence=0.95) is settled


def test_a_later_look_is_tested_at_half_of_the_error() -> None:
    first, later = decided(caches(right=60)), decided(replace(caches(right=60), error_share=0.5))
    assert (first.confidence, later.confidence) == (0.95, 0.975)
    assert (first.verdict, later.verdict) == ("not_worse", "unknown")


RUNS = simulated_runs(100)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_a_worse_cache_is_as_seldom_recommended_as_stated_and_an_equal_one_often(law: CacheLaw) -> None:
    found = simulated(law, RUNS)
    if law.loss or law.crashes:
        assert found["recommended"] <= most_errors(RUNS, 0.05) / RUNS
    if law.name == "equal":
        assert found["recommended"] >= fewest_hits(RUNS, 0.95) / RUNS
