"""Every YAML that is shipped composes, builds, and names every key of its class."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hydra.utils import instantiate

from contextcliff.composing import conf_dir
from contextcliff.errors import ConfigError
from tests.compositions import built, composed

APART = {"experiment", "hydra", "local", "published"}
OPTIONS = {
    folder.name: sorted(file.stem for file in folder.glob("*.yaml"))
    for folder in sorted(conf_dir().iterdir())
    if folder.is_dir() and folder.name not in APART
}


OTHERS = {group: options for group, options in OPTIONS.items() if group != "task"}
CHOSEN = [
    *({"task": option} for option in OPTIONS["task"]),
    *(
        {group: options[place] for group, options in OTHERS.items() if place < len(options)}
        for place in range(max(map(len, OTHERS.values())))
    ),
]
"""Each task, and the options of all other groups side by side: none of these depends on another."""


@pytest.mark.parametrize("chosen", CHOSEN, ids=lambda chosen: " ".join(chosen.values()))
def test_every_option_builds_and_names_every_key(chosen: dict[str, str]) -> None:
    config = composed(*(f"{group}={option}" for group, option in chosen.items()))
    for group, option in chosen.items():
        if config[group] is None:  # no judge, no embedder
            assert option == "none"
            continue
        of_every_dataset = {"control_tokens"} if group == "dataset" else set()
        own = {key: value for key, value in config[group].items() if key not in of_every_dataset}
        assert set(own) - {"_target_"} == {field.name for field in fields(instantiate(own, _convert_="all"))}, group


TASKS, MODELS = OPTIONS["task"], OPTIONS["model"]
FEW_TASKS = ("niah", "qa", "continuation")
"""Of different kinds: what holds of them is a matter of the classes, and not of each YAML."""


@pytest.mark.parametrize("task", FEW_TASKS)
def test_a_judge_with_its_own_engine_and_model_goes_with_every_task_that_has_references(task: str) -> None:
    chosen = (f"task={task}", "judge=llm", "engine@judge.engine=vllm", "model@judge.model=gpt")
    alone = built(f"task={task}")
    assert alone.judge is None
    if not alone.task.traits.has_references:
        with pytest.raises(ConfigError, match="has no reference answers to judge by; leave it out"):
            built(*chosen)
        return
    judge = built(*chosen, "judge.engine.base_url=http://127.0.0.1:9/v1").judge
    assert judge is not None
    assert (judge.engine.name, judge.model.name) == ("vllm", "gpt-5")


@pytest.mark.parametrize("task", TASKS)
def test_a_task_fits_every_model_without_an_override(task: str) -> None:
    # Composed apart: the next test shows that neither choice overrides another group.
    for model in MODELS:
        invocation = replace(built(f"task={task}"), model=built(f"model={model}").model)
        context_budget = invocation.context_budget(32_768)
        assert invocation.task.longest_context(context_budget) < context_budget.context_window, model


def test_no_option_of_a_task_or_a_model_overrides_another_group() -> None:
    files = [file for group in ("task", "model") for file in (conf_dir() / group).glob("*.yaml")]
    assert [file.name for file in files if "_global_" in file.read_text("utf-8")] == []


def test_credentials_of_an_address_are_kept_out_of_what_is_written() -> None:
    invocation = built("tracking.uri=http://me:secret@example.com:5000")
    kept = [invocation.composed, *invocation.parameters.values(), *invocation.overrides]
    assert all("secret" not in text for text in kept)
    assert "http://example.com:5000" in invocation.composed


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ((), ("analysis.threshold=0.9",), True),
        ((), ("tracking=none", "reporting.dpi=90", "engine.concurrency=2"), True),
        ((), ("kv_policy=q8_0",), False),
        ((), ("task.trials=5",), False),
        ((), ("seed=1",), False),
        ((), ("sampling.max_tokens=64",), False),
        ((), ("dataset=synthetic",), False),
        ((), ("model.name=another",), False),
    ],
)
def test_the_fingerprint_changes_with_what_determines_the_answers_and_with_nothing_else(
    first: tuple[str, ...], second: tuple[str, ...], same: bool
) -> None:
    fingerprints = [built(*overrides).identify().fingerprint for overrides in (first, second)]
    assert (fingerprints[0] == fingerprints[1]) is same


def test_a_label_enters_the_run_id_and_the_store_key() -> None:
    plain, labelled = built().identify(), built("label=after-upgrade").identify()
    assert "after-upgrade" in labelled.run_id
    assert plain.respondent != labelled.respondent
    assert plain.fingerprint == labelled.fingerprint


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
