"""Every wrong configuration is one line on stderr that names the key, with exit code 2, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import contextcliff
from tests.compositions import line_of

CASES = {
    "a misspelt key": ("task.neddle", "task.neddle=1"),
    "a misspelt nested key": ("task.needle.txt", "task.needle.txt=x"),
    "a key that is forced in": ("task.zzzz", "+task.zzzz=1"),
    "a top-level key that is forced in": ("sed", "+sed=1"),
    "a misspelt group": ("modle", "modle=qwen"),
    "a misspelt option": ("model", "model=qwne"),
    "an option of a plugin that is not installed": ("hydra/sweeper", "hydra/sweeper=nowhere"),
    "a launcher that is not there": ("hydra/launcher", "hydra/launcher=slurm"),
    "a negative length": ("task.lengths[0]", "task.lengths=[-1]"),
    "a length beyond the window": ("task.lengths", "task.lengths=[9000]"),
    "a length that is no list": ("task.lengths", "task.lengths=abc"),
    "no length": ("task.lengths", "task.lengths=[]"),
    "a length that stands twice": ("task.lengths", "task.lengths=[512,512]"),
    "a depth beyond the text": ("task.depths[0]", "task.depths=[1.4]"),
    "no trials": ("task.trials", "task.trials=0"),
    "trials that are no number": ("task.trials", "task.trials=many"),
    "fewer trials than a block": ("task.max_trials", "task.max_trials=10"),
    "a resolution under a token": ("task.resolution", "task.resolution=0"),
    "a search that goes nowhere": ("search", "search=up"),
    "no minutes": ("budget.minutes", "budget.minutes=0"),
    "a threshold that no search can show": ("analysis.threshold", "analysis.threshold=1.0", "engine=simulated"),
    "a threshold that every score clears": ("analysis.threshold", "analysis.threshold=0", "engine=simulated"),
    "half a trial": ("task.trials", "task.trials=1.5"),
    "more trials than can be built": ("task.trials", "task.trials=100000"),
    "a number beyond all use": ("model.context_window", f"model.context_window={10**30}"),
    "more lengths than a grid has": ("task.length_grid.count", "task.length_grid={min:256,max:2048,count:1000000000}"),
    "infinity for a number": ("sampling.temperature", "sampling.temperature=inf"),
    "false for a number": ("analysis.threshold", "analysis.threshold=false"),
    "a number in the place of a section": ("budget", "budget=1e3"),
    "a class of another kind": ("engine._target_", "engine._target_=builtins.dict"),
    "a class of no module": ("tracking._target_", "tracking._target_=.."),
    "a needle without its city": ("task.needle.text", "task.needle.text=hello"),
    "an empty needle": ("task.needle.text", "task.needle.text=''"),
    "a question without its city": ("task.needle.question", "task.needle.question='Which number?'"),
    "half a grid": ("task.length_grid.max and task.length_grid.count", "task.length_grid.min=512"),
    "a grid the wrong way round": ("task.depth_grid.min", "task.depth_grid={min:0.9,max:0.1,count:3}"),
    "a fraction above the window": ("task.length_fractions[1]", "task.length_fractions=[0.5,1.5]"),
    "no haystack": ("task.haystacks", "task.haystacks=0"),
    "haystacks that are no number": ("task.haystacks", "task.haystacks=none"),
    "a story that is not there": ("dataset.story", "dataset.story=moby"),
    "a haystack that is not there": ("dataset.path", "dataset.path=/nowhere.txt"),
    "a GGUF that is not there": ("model.gguf.path", "model.gguf.path=/nowhere.gguf"),
    "a window that the embedded engine is not told": ("model.context_window", "model.context_window=null"),
    "a file that is no GGUF": ("model.gguf.path", "model.gguf.path=/etc/passwd"),
    "an output folder under a file": ("output_dir", "output_dir=/etc/passwd/out"),
    "a confidence above one": ("analysis.confidence", "analysis.confidence=1.2"),
    "an override that is none": ("task.lengths", "task.lengths=[512,"),
    "a key alone": ("task.trials", "task.trials"),
    "a value alone": ("2", "2"),
    "a blank before the equals sign": ("task.trials ", "task.trials =2"),
    "two equals signs": ("task.trials", "task.trials==2"),
    "a value without its key": ("=2", "=2"),
    "an action as a word": ("plan", "plan"),
    "help as a word": ("help", "help"),
    "a letter that Hydra takes in quotes only": ("label", "label=é"),
    "a list of words that need quotes": ("task.needle.keywords", "task.needle.keywords=[銅,水差し]"),
    "an equals sign in a value": ("dataset.path", "dataset.path=a=b.txt"),
    "typographic quotes": ("task.needle.text", "task.needle.text=“The {city} number is {number}.”"),
    "a comma at the end": ("model", "model=qwen,"),
    "a list without brackets": ("task.lengths", "task.lengths=512,1024"),
    "a list in parentheses": ("task.lengths", "task.lengths=(512,1024)"),
    "no model": ("model", "model=null"),
    "an empty model": ("model", "model="),
    "a list of models": ("model", "model=[qwen,glm]"),
    "a model taken away": ("~model", "~model"),
    "a model chosen twice": ("+model", "+model=qwen"),
    "a key that is added and there": ("+task.trials", "+task.trials=2"),
    "a key taken away that is not there": ("~task.nope", "~task.nope"),
    "a key of another task": ("task.rounds", "task.rounds=2"),
    "null for a number": ("task.trials", "task.trials=null"),
    "an interpolation that leads nowhere": ("label", "label=${nope}"),
    "an interpolation inside a list": ("task.lengths[1]", "task.lengths=[512,${nope.x}]"),
    "a variable of the environment that is not set": ("label", "label=${oc.env:CONTEXTCLIFF_NOT_SET}"),
    "a resolver that there is not": ("label", "label=${nope:1}"),
    "a value still to be given": ("model.name", "model.name=???"),
    "an empty name": ("model.name", "model.name="),
    "a policy that can't evict": ("kv_policy.budget", "kv_policy.budget=0.2"),
    "a budget of no share": ("kv_policy.budget", "kv_policy.budget=1.5"),
    "a label with a blank": ("label", "label='a b'"),
    "an experiment that is a path": ("tracking.experiment", "tracking.experiment=../x"),
    "a static needle without its answer": ("task.needle.answer", "task=niah_static", "task.needle.answer=''"),
    "no keyword": ("task.needle.keywords", "task=niah_static_ja", "task.needle.keywords=[]"),
    "a keyword without a letter": (
        "task.needle.keywords[1]", "task=niah_static", "task.needle.match=keywords",
        'task.needle.keywords=[herring," "]',
    ),
    "a needle of one's own with the preset's answer": (
        "task.needle.answer", "task=niah_static", "task.needle.text='The spare key is in Paris.'",
        "task.needle.question='Where is it?'",
    ),
    "a needle of one's own with the preset's keywords": (
        "task.needle.keywords[0]", "task=niah_static_ja", "task.needle.text='The spare key is in Paris.'",
    ),
    "one of several needles without its answer": (
        "task.needles[1].answer", "task=niah_multi_static",
        "task.needles=[{text: 'A fig.', answer: fig}, {text: 'A plum.', answer: pear}]",
    ),
    "a blank answer among several": (
        "task.needles[0].answer", "task=niah_multi_static", "task.needles=[{text: 'A fig.', answer: ' '}]",
    ),
    "a key that one task of a sweep lacks": ("task.trials", "task=niah,continuation", "task.trials=2"),
    "a key that several tasks of a sweep lack": ("task.trials", "task=niah,continuation,qa,tracing", "task.trials=2"),
    "a key that one task of a sweep has, added": ("+task.trials", "task=niah,continuation", "+task.trials=2"),
    "a key that no task of a sweep has": ("task.trils", "task=niah,continuation", "task.trils=2"),
    "a forced key that no task of a sweep has": ("task.trils", "task=niah,continuation", "++task.trils=2"),
    "a forced key that no task of an experiment has": ("task.hopps", "experiment=needle_family", "++task.hopps=2"),
    "a forced key of one job": ("task.rounds", "task=niah", "++task.rounds=2"),
    "a judge for a task without one": ("judge", "task=continuation", "judge=llm"),
    "a key of a judge that was not chosen": ("judge.model.name", "judge.model.name=gpt-5"),
    "an embedder for a task that embeds nothing": ("embedding", "task=niah", "embedding=openai"),
    "a judge inside a task, as it was": ("task/judge", "task/judge=llm", "task.judge.model.name=gpt-5"),
    "a key of a judge inside a task, as it was": ("task.judge.right_from", "task.judge.right_from=5"),
    "the engine of a judge inside a task, as it was": ("engine@task.judge.engine", "engine@task.judge.engine=vllm"),
    "an embedder inside a task, as it was": ("task/embedding", "task=continuation", "task/embedding=openai"),
    "a task that is named twice, with a key of the first": ("task.trials", "task=niah", "task=qa", "task.trials=2"),
    "an address for an engine without one": ("engine.base_url", "engine.base_url=http://127.0.0.1:9"),
    "a needle's value for a task without it": ("task.needle.value", "task=niah_multi", "task.needle.value=emoji"),
    "a static needle that the text answers": (
        "task.needle", "task=niah_static", "task.needle.answer=harbour",
        "task.needle.text='The key is in the harbour.'", "engine=simulated",
    ),
    "more needles than fit": (
        "task.lengths", "task=niah_multi", "task.count=40", "task.lengths=[256]", "engine=simulated",
        "task.reserve_tokens=0",
    ),
    "more needles than there are cities": ("task.count", "task=niah_multi", "task.count=400"),
    "more distractors than there are cities": (
        "task.distractors", "task=niah_multikey", "task.layout=isolated", "task.distractors=107",
    ),
    "keys of needles that have none": ("task.question", "task=niah_multi_static", "task.question='What of {cities}?'"),
    "names that are asked for without their value": (
        "task.names_question", "task=tracing", "task.names_question='Which?'",
    ),
    "more links than fit": (
        "task.lengths", "task=ruler_vt", "task.chains=20", "task.lengths=[512]", "engine=simulated",
    ),
    "a layout that does not exist": ("task.layout", "task=niah_multikey", "task.layout=dense"),
    "more distractors than a topic has": ("task.distractors", "task=niah_semantic", "task.distractors=6"),
    "a chain that is longer than the text": ("task.distances", "task=tracing", "task.hops=8", "task.distances=[0.2]"),
    "a block that needs more haystacks than there are": (
        "task.haystacks", "task=tracing", "task.distances=[0.1,0.2,0.3]", "task.haystacks=2",
    ),
    "a chain without links": ("task.hops", "task=tracing", "task.hops=0"),
    "a template without its word": ("task.template", "task=aggregation", "task.template=hello"),
    "a list that does not fit": ("task.lengths", "task=repeat", "task.lengths=[60]", "engine=simulated"),
    "answers shown as they are written, as it was": ("reporting.live", "reporting.live=true"),
    "runs of a comparison as one list, as it was": ("action.runs", "action=compare", "action.runs=[a,b]"),
}  # fmt: skip
"""The key that the line begins with, and the overrides."""
WHOLE = (
    *("an override that is none", "a misspelt key", "no trials", "a length beyond the window", "more needles than fit"),
    "a window that the embedded engine is not told",
)


@pytest.mark.parametrize("name", [name for name in CASES if name not in WHOLE])
def test_one_line_names_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    key, *overrides = CASES[name]
    assert line_of(*overrides).startswith((f"{key}:", f"{key}="))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", WHOLE)
def test_the_line_is_all_that_a_command_says_and_leaves(tmp_path: Path, name: str) -> None:
    """One command for each place at which it may be refused."""
    key, *overrides = CASES[name]
    done = contextcliff(*overrides, cwd=tmp_path)
    (line,) = done.stderr.splitlines()
    assert line.startswith((f"error: {key}:", f"error: {key}="))
    assert (done.returncode, done.stdout, list(tmp_path.iterdir())) == (2, "", [])


def test_the_full_traceback_comes_when_it_is_asked_for(tmp_path: Path) -> None:
    done = contextcliff("task.trials=0", cwd=tmp_path, env={"HYDRA_FULL_ERROR": "1"})
    assert "Traceback" in done.stderr
    assert "ConfigError: task.trials=0: must be auto or a whole number above 0 and at most 100000" in done.stderr


def test_a_sweep_whose_last_option_does_not_exist_starts_no_job(tmp_path: Path) -> None:
    done = contextcliff("engine=simulated", "model=qwen,foo", cwd=tmp_path)
    assert done.stderr.startswith("error: model=foo: no such option;")
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []
