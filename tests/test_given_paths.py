"""A path that can't be one is refused by its key before anything runs. That every key which takes a path refuses one
too long is in `test_hostile_values`."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from contextcliff.command_line.sweep_jobs import path_errors_by_key
from contextcliff.errors import ConfigError, RunError
from contextcliff.settings import GivenPath
from tests.compositions import line_of

LONG = "a" * 300
REFUSED = {
    "output_dir=file.txt/x": "Not a directory",
    "dataset.path=file.txt/x": "Not a directory",
    'dataset.path="~nobody-of-this-name/x.txt"': "there is no such home folder",
    "model.gguf.path=~/no such/model.gguf": "No such file",
    "model.gguf.path=file.txt/x": "Not a directory",
    "model.gguf.path=folder": "Is a directory",
    'model.gguf.path=""': "must not be empty",
    "task=continuation task.word_list=file.txt/x": "Not a directory",
    "task=continuation task.word_list=folder": "Is a directory",
    "task=qa dataset=jsonl dataset.path=file.txt/x": "there is no such file",
    "task=qa dataset=jsonl dataset.path=folder": "is a folder",
    "task=qa dataset=manifest dataset.path=file.txt/x": "Not a directory",
    "task=qa dataset=manifest dataset.path=folder": "Is a directory",
    "task=qa dataset=documents dataset.path=file.txt/x": "there is no such folder",
    "tracking.uri=sqlite:///folder": "is a folder",
    "tracking.uri=sqlite:///file.txt/x.db": "a folder in it is a file",
    f"tracking.uri=sqlite:///{LONG}": "File name too long",
}


@pytest.mark.parametrize("command", REFUSED)
def test_the_line_names_the_key_and_what_the_system_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file.txt").write_text("It rained.", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    *others, override = command.split(" ", command.count("=") - 1)
    line = line_of("engine=simulated", *others, override)
    assert line.startswith(override.partition("=")[0])
    assert REFUSED[command] in line
    assert {entry.name for entry in tmp_path.iterdir()} == {"file.txt", "folder"}


def test_a_nul_is_in_no_path() -> None:
    with pytest.raises(ValidationError, match="is no path|null byte"):
        TypeAdapter(GivenPath).validate_python("a\0b")


def test_what_the_system_refuses_later_is_named_by_its_key_too(tmp_path: Path) -> None:
    full, parameters = tmp_path / "outputs", {"output_dir": str(tmp_path / "outputs"), "seed": "0", "label": ""}
    with (
        pytest.raises(ConfigError, match=f"^output_dir={full}: Permission denied .*; give another path$"),
        path_errors_by_key(parameters),
    ):
        raise OSError(13, "Permission denied", str(full / "contextcliff" / "run"))
    with pytest.raises(RunError, match="^/elsewhere/file: Permission denied$"), path_errors_by_key(parameters):
        raise OSError(13, "Permission denied", "/elsewhere/file")
