"""A run's folder may be anybody's: an analysis takes task, sampling and analysis from it, as plain values."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

from contextcliff.command_line import compose
from contextcliff.command_line.compose import analysis_of, recompose, run_again
from contextcliff.command_line.overrides import parse_overrides
from contextcliff.errors import ConfigError
from tests.commands import QUIET, SIMULATED, contextcliff
from tests.execution.test_store import edited

RUN = (*SIMULATED, "dataset=synthetic", "task.lengths=[512,1024]", "task.trials=1")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    ended = contextcliff(*RUN, "kv_policy=none,q8_0", "sampling.max_tokens=24", "analysis.threshold=0.7", cwd=folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    return folder


@pytest.fixture(scope="module", autouse=True)
def _composed_once() -> Iterator[None]:
    """Let what is taken of a folder be held to options that are composed once: nothing here changes them."""
    with pytest.MonkeyPatch.context() as patch:
        once = cache(recompose)
        patch.setattr(compose, "recompose", lambda overrides: once(tuple(overrides)))
        yield


@pytest.fixture
def sent(made: Path, tmp_path: Path) -> Path:
    """The folder of a run as somebody else sends it, in an output folder with its store."""
    shutil.copytree(made, tmp_path / "work")
    (file,) = (tmp_path / "work").glob("outputs/contextcliff/*-none-*/report.json")
    return file.parent


def forge(folder: Path, **configuration: str) -> None:
    """Let both files of a run say that it was configured so."""
    keys = {key.replace("__", "."): value for key, value in configuration.items()}
    report, manifest = folder / "report.json", folder / "manifest.json"
    content = json.loads(report.read_text("utf-8"))
    content["command"] += "".join(f" '{key}={value}'" for key, value in keys.items())
    report.write_text(json.dumps(content), "utf-8")
    content = json.loads(manifest.read_text("utf-8"))
    content["configuration"] |= keys
    manifest.write_text(json.dumps(content), "utf-8")


def taken(folder: Path, *typed: str) -> Sequence[str]:
    """The command line that analysing this folder comes to."""
    lines = ["action=analyze", f"run={folder}", *typed]
    found = run_again(parse_overrides(lines))
    assert found is not None
    return found


def test_what_was_asked_and_how_it_was_judged_is_taken(sent: Path) -> None:
    found = set(taken(sent))
    asked = {"task=niah", "task.lengths=[512,1024]", "task.trials='1'", "sampling=greedy", "sampling.max_tokens=24"}
    assert asked | {"analysis=default", "analysis.threshold=0.7"} <= found
    assert {each.partition("=")[0] for each in found} - {"action", "run", "hydra.mode"} == {
        *(each.partition("=")[0] for each in asked),
        *("analysis", "analysis.threshold"),
        *("output_dir", "tracking.experiment"),  # of the place where the folder lies
    }


def test_an_option_that_is_typed_takes_the_place_of_the_recorded_keys_of_its_group(sent: Path) -> None:
    found = taken(sent, "analysis=default", "analysis.confidence=0.9")
    assert [each for each in found if each.startswith("analysis.")] == ["analysis.confidence=0.9"]


HOSTILE = {
    "tracking": "mlflow",
    "tracking.uri": "http://127.0.0.1:9",
    "output_dir": "/elsewhere",
    "engine": "llama_server",
    "engine.command": "touch /tmp/made",
    "engine.base_url": "http://127.0.0.1:9",
    "model.gguf.package": "evil.x",
    "model.gguf.path": "/etc/passwd",
    "tokenizer.name": "/etc",
    "judge": "llm",
    "judge.engine.base_url": "http://127.0.0.1:9",
    "embedding.base_url": "http://127.0.0.1:9",
    "dataset.path": "/etc/passwd",
    "task.like": "/etc",
    "task._target_": "subprocess.Popen",
    "task.needle._target_": "subprocess.Popen",
    "task.unknown": "1",
    "reporting.published": "['/etc/passwd']",
    "hydra.job.env_set.PATH": "/evil",
    "experiment": "kv_quantization",
}


def test_nothing_else_is_taken(sent: Path) -> None:
    before = taken(sent)
    forge(sent, **HOSTILE)
    assert taken(sent) == before


@pytest.mark.parametrize(
    "value",
    ["${oc.env:SECRET}", "${oc.${label}:SECRET}", "$'{", "a ${task.key} b", r"['$\x7boc.env:SECRET}']", "[{'a': 1}]"],
)
def test_a_value_that_is_no_plain_one_is_refused_until_another_is_typed(sent: Path, value: str) -> None:
    key = "task.lengths" if value.startswith("[") else "task.instruction"
    forge(sent, **{key: value})
    if value == "$'{":  # a text like any other
        assert rf"{key}='$\'{{'" in taken(sent)
        return
    with pytest.raises(
        ConfigError, match=rf"^run={sent}: {key}=.* is not taken from a run's folder, for it is no plain"
    ):
        taken(sent)
    assert f"{key}=[512]" in taken(sent, f"{key}=[512]")


def test_an_option_is_one_of_ours(sent: Path) -> None:
    for option in ("../tracking/mlflow", "niah,qa", "choice(niah,qa)", "*", "${oc.env:HOME}", "/etc/x", "N\nx"):
        forge(sent, task=option)
        with pytest.raises(ConfigError, match=rf"^run={sent}: task=.*: no such option here; give the --config-dir"):
            taken(sent)


TEXTS = ["plain", r"back\slash", "end\\", "it's", r"\'", "a,b", "[a", "1", "null", "Ω\n- x", "x=y"]


def test_a_text_is_taken_as_it_stands(sent: Path) -> None:
    for text in TEXTS:
        forge(sent, **{"task.instruction": text})
        (line,) = (each for each in taken(sent) if each.startswith("task.instruction="))
        (override,) = parse_overrides([line])
        assert override.value() == text


def test_the_rule_of_a_baseline_of_somebody_else_is_held_to_the_same(sent: Path) -> None:
    again = analysis_of(sent, {"analysis.threshold": "0.9", "engine.command": "touch x", "tracking.uri": "http://h"})
    assert again.analysis.threshold == 0.9
    assert not [each for each in again.overrides if each.startswith(("engine", "tracking"))]


@pytest.mark.slow
@pytest.mark.parametrize("run_id", ["../../elsewhere", "..", ""])
def test_no_report_is_written_where_a_runs_id_leads(sent: Path, run_id: str) -> None:
    tables = ("runs", "run_samples", "run_documents", "faults")
    renaming = (f"UPDATE {table} SET run_id = '{run_id}' WHERE run_id = '{sent.name}'" for table in tables)
    edited(sent.parents[1] / "state.db", *renaming)
    content = json.loads((sent / "report.json").read_text("utf-8"))
    (sent / "report.json").write_text(json.dumps({**content, "run_id": run_id}), "utf-8")
    ended = contextcliff("action=analyze", f"run={sent}", *QUIET, cwd=sent.parents[2])
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert ended.stderr.endswith(f": is of a run called {run_id}, which names no folder\n")
    assert not (sent.parents[2] / "elsewhere").exists()


@pytest.mark.parametrize("package", ["evil.x", "evil", "evil/x", "../evil", "evil:x", ""])
def test_to_look_for_weights_imports_nothing(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from contextcliff.models.weights import Gguf

    (tmp_path / "evil.py").write_text("raise AssertionError('executed')", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=f"^model.gguf.package={package}: "):
        Gguf(package=package).fetch()
    assert "evil" not in sys.modules


@pytest.mark.slow
def test_what_answers_were_scored_by_has_to_be_given_again(sent: Path) -> None:
    forge(sent, judge="llm")
    ended = contextcliff("action=analyze", f"run={sent}", *QUIET, cwd=sent.parents[2])
    assert ended.returncode == 2
    assert ended.stderr.endswith(
        "was scored with judge=llm, which is not taken from a run's folder; give it again, or go without it: "
        "judge=none\n"
    )
    assert contextcliff("action=analyze", f"run={sent}", "judge=none", *QUIET, cwd=sent.parents[2]).returncode == 0
