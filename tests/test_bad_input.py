"""A wrong configuration is one line on stderr that names the key, with exit code 2, and leaves nothing behind.

Values that no number, word or path can be, and paths that are too long, are in `test_hostile_values`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from contextcliff.command_line.sweep_jobs import path_errors_by_key
from contextcliff.errors import ConfigError, RunError
from contextcliff.settings import GivenPath
from tests.commands import contextcliff
from tests.compositions import line_of

SIMULATED, TRACING, STATIC = "engine=simulated", "task=tracing", "task=niah_static"
CALIBRATION = "experiment=calibration"
TWO_TASKS = "task=niah,continuation"
OWN_NEEDLE = "task.needle.text='The spare key is in Paris.'"

NAMED: tuple[tuple[str, ...], ...] = (
    ("task.neddle=1",), ("task.needle.txt=x",), ("modle=qwen",), ("model=qwne",), ("hydra/sweeper=nowhere",),
    ("hydra/launcher=slurm",), ("task.max_trials=0",), ("task.trials=100000",), ("budget=1e3",), ("engine=5",),
    ("sampling=5",), ("task.needle.text=hello",), ("task.needle.question='Which number?'",),
    ("dataset.story=moby",), ("dataset.path=/nowhere.txt",), ("model.gguf.path=/nowhere.gguf",),
    ("model.gguf.path=/etc/passwd",), ("output_dir=/etc/passwd/out",), ("label='a b'",), ("tracking.experiment=../x",),
    ("task.trials",), ("task.trials =2",), ("task.trials==2",), ("=2",), ("plan",), ("help",), ("2",),
    ("label=é",), ("task.needle.keywords=[銅,水差し]",), ("dataset.path=a=b.txt",), ("task.lengths=[512,",),
    ("task.needle.text=“The {city} number is {number}.”",), ("model=qwen,",), ("task.lengths=512,1024",),
    ("task.lengths=(512,1024)",), ("task.lengths=[512,512]",), ("task.lengths=[9000]",), ("model=null",), ("model=",),
    ("model=[qwen,glm]",), ("~model",), ("+model=qwen",), ("+task.trials=2",), ("~task.nope",), ("task.rounds=2",),
    ("label=${nope}",), ("label=${oc.env:CONTEXTCLIFF_NOT_SET}",), ("label=${nope:1}",), ("model.name=???",),
    ("kv_policy.budget=0.2",), ("reporting.live=true",), ("reporting.console=all",), ("engine.base_url=http://127.0.0.1:9",),
    ("judge.model.name=gpt-5",), ("task.judge.right_from=5",), ("engine@task.judge.engine=vllm",),
    ("engine._target_=builtins.dict",), ("engine._target_=contextcliff.models.model.Model",), ("tracking._target_=..",),
    ("task._target_=contextcliff.tasks.grid.DesignedLengths",),
    (SIMULATED, "analysis.threshold=1.0"), (SIMULATED, "analysis.threshold=0"), (STATIC, "task.needle.answer=''"),
    ("task=niah_static_ja", "task.needle.keywords=[]"), (TWO_TASKS, "task.trials=2"), (TWO_TASKS, "+task.trials=2"),
    ("task=niah,continuation,qa,tracing", "task.trials=2"), (TWO_TASKS, "task.trils=2"),
    ("task=niah", "task=qa", "task.trials=2"), ("action=compare", "action.runs=[a,b]"),
    ("task=niah_multi", "task.needle.value=emoji"), ("task=niah_multi", "task.count=400"),
    ("task=niah_multikey", "task.layout=isolated", "task.distractors=107"), ("task=niah_multikey", "task.layout=dense"),
    ("task=niah_semantic", "task.distractors=6"), ("task=niah_multi_static", "task.question='What of {cities}?'"),
    (TRACING, "task.names_question='Which?'"), (TRACING, "task.hops=8", "task.distances=[0.2]"),
    (TRACING, "task.distances=[0.1,0.2,0.3]", "task.haystacks=2"), ("task=aggregation", "task.template=hello"),
    ("task=ruler_cwe", "task.common_count=3"), ("task=ruler_cwe", "task.short_common_count=1"),
    ("task=ruler_fwe", "task.alpha=1.0"), (SIMULATED, "task=repeat", "task.lengths=[60]"),
    ("task=continuation", "task.rounds=100000000"), ("task=qa", "task.metric=judge"), ("task=qa", "task.metric=bleu"),
    ("action=plan", "run=stored"), ("action=compare", "run=stored"), ("run=stored",),
    ("action=compare", "action.name=../up"), ("action=compare", "action.margin=5"),
    ("action=compare", "action.gate_on_unknown=true"), (CALIBRATION, SIMULATED, "action.laws=[clif]"),
    (CALIBRATION, SIMULATED, "action.lengths=[512,1024,2048]"),
    (CALIBRATION, SIMULATED, "action.lengths=[512,1024,4096,2048]"), (CALIBRATION, SIMULATED, "analysis.threshold=1.0"),
    (SIMULATED, "task.like=niah-nobody"), (SIMULATED, "task.like=first"), (SIMULATED, "task.like=''"),
    (SIMULATED, "task=qa", "task.pilot=2", "task.like=a-run"),
)  # fmt: skip
"""Overrides; the line names the key of the last one."""
ELSEWHERE: tuple[tuple[str, ...], ...] = (
    ("task.zzzz", "+task.zzzz=1"), ("sed", "+sed=1"), ("task.lengths[1]", "task.lengths=[512,${nope.x}]"),
    ("task.trils", TWO_TASKS, "++task.trils=2"), ("task.hopps", "experiment=needle_family", "++task.hopps=2"),
    ("task.rounds", "task=niah", "++task.rounds=2"),
    ("task.length_grid.max and task.length_grid.count", "task.length_grid.min=512"),
    ("task.length_grid.count", "task.length_grid={min:256,max:2048,count:1000000000}"),
    ("task.depth_grid.min", "task.depth_grid={min:0.9,max:0.1,count:3}"),
    ("task.length_fractions[1]", "task.length_fractions=[0.5,1.5]"), ("task.depths[0]", "task.depths=[1.4]"),
    ("task.needle.keywords[1]", STATIC, "task.needle.match=keywords", 'task.needle.keywords=[herring," "]'),
    ("task.needle.answer", STATIC, OWN_NEEDLE, "task.needle.question='Where is it?'"),
    ("task.needle.keywords[0]", "task=niah_static_ja", OWN_NEEDLE),
    ("task.needles[1].answer", "task=niah_multi_static",
     "task.needles=[{text: 'A fig.', answer: fig}, {text: 'A plum.', answer: pear}]"),
    ("task.needles[0].answer", "task=niah_multi_static", "task.needles=[{text: 'A fig.', answer: ' '}]"),
    ("task.needle", STATIC, "task.needle.answer=harbour", "task.needle.text='The key is in the harbour.'", SIMULATED),
    ("task.lengths", "task=niah_multi", "task.count=40", "task.lengths=[256]", SIMULATED, "task.reserve_tokens=0"),
    ("task.lengths", "task=ruler_vt", "task.chains=20", "task.lengths=[512]", SIMULATED),
    ("judge.model.gguf.path", "judge=llm", "engine@judge.engine=llamacpp", "judge.model.gguf.path=/nope.gguf"),
    ("judge", "task=continuation", "judge=llm"), ("embedding", "task=niah", "embedding=openai"),
    ("task/judge", "task/judge=llm"), ("task/embedding", "task/embedding=openai"),
    ("judge.model.rope.scale", "task=qa", "judge=llm", "judge.model.rope.scale=2"),
    ("model.extra_body.x._target_", "++model.extra_body.x._target_=os.system"),
)  # fmt: skip
"""The key that the line names, and the overrides."""
WHOLE = ("task.lengths=[512,", "task.neddle=1", "task.trials=0", "task.lengths=[9000]", "model.context_window=null")
"""One for each place at which a command may be refused."""


@pytest.mark.parametrize(
    ("key", "overrides"),
    [*((each[-1].partition("=")[0] or "=2", each) for each in NAMED), *((key, rest) for key, *rest in ELSEWHERE)],
)
def test_one_line_names_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, overrides: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert line_of(*overrides).startswith((f"{key}:", f"{key}="))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("override", WHOLE)
def test_the_line_is_all_that_a_command_says_and_leaves(tmp_path: Path, override: str) -> None:
    done = contextcliff(override, cwd=tmp_path)
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: {override.partition('=')[0]}")
    assert (done.returncode, done.stdout, list(tmp_path.iterdir())) == (2, "", [])


def test_the_full_traceback_comes_when_it_is_asked_for(tmp_path: Path) -> None:
    done = contextcliff("task.trials=0", cwd=tmp_path, env={"HYDRA_FULL_ERROR": "1"})
    assert "Traceback" in done.stderr
    assert "ConfigError: task.trials=0: must be" in done.stderr


def test_a_sweep_whose_last_option_does_not_exist_starts_no_job(tmp_path: Path) -> None:
    done = contextcliff("engine=simulated", "model=qwen,foo", cwd=tmp_path)
    assert done.stderr.startswith("error: model=foo: no such option;")
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])


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
