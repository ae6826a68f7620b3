"""Command lines that nobody means: each is refused in one line that begins with what was typed, before a job begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextcliff.command_line.overrides import options_of, parse_overrides
from contextcliff.errors import ConfigError, visible
from tests.commands import contextcliff, refused
from tests.compositions import line_of

LONG = "x" * 4000
SIMULATED = "engine=simulated"
OF_HYDRA = (
    *("hydra=null", "hydra={a: 1}", "~hydra", "+hydra=1", "+hydra.x=1", "++hydra.x=1", "hydra@x=1"),
    *("hydra.output_subdir=/etc", "hydra.job.name=/etc/x", "hydra.job.chdir=true", "hydra.job.num=7", "~hydra.job"),
    *("hydra.run=null", "hydra.sweep={a: 1}", "hydra.launcher=null", "hydra.sweeper=5", "hydra.job.env_set=null"),
    *("hydra.callbacks=null", "~hydra.callbacks", "hydra.callbacks.sweep._target_=os.system", "hydra.runtime.cwd=/"),
    *("hydra/launcher=null", "hydra/launcher=[joblib]", "hydra/launcher=../x", "hydra/launcher=/etc/passwd"),
    *("hydra/launcher=''", "hydra/launcher=${x}", "hydra/launcher=joblib,basic", "~hydra/launcher", "hydra/nope=x"),
    *("hydra/sweeper=null", "hydra/help=null", "hydra/output=default"),
)
"""What is Hydra's own."""
OF_GROUPS = (
    *("sampling=5", "engine=5", "engine=true", "model=[a,b]", "task={a: 1}", "task=''", "dataset=null", "tracking=1.5"),
    *("model=../config", "model=/etc/passwd", "model=a/b", "engine@judge.engine=null", "model@judge.model=5"),
    f"model={LONG}",
)
OF_SWEEPS = (
    *("seed=range(0,1000000000)", "seed=range(0,1000000000,0.001)", "seed=shuffle(range(0,1000000000))"),
    *("seed=sort(range(0,1000000000))", "model=range(0,1000000000)", "seed=range(0,10,0)", "task.lengths=range(3)"),
    *("seed=glob(*)", "task.trials=glob(*)", "hydra.launcher.n_jobs=glob(*)"),
)
OF_TEXTS = (
    *("=", "+", "~", "@", "/", "/=1", ".=1", "*=1", "a b=1", "a=b c", "task.*=1", "label=a\nb", "label=[["),
    *("label=\udcff", "\udc80=1", "dataset.path=caf\udce9.txt", f"task.{LONG}=1", "seed=interval(0,1)", "label=${"),
    *("label=${oc.decode:'{'}", "label=\\"),
)


@pytest.mark.parametrize("override", [*OF_HYDRA, *OF_GROUPS, *OF_SWEEPS, *OF_TEXTS], ids=lambda each: ascii(each[:40]))
def test_an_override_that_nobody_means_is_refused_by_its_key(override: str) -> None:
    line = line_of(override)
    assert line.splitlines() == [line]
    assert line.lstrip("+~").startswith(visible(override.lstrip("+~").partition("=")[0][:30]))
    assert len(line) < 1000


KEYS = {
    "budget=1e3": "budget",
    "reporting=false": "reporting",
    "label=${oc.env:NOT_SET_ANYWHERE}": "label",
    "label=${oc.decode:'${'}": "label",
    "label=${label}": "label",
    "seed=${seed}": "seed",
    "+a=${a}": "a",
    "task.lengths=${task.lengths}": "task.lengths",
    "+label=1": "+label",
    "~nope": "~nope",
    "nope.x=1": "nope.x",
    "hydra.mode=5": "hydra.mode",
    "hydra.searchpath=null": "hydra.searchpath",
    "hydra.launcher.nope=1": "hydra.launcher.nope",
    "action@a.b=nope": "action@a.b",
}


@pytest.mark.parametrize(("override", "key"), KEYS.items(), ids=lambda each: each[:40])
def test_what_cannot_be_composed_or_built_is_refused_by_its_key(override: str, key: str) -> None:
    assert line_of(SIMULATED, override).startswith(key)


def test_an_option_that_there_is_not_is_answered_with_all_that_there_are() -> None:
    assert line_of("task=nope").endswith(f"the options are: {', '.join(options_of('task'))}")


def test_a_sweep_has_as_many_jobs_as_its_keys_together() -> None:
    assert len(parse_overrides(["seed=range(100)", "task.trials=range(1,101)"])) == 2
    with pytest.raises(ConfigError) as told:
        parse_overrides(["seed=range(100)", "task.trials=range(1,102)"])
    assert str(told.value) == (
        "task.trials=range(1,102): makes 10,100 jobs; a sweep has at most 10,000: give fewer values"
    )


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (("--config-dir", __file__), "--config-dir"),
        (("--config-dir", "/nowhere"), "--config-dir /nowhere: is no folder"),
        (("--experimental-rerun", "/etc/passwd"), "--experimental-rerun"),
        (("hydra.run.dir=/proc/x", SIMULATED), "hydra.run.dir"),
        (("hydra.sweep.dir=/proc/x", "seed=1,2", SIMULATED), "hydra.sweep.dir"),
        (("hydra.verbose=5", SIMULATED), "hydra.verbose"),
        (("++dataset.paths.zzz=1", SIMULATED), "++dataset.paths.zzz"),
        (("model=${x}", SIMULATED), "model"),
        (("experiment=needle_family", "+hydra.sweeper.params.seed='range(0,1000000000)'", SIMULATED), "seed"),
        (("action=analyze", f"run={LONG}"), "run"),
    ],
)
def test_what_only_the_whole_command_finds_is_one_line_too(
    tmp_path: Path, arguments: tuple[str, ...], key: str
) -> None:
    assert refused(tmp_path, *arguments).startswith(key)
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_over_a_glob_has_a_leaderboard(tmp_path: Path) -> None:
    small = (SIMULATED, "tracking=none", "reporting.console=none", "reporting.figures=false", "reporting.html=false")
    asked = ("kv_policy=glob(q4_*)", "task=repeat,niah", "task.lengths=[128]", "++task.trials=1")
    assert contextcliff(*asked, *small, "reporting.progress=false", cwd=tmp_path).stderr == ""
    assert len(list(tmp_path.rglob("leaderboard.json"))) == 1
