"""Every key that names a file or folder: a path that can't be one is one line with exit code 2, and leaves nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from omegaconf import OmegaConf
from pydantic import TypeAdapter, ValidationError

from contextcliff.command_line.jobs import path_errors_by_key
from contextcliff.command_line.overrides import parse_overrides
from contextcliff.composing import conf_dir
from contextcliff.errors import ConfigError, RunError
from contextcliff.settings import GivenPath, why_no_path
from tests.compositions import line_of

LONG = "a" * 300
SIMULATED = ("engine=simulated",)
KEYS = {
    "output_dir": SIMULATED,
    "dataset.path": SIMULATED,
    "dataset.paths": SIMULATED,
    "dataset.path of essays_ja": (*SIMULATED, "dataset=essays_ja"),
    "dataset.path of jsonl": (*SIMULATED, "task=qa", "dataset=jsonl"),
    "dataset.path of manifest": (*SIMULATED, "task=qa", "dataset=manifest"),
    "dataset.path of documents": (*SIMULATED, "task=qa", "dataset=documents"),
    "dataset.questions of documents": (*SIMULATED, "task=qa", "dataset=documents"),
    "dataset.path of squad": (*SIMULATED, "task=qa", "dataset=squad"),
    "dataset.path of narrativeqa": (*SIMULATED, "task=qa", "dataset=narrativeqa"),
    "dataset.path of quality": (*SIMULATED, "task=qa", "dataset=quality"),
    "dataset.path of qasper": (*SIMULATED, "task=qa", "dataset=qasper"),
    "dataset.path of hotpotqa": (*SIMULATED, "task=qa", "dataset=hotpotqa"),
    "dataset.path of longbench_v2": (*SIMULATED, "task=qa", "dataset=longbench_v2"),
    "dataset.parts.short.path of mixed": (*SIMULATED, "task=qa", "dataset=mixed"),
    "model.gguf.path": (),
    "model.gguf.path of simulated": SIMULATED,
    "tokenizer.name of auto": SIMULATED,
    "tokenizer.name of huggingface": (*SIMULATED, "tokenizer=huggingface"),
    "task.word_list": (*SIMULATED, "task=continuation"),
    "embedding.gguf.path": (*SIMULATED, "task=continuation", "embedding=llamacpp"),
    "action.baseline": (*SIMULATED, "action=compare"),
    "action.candidates": (*SIMULATED, "action=compare", "action.baseline=a-run"),
    "tracking.artifacts": SIMULATED,
}
LISTS = ("dataset.paths", "action.candidates")


def given(named: str, value: str) -> tuple[str, str]:
    """The override, and the key as an error names it."""
    key = named.partition(" ")[0]
    return (f"{key}=[{value}]", f"{key}[0]") if key in LISTS else (f"{key}={value}", key)


@pytest.fixture(autouse=True)
def _nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run in an empty folder, and leave there what a test made itself."""
    monkeypatch.chdir(tmp_path)
    yield
    assert {entry.name for entry in tmp_path.iterdir()} <= {"file.txt", "folder", "closed"}


@pytest.mark.parametrize(("named", "others"), KEYS.items(), ids=KEYS)
def test_a_file_name_that_is_too_long_is_one_line(named: str, others: tuple[str, ...]) -> None:
    override, key = given(named, LONG)
    assert line_of(*others, override) == f"{key}={LONG[:80]}…: File name too long; give another path"


@pytest.mark.parametrize(
    "named", ["output_dir", "dataset.path", "dataset.paths", "model.gguf.path", "action.candidates"]
)
def test_an_empty_path_is_none(named: str) -> None:
    override, key = given(named, '""')
    assert line_of(*KEYS[named], override) == f"{key}=: must not be empty"


AT_A_FILE = {
    "output_dir": "output_dir={}: can't be written (Not a directory); give a folder that can",
    "dataset.path": "dataset.path: {} can't be read (Not a directory); give a file that can",
    "dataset.path of jsonl": "dataset.path={}: there is no such file; give a .jsonl or .parquet file",
    "dataset.path of manifest": "dataset.path={}: can't be read (Not a directory); give a run's manifest.json",
    "dataset.path of documents": "dataset.path={}: there is no such folder; give one that holds the documents",
    "model.gguf.path": "model.gguf.path={}: no such file; give the path of a .gguf file",
    "task.word_list": "task.word_list={}: Not a directory; give a file with one word a line",
}
AT_A_FOLDER = {
    "dataset.path of jsonl": "dataset.path={}: is a folder, not a file; give a .jsonl or .parquet file",
    "dataset.path of manifest": "dataset.path={}: can't be read (Is a directory); give a run's manifest.json",
    "model.gguf.path": "model.gguf.path={}: is a folder; give the path of a .gguf file",
    "task.word_list": "task.word_list={}: Is a directory; give a file with one word a line",
    "tracking.uri": "tracking.uri: 'sqlite:///{}': is a folder; name another file",
}


@pytest.mark.parametrize(
    ("path", "named", "line"),
    [(path, *each) for path, lines in (("file.txt/x", AT_A_FILE), ("folder", AT_A_FOLDER)) for each in lines.items()],
)
def test_a_path_through_a_file_and_a_folder_in_the_place_of_a_file_are_one_line(
    tmp_path: Path, path: str, named: str, line: str
) -> None:
    (tmp_path / "file.txt").write_text("It rained.", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    value = f"{'sqlite:///' if named == 'tracking.uri' else ''}{tmp_path}/{path}"
    assert line_of(*KEYS.get(named, SIMULATED), given(named, value)[0]) == line.format(tmp_path / path)


def test_a_database_that_no_file_can_be_is_refused_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("It rained.", encoding="utf-8")
    for uri, problem in {
        f"sqlite:///{LONG}": "File name too long",
        f"sqlite:///{tmp_path}/file.txt/x.db": "a folder in it is a file",
    }.items():
        told = line_of("engine=simulated", f"tracking.uri={uri}")
        assert told == f"tracking.uri: '{uri}': {problem}; name another file"


def test_a_home_that_there_is_not_is_one_line() -> None:
    assert line_of("engine=simulated", 'dataset.path="~nobody-of-this-name/x.txt"') == (
        "dataset.path=~nobody-of-this-name/x.txt: there is no such home folder; give another path"
    )


def test_a_path_in_the_home_folder_needs_no_quotes() -> None:
    """Bash expands no `~` behind a key with dots, and Hydra's grammar has none."""
    assert line_of("model.gguf.path=~/no such/model.gguf") == (
        "model.gguf.path=~/no such/model.gguf: no such file; give the path of a .gguf file"
    )


def test_a_nul_is_in_no_path() -> None:
    with pytest.raises(ValidationError, match="is no path|null byte"):
        TypeAdapter(GivenPath).validate_python("a\0b")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user for a moment")
def test_a_folder_that_may_not_be_looked_into_is_named(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    os.seteuid(65534)
    try:
        problem = why_no_path(str(closed / "x.txt"))
    finally:
        os.seteuid(0)
    assert problem == "Permission denied"


def test_what_the_system_refuses_later_is_named_by_its_key_too(tmp_path: Path) -> None:
    full = tmp_path / "outputs"
    with (
        pytest.raises(ConfigError, match=f"^output_dir={full}: Permission denied .*; give another path$"),
        path_errors_by_key({"output_dir": str(full), "seed": "0", "label": ""}),
    ):
        raise OSError(13, "Permission denied", str(full / "contextcliff" / "run"))
    with (
        pytest.raises(RunError, match="^/elsewhere/file: Permission denied$"),
        path_errors_by_key({"output_dir": str(full), "seed": "0", "label": ""}),
    ):
        raise OSError(13, "Permission denied", "/elsewhere/file")


def test_every_shipped_key_that_names_a_path_is_in_this_file() -> None:
    """Another one would have to be a `GivenPath`, or be a traceback."""
    known = {named.partition(" ")[0].rpartition(".")[2] for named in KEYS} - {"name", "baseline", "candidates"}
    named = {
        key
        for file in conf_dir().glob("**/*.yaml")
        for key in OmegaConf.load(file)
        if str(key).endswith(("path", "paths", "dir", "list", "artifacts", "questions"))
    }
    assert named == known


@pytest.mark.parametrize("argument", ["dataset.path=caf\udce9.txt", 'dataset.path="caf\udce9.txt"'])
def test_a_name_that_is_not_utf_8_is_refused_with_the_way_out(argument: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_overrides([argument])
    assert str(raised.value) == f"{argument}: is not UTF-8; rename the file or folder"
