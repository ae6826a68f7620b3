"""What a sequential test against a share of the baseline will do, simulated beforehand."""

import numpy as np
import pytest

from contextcliff.statistics.power import RUNS, share_power
from tests.statistics.simulated_walks import decide_share, most_errors


@pytest.mark.parametrize(("rate", "baseline"), [(0.9, 0.9), (0.85, 0.9), (0.3, 0.8)])
def test_decisions_on_simulated_pairs_agree(rate: float, baseline: float) -> None:
    runs, rng = 300, np.random.default_rng(30)
    power = share_power(rate, baseline, share=0.8, alpha=0.05, block=10, most=80)
    pairs = (rng.random((runs, 8, 10, 2)) < (rate, baseline)).astype(float)
    results = [decide_share(run.tolist(), share=0.8, alpha=0.05) for run in pairs]
    for kind, chance in (("above", power.above), ("below", power.below)):
        seen = sum(result.kind == kind for result in results)
        # Both sides are simulated, so the chance is known to four of its standard errors only.
        slack = 4.0 * np.sqrt(0.25 / RUNS)
        assert seen <= most_errors(runs, min(1.0, chance + slack))
        assert runs - seen <= most_errors(runs, min(1.0, 1.0 - chance + slack))
    samples = [result.samples for result in results]
    assert abs(np.mean(samples) - power.expected_samples) <= 4.0 * np.std(samples) * np.sqrt(1 / runs + 1 / RUNS)


def test_perfect_scores_pass_a_perfect_baseline_with_the_fewest_samples() -> None:
    power = share_power(1.0, 1.0, share=0.8, alpha=0.05, block=10, most=160)
    assert (power.above, power.below, power.open) == (1.0, 0.0, 0.0)
    assert power.expected_samples == pytest.approx(20.0)


@pytest.mark.parametrize("baseline", [0.3, 0.6, 0.95, 1.0])
def test_a_score_at_its_share_of_the_baseline_passes_in_at_most_alpha_of_runs(baseline: float) -> None:
    power = share_power(0.8 * baseline, baseline, share=0.8, alpha=0.05, block=10, most=160)
    assert power.above * RUNS <= most_errors(RUNS, 0.05)
    assert power.below * RUNS <= most_errors(RUNS, 0.05)
