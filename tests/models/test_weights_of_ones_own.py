"""A GGUF file that is typed: name and window are its header's, where they are not typed too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import contextcliff_process, reports
from tests.compositions import built, line_of
from tests.kv.sliding_model import sliding_model
from tests.models.made_gguf import gguf_file


def written(path: Path, *, name: str | None = "My Model", window: int | None = 4_096) -> Path:
    return gguf_file(path, name=name, context_length=window)


def told(*overrides: str) -> tuple[str | None, int | None]:
    model = built(*overrides).model
    return model.name, model.context_window


def test_name_and_window_are_those_of_the_header_unless_they_are_typed(tmp_path: Path) -> None:
    typed = f"model.gguf.path={written(tmp_path / 'a.gguf')}"
    invocation = built(typed)
    assert told(typed) == told("model=qwen", typed) == ("My Model", 4_096)
    assert told("engine=transformers", typed) == told("model=served", typed) == ("My Model", 4_096)
    assert told(typed, "model.name=mine") == ("mine", 4_096)
    assert told(typed, "++model.context_window=9000") == ("My Model", 9_000)
    assert "My-Model" in invocation.identify().run_id
    assert invocation.parameters["model.name"] == "My Model"
    assert invocation.overrides == (typed, "model.name='My Model'", "model.context_window=4096")
    assert invocation.model.hub is None
    assert built("model=qwen", typed).model.hub == "Qwen/Qwen3-8B"


@pytest.mark.parametrize("name", [None, "", " \n"])
def test_a_file_without_a_name_goes_by_its_own(name: str | None, tmp_path: Path) -> None:
    file = written(tmp_path / "my-q4.gguf", name=name)
    assert told(f"model.gguf.path={file}") == ("my-q4", 4_096)


def test_a_server_that_runs_already_keeps_what_is_configured(tmp_path: Path) -> None:
    server = ("engine=llama_server", f"model.gguf.path={written(tmp_path / 'a.gguf')}")
    assert told(*server) == told("engine=llama_server")
    assert told(*server, "engine.command='llama-server -m {weights}'") == ("My Model", 4_096)


@pytest.mark.slow
def test_a_window_that_nothing_tells_is_asked_for(tmp_path: Path) -> None:
    file = written(tmp_path / "a.gguf", window=None)
    way_out = "give model.context_window=TOKENS"
    assert line_of(f"model.gguf.path={file}") == (
        f"model.context_window: nothing here tells the window of My Model; {way_out}"
    )
    assert line_of("model.gguf.repo=owner/name", "model.gguf.file=b-q8.gguf").endswith(f"window of b-q8; {way_out}")
    assert told(f"model.gguf.path={file}", "model.context_window=512") == ("My Model", 512)
    file.write_bytes(b"GGUF" * 8)
    assert "is broken; give another file" in line_of(f"model.gguf.path={file}", "seed=1")


def test_one_file_for_several_models_is_refused(tmp_path: Path) -> None:
    path = f"model.gguf.path={written(tmp_path / 'a.gguf')}"
    assert line_of("model=qwen,glm", path) == (
        f"{path}: model=qwen,glm would each run these weights; give one model, and several files with "
        "model.gguf.path=A.gguf,B.gguf"
    )
    assert "would each run these weights" in line_of("experiment=small_vs_large", path)


@pytest.mark.slow
def test_a_run_goes_by_the_file_and_says_a_window_above_the_trained_one(tmp_path: Path) -> None:
    file = sliding_model(tmp_path / "tiny.gguf", window=512)
    command = (f"model.gguf.path={file}", "model.context_window=65536", "tracking=none", "reporting.html=false")
    grid = ("engine.threads=1", "task.lengths=[300]", "task.depths=[0.5]", "task.trials=1")
    said = "model.context_window=65536 is above the 32,768 tokens that the model was trained on"
    for action in ("plan", "run"):
        assert contextcliff_process(*command, *grid, f"action={action}", cwd=tmp_path).returncode == 0
    plan = json.loads((tmp_path / "outputs" / "plan.json").read_text(encoding="utf-8"))
    assert plan["model"] == "tiny"
    assert any(said in note for note in plan["notes"])
    (report,) = reports(tmp_path)
    assert report["model"] == "tiny"
    assert "tiny" in report["run_id"]
    assert any(said in note for note in report["notes"])
