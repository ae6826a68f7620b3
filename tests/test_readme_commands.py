"""Every command of the README and of docs/recipes.md is one, fits its window, and runs as it stands; those of other
pages can be built. Every shipped experiment is in the README, runs as it is, and says what it lacks; RULER's end with a
mean."""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any, cast

import pytest
from omegaconf import OmegaConf

from contextcliff.analysis.task_means import TaskMeans, task_means
from contextcliff.command_line.keys import help_text
from contextcliff.composing import conf_dir
from contextcliff.reporting.leaderboard import means_cells, sentences, title
from tests.analysis.test_task_means import PERFECT, N, row
from tests.commands import DRAWN, QUIET, SIMULATED, contextcliff, reports
from tests.compositions import ON_THE_HUB, built, composed, jobs_of
from tests.kv.sliding_model import sliding_model

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/recipes.md")
SIMULATED_ENGINE = {"CONTEXTCLIFF_ENGINE": "simulated"}

NEEDS = {
    "contextcliff ui": "serves a page until Ctrl-C: tests/test_mlflow_page.py",
    "contextcliff model.gguf.path=~/models/my.gguf": "a model of one's own",
    "contextcliff engine=vllm engine.base_url=http://box:8000 model=served": "a server",
    "API_KEY=… contextcliff engine=openrouter model=deepseek dataset=synthetic": "a key",
    "contextcliff engine=openai model=gpt budget.usd=5": "a key",
    "contextcliff task=niah_static judge=llm judge.model.name=gpt-5": "a key",
    "contextcliff task=qa task.metric=judge judge=llm judge.model.name=gpt-5": "a key",
    "contextcliff dataset.path=book.txt": "a text of one's own",
    "contextcliff task=continuation dataset.path=novel.epub": "a text of one's own",
    "contextcliff task=continuation dataset.path=novel.txt kv_policy=none,q8_0,q4_0": "a text of one's own",
    "contextcliff task=qa dataset=jsonl dataset.path=mine.jsonl analysis.bins=10": "questions of one's own",
    "contextcliff task=qa action=plan dataset=documents dataset.path=reports/ dataset.questions=questions.jsonl": (
        "documents of one's own"
    ),
    "contextcliff --config-dir mine experiment=nightly model=ours": "options of one's own: test_shipped_configuration",
    "contextcliff action=analyze run=RUN_ID analysis.threshold=0.9": "the name of a run",
    "contextcliff action=compare action.baseline=RUN 'action.candidates=[RUN,FOLDER]'": "the names of runs",
    "contextcliff action=compare task=continuation action.baseline=RUN_ID 'action.candidates=[old.csv]'": (
        "the name of a run, and a file of Context-Tester"
    ),
    "contextcliff action=gather 'action.stores=[/mnt/a/outputs,/mnt/b/outputs]'": "the folders of other machines",
}
"""Commands that are composed and not run, with what each needs."""

A_RUN = (*QUIET, "reporting.html=false")
A_SWEEP = ("kv_policy=none,q8_0", "task.lengths=[512,1280]", "task.trials=4", *A_RUN)
AFTER = {
    "contextcliff action=analyze analysis.threshold=0.9": A_RUN,
    "contextcliff action=compare": A_SWEEP,
    "contextcliff action=compare action.gate=true": A_SWEEP,
    "contextcliff action=gather": A_RUN,
    "contextcliff task=qa action=analyze task.metric=em": ("task=qa",),
}
"""What has to be run before a command."""

ENDS_WITH = {
    "contextcliff action=compare action.gate=true": 3,  # the simulated model is worse under q8_0
    "contextcliff analysis.require_cap=32000": 3,
}


class Command(str):
    """A command line as a page shows it."""

    @property
    def arguments(self) -> list[str]:
        """What stands behind `contextcliff`, as a shell hands it over."""
        words = shlex.split(self)
        return words[words.index("contextcliff") + 1 :]


COMMAND = r"(?:[A-Z_]+=\S+ )*(?:(?:\.venv/bin/)?python -m )?contextcliff"


def commands_of(page: str) -> Iterator[str]:
    """The commands in the code blocks and in the inline code of a page, in one form, on a line each."""
    page = re.sub(r" \\\n +", " ", page)
    fenced = re.compile(r"^```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    prose = fenced.sub("", page)
    for block in (*fenced.findall(page), *re.findall(r"^ {4}(\S.*)$", prose, re.MULTILINE)):
        for found in re.findall(rf"^({COMMAND}(?: .*?)?)(?: +#.*)?$|\$\(({COMMAND} [^)]*)\)", block, re.MULTILINE):
            yield re.sub(r"(\.venv/bin/)?python -m ", "", "".join(found)).strip()
    for command in re.findall(rf"`({COMMAND} [^`]+)`", prose):
        yield re.sub(r"(\.venv/bin/)?python -m ", "", command).strip()


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def commands_on(*pages: str) -> list[Command]:
    return [Command(shown) for shown in dict.fromkeys(each for page in pages for each in commands_of(text_of(page)))]


COMMANDS = commands_on(*PAGES)
ELSEWHERE = {str(file.relative_to(ROOT)) for file in ROOT.glob("docs/**/*.md")} - {*PAGES}
ON_OTHER_PAGES = commands_on(
    *sorted(ELSEWHERE - {"docs/deploy.md", "docs/migrating.md"})
)  # which have tests of their own
PLACEHOLDERS = {"contextcliff experiment=NAME"}
"""The form of commands, in a sentence."""


def without_keys_of_other_jobs(job: list[str]) -> list[str]:
    """The job without the `++` keys that its task lacks, as a sweep runs it."""
    plain = [each for each in job if not each.startswith("++")]
    forced = {each: ".".join(each[2:].partition("=")[0].split(".")[:2]) for each in job if each.startswith("++")}
    config, missing = composed(*plain), object()
    known = [each for each, key in forced.items() if OmegaConf.select(config, key, default=missing) is not missing]
    return [*plain, *known]


def test_the_pages_show_commands_and_each_of_the_list_still_stands_there() -> None:
    shown = set(COMMANDS)
    assert len(shown) > 40
    assert {*NEEDS, *AFTER, *ENDS_WITH, *PLACEHOLDERS} - shown == set()
    assert {*NEEDS} & {*AFTER, *ENDS_WITH} == set()


def test_a_shell_takes_every_command_as_it_stands() -> None:
    """zsh takes a bracket without quotes for a pattern."""
    bare = {each: re.sub("'[^']*'|\"[^\"]*\"", "", each) for each in commands_on(*PAGES, *sorted(ELSEWHERE))}
    assert [command for command, left in bare.items() if {*left} & {*"[]{}*?"}] == []


COMPOSED = [
    command
    for command in dict.fromkeys([*COMMANDS, *ON_OTHER_PAGES])
    if command not in PLACEHOLDERS
    and command.arguments[:1] != ["ui"]
    and not {"--config-dir", "--shell-completion", "--help"} & {*command.arguments}
]


EXAMPLES = [Command(shown) for shown in re.findall(r"^  (contextcliff '?[a-z]\S+=\S+) ", help_text([]), re.MULTILINE)]


@pytest.mark.slow
@pytest.mark.parametrize("command", [*COMPOSED, *EXAMPLES], ids=str)
def test_every_key_option_value_and_length_is_right(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "~/models/my.gguf" in command:
        monkeypatch.setenv("HOME", str(tmp_path))
        (tmp_path / "models").mkdir()
        sliding_model(tmp_path / "models" / "my.gguf", window=512)
    for job in jobs_of(*command.arguments):
        invocation = built(*without_keys_of_other_jobs(job))
        window = invocation.window()
        if window is not None:  # else it is the server's
            task, budget = cast(Any, invocation.task), invocation.context_budget(window)
            assert 0 < task.longest_context(budget) < budget.context_window
            if hasattr(task, "lengths_in"):
                task.lengths_in(budget)


RUN = [command for command in COMMANDS if command not in {*NEEDS, *PLACEHOLDERS}]


@pytest.mark.slow
@pytest.mark.parametrize("command", RUN, ids=str)
def test_every_command_that_needs_nothing_runs_as_it_stands(tmp_path: Path, command: Command) -> None:
    if command in AFTER:
        done = contextcliff(*AFTER[command], cwd=tmp_path, env=SIMULATED_ENGINE)
        assert done.returncode == 0, done.stderr
    done = contextcliff(*command.arguments, cwd=tmp_path, env=SIMULATED_ENGINE, timeout_s=600)
    assert done.returncode == ENDS_WITH.get(command, 0), done.stderr


def test_a_folder_of_options_of_ones_own_is_read_by_the_command_that_is_shown(tmp_path: Path) -> None:
    (command,) = [command for command in COMMANDS if "--config-dir" in command]
    for name in ("experiment/nightly", "model/ours"):
        file = tmp_path / "mine" / f"{name}.yaml"
        file.parent.mkdir(parents=True)
        file.write_text("# @package _global_\nlabel: mine\n" if "exp" in name else "defaults: [smollm2]\n")
    done = contextcliff(*command.arguments, "--cfg", "job", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "label: mine" in done.stdout


EXPERIMENTS = sorted(file.stem for file in (conf_dir() / "experiment").glob("*.yaml"))


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_table_of_experiments_in_the_readme_has_it(experiment: str) -> None:
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Experiments\n")[2].partition("\n## ")[0]
    assert re.findall(rf"^\| `{experiment}` \|", table, flags=re.MULTILINE)


@pytest.mark.slow
# A calibration runs no model: it is tried below.
@pytest.mark.parametrize("experiment", [name for name in EXPERIMENTS if name != "calibration"])
def test_it_runs_on_a_simulated_model(tmp_path: Path, experiment: str) -> None:
    config = OmegaConf.load(conf_dir() / "experiment" / f"{experiment}.yaml")
    swept = {
        key: str(values).split(",")
        for key, values in OmegaConf.select(config, "hydra.sweeper.params", default={}).items()
    }
    tasks = [task for task in swept.get("task", []) if task not in ON_THE_HUB]
    here = [] if tasks == swept.get("task", []) else [f"task={','.join(tasks)}"]
    done = contextcliff(f"experiment={experiment}", *SIMULATED, *here, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(reports(tmp_path)) == prod(len(tasks) if key == "task" else len(values) for key, values in swept.items())


LENGTHS = [4_096, 8_192, 16_384, 32_768, 65_536, 131_072]


@pytest.mark.parametrize(
    ("experiment", "task", "trials"),
    [("ruler", "niah", 2), ("ruler", "aggregation", 20), ("ruler", "tracing", 4), ("ruler_quick", "niah", 2)],
)
def test_samples_at_a_length_are_alike_however_many_depths_a_task_has(experiment: str, task: str, trials: int) -> None:
    config = composed(f"experiment={experiment}", f"task={task}")
    assert list(config.task.lengths) == (LENGTHS if experiment == "ruler" else LENGTHS[::2])
    assert config.beyond_window == "fit"
    assert built(f"experiment={experiment}", f"task={task}").analysis.threshold == 0.856
    depths = len(config.task.get("depths") or [None])
    assert config.task.trials == trials
    assert 20 <= trials * depths < 20 + depths


@pytest.mark.slow
def test_a_sweep_of_several_tasks_ends_with_their_mean(tmp_path: Path) -> None:
    """The experiment's own sweep over tasks that are quick to build."""
    asked = ("task=tracing,aggregation", "task.lengths=[1024,2048,4096]", "model.context_window=4096")
    ended = contextcliff(
        "experiment=ruler", *asked, *SIMULATED, *DRAWN, "reporting.console=summary", "engine.cliff_tokens=3000",
        cwd=tmp_path,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, "")
    (folder,) = tmp_path.glob("outputs/*/sweeps/*/leaderboard")
    (means,) = json.loads((folder / "mean_over_tasks.json").read_text("utf-8"))["means"]
    assert means["tasks"] == ["tracing", "aggregation"]
    assert [point["asked_tokens"] for point in means["points"]] == [1_024, 2_048, 3_896]
    assert (means["effective_tokens"], means["cap_tokens"], means["threshold"]) == (2_048, 2_048, 0.856)
    rows = list(csv.DictReader((folder / "mean_over_tasks.csv").read_text("utf-8").splitlines()))
    assert [row["asked_tokens"] for row in rows] == ["1024", "2048", "3896"]
    assert (folder / "mean_over_tasks.png").stat().st_size > 1_000
    for text in (
        ended.stdout,
        (folder / "leaderboard.md").read_text("utf-8"),
        (folder / "leaderboard.html").read_text(),
    ):
        assert "Mean over 2 tasks: " in text
        assert "RULER" in text


def of(*right: dict[int, int]) -> TaskMeans:
    (means,) = task_means([row(job, f"t{job}", each) for job, each in enumerate(right)])
    return means


def test_what_is_said_of_a_mean() -> None:
    means = of(PERFECT, {4_096: N, 8_192: 20})
    assert title(means) == "Mean over 2 tasks: m, KV policy none"
    assert means_cells(means) == [
        ("4,096", "1.000", "0.947-1.000", "2"),
        ("8,192", "0.955", "0.881-1.000", "2"),
        ("16,384", "", "", "1 of 2"),
    ]
    assert sentences(means) == (
        "effective length (the mean exceeds 0.856 up to it, RULER's rule): at least 8,192",
        "cap at 95% confidence (the interval of the mean is above 0.856 up to it): at least 8,192",
        "no mean at 16,384, since not every task was asked there: with a fixed number of samples (task.trials) each is "
        "asked at every length",
    )
    below = sentences(of({4_096: 10}, {4_096: 10}))
    assert below == (
        "effective length (the mean exceeds 0.856 up to it, RULER's rule): less than 4,096",
        "cap at 95% confidence (the interval of the mean is above 0.856 up to it): below",
    )


QUICK = ("experiment=calibration", "action.runs=30", "action.laws=[flat_threshold,cliff_between]")


@pytest.mark.slow
def test_an_experiment_is_all_that_a_calibration_takes(tmp_path: Path) -> None:
    done = contextcliff(*QUICK, "reporting.progress=false", *DRAWN, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "flat at the threshold" in done.stdout
    folder = tmp_path / "outputs" / "calibration"
    assert sorted(path.name for path in folder.iterdir()) == ["calibration.json", "calibration.md", "calibration.png"]
    assert [path.name for path in (tmp_path / "outputs").iterdir()] == ["calibration"]


def test_what_is_calibrated_is_what_the_needle_tasks_ask_by_default() -> None:
    action: Any = built("experiment=calibration").action
    niah: Any = built("task=niah").task
    assert (action.depths, action.max_trials) == (len(niah.places), niah.max_trials)
