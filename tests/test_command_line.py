"""What `python -m contextcliff` says and loads before anything runs: flags, completion, launchers that are missing, and
`++KEY=VALUE` in a sweep over options with different keys."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from unittest import mock

import pytest
from omegaconf import OmegaConf

import contextcliff as package
from contextcliff.command_line.jobs import JobFailed
from contextcliff.command_line.keys import ANY_KEYS, help_text
from contextcliff.composing import conf_dir
from contextcliff.errors import ConfigError
from tests.commands import SIMULATED, contextcliff, contextcliff_process, python, reports
from tests.compositions import composed, jobs_of, line_of

HEAVY = "mlflow jinja2 matplotlib openai xllamacpp pandas scipy numpy statsmodels transformers".split()


def loaded_by(folder: Path, *arguments: str) -> set[str]:
    """The modules that a command has loaded in the end."""
    code = (
        "import sys\ntry:\n    from contextcliff.__main__ import main; main()\nfinally:\n    print('\\n', *sys.modules)"
    )
    return {*python("-c", code, *arguments, cwd=folder).stdout.splitlines()[-1].split()}


def test_help_has_two_screens_and_loads_nothing_heavy(tmp_path: Path) -> None:
    done = contextcliff_process("--help", cwd=tmp_path)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert "how many tokens can a language model really be given?" in lines[0]
    assert len(lines) < 2 * 24
    assert max(map(len, lines)) <= 80
    for told in ("kv_policy  bf16, expected_attention", "llama_server, [llamacpp], lmstudio", "budget,\nreporting."):
        assert told in done.stdout
    loaded = loaded_by(tmp_path, "--help")
    assert "hydra" in loaded
    assert loaded.isdisjoint({*HEAVY, "pydantic"})


TOLD = {
    "task": (
        "  repeat                 Copy a long numbered list,",
        "trials: auto                 # one sample after the",
    ),
    "task.trials=8": ("trials: auto",),
    "model=qwen3_4b": ("model=qwen3_4b has these keys, as model.KEY=VALUE:\n\n# Qwen3, 4 billion", "  repo: Qwen/"),
    "dataset": (
        "story: the_tide_clerk        # the built-in text",
        "  control_tokens: spell      # of the model's own",
    ),
    "experiment=quick": ("#   python -m contextcliff experiment=quick\n", "  lengths: [256, 512, 1024]\n"),
    "reporting": ("  dpi: 150                   # of the figures",),
    "seed": ("seed: 0                      # of everything that is drawn",),
}


@pytest.mark.parametrize("name", TOLD)
def test_help_on_a_group_an_option_or_a_key_is_what_its_file_says(name: str) -> None:
    for told in TOLD[name]:
        assert told in help_text([name])


def test_no_option_is_explained_in_lines_that_a_terminal_would_break() -> None:
    names = [
        f"{file.parent.name}={file.stem}" for file in conf_dir().glob("*/*.yaml") if file.parent.name != "published"
    ]
    assert [line for line in help_text(names).splitlines() if len(line) > 80 and " " in line.strip()] == []


def test_help_on_what_there_is_not_is_an_error() -> None:
    with pytest.raises(ConfigError, match="--help modle: no such group or key; did you mean model?"):
        help_text(["modle"])
    with pytest.raises(ConfigError, match="--help task=nia: no such option; did you mean niah?"):
        help_text(["task=nia"])


def test_on_a_terminal_a_command_says_at_once_that_it_loads_and_the_next_line_takes_its_place(tmp_path: Path) -> None:
    with mock.patch("os.isatty", return_value=True):
        said = contextcliff("model=nope", cwd=tmp_path).stderr
        helped = contextcliff("--help", cwd=tmp_path)
    assert re.fullmatch(r"loading …[\r\n]error: model=nope: .+\n {9}[\r\n]", said)  # read as lines
    assert helped.stderr == ""


@pytest.mark.slow
def test_a_user_without_a_home_and_a_name_runs_and_tracks(tmp_path: Path) -> None:
    code = "import pwd; pwd.getpwuid = {}.__getitem__; from contextcliff.__main__ import main; main()"
    small = ("engine=simulated", "reporting.console=none", "task.lengths=[512]", "task.trials=1", "task.depths=[0.5]")
    env = {key: value for key, value in os.environ.items() if key != "HOME" and not key.startswith("XDG_")}
    done = subprocess.run(
        [sys.executable, "-c", code, *small],
        capture_output=True, text=True, check=False, cwd=tmp_path, env={**env, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    (home,) = tmp_path.glob("contextcliff-*/.cache/..")
    assert done.returncode == 0
    assert f"warning: HOME is not set: caches go to {home.resolve()}; set HOME=FOLDER to keep them\n" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "mlruns").is_dir()
    assert (home / ".cache" / "contextcliff").is_dir()
    assert not (tmp_path / "~").exists()


A_RUN = (*SIMULATED, "reporting.figures=false", "reporting.html=false")
LOADED = {
    ("task.trials=0",): ({"pydantic"}, {*HEAVY}),
    A_RUN: ({"scipy"}, {*HEAVY} - {"scipy", "numpy", "jinja2", "transformers"} | {"scipy.stats"}),
}


@pytest.mark.parametrize("asked", LOADED, ids=["a refused one", "a run without figures and tracking"])
def test_a_command_loads_nothing_heavy_that_it_does_not_need(tmp_path: Path, asked: tuple[str, ...]) -> None:
    loaded = loaded_by(tmp_path, *asked)
    needed, heavy = LOADED[asked]
    assert needed <= loaded
    assert loaded.isdisjoint(heavy)


def test_the_engine_can_come_from_the_environment(tmp_path: Path) -> None:
    done = contextcliff(*SIMULATED[1:], cwd=tmp_path, env={"CONTEXTCLIFF_ENGINE": "simulated"})
    assert done.returncode == 0
    assert reports(tmp_path)[0]["engine"] == "simulated"


@pytest.mark.slow
def test_a_reader_that_goes_away_ends_the_command_in_one_line_and_its_answers_are_kept(tmp_path: Path) -> None:
    quiet = ("reporting.progress=false", "reporting.figures=false")
    with subprocess.Popen(
        [sys.executable, "-m", "contextcliff", "engine=simulated", "tracking=none", "task.trials=2", *quiet],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait(timeout=120) == 1
    assert said == "error: the reader of the output went away; what was answered is kept, the same command goes on\n"
    (report,) = reports(tmp_path)
    assert report["counts"]["completed"] == report["counts"]["planned"]


# As in an environment where no plugin of Hydra is installed.
_WITHOUT_PLUGINS = """
import sys, types
sys.modules["hydra_plugins"] = plugins = types.ModuleType("hydra_plugins")
plugins.__path__ = []
from contextcliff.__main__ import main
main()
"""
EXTRAS = {"ray": "ray", "ray_aws": "ray", "submitit_local": "slurm", "submitit_slurm": "slurm"}


@pytest.mark.slow
@pytest.mark.parametrize(("launcher", "extra"), EXTRAS.items())
def test_a_launcher_that_is_not_installed_names_its_extra(tmp_path: Path, launcher: str, extra: str) -> None:
    done = python("-c", _WITHOUT_PLUGINS, f"hydra/launcher={launcher}", "seed=1,2", cwd=tmp_path)
    assert done.stderr == (
        f"error: hydra/launcher={launcher}: not installed; run pip install 'contextcliff[{extra}]'\n"
    )
    assert (done.stdout, done.returncode) == ("", 2)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("srun") is not None, reason="a Slurm cluster is here")
def test_a_launcher_that_finds_no_cluster_says_so_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher")
    done = contextcliff_process("engine=simulated", "hydra/launcher=submitit_slurm", "seed=1,2", cwd=tmp_path)
    assert done.stderr == (
        'error: hydra/launcher=submitit_slurm: Could not detect "srun", are you indeed on a slurm cluster?; '
        "HYDRA_FULL_ERROR=1 shows where\n"
    )
    assert (done.stdout, done.returncode) == ("", 1)


def test_a_failure_of_another_process_brings_its_line_home() -> None:
    """Joblib and submitit hand exceptions over pickled; a job on a cluster writes its stderr elsewhere."""
    failed = pickle.loads(pickle.dumps(JobFailed(2, "task.trials=0: must be greater than 0")))
    assert (failed.code, failed.unseen_message) == (2, "task.trials=0: must be greater than 0")


NONE = "unknown flag; keys have no dashes: write KEY=VALUE (see --help)"
NO_FLAG = {
    ("--model", "qwen"): f"--model: {NONE}",
    ("--model=qwen", "seed=1"): f"--model: {NONE}",
    ("seed=1", "-x"): f"-x: {NONE}",
    ("--helpp",): f"--helpp: {NONE}",
    ("--conf", "x"): "ambiguous option: --conf could match --config-path, --config-name, --config-dir; see --help",
    ("--cfg",): "--cfg/-c: expected one argument; see --help",
    ("--cfg", "nope"): "--cfg/-c: invalid choice: nope (choose from job, hydra, all); see --help",
    ("--multirun", "--cfg", "job"): "--multirun and --cfg: exclude each other; give one of them",
    ("--resolve",): "--resolve: works only with --cfg job; write --cfg job --resolve",
    ("--package", "task"): "--package: works only with --cfg job; write --cfg job --package",
}


@pytest.mark.parametrize(("arguments", "line"), NO_FLAG.items(), ids=map(" ".join, NO_FLAG))
def test_a_flag_that_is_none_is_one_line(arguments: tuple[str, ...], line: str) -> None:
    assert line_of(*arguments).replace("'", "") == line  # Python 3.12 puts none round choices


def test_a_flag_that_shows_one_job_is_refused_in_a_sweep(tmp_path: Path) -> None:
    done = contextcliff("--cfg", "job", "task=niah,qa", cwd=tmp_path)
    assert (done.stdout, done.returncode) == ("", 2)
    assert done.stderr == "error: --cfg: shows one job; give each key one value\n"


def test_the_version_is_ours_with_hydras_beside_it(tmp_path: Path) -> None:
    done = contextcliff("--vers", cwd=tmp_path)
    hydra = metadata.version("hydra-core")
    assert done.stdout == f"contextcliff {metadata.version('contextcliff')} (Hydra {hydra})\n"
    assert (done.stderr, done.returncode) == ("", 0)


SHOWN = {
    ("--hydra-help",): "Hydra",
    ("--cfg", "job", "--resolve", "-p", "task"): "trials: auto",
    ("task=qa", "--cfg", "job", "task.repeats=7"): "repeats: 7",
    ("--info", "searchpath"): "Config search path",
    ("--shell-completion", "install=bash"): "complete",
}


@pytest.mark.parametrize(("arguments", "line"), SHOWN.items(), ids=map(" ".join, SHOWN))
def test_hydras_flags_show_what_they_show(tmp_path: Path, arguments: tuple[str, ...], line: str) -> None:
    done = contextcliff(*arguments, cwd=tmp_path)
    assert line in done.stdout
    assert (done.stderr, done.returncode) == ("", 0)


def test_a_package_that_is_not_there_is_a_wrong_configuration(tmp_path: Path) -> None:
    done = contextcliff("--cfg", "job", "--package", "nope", cwd=tmp_path)
    assert (done.stderr, done.returncode) == ("package 'nope' not found in config\n", 2)


@pytest.mark.parametrize("flag", ["--multirun", "-r"])
def test_a_run_takes_overrides_on_both_sides_of_a_flag(tmp_path: Path, flag: str) -> None:
    small = ("task.lengths=[256]", "task.depths=[0.5]", "task.trials=1")
    done = contextcliff(*SIMULATED, flag, *small, cwd=tmp_path)
    assert (done.stderr, done.returncode) == ("", 0)
    assert len(reports(tmp_path)) == 1


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("contextcliff experiment=qu", "experiment=quick"),
        ("contextcliff kv_policy=q8", "kv_policy=q8_0"),
        ("contextcliff task=niah,tracing task.max_tr", "task.max_trials="),
        ("contextcliff 'task.lengths=[1024,2048]' dataset=syn", "dataset=synthetic"),
        ("contextcliff ui tracking.exp", "tracking.experiment="),
        (".venv/bin/contextcliff action=pl", "action=plan"),
        ("contextcliff nonsense.", ""),
        ("contextcliff ui", ""),
        ("contextcliff a=[b task.max_tr", ""),
    ],
)
def test_a_line_is_completed_without_a_word_on_stderr(tmp_path: Path, line: str, offered: str) -> None:
    done = contextcliff("--shell-completion", "query=bash", cwd=tmp_path, env={"COMP_LINE": line})
    assert (done.stdout.strip(), done.stderr) == (offered, "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_takes_what_is_installed_and_leaves_the_completion_of_python_alone(tmp_path: Path) -> None:
    script = contextcliff_process("--shell-completion", "install=bash", cwd=tmp_path)
    assert (script.stderr, script.returncode) == ("", 0)
    shown = subprocess.run(
        ["bash", "--norc", "-c", f"{script.stdout}\ncomplete -p"], capture_output=True, text=True, check=True
    )
    assert shown.stdout == "complete -o default -o nospace -F hydra_bash_completion contextcliff\n"
    assert shown.stderr == ""


ROOT = Path(package.__file__).parent
SMALL = ("task=niah,continuation", "++task.lengths=[512]", "++task.max_tokens=64")


def test_a_key_is_set_in_the_jobs_that_have_it(tmp_path: Path) -> None:
    done = contextcliff(*SIMULATED, *SMALL, "++task.trials=1", "++task.rounds=2", cwd=tmp_path)
    assert done.returncode == 0
    assert sorted(done.stderr.splitlines()) == [
        "note: task.max_tokens: task=niah has no such key, and goes without it",
        "note: task.rounds: task=niah has no such key, and goes without it",
        "note: task.trials: task=continuation has no such key, and goes without it",
    ]
    found = [OmegaConf.load(file).task for file in tmp_path.rglob("config.yaml")]
    tasks = {task["_target_"].rpartition(".")[2]: task for task in found}
    assert (tasks["Niah"]["trials"], tasks["Continuation"]["rounds"]) == (1, 2)
    assert ("rounds" in tasks["Niah"], "trials" in tasks["Continuation"]) == (False, False)


SWEPT = """
# @package _global_
model: {extra_body: {top_a: 1}}
hydra:
  mode: MULTIRUN
  sweeper: {params: {model.extra_body.effort: "low,high"}}
"""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["model.extra_body={effort: low, more: {deep: true}}"], [{"effort": "low", "more": {"deep": True}}]),
        (["model.extra_body.effort=high,low"], [{"effort": "high"}, {"effort": "low"}]),
        (["model.extra_body={effort: low},{top_k: 2}"], [{"effort": "low"}, {"top_k": 2}]),
    ],
)
def test_a_mapping_of_any_keys_takes_them_without_a_plus(arguments: list[str], expected: list[object]) -> None:
    assert [composed(*job).model.extra_body for job in jobs_of(*arguments)] == expected


def test_an_experiment_may_sweep_over_such_a_key(tmp_path: Path) -> None:
    own = tmp_path / "own" / "experiment"
    own.mkdir(parents=True)
    (own / "efforts.yaml").write_text(SWEPT.lstrip())
    small = ("task.lengths=[512]", "task.trials=1", "task.depths=[0.5]", 'label="${digest:${model.extra_body}}"')
    done = contextcliff("--config-dir", "own", "experiment=efforts", *SIMULATED, *small, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    bodies = [OmegaConf.load(file).model.extra_body for file in tmp_path.glob("outputs/*/*/config.yaml")]
    assert sorted(bodies, key=str) == [{"effort": one, "top_a": 1} for one in ("high", "low")]


@pytest.mark.parametrize(
    "arguments",
    [
        ["model.template_arguments.k=true", "model.served.k=true", "kv_policy.press_arguments.k=true"],
        ["engine=openai", "engine.sampler_names.k=true", "engine.uncached_fields.k=true"],
        ["judge=llm", "judge.model.extra_body.k=true", "judge.engine.uncached_fields.k=true"],
    ],
)
def test_so_does_every_such_mapping(arguments: list[str]) -> None:
    (job,) = jobs_of(*arguments)
    for key in (one.partition("=")[0] for one in arguments if "true" in one):
        assert OmegaConf.select(composed(*job), key) is True


def test_the_mappings_of_the_settings_are_those_that_take_any_key() -> None:
    files = (file for group in ("engines", "kv", "models") for file in (ROOT / group).rglob("*.py"))
    sources = "".join(file.read_text("utf-8") for file in files)
    assert set(re.findall(r"(\w+): Mapping\[.*= Field\(default_factory=dict\)", sources)) == set(ANY_KEYS)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["model.extra_bdy.k=1"], "model.extra_bdy.k: unknown key; did you mean model.extra_body?"),
        (["model.price.inputs=1"], "model.price.inputs: unknown key; did you mean model.price.input?"),
        (["engine=llamacpp", "engine.uncached_fields.k=1"], "engine.uncached_fields.k: unknown key; see all keys"),
    ],
)
def test_other_keys_are_refused_as_before(arguments: list[str], said: str) -> None:
    assert line_of(*arguments).startswith(said)
