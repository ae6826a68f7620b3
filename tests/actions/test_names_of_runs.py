"""What runs are called: by the options that were chosen, and by labels where each is answered anew."""

from __future__ import annotations

import pytest

from tests.compositions import built


@pytest.mark.parametrize("task", ["mrcr", "graphwalks", "ruler_cwe", "ruler_fwe", "repeat"])
def test_a_task_of_its_own_words_has_no_dataset_whatever_was_chosen(task: str) -> None:
    english, japanese = built(f"task={task}"), built(f"task={task}", "dataset=essays_ja")
    assert (english.dataset_name, japanese.dataset_name) == ("none", "none")
    assert japanese.identify().run_id.startswith(f"{japanese.task_name}-SmolLM2")
    assert built("task=niah", "dataset=essays_ja").dataset_name != "none"


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
