"""G5: what every experiment composes, where it differs from the defaults. `tests/test_bad_input.py` has refusals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from omegaconf import OmegaConf
from syrupy.assertion import SnapshotAssertion

from contextcliff.composing import conf_dir
from tests.compositions import composed

EXPERIMENTS = sorted(file.stem for file in (conf_dir() / "experiment").glob("*.yaml"))


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from flat(each, f"{path}.{key}" if path else str(key))
    else:
        yield path, value.rpartition(".")[2] if path.endswith("_target_") else value


def composition(*overrides: str) -> dict[str, Any]:
    return dict(flat(OmegaConf.to_container(composed(*overrides), resolve=False)))


def test_experiments(numbers: SnapshotAssertion) -> None:
    default = composition()
    differences = {
        name: {key: value for key, value in made.items() if key not in default or default[key] != value}
        for name in EXPERIMENTS
        for made in (composition(f"experiment={name}"),)
    }
    sweeps = {name: _swept(name) for name in EXPERIMENTS}
    assert {"default": default, "experiments": differences, "sweeps": sweeps} == numbers


def _swept(experiment: str) -> Any:
    file = OmegaConf.load(conf_dir() / "experiment" / f"{experiment}.yaml")
    return OmegaConf.to_container(OmegaConf.select(file, "hydra.sweeper.params", default=OmegaConf.create({})))
