"""How many samples would settle it: one file for each kind of comparison that is planned, and here their entries.

All of them plan for a power of 80% at the confidence of the run, with the test that the cap is made with. The figures
are for a new run: samples added after a look at the result are optional stopping, which the tests do not allow for.
"""

from contextcliff.statistics.sample_size.baseline_share import to_show_above_share
from contextcliff.statistics.sample_size.detectable_drop import detectable_drop
from contextcliff.statistics.sample_size.fixed_threshold import (
    MOST,
    cautious_rate,
    fewest_all_right,
    to_show_above,
    to_show_below,
)
from contextcliff.statistics.sample_size.fractional_scores import MOST_ROUNDS, rounds_to_settle, scores_to_settle
from contextcliff.statistics.sample_size.observed import to_show_above_as_observed, to_show_above_share_as_observed
from contextcliff.statistics.sample_size.significance import fewest_for_significance

__all__ = [
    "MOST",
    "MOST_ROUNDS",
    "cautious_rate",
    "detectable_drop",
    "fewest_all_right",
    "fewest_for_significance",
    "rounds_to_settle",
    "scores_to_settle",
    "to_show_above",
    "to_show_above_as_observed",
    "to_show_above_share",
    "to_show_above_share_as_observed",
    "to_show_below",
]
