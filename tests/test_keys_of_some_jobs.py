"""`++KEY=VALUE` in a sweep over options with different keys: set where it exists, said where it doesn't."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from omegaconf import OmegaConf

import contextcliff as package
from contextcliff.command_line.keys import ANY_KEYS
from tests.commands import SIMULATED, contextcliff
from tests.compositions import composed, jobs_of, line_of

ROOT = Path(package.__file__).parent
SMALL = ("task=niah,continuation", "++task.lengths=[512]", "++task.max_tokens=64")


def test_a_key_is_set_in_the_jobs_that_have_it(tmp_path: Path) -> None:
    done = contextcliff(*SIMULATED, *SMALL, "++task.trials=1", "++task.rounds=2", cwd=tmp_path)
    assert done.returncode == 0
    assert sorted(done.stderr.splitlines()) == [
        "note: task.max_tokens: task=niah has no such key, and goes without it",
        "note: task.rounds: task=niah has no such key, and goes without it",
        "note: task.trials: task=continuation has no such key, and goes without it",
    ]
    found = [OmegaConf.load(file).task for file in tmp_path.rglob("config.yaml")]
    tasks = {task["_target_"].rpartition(".")[2]: task for task in found}
    assert (tasks["Niah"]["trials"], tasks["Continuation"]["rounds"]) == (1, 2)
    assert ("rounds" in tasks["Niah"], "trials" in tasks["Continuation"]) == (False, False)


SWEPT = """
# @package _global_
model: {extra_body: {top_a: 1}}
hydra:
  mode: MULTIRUN
  sweeper: {params: {model.extra_body.effort: "low,high"}}
"""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["model.extra_body={effort: low, more: {deep: true}}"], [{"effort": "low", "more": {"deep": True}}]),
        (["model.extra_body.effort=high,low"], [{"effort": "high"}, {"effort": "low"}]),
        (["model.extra_body={effort: low},{top_k: 2}"], [{"effort": "low"}, {"top_k": 2}]),
    ],
)
def test_a_mapping_of_any_keys_takes_them_without_a_plus(arguments: list[str], expected: list[object]) -> None:
    assert [composed(*job).model.extra_body for job in jobs_of(*arguments)] == expected


def test_an_experiment_may_sweep_over_such_a_key(tmp_path: Path) -> None:
    own = tmp_path / "own" / "experiment"
    own.mkdir(parents=True)
    (own / "efforts.yaml").write_text(SWEPT.lstrip())
    small = ("task.lengths=[512]", "task.trials=1", "task.depths=[0.5]", 'label="${digest:${model.extra_body}}"')
    done = contextcliff("--config-dir", "own", "experiment=efforts", *SIMULATED, *small, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    bodies = [OmegaConf.load(file).model.extra_body for file in tmp_path.glob("outputs/*/*/config.yaml")]
    assert sorted(bodies, key=str) == [{"effort": one, "top_a": 1} for one in ("high", "low")]


@pytest.mark.parametrize(
    "arguments",
    [
        ["model.template_arguments.k=true", "model.served.k=true", "kv_policy.press_arguments.k=true"],
        ["engine=openai", "engine.sampler_names.k=true", "engine.uncached_fields.k=true"],
        ["judge=llm", "judge.model.extra_body.k=true", "judge.engine.uncached_fields.k=true"],
    ],
)
def test_so_does_every_such_mapping(arguments: list[str]) -> None:
    (job,) = jobs_of(*arguments)
    for key in (one.partition("=")[0] for one in arguments if "true" in one):
        assert OmegaConf.select(composed(*job), key) is True


def test_the_mappings_of_the_settings_are_those_that_take_any_key() -> None:
    files = (file for group in ("engines", "kv", "models") for file in (ROOT / group).rglob("*.py"))
    sources = "".join(file.read_text("utf-8") for file in files)
    assert set(re.findall(r"(\w+): Mapping\[.*= Field\(default_factory=dict\)", sources)) == set(ANY_KEYS)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["model.extra_bdy.k=1"], "model.extra_bdy.k: unknown key; did you mean model.extra_body?"),
        (["model.price.inputs=1"], "model.price.inputs: unknown key; did you mean model.price.input?"),
        (["engine=llamacpp", "engine.uncached_fields.k=1"], "engine.uncached_fields.k: unknown key; see all keys"),
    ],
)
def test_other_keys_are_refused_as_before(arguments: list[str], said: str) -> None:
    assert line_of(*arguments).startswith(said)
