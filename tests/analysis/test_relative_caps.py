"""A cap relative to a baseline: none without a longer length that clears it, and none over a baseline that is none."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from contextcliff.records.analysis import Analysis
from tests.make import analysed, curve


def relative(results: Mapping[int, tuple[int, ...]], *, baseline_tokens: int | None = None) -> Analysis:
    return analysed(curve(results), relative=True, baseline_tokens=baseline_tokens, finders=())


@pytest.mark.parametrize(
    ("results", "cap", "verdict", "censored"),
    [
        ({500: (100, 100), 1_000: (98, 100), 2_000: (97, 100)}, 2_000, "flat", True),
        ({500: (100, 100), 1_000: (98, 100), 2_000: (5, 100)}, 1_000, "cliff", False),
        ({500: (100, 100), 1_000: (5, 100)}, None, "cliff", False),
        ({500: (100, 100), 1_000: (7, 10)}, None, "insufficient_evidence", False),
        ({500: (100, 100)}, None, "insufficient_evidence", False),
        ({500: (15, 100), 1_000: (60, 100)}, None, "insufficient_evidence", False),
        ({500: (15, 100), 1_000: (15, 100), 2_000: (0, 100)}, None, "insufficient_evidence", False),
        ({500: (30, 100), 1_000: (60, 100)}, 1_000, "flat", True),
    ],
    ids=["holds", "falls", "falls at once", "too few", "baseline alone", "low", "low and falls", "not so low"],
)
def test_the_cap_over_a_baseline(
    results: dict[int, tuple[int, ...]], cap: int | None, verdict: str, censored: bool
) -> None:
    analysis = relative(results)
    found = analysis.safe_cap
    assert (found.tokens, found.ci_low, found.verdict, found.censored) == (cap, cap, verdict, censored)
    assert analysis.caps["walk_up"] == cap
    assert any(zone.name == "stable" for zone in analysis.zones) is (cap is not None)
    assert analysis.caps["absolute"] is not None


def test_a_baseline_of_several_lengths_is_no_cap_either() -> None:
    alone = relative({500: (100, 100), 700: (99, 100)}, baseline_tokens=700).safe_cap
    assert (alone.tokens, alone.verdict) == (None, "insufficient_evidence")
    assert str(alone.reason).startswith("all 2 lengths that were tested, up to 700 tokens, are the baseline")
    beyond = {500: (100, 100), 700: (99, 100), 1_000: (5, 100)}
    assert relative(beyond, baseline_tokens=700).safe_cap.tokens is None
    assert relative(beyond).safe_cap.tokens == 700


def test_a_low_score_that_is_no_baseline_keeps_its_own_reason() -> None:
    assert analysed(curve({500: (100, 100)}), relative=False, finders=()).safe_cap.tokens == 500
