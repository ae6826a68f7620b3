"""`experiment=noise_floor`: the same questions four times, each answered anew and kept apart."""

from __future__ import annotations

import pytest

from tests.compositions import built


def test_another_configuration_has_another_label() -> None:
    labels = [
        built("experiment=noise_floor", *overrides).label
        for overrides in ((), ("model=qwen",), ("kv_policy=q8_0",), ("task.trials=3",), ("seed=1",))
    ]
    assert len(set(labels)) == len(labels)
    assert all(len(label) < 64 for label in labels)


@pytest.mark.parametrize("experiment", ["kv_quantization", "small_vs_large", "rope_vs_full"])
def test_the_runs_of_an_experiment_that_compares_stay_paired(experiment: str) -> None:
    assert built(f"experiment={experiment}").task.like == "first"


def test_an_experiment_may_set_a_key_of_the_top_level_and_the_command_line_wins() -> None:
    assert built("experiment=noise_floor", "label=mine").label == "mine"
