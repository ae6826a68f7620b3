"""People's own options: files of a folder that `--config-dir` names, and defaults that every run reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from omegaconf import DictConfig

from contextcliff.command_line.keys import checked
from contextcliff.command_line.overrides import compose_options, parse_overrides, use_config_dir
from contextcliff.composing import conf_dir
from tests.commands import contextcliff

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


@pytest.fixture(autouse=True)
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
