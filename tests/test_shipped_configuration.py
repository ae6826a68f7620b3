"""Every YAML that is shipped composes, builds, and names every key of its class; people's own options are files of a
folder that `--config-dir` names, and defaults that every run reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from textwrap import dedent

import pytest
from hydra.utils import instantiate
from omegaconf import DictConfig

from contextcliff.command_line.keys import checked
from contextcliff.command_line.overrides import compose_options, parse_overrides, use_config_dir
from contextcliff.composing import conf_dir
from contextcliff.errors import ConfigError
from tests.commands import contextcliff
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


ROOT = Path(__file__).resolve().parent.parent
DEFAULTS = """
# @package _global_
defaults:
  - override /dataset: synthetic
task:
  trials: 1
reporting:
  dpi: 77
"""


def own(folder: Path, name: str, text: str) -> None:
    """Write an option into a folder with a blank and an apostrophe in its name, as `--config-dir` names it."""
    file = folder / "it's mine" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text.lstrip(), encoding="utf-8")


@pytest.fixture
def mine(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "it's mine").mkdir()
    use_config_dir(str(tmp_path / "it's mine"))
    yield tmp_path
    use_config_dir(None)


def composed_by(*overrides: str) -> DictConfig:
    return compose_options(checked(parse_overrides(overrides)))


def shipped(name: str) -> str:
    return (conf_dir() / name).read_text(encoding="utf-8")


def test_a_model_of_ones_own_is_found_by_its_name_and_listed_with_the_others(mine: Path) -> None:
    own(mine, "model/mine.yaml", shipped("model/smollm2.yaml").replace("8192", "4096"))
    assert composed_by("model=mine").model.context_window == 4096
    done = contextcliff("--config-dir", "it's mine", "model=mime", cwd=mine)
    assert done.returncode == 2
    assert done.stderr.startswith("error: model=mime: no such option; did you mean mine? the options are: deepseek, ")
    assert ", llama, mine, mistral, " in done.stderr


def test_the_experiment_of_ones_own_that_contributing_shows_is_found_by_its_name(mine: Path) -> None:
    shown = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("nightly.yaml` may be\n\n")[2]
    own(mine, "experiment/nightly.yaml", dedent(shown.partition("\n\nand runs with")[0]))
    config = composed_by("experiment=nightly")
    assert (config.task.lengths, config.budget.minutes) == ([4096, 16384, 65536], 120)
    assert config.task._target_.endswith("Tracing")


@pytest.mark.parametrize("page", ["docs/recipes.md", "conf/local/README.md"])
def test_the_defaults_of_ones_own_that_a_page_shows_are_read(mine: Path, page: str) -> None:
    shown = (ROOT / page).read_text(encoding="utf-8").partition("```yaml\n")[2].partition("```")[0]
    own(mine, "local/default.yaml", shown)
    config = composed_by()
    assert (config.engine.preset, config.engine.base_url) == ("vllm", "http://box:8000")
    assert config.model.name is None


def test_ones_own_defaults_win_over_the_shipped_ones_an_experiment_over_them_and_the_command_line_over_all(
    mine: Path,
) -> None:
    own(mine, "local/default.yaml", DEFAULTS)
    config = composed_by()
    assert (config.reporting.dpi, config.task.trials) == (77, 1)
    assert config.dataset._target_.endswith("Synthetic")
    config = composed_by("experiment=quick", "reporting.dpi=99")
    assert (config.reporting.dpi, config.task.trials) == (99, 2)
    assert composed_by("~local").reporting.dpi == 150
