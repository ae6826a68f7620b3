"""KV policies side by side: the row to use, the overrides that ask for it, and the picture."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from contextcliff.findings.kv_cache import KVCache
from contextcliff.records.comparison import CandidateVerdict
from contextcliff.records.kv_cache import CachedLayers, CacheFacts
from contextcliff.reporting.comparison.kv_comparison import (
    PolicyRow,
    frontier,
    overrides_of,
    pareto_figure,
    recommended,
)
from tests.analysis.test_kv_limits import CACHE


def row(
    policy: str, size: float, verdict: CandidateVerdict | None = None, cap: int | None = None, **facts: Any
) -> PolicyRow:
    made = CacheFacts(
        **{
            "policy": policy,
            "key_type": "f16",
            "value_type": "f16",
            "layers": (CachedLayers(n_layers=1, bytes_per_token=size),),
            **facts,
        }
    )
    cache: KVCache = replace(CACHE, facts=made)
    safe_cap = SimpleNamespace(tokens=cap)
    run = SimpleNamespace(report=SimpleNamespace(analysis=SimpleNamespace(safe_cap=safe_cap)))
    decided = None if verdict is None else SimpleNamespace(decision=SimpleNamespace(verdict=verdict))
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
    ],
)
def test_the_smallest_cache_that_is_shown_not_to_be_worse_is_used(others: list[PolicyRow], used: str) -> None:
    assert recommended([BASE, *others])[0].facts.policy == used


def test_what_the_pairs_cannot_tell_is_said() -> None:
    assert "q8_0" in recommended([BASE, row("q8_0", 50.0, "unknown")])[1]


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


def test_a_policy_without_a_cap_is_drawn_on_the_axis() -> None:
    figure = pareto_figure([BASE, row("q4_0", 25.0, "worse")])
    lows, highs = figure.axes[0].get_ylim()
    assert (lows, highs) == (0.0, 1.25)
