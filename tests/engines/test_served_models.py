"""Two models that one address serves at different times are two runs, and each is found again."""

from __future__ import annotations

import sqlite3
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


@pytest.fixture
def server() -> FakeServer:
    return FakeServer(models=[{"id": "a", "max_model_len": 1024}])


def run(
    server: FakeServer, folder: Path, tokenizer: str, *overrides: str, quiet: tuple[str, ...] = QUIET
) -> subprocess.CompletedProcess[str]:
    asked = (*of_server(server.address, tokenizer), "model=served", *quiet, *SMALL, *overrides)
    return contextcliff(*asked, cwd=folder, env=NO_KEYS)


def serve(server: FakeServer, name: str) -> None:
    server.models = [{"id": name, "max_model_len": 1024}]


@pytest.mark.slow
def test_the_run_of_another_model_leaves_the_first_ones_alone(
    server: FakeServer, tmp_path: Path, tokenizer: str
) -> None:
    with serving(server):
        tracked = ("reporting.progress=false", "reporting.console=none")
        assert run(server, tmp_path, tokenizer, quiet=tracked).returncode == 0
        serve(server, "b")
        assert run(server, tmp_path, tokenizer, quiet=tracked).returncode == 0
    first, second = reports(tmp_path / "outputs")
    assert (first["model"], second["model"]) == ("a", "b")
    assert first["run_id"].startswith("niah-a-none-")
    assert second["run_id"].startswith("niah-b-none-")
    assert first["fingerprint"] != second["fingerprint"]
    with sqlite3.connect(tmp_path / "mlruns" / "mlflow.db") as store:
        superseded = store.execute("SELECT * FROM tags WHERE key = 'contextcliff.superseded_by'").fetchall()
        names = store.execute("SELECT value FROM params WHERE key = 'model.name' ORDER BY 1").fetchall()
    assert superseded == []
    assert names == [("a",), ("b",)]


@pytest.mark.slow
def test_analyze_asks_which_model_is_meant_where_several_were_served(
    server: FakeServer, tmp_path: Path, tokenizer: str
) -> None:
    with serving(server):
        run(server, tmp_path, tokenizer)
        serve(server, "b")
        run(server, tmp_path, tokenizer)
    done = run(server, tmp_path, tokenizer, "action=analyze")
    assert done.returncode == 2
    assert done.stderr == (
        "error: model.name: outputs/state.db holds runs of this configuration by several models; choose one with "
        "model.name=NAME: a, b\n"
    )
    chosen = run(server, tmp_path, tokenizer, "action=analyze", "model.name=b", "analysis.threshold=0.5")
    assert (chosen.returncode, chosen.stderr) == (0, "")
    judged = {(report["model"], report["safe_cap"]["threshold"]) for report in reports(tmp_path)}
    assert judged == {("a", 0.8), ("b", 0.8), ("b", 0.5)}


def test_a_path_makes_a_run_id_that_is_one_folder(server: FakeServer, tmp_path: Path, tokenizer: str) -> None:
    serve(server, "/models/" + "deep/" * 60 + "it's (mine).gguf")
    with serving(server):
        assert run(server, tmp_path, tokenizer).returncode == 0
    (report,) = reports(tmp_path)
    assert "it-s-mine-.gguf" in report["run_id"]
    assert len(report["run_id"]) < 160


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
