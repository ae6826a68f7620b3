"""The other cap rules, on curves worked by hand, and caps relative to a baseline."""

from collections.abc import Mapping

import pytest

from contextcliff.analysis.analyse import absolute_cap, blueprint_cap, relative_cap
from contextcliff.records.analysis import Analysis, Bin
from contextcliff.records.generation import ScoredSample
from tests.make import analysed, curve, fractional


def bins(samples: list[ScoredSample]) -> tuple[Bin, ...]:
    return analysed(samples).bins


def test_every_rule_has_its_place_in_this_order() -> None:
    for samples in ([], curve({500: (20, 20)})):
        assert list(analysed(samples).caps) == [
            "walk_up", "any_depth", "blueprint", "absolute", "relative", "half_life", "writing", "memory", "latency",
        ]  # fmt: skip


def test_absolute_and_relative_stop_before_the_first_low_mean() -> None:
    found = bins(curve({500: (18, 20), 1_000: (16, 20), 2_000: (15, 20), 4_000: (20, 20)}))
    assert absolute_cap(found, 0.8) == 1_000
    assert absolute_cap(found, 0.95) is None
    assert relative_cap(found) == 1_000
    assert relative_cap(found, 0.8) == 4_000


def test_absolute_takes_a_relative_threshold_as_the_share_of_the_baseline_that_it_is() -> None:
    samples = curve({500: (60, 100), 1_000: (52, 100), 2_000: (40, 100)})
    assert analysed(samples, relative=True).caps["absolute"] == 1_000  # 0.8 of 0.60 is 0.48
    assert analysed(samples).caps["absolute"] is None


def test_absolute_is_none_where_a_relative_threshold_is_no_score_or_a_score_of_0() -> None:
    assert analysed(curve({500: (0, 0, 3), 1_000: (20, 20)}), relative=True).caps["absolute"] is None
    assert analysed(curve({500: (0, 20), 1_000: (0, 20)}), relative=True).caps["absolute"] is None
    assert analysed([], relative=True).caps["absolute"] is None


def test_a_length_without_a_score_fails_every_rule() -> None:
    found = bins(curve({500: (20, 20), 1_000: (0, 0, 20), 2_000: (20, 20)}))
    assert (absolute_cap(found, 0.8), relative_cap(found), blueprint_cap(found)) == (500, 500, 1_000)


def test_without_a_baseline_there_is_nothing_to_fall_from() -> None:
    for samples in (curve({500: (0, 20), 1_000: (0, 20)}), curve({500: (0, 0, 3), 1_000: (20, 20)}), []):
        assert relative_cap(bins(samples)) is None
        assert blueprint_cap(bins(samples)) is None


def test_blueprint_caps_at_the_shortest_prompt_of_the_first_failing_length_and_else_at_the_longest() -> None:
    good = [0.6, 0.66] * 5
    for second, why in (([0.5, 0.7] * 5, "spread doubled"), ([0.4, 0.42] * 5, "mean down by more than 30%")):
        assert blueprint_cap(bins(fractional({500: good, 1_000: second, 2_000: good}))) == 1_000, why
    assert blueprint_cap(bins(fractional({500: good, 1_000: [0.5, 0.55] * 5}))) == 1_000
    # On a perfect baseline it fires on any failure.
    assert blueprint_cap(bins(curve({500: (40, 40), 1_000: (39, 40)}))) == 1_000


@pytest.mark.parametrize(("failed", "cap"), [(4, 2_000), (6, 1_000)])
def test_blueprint_failure_spike_is_more_than_twice_and_at_least_ten_points(failed: int, cap: int) -> None:
    """Two failures in twenty at the baseline, and the scores alike in mean and spread."""

    def level(failures: int) -> list[float]:
        return [1.0] * (20 - failures) + [0.9] * failures

    found = bins(fractional({500: level(2), 1_000: level(failed), 2_000: level(2)}))
    assert blueprint_cap(found) == cap


def relative(results: Mapping[int, tuple[int, ...]], *, baseline_tokens: int | None = None) -> Analysis:
    return analysed(curve(results), relative=True, baseline_tokens=baseline_tokens, finders=())


def test_a_baseline_of_several_lengths_is_no_cap_either() -> None:
    alone = relative({500: (100, 100), 700: (99, 100)}, baseline_tokens=700).safe_cap
    assert (alone.tokens, alone.verdict) == (None, "insufficient_evidence")
    assert str(alone.reason).startswith("all 2 lengths that were tested, up to 700 tokens, are the baseline")
    beyond = {500: (100, 100), 700: (99, 100), 1_000: (5, 100)}
    assert relative(beyond, baseline_tokens=700).safe_cap.tokens is None
    assert relative(beyond).safe_cap.tokens == 700


def test_a_low_score_that_is_no_baseline_keeps_its_own_reason() -> None:
    assert analysed(curve({500: (100, 100)}), relative=False, finders=()).safe_cap.tokens == 500
