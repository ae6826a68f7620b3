"""A sweep composes each of its jobs once, though Hydra asks for each twice: to check it, and to begin it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path

import pytest
from hydra import initialize_config_dir
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import IConfigRepository
from hydra.core.config_store import ConfigStore
from hydra.core.default_element import ResultDefault
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from contextcliff.command_line import composed_once
from contextcliff.command_line.composed_once import config_store_shared, jobs_composed_once, options_merged_once
from contextcliff.composing import conf_dir
from tests.commands import SIMULATED, contextcliff, reports


@pytest.fixture
def composed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The overrides of what is composed, in order."""
    asked: list[tuple[str, ...]] = []

    def compose(self: ConfigLoaderImpl, master_config: DictConfig, sweep_overrides: list[str]) -> DictConfig:
        asked.append(tuple(sweep_overrides))
        return OmegaConf.create({"of": list(sweep_overrides)})

    monkeypatch.setattr(ConfigLoaderImpl, "load_sweep_config", compose)
    return asked


def load(master: DictConfig, *overrides: str) -> DictConfig:
    loader = ConfigLoaderImpl.__new__(ConfigLoaderImpl)
    return loader.load_sweep_config(master, list(overrides))


def test_what_was_checked_is_what_begins(composed: list[tuple[str, ...]]) -> None:
    master = OmegaConf.create({})
    with jobs_composed_once():
        checked = [load(master, f"seed={seed}") for seed in range(3)]
        begun = [load(master, f"seed={seed}") for seed in range(3)]
    assert [id(each) for each in begun] == [id(each) for each in checked]
    assert composed == [("seed=0",), ("seed=1",), ("seed=2",)]


def test_a_configuration_is_given_away_once(composed: list[tuple[str, ...]]) -> None:
    master = OmegaConf.create({})
    with jobs_composed_once():
        first, second, third = (load(master, "seed=0") for _ in range(3))
    assert first is second
    assert third is not first
    assert len(composed) == 2


def test_two_sweeps_do_not_share_them(composed: list[tuple[str, ...]]) -> None:
    with jobs_composed_once():
        one = load(OmegaConf.create({}), "seed=0")
        assert load(OmegaConf.create({}), "seed=0") is not one
    assert len(composed) == 2


def test_no_more_are_kept_than_fit(composed: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composed_once, "_MOST_KEPT", 1)
    master = OmegaConf.create({})
    with jobs_composed_once():
        for seed in (0, 1, 0, 1):
            load(master, f"seed={seed}")
    assert composed == [("seed=0",), ("seed=1",), ("seed=1",)]


def test_hydra_is_as_before_behind_the_block() -> None:
    before = ConfigLoaderImpl.load_sweep_config
    with jobs_composed_once():
        assert ConfigLoaderImpl.load_sweep_config is not before
    assert ConfigLoaderImpl.load_sweep_config is before


JOBS = (
    *(
        [f"task={task}", f"kv_policy={policy}"]
        for task in ("niah", "continuation", "qa")
        for policy in ("none", "q8_0")
    ),
    *(["task=niah", f"seed={seed}"] for seed in range(3)),
    ["experiment=quick"],
    ["experiment=quick", "task.trials=3", "+task.note=x"],
    ["engine={delay_ms: 7}"],
    ["model=qwen", "model.name=qwen"],
    ["~judge"],
    ["task=niaah"],
    ["task.no_such_key=1"],
    ["+no_such_group=x"],
)


def composed_by_hydra(jobs: Sequence[Sequence[str]]) -> list[str]:
    """Each job's whole configuration as YAML, or the error, as a sweep composes it."""
    GlobalHydra.instance().clear()
    found = []
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        master = loader.load_configuration("config", ["engine=simulated"], run_mode=RunMode.MULTIRUN)
        for job in jobs:
            try:
                found.append(OmegaConf.to_yaml(loader.load_sweep_config(master, list(job))))
            except Exception as error:  # noqa: BLE001 - compared below, whatever it is
                found.append(f"{type(error).__name__}: {error}")
    return found


def test_jobs_that_share_their_options_have_the_configurations_that_hydra_composes() -> None:
    with options_merged_once():
        shared = composed_by_hydra([*JOBS, *JOBS])
    assert shared == [*composed_by_hydra(JOBS)] * 2
    assert sum("Exception" in text[:40] for text in shared) == 2 * 3


def test_the_files_of_options_are_merged_once_for_all_jobs_that_choose_them(monkeypatch: pytest.MonkeyPatch) -> None:
    merge = ConfigLoaderImpl._compose_config_from_defaults_list
    merged: list[int] = []

    def counted(self: ConfigLoaderImpl, defaults: list[ResultDefault], repo: IConfigRepository) -> DictConfig:
        merged.append(len(defaults))
        return merge(self, defaults, repo)

    monkeypatch.setattr(ConfigLoaderImpl, "_compose_config_from_defaults_list", counted)
    with options_merged_once():
        composed_by_hydra([[f"task={task}", f"seed={seed}"] for seed in range(4) for task in ("niah", "qa")])
    assert len(merged) == 3  # the sweep itself, and two tasks


def test_a_job_changes_nothing_of_the_next() -> None:
    with options_merged_once():
        _, second = composed_by_hydra([["task.trials=77"], []])
    assert [second] == composed_by_hydra([[]])


def test_the_store_of_schemas_is_shared_within_the_block_and_gives_copies_away() -> None:
    store = ConfigStore.instance()
    with config_store_shared():
        assert copy.deepcopy(store) is store
        first, second = (store.load("hydra/config.yaml").node for _ in range(2))
        assert first is not second
    assert copy.deepcopy(store) is not store


def test_jobs_of_a_sweep_differ_as_asked(tmp_path: Path) -> None:
    done = contextcliff(*SIMULATED, "seed=1,2", "task.lengths=[500]", "task.trials=2", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert len({report["fingerprint"] for report in reports(tmp_path)}) == 2
