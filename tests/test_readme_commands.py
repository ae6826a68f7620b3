"""Every command of the README and of docs/recipes.md is one, fits its window, and runs as it stands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from omegaconf import OmegaConf

from tests.commands import QUIET, contextcliff, contextcliff_process
from tests.compositions import built, composed, jobs_of
from tests.kv.sliding_model import sliding_model

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/recipes.md")
HELP = "conf/hydra/help/contextcliff.yaml"
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
    "contextcliff --config-dir mine experiment=nightly model=ours": "options of one's own: tests/test_own_options.py",
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
    """The commands in the code blocks and in the inline code of a page, in one form."""
    blocks = re.compile(r"^```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    found = [
        line
        for block in blocks.findall(page)
        for line in re.findall(rf"(?:^|\$\()({COMMAND}(?: [^#)\n]*)?)", block, re.MULTILINE)
    ]
    found += re.findall(rf"`({COMMAND} [^`]+)`", blocks.sub("", page))
    for command in found:
        yield re.sub(r"(\.venv/bin/)?python -m ", "", command).strip()


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


COMMANDS = [Command(shown) for shown in dict.fromkeys(each for page in PAGES for each in commands_of(text_of(page)))]
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


COMPOSED = [
    command
    for command in COMMANDS
    if command not in PLACEHOLDERS
    and command.arguments != ["ui"]
    and not {"--config-dir", "--shell-completion"} & {*command.arguments}
]


EXAMPLES = [Command(shown) for shown in re.findall(r"python -m (contextcliff(?: [a-z]\S*=\S+)+)", text_of(HELP))]


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


@pytest.mark.slow
@pytest.mark.llm
@pytest.mark.parametrize("command", [command for command in RUN if "action=plan" in command.arguments], ids=str)
def test_every_plan_is_one_of_the_embedded_model(tmp_path: Path, command: Command) -> None:
    done = contextcliff_process(*command.arguments, cwd=tmp_path)
    assert (done.stderr, done.returncode) == ("", 0)
    assert "on llamacpp" in done.stdout


def test_a_folder_of_options_of_ones_own_is_read_by_the_command_that_is_shown(tmp_path: Path) -> None:
    (command,) = [command for command in COMMANDS if "--config-dir" in command]
    for name in ("experiment/nightly", "model/ours"):
        file = tmp_path / "mine" / f"{name}.yaml"
        file.parent.mkdir(parents=True)
        file.write_text("# @package _global_\nlabel: mine\n" if "exp" in name else "defaults: [smollm2]\n")
    done = contextcliff(*command.arguments, "--cfg", "job", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "label: mine" in done.stdout
