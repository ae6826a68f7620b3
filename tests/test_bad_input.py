"""Every wrong configuration is one line on stderr, to the letter, with exit code 2, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextcliff.composing import conf_dir
from tests.commands import contextcliff

MODELS = (
    "deepseek, gemini, glm, glm4_32b, gpt, llama, mistral, qwen, qwen3_0_6b, qwen3_14b, qwen3_1_7b, qwen3_30b_a3b, "
    "qwen3_32b, qwen3_4b, served, smollm2"
)
WITH_TRIALS = ", ".join(
    sorted(file.stem for file in (conf_dir() / "task").glob("*.yaml") if "\ntrials:" in file.read_text("utf-8"))
)
ALL_KEYS = "see all keys with: python -m contextcliff --cfg job"

CASES = {
    "a misspelt key": ("task.neddle=1", "task.neddle: unknown key; did you mean task.needle?"),
    "a misspelt nested key": ("task.needle.txt=x", "task.needle.txt: unknown key; did you mean task.needle.text?"),
    "a key that is forced in": ("+task.zzzz=1", f"task.zzzz: unknown key; {ALL_KEYS}"),
    "a top-level key that is forced in": ("+sed=1", "sed: unknown key; did you mean seed?"),
    "a misspelt group": ("modle=qwen", "modle: unknown key; did you mean model?"),
    "a misspelt option": (
        "model=qwne",
        f"model=qwne: no such option; did you mean qwen? the options are: {MODELS}",
    ),
    "an option of a plugin that is not installed": (
        "hydra/sweeper=nowhere",
        "hydra/sweeper=nowhere: no such option; is the package that brings it installed?",
    ),
    "a launcher that is not there": (
        "hydra/launcher=slurm",
        "hydra/launcher=slurm: no such option; did you mean submitit_slurm? the options are: basic, joblib, ray, "
        "ray_aws, submitit_local, submitit_slurm",
    ),
    "a negative length": ("task.lengths=[-1]", "task.lengths[0]=-1: must be greater than 0"),
    "a length beyond the window": (
        "task.lengths=[9000]",
        "task.lengths: 9,000 tokens do not fit into model.context_window=8,192 with 200 kept free for the answer; "
        "the longest that fits is 7,992",
    ),
    "a length that is no list": ("task.lengths=abc", "task.lengths=abc: must be a list; write task.lengths=[A,B]"),
    "no length": ("task.lengths=[]", "task.lengths=[]: must not be empty"),
    "a length that stands twice": (
        "task.lengths=[512,512]",
        "task.lengths: 512 stands twice; use task.trials for more samples",
    ),
    "a depth beyond the text": ("task.depths=[1.4]", "task.depths[0]=1.4: must be less than or equal to 1"),
    "no trials": ("task.trials=0", "task.trials=0: must be auto or a whole number above 0"),
    "trials that are no number": (
        "task.trials=many",
        "task.trials=many: must be auto or a whole number above 0",
    ),
    "fewer trials than a block": (
        "task.max_trials=10",
        "task.max_trials=10: a length is decided by whole blocks of 11 samples; give 11 or more",
    ),
    "a resolution under a token": ("task.resolution=0", "task.resolution=0: must be greater than 0"),
    "a search that goes nowhere": ("search=up", "search=up: must be 'walk' or 'refine'"),
    "no minutes": ("budget.minutes=0", "budget.minutes=0: must be greater than 0"),
    "a threshold that no search can show": (
        "analysis.threshold=1.0",
        "analysis.threshold=1: task.trials=auto tests a threshold above 0 and below 1; give such a one, or a fixed "
        "number of samples, task.trials=N",
    ),
    "a threshold that every score clears": (
        "analysis.threshold=0",
        "analysis.threshold=0: task.trials=auto tests a threshold above 0 and below 1; give such a one, or a fixed "
        "number of samples, task.trials=N",
    ),
    "half a trial": (
        "task.trials=1.5",
        "task.trials=1.5: must be auto or a whole number above 0",
    ),
    "a needle without its city": (
        "task.needle.text=hello",
        "task.needle.text='hello': {city} and {number} must stand in it",
    ),
    "an empty needle": ("task.needle.text=''", "task.needle.text: must not be empty"),
    "a question without its city": (
        "task.needle.question='Which number?'",
        "task.needle.question='Which number?': {city} must stand in it",
    ),
    "half a grid": (
        "task.length_grid.min=512",
        "task.length_grid.max and task.length_grid.count: missing; a grid needs min, max and count",
    ),
    "a grid the wrong way round": (
        "task.depth_grid={min:0.9,max:0.1,count:3}",
        "task.depth_grid.min=0.9: is above task.depth_grid.max=0.1; exchange them",
    ),
    "a fraction above the window": (
        "task.length_fractions=[0.5,1.5]",
        "task.length_fractions[1]=1.5: must be less than or equal to 1",
    ),
    "no haystack": ("task.haystacks=0", "task.haystacks=0: must be fresh or a whole number above 0"),
    "haystacks that are no number": (
        "task.haystacks=none",
        "task.haystacks=none: must be fresh or a whole number above 0",
    ),
    "a story that is not there": (
        "dataset.story=moby",
        "dataset.story=moby: there is none of this name; choose one of shiomachi_no_kirokugakari, the_tide_clerk",
    ),
    "a haystack that is not there": (
        "dataset.path=/nowhere.txt",
        "dataset.path: /nowhere.txt can't be read (No such file or directory); give a file that can",
    ),
    "a GGUF that is not there": (
        "model.gguf.path=/nowhere.gguf",
        "model.gguf.path=/nowhere.gguf: no such file; give the path of a .gguf file",
    ),
    "a window that the embedded engine is not told": (
        "model.context_window=null",
        "model.context_window: the embedded engine has to know it; give model.context_window=N",
    ),
    "a file that is no GGUF": (
        "model.gguf.path=/etc/passwd",
        "model.gguf.path=/etc/passwd: is not a GGUF file; give the path of a .gguf file",
    ),
    "an output folder under a file": (
        "output_dir=/etc/passwd/out",
        "output_dir=/etc/passwd/out: can't be written (Not a directory); give a folder that can",
    ),
    "a confidence above one": ("analysis.confidence=1.2", "analysis.confidence=1.2: must be less than 1"),
    "an override that is none": (
        "task.lengths=[512,",
        "task.lengths=[512,: is not an override (no viable alternative at input '[512,'); "
        "write KEY=VALUE, in quotes for the shell",
    ),
    "a key alone": ("task.trials", "task.trials: is not an override; write KEY=VALUE without blanks round the ="),
    "a value alone": ("2", "2: is not an override; write KEY=VALUE without blanks round the ="),
    "a blank before the equals sign": (
        "task.trials =2",
        "task.trials =2: is not an override; write task.trials=2 without blanks round the =",
    ),
    "two equals signs": ("task.trials==2", "task.trials==2: is not an override; write task.trials=2"),
    "a value without its key": ("=2", "=2: names no key; write KEY=VALUE"),
    "an action as a word": (
        "plan",
        "plan: is not an override; did you mean action=plan? write KEY=VALUE without blanks round the =",
    ),
    "help as a word": (
        "help",
        "help: is not an override; did you mean --help? write KEY=VALUE without blanks round the =",
    ),
    "a letter that Hydra takes in quotes only": (
        "label=é",
        "label=é: needs quotes twice, for the shell and inside; write 'label=\"é\"'",
    ),
    "a list of words that need quotes": (
        "task.needle.keywords=[銅,水差し]",
        "task.needle.keywords=[銅,水差し]: is not an override; put \"…\" round every text in it, and '…' round it "
        "all for the shell",
    ),
    "an equals sign in a value": (
        "dataset.path=a=b.txt",
        "dataset.path=a=b.txt: needs quotes twice, for the shell and inside; write 'dataset.path=\"a=b.txt\"'",
    ),
    "typographic quotes": (
        "task.needle.text=“The {city} number is {number}.”",
        "task.needle.text=“The {city} number is {number}.”: needs quotes twice, for the shell and inside; write "
        "'task.needle.text=\"The {city} number is {number}.\"'",
    ),
    "a comma at the end": ("model=qwen,", "model=qwen,: ends in a comma; write model=qwen, or add the next value"),
    "a list without brackets": (
        "task.lengths=512,1024",
        "task.lengths=512,1024: takes a list; write task.lengths=[512,1024]",
    ),
    "a list in parentheses": (
        "task.lengths=(512,1024)",
        "task.lengths=(512,1024): is not an override; write KEY=VALUE or KEY=[A,B], in quotes for the shell",
    ),
    "no model": ("model=null", f"model=null: is not an option; the options are: {MODELS}"),
    "an empty model": ("model=", f"model='': is not an option; the options are: {MODELS}"),
    "a list of models": ("model=[qwen,glm]", f"model=[qwen,glm]: is not an option; the options are: {MODELS}"),
    "a model taken away": ("~model", f"~model: a run needs one; choose it with model=OPTION: {MODELS}"),
    "a model chosen twice": ("+model=qwen", "+model: is chosen already; write model=OPTION"),
    "a key that is added and there": ("+task.trials=2", "+task.trials: exists already; write task.trials=VALUE"),
    "a key taken away that is not there": ("~task.nope", "~task.nope: unknown key; did you mean task.needle?"),
    "a key of another task": (
        "task.rounds=2",
        "task.rounds: task=niah has no such key; these do: task=continuation",
    ),
    "null for a number": ("task.trials=null", "task.trials=null: must be auto or a whole number above 0"),
    "an interpolation that leads nowhere": (
        "label=${nope}",
        "label=${nope}: Interpolation key 'nope' not found; give a value, or a key that there is",
    ),
    "an interpolation inside a list": (
        "task.lengths=[512,${nope.x}]",
        "task.lengths[1]=[512, '${nope.x}']: Interpolation key 'nope.x' not found; give a value, or a key that there "
        "is",
    ),
    "a variable of the environment that is not set": (
        "label=${oc.env:CONTEXTCLIFF_NOT_SET}",
        "label=${oc.env:CONTEXTCLIFF_NOT_SET}: Environment variable 'CONTEXTCLIFF_NOT_SET' not found; give a value, or "
        "a key that there is",
    ),
    "a resolver that there is not": (
        "label=${nope:1}",
        "label=${nope:1}: Unsupported interpolation type nope; give a value, or a key that there is",
    ),
    "a value still to be given": ("model.name=???", "model.name: missing; give model.name=VALUE"),
    "an empty name": ("model.name=", "model.name=: must not be empty"),
    "a policy that can't evict": (
        "kv_policy.budget=0.2",
        "kv_policy.budget=0.2: kv_policy=none evicts nothing; take one that does, such as kv_policy=snapkv, or leave "
        "it at 1.0",
    ),
    "a budget of no share": ("kv_policy.budget=1.5", "kv_policy.budget=1.5: must be less than or equal to 1"),
    "a label with a blank": (
        "label='a b'",
        "label=a b: up to 64 letters, digits, dots, hyphens and underscores; choose such a one",
    ),
    "an experiment that is a path": (
        "tracking.experiment=../x",
        "tracking.experiment=../x: names a folder too; use up to 100 letters, digits, spaces, dots, hyphens and "
        "underscores",
    ),
}


@pytest.mark.parametrize(("override", "line"), CASES.values(), ids=CASES.keys())
def test_one_clear_line(tmp_path: Path, override: str, line: str) -> None:
    done = contextcliff(override, cwd=tmp_path)
    assert done.stderr == f"error: {line}\n"
    assert done.returncode == 2
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


OF_A_TASK = {
    "a static needle without its answer": (
        ("task=niah_static", "task.needle.answer=''"),
        "task.needle.answer: must not be empty with task.needle.kind=static; say what is right",
    ),
    "no keyword": (
        ("task=niah_static_ja", "task.needle.keywords=[]"),
        "task.needle.keywords: must not be empty with task.needle.match=keywords; give [WORD,…]",
    ),
    "a keyword without a letter": (
        ("task=niah_static", "task.needle.match=keywords", 'task.needle.keywords=[herring," "]'),
        "task.needle.keywords[1]: is blank; give a word, or leave it out",
    ),
    "a needle of one's own with the preset's answer": (
        ("task=niah_static", "task.needle.text='The spare key is in Paris.'", "task.needle.question='Where is it?'"),
        "task.needle.answer='brass herring': does not stand in task.needle.text; give task.needle.answer=WORDS, or "
        "task.needle.inferred=true where it has to be worked out",
    ),
    "a needle of one's own with the preset's keywords": (
        ("task=niah_static_ja", "task.needle.text='The spare key is in Paris.'"),
        "task.needle.keywords[0]='銅': does not stand in task.needle.text; give task.needle.keywords=[WORD,…], or "
        "task.needle.inferred=true where it has to be worked out",
    ),
    "one of several needles without its answer": (
        (
            "task=niah_multi_static",
            "task.needles=[{text: 'A fig.', answer: fig}, {text: 'A plum.', answer: pear}]",
        ),
        "task.needles[1].answer='pear': does not stand in task.needles[1].text; give words that do, or "
        "task.needles[1].inferred=true where it has to be worked out",
    ),
    "a blank answer among several": (
        ("task=niah_multi_static", "task.needles=[{text: 'A fig.', answer: ' '}]"),
        "task.needles[0].answer: is blank; give a word, or leave the needle out",
    ),
    "a key that one task of a sweep lacks": (
        ("task=niah,continuation", "task.trials=2"),
        "task.trials: task=continuation has no such key; write ++task.trials=VALUE to set it where it exists",
    ),
    "a key that several tasks of a sweep lack": (
        ("task=niah,continuation,qa,tracing", "task.trials=2"),
        "task.trials: task=continuation and task=qa have no such key; write ++task.trials=VALUE to set it where it "
        "exists",
    ),
    "a key that one task of a sweep has, added": (
        ("task=niah,continuation", "+task.trials=2"),
        "+task.trials: exists already; write task.trials=VALUE, or ++task.trials=VALUE to set it where it exists",
    ),
    "a key that no task of a sweep has": (
        ("task=niah,continuation", "task.trils=2"),
        "task.trils: unknown key; did you mean task.trials?",
    ),
    "a forced key that no task of a sweep has": (
        ("task=niah,continuation", "++task.trils=2"),
        "task.trils: unknown key; none of task=niah, task=continuation has it; did you mean task.trials?",
    ),
    "a forced key that no task of an experiment has": (
        ("experiment=needle_family", "++task.hopps=2"),
        "task.hopps: unknown key; none of task=niah, task=niah_multi, task=niah_multikey, task=niah_semantic, "
        "task=tracing, task=aggregation has it; did you mean task.hops?",
    ),
    "a forced key of one job": (
        ("task=niah", "++task.rounds=2"),
        "task.rounds: unknown key; did you mean task.controls?",
    ),
    "a judge for a task without one": (
        ("task=continuation", "judge=llm"),
        "judge: task=continuation has no reference answers to judge by; leave it out",
    ),
    "a key of a judge that was not chosen": (
        ("judge.model.name=gpt-5",),
        "judge.model.name: judge=none has no such key; these do: judge=llm",
    ),
    "an embedder for a task that embeds nothing": (
        ("task=niah", "embedding=openai"),
        "embedding: task=niah embeds nothing; leave it out",
    ),
    "a judge inside a task, as it was": (
        ("task/judge=llm", "task.judge.model.name=gpt-5"),
        "task/judge: judge and embedding are groups of their own now; write judge=llm",
    ),
    "a key of a judge inside a task, as it was": (
        ("task.judge.right_from=5",),
        "task.judge.right_from: judge and embedding are groups of their own now; write judge.right_from=5",
    ),
    "the engine of a judge inside a task, as it was": (
        ("engine@task.judge.engine=vllm",),
        "engine@task.judge.engine: judge and embedding are groups of their own now; write engine@judge.engine=vllm",
    ),
    "an embedder inside a task, as it was": (
        ("task=continuation", "task/embedding=openai"),
        "task/embedding: judge and embedding are groups of their own now; write embedding=openai",
    ),
    "a task that is named twice, with a key of the first": (
        ("task=niah", "task=qa", "task.trials=2"),
        "task.trials: task=qa has no such key; these do: task=aggregation, babilong_qa1, babilong_qa2, babilong_qa3, "
        "graphwalks, graphwalks_parents, mrcr, niah, niah_multi, niah_multi_static, niah_multikey, "
        "niah_semantic and 18 more",
    ),
    "an address for an engine without one": (
        ("engine.base_url=http://127.0.0.1:9",),
        "engine.base_url: engine=llamacpp has no such key; these do: engine=gemini, koboldcpp, llama_server, "
        "lmstudio, nvidia_nim, ollama, openai, openrouter, sglang, vllm, zai",
    ),
    "a needle's value for a task without it": (
        ("task=niah_multi", "task.needle.value=emoji"),
        "task.needle.value: task=niah_multi has no such key; these do: task=niah, niah_static, niah_static_ja, "
        "ruler_niah_single_1, ruler_niah_single_2, ruler_niah_single_3",
    ),
    "a static needle that the text answers": (
        (
            "task=niah_static",
            "task.needle.answer=harbour",
            "task.needle.text='The key is in the harbour.'",
            "engine=simulated",
        ),
        "task.needle: the text holds 'harbour' already, so finding it would show nothing; take another needle, or "
        "another dataset",
    ),
    "more needles than fit": (
        ("task=niah_multi", "task.count=40", "task.lengths=[256]", "engine=simulated", "task.reserve_tokens=0"),
        "task.lengths: 256 is too short: template, question and needle alone take 554 tokens; ask for longer ones",
    ),
    "more needles than there are cities": (
        ("task=niah_multi", "task.count=400"),
        "task.count=400: at most 107 needles can be drawn; lower it",
    ),
    "more distractors than there are cities": (
        ("task=niah_multikey", "task.layout=isolated", "task.distractors=107"),
        "task.distractors=107: 108 needles in one context; at most 107 can be drawn",
    ),
    "keys of needles that have none": (
        ("task=niah_multi_static", "task.question='What of {cities}?'"),
        "task.question='What of {cities}?': {cities} are the keys of drawn needles, and task.needles has none; leave "
        "it out, or give no needles",
    ),
    "names that are asked for without their value": (
        ("task=tracing", "task.names_question='Which?'"),
        "task.names_question='Which?': {number} must stand in it",
    ),
    "more links than fit": (
        ("task=ruler_vt", "task.chains=20", "task.lengths=[512]", "engine=simulated"),
        "task.lengths: 512 is too short: template, question and needle alone take 1,298 tokens; ask for longer ones",
    ),
    "a layout that does not exist": (
        ("task=niah_multikey", "task.layout=dense"),
        "task.layout=dense: must be 'packed' or 'isolated'",
    ),
    "more distractors than a topic has": (
        ("task=niah_semantic", "task.distractors=6"),
        "task.distractors=6: a topic has 6 needles; at most 5 can stand beside the one that is asked for",
    ),
    "a chain that is longer than the text": (
        ("task=tracing", "task.hops=8", "task.distances=[0.2]"),
        "task.distances: 0.2 of the text between neighbours, 8 times over (task.hops), is more than the whole text; "
        "0.125 is the most",
    ),
    "a block that needs more haystacks than there are": (
        ("task=tracing", "task.distances=[0.1,0.2,0.3]", "task.haystacks=2"),
        "task.haystacks=2: a block of the search takes 3, since each trial has its own; give 3 or more, fresh, or 1",
    ),
    "a chain without links": (("task=tracing", "task.hops=0"), "task.hops=0: must be greater than or equal to 1"),
    "a template without its word": (
        ("task=aggregation", "task.template=hello"),
        "task.template='hello': {word} must stand in it",
    ),
    "a list that does not fit": (
        ("task=repeat", "task.lengths=[60]", "engine=simulated"),
        "task.lengths: 60 is too short: 1 lines fit beside template and instruction, and 8 are the fewest; ask for "
        "longer ones",
    ),
}


@pytest.mark.parametrize(("overrides", "line"), OF_A_TASK.values(), ids=OF_A_TASK.keys())
def test_one_clear_line_of_every_task(tmp_path: Path, overrides: tuple[str, ...], line: str) -> None:
    done = contextcliff(*overrides, cwd=tmp_path)
    assert done.stderr == f"error: {line}\n"
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_a_haystack_that_is_binary_empty_or_a_folder_without_text_is_named(tmp_path: Path) -> None:
    binary, empty, folder = tmp_path / "binary.txt", tmp_path / "empty.txt", tmp_path / "pictures"
    binary.write_bytes(b"It rained.\0It rained.")
    empty.write_text(" \n", encoding="utf-8")
    folder.mkdir()
    (folder / "picture.png").write_bytes(b"\x89PNG")
    lines = {
        binary: f"dataset.path: {binary} is binary, not text; give another file, or its text as UTF-8",
        empty: f"dataset.path: {empty} holds no text; give another file, or its text as UTF-8",
        folder: (
            f"dataset.path: {folder} holds no .pdf, .docx, .odt, .rtf, .epub, .html, .htm, .xhtml, .md or .txt file; "
            "give a folder that does"
        ),
    }
    for path, line in lines.items():
        done = contextcliff("engine=simulated", f"dataset.path={path}", cwd=tmp_path)
        assert (done.stderr, done.returncode) == (f"error: {line}\n", 2)


def test_a_text_that_is_too_short_names_both_numbers(tmp_path: Path) -> None:
    short = tmp_path / "short.txt"
    short.write_text("It rained. " * 200, encoding="utf-8")
    done = contextcliff("engine=simulated", f"dataset.paths=[{short}]", "task.lengths=[2000]", cwd=tmp_path)
    assert done.stderr == (
        "error: task.lengths: 2,000 tokens need 1,943 tokens of text, and the dataset has 601; ask for shorter ones, "
        "give more text (dataset.paths), or take dataset=synthetic\n"
    )
    assert done.returncode == 2
    assert [path.name for path in tmp_path.iterdir()] == ["short.txt"]


def test_a_text_that_is_no_text_is_named(tmp_path: Path) -> None:
    binary = tmp_path / "picture.txt"
    binary.write_bytes(b"\x89PNG\xff\xfe")
    done = contextcliff("engine=simulated", f"dataset.paths=[{binary}]", cwd=tmp_path)
    assert done.stderr == (
        f"error: dataset.paths: {binary} is not UTF-8 text, and declares no other character set; give another file, or "
        "its text as UTF-8\n"
    )
    assert done.returncode == 2


def test_the_full_traceback_comes_when_it_is_asked_for(tmp_path: Path) -> None:
    done = contextcliff("task.trials=0", cwd=tmp_path, env={"HYDRA_FULL_ERROR": "1"})
    assert "Traceback" in done.stderr
    assert "ConfigError: task.trials=0: must be auto or a whole number above 0" in done.stderr


def test_a_sweep_whose_last_option_does_not_exist_starts_no_job(tmp_path: Path) -> None:
    done = contextcliff("engine=simulated", "model=qwen,foo", cwd=tmp_path)
    assert done.stderr == f"error: model=foo: no such option; the options are: {MODELS}\n"
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_a_plan_of_a_search_that_can_show_nothing_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    done = contextcliff("action=plan", "analysis.threshold=1.0", cwd=tmp_path)
    assert done.stderr.startswith("error: analysis.threshold=1: task.trials=auto tests a threshold above 0 and below 1")
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []
