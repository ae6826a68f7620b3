"""`experiment=noise_floor`: the same questions four times, each answered anew and kept apart."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.actions.test_run import kept
from tests.commands import SIMULATED, contextcliff, reports
from tests.compositions import built

NOISE = ("experiment=noise_floor", *SIMULATED, "task.lengths=[300,600]", "task.trials=1", "dataset=synthetic")


def prompts(folder: Path, run_id: str) -> dict[str, str]:
    file = folder / "outputs" / "contextcliff" / run_id / "samples.jsonl"
    return {line["sample_id"]: line["prompt_sha256"] for line in map(json.loads, file.read_text("utf-8").splitlines())}


@pytest.mark.slow
def test_four_runs_ask_the_same_prompts_and_share_no_answer(tmp_path: Path) -> None:
    done = contextcliff(*NOISE, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    runs = reports(tmp_path)
    labels = {report["label"].rpartition("_")[0] for report in runs}
    assert labels == {f"noise_cache_{cache}_x{n}" for cache in (True, False) for n in (1, 4)}
    first, *others = [prompts(tmp_path, report["run_id"]) for report in runs]
    assert others == [first] * 3
    assert [report["counts"]["reused"] for report in runs] == [0] * 4
    assert kept(tmp_path / "outputs" / "state.db") == 4 * len(first)
    # Repeated, by the sweep or one by itself, it is the same runs again.
    command = shlex.split(runs[0]["command"])[3:]
    for again in (NOISE, tuple(command)):
        assert contextcliff(*again, cwd=tmp_path).returncode == 0
    assert kept(tmp_path / "outputs" / "state.db") == 4 * len(first)
    assert len(reports(tmp_path)) == 4


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
