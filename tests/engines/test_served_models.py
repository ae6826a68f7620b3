"""Two models that one address serves at different times are two runs, and each is found again."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from contextcliff.actions.action import _named
from contextcliff.engines.openai.http import KNOWN_VARIABLES
from tests.commands import QUIET, contextcliff, of_server, reports
from tests.compositions import built
from tests.engines.fake_server import FakeServer, serving

NO_KEYS = dict.fromkeys(KNOWN_VARIABLES, "")
SMALL = ("task.lengths=[300]", "task.depths=[0.0,1.0]", "task.trials=2", "engine.max_retries=0")


def run(server: FakeServer, folder: Path, tokenizer: str, *overrides: str) -> subprocess.CompletedProcess[str]:
    asked = (*of_server(server.address, tokenizer), "model=served", *QUIET, *SMALL, *overrides)
    return contextcliff(*asked, cwd=folder, env=NO_KEYS)


@pytest.mark.slow
def test_the_runs_of_two_models_are_apart_and_analyze_asks_which_is_meant(tmp_path: Path, tokenizer: str) -> None:
    with serving(FakeServer()) as server:
        for name in ("a", "b"):
            server.models = [{"id": name, "max_model_len": 1024}]
            assert run(server, tmp_path, tokenizer).returncode == 0
    first, second = reports(tmp_path)
    assert (first["run_id"][:12], second["run_id"][:12]) == ("niah-a-none-", "niah-b-none-")
    assert first["fingerprint"] != second["fingerprint"]
    done = run(server, tmp_path, tokenizer, "action=analyze")
    assert (done.returncode, done.stderr) == (
        2,
        "error: model.name: outputs/state.db holds runs of this configuration by several models; choose one with "
        "model.name=NAME: a, b\n",
    )
    chosen = run(server, tmp_path, tokenizer, "action=analyze", "model.name=b", "analysis.threshold=0.5")
    assert (chosen.returncode, chosen.stderr) == (0, "")
    judged = {(report["model"], report["safe_cap"]["threshold"]) for report in reports(tmp_path)}
    assert judged == {("a", 0.8), ("b", 0.8), ("b", 0.5)}


def test_a_path_makes_a_run_id_that_is_one_folder() -> None:
    run_id = (
        _named(built("engine=vllm", "model=served"), "/models/" + "deep/" * 60 + "it's (mine).gguf").identify().run_id
    )
    assert "it-s-mine-.gguf" in run_id
    assert len(run_id) < 160


@pytest.mark.parametrize(
    ("name", "override"),
    [
        ("Qwen/Qwen3-4B", "model.name=Qwen/Qwen3-4B"),
        ("/models/a.gguf", "model.name=/models/a.gguf"),
        ("it's mine", r"model.name='it\'s mine'"),
        ("7", "model.name='7'"),
        ("null", "model.name='null'"),
        ("a,b", "model.name='a,b'"),
    ],
)
def test_a_name_is_an_override_that_means_it(name: str, override: str) -> None:
    named = _named(built("engine=vllm", "model=served"), name)
    assert named.overrides[-1] == override
    assert built("engine=vllm", "model=served", override).model.name == name
