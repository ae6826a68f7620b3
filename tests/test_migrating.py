"""docs/migrating.md is held to what there is: every command runs on stand-ins for what is the user's own; what the rows
of its tables say to type can be built; the defaults, files and parts of files that they name are there. Japanese on the
command line comes through a shell and Hydra's grammar as it is written."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from tests.commands import QUIET, SIMULATED, contextcliff, folders, plan_of, run
from tests.compositions import built, composed, jobs_of, line_of
from tests.engines.fake_server import FakeServer, serving
from tests.kv.sliding_model import sliding_model
from tests.test_readme_commands import Command, commands_of, text_of
from tests.writing.made_context_tester import drawn_rounds, result_folder, table, table_row

PAGE = text_of("docs/migrating.md")
GRID, VERTEX, KEY, TAGS, QUOTES, NOVEL, OLD = [
    Command(shown) for shown in commands_of(PAGE) if shown != "contextcliff task=niah task.trials=8"
]
TEXTS = Path(__file__).parents[1] / "contextcliff" / "datasets" / "texts"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the page takes for the user's own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "小説").mkdir()
    shutil.copy(TEXTS / "shiomachi_no_kirokugakari.txt", tmp_path / "小説" / "第一章.txt")
    shutil.copy(TEXTS / "the_tide_clerk.txt", tmp_path / "novel.txt")
    (tmp_path / "words.txt").write_text("tide\nclerk\n")
    sliding_model(tmp_path / "FILE.gguf", window=8_192)
    result_folder(tmp_path / "old" / "results" / "model-text-id", drawn_rounds([2048, 4096]))
    table(tmp_path / "old.csv", [table_row(2048, number=1), table_row(2048, number=2)])
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("command", [GRID, KEY, TAGS, QUOTES], ids=["grid", "key", "tags", "quotes"])
def test_a_command_without_a_server_can_be_sent(own: Path, command: Command) -> None:
    run(own, *command.arguments, *SIMULATED, "action=plan")
    assert plan_of(own)["samples"] == 35 * 35 if command == GRID else plan_of(own)["search"]


@pytest.mark.slow
def test_a_command_with_a_server_runs_on_one_that_is_as_the_page_says(own: Path, tokenizer: str) -> None:
    few = ("task.lengths=[512]", "task.depths=[0.5]", "task.trials=2", *QUIET)
    counted = ("tokenizer=huggingface", f"tokenizer.name={tokenizer}")
    with serving(FakeServer(key="secret", listing=(404, {}), refuses={"max_completion_tokens": "unknown"})) as vertex:
        asked = (re.sub("https://LOCATION.*", vertex.address, each) for each in VERTEX.arguments)
        done = contextcliff(*asked, *counted, *few, cwd=own, env={"VERTEX_TOKEN": "secret"})
    assert (done.returncode, done.stderr) == (0, "")
    assert vertex.bodies[-1]["model"] == "google/gemini-2.5-flash"
    routes = {"/api/extra/true_max_context_length": {"value": 4_096}}
    with serving(FakeServer(routes=routes, counts="/api/extra/tokencount")) as koboldcpp:
        asked = (each.replace("http://localhost:5001", koboldcpp.address) for each in NOVEL.arguments)
        run(own, *asked, *QUIET, "action=plan")
    assert plan_of(own)["tokenizer"].startswith("koboldcpp")


TRIED = """
engine=llamacpp task=niah task.needle.kind=dynamic task.trials=8 engine.concurrency=2 task.reserve_tokens=200
task=niah_static task.needle.text="a b" task.needle.match=keywords task.needle.keywords=[a,b]
task=niah_static task.needle.text="It is red." task.needle.answer=blue task.needle.inferred=true
task=niah_static task.needle.question=Which? reporting.figures=false
task=niah_static_ja dataset=essays_ja task.needle.text='"「銅の鍵」は、戸棚にある。"' task.needle.keywords='["戸棚"]'
task=niah_multi dataset.paths=[novel.txt] task.lengths=[512] task.save_contexts=true
task=niah_multi_static task.needles='[{text: "It is red.", answer: red}]' task.question=Which?
task.length_grid.min=1000 task.length_grid.max=4000 task.length_grid.count=3 task.length_grid.spacing=log
task.depth_grid.min=0.1 task.depth_grid.max=0.9 task.depth_grid.count=5 task.depth_grid.spacing=sigmoid
task.length_fractions=[0.1,1.0] reporting.progress=false dataset.path=novel.txt dataset.language=ja
task=qa judge=llm judge.model.name=gpt-5 engine@judge.engine=vllm task.metric=judge
engine=vllm model=served model.name=mine engine.seconds_between_requests=1 engine.requests_per_minute=5
engine=openai engine.base_url=http://localhost:5001 engine.api_key_env=NAME model=gpt
experiment=gemini_niah engine=gemini
experiment=context_rot_ja model.gguf.path=FILE.gguf model.context_window=8000
task.lengths=[2000,4000,8000] task.depths=[0,0.25,0.5,0.75,1] task.reserve_tokens=100 sampling.max_tokens=50
task=continuation task.word_list=words.txt task.max_context=8000 task.start_context=1000 task.rounds=3 task.divisions=2
task=continuation task.lengths=[2048] task.max_tokens=512 sampling.temperature=0.8 sampling.top_k=50 sampling.top_p=0.9
task=continuation sampling.repetition_penalty=1.1 sampling.min_p=0.02 label=mine reporting.dpi=300 embedding=llamacpp
task=continuation tokenizer=huggingface tokenizer.name=OWNER/NAME action=analyze
task=continuation embedding=openai embedding.base_url=http://localhost:5001/v1 embedding.model=NAME
task=continuation action=compare action.baseline=A action.candidates=[B] action.name=x action.remeasure=true
engine=koboldcpp model=served
engine=nvidia_nim model=served
engine=zai model=glm
experiment=rope_vs_full
kv_policy=none,q8_0,q4_0
engine=llama_server model=served kv_policy=q8_0 kv_policy.declared=true
""".strip().splitlines()
"""What the rows say to type, with values for those that are the user's."""


FILE = r"`([\w/]+\.(?:json|jsonl|jsonl\.gz|csv|png|md|html|txt|yaml|db)|outputs/[\w/]+|output_dir/[\w/]+)`"
KEY_ALONE = r"`((?:engine|kv_policy|sampling|task)\.[\w.]+)`"


def rows() -> dict[str, str]:
    """What each row of the tables says of this tool, by what it says of the other."""
    lines = [line[1:-1].split("|") for line in PAGE.splitlines() if re.match(r"\| (?!---|option there|there \|)", line)]
    cells = [[cell.strip() for cell in line] for line in lines]
    told = {there: f"{there if here == 'the same name' else here} | {' '.join(more)}" for there, here, *more in cells}
    assert len(told) > 75
    return told


def typed(row: str) -> list[str]:
    """The overrides that a row shows: with their values, and with none where that is left to the user."""
    found, before = [], ""
    for key, value in re.findall(r"(?<![\w?])([\w@/]*(?:\.\w+)*)=([^\s`']*)", " ".join(re.findall("`[^`]+`", row))):
        before = f"{before.rpartition('.')[0]}{key}" if key.startswith(".") else key
        found.append(f"{before}=" if re.search(r"[A-Z…]|^\[\{", value) else f"{before}={value}")
    return found


def named(pattern: str) -> set[Any]:
    return {found for row in rows().values() for found in re.findall(pattern, row)}


def test_every_row_has_something_that_is_tried() -> None:
    tried = {word for line in TRIED for word in shlex.split(line)}
    begun = {f"{word.partition('=')[0]}=" for word in tried}
    assert {each for row in rows().values() for each in typed(row)} - tried - begun == set()
    untried = [there for there, row in rows().items() if not typed(row) and not re.search(f"{FILE}|{KEY_ALONE}", row)]
    assert untried == ["`eval_set` (LangSmith)", "text shown while it is written", "`HF_TOKEN`"]


def test_a_key_that_a_row_names_alone_is_there() -> None:
    config = composed("task=continuation", "engine=vllm", "model=served")
    assert [key for key in named(KEY_ALONE) if OmegaConf.select(config, key, default=config) is config] == []


@pytest.mark.parametrize("line", TRIED)
def test_what_the_rows_say_to_type_can_be_built(own: Path, line: str) -> None:
    for job in jobs_of(*shlex.split(line)):
        invocation = built(*job)
        if hasattr(invocation.task, "lengths_in") and (window := invocation.window()):
            assert invocation.task.lengths_in(invocation.context_budget(window))


def test_a_remark_that_begins_with_a_number_says_the_default() -> None:
    config, told = composed("task=continuation"), named(r"^`([\w.]+)=.*? \| ([0-9.,]*[0-9])\b")
    assert len(told) == 7
    assert [key for key, number in told if float(number.replace(",", "")) != OmegaConf.select(config, key)] == []


@pytest.mark.slow
def test_the_files_that_the_rows_name_are_written_and_have_the_parts_that_are_named(own: Path) -> None:
    drawn = (*SIMULATED, "reporting.figures=true", "engine.law=slope", "engine.cliff_tokens=8000")
    lengths = ("task.lengths=[250,500,1000,2000,4000,7900]", "task.trials=4")  # as many as a shape is told by
    run(own, "experiment=context_rot_ja", *drawn, "task.save_contexts=true", "engine.slope_octaves=5", *lengths)
    (asked,) = folders(own)
    without_server = [each for each in NOVEL.arguments if not each.startswith(("engine", "model"))]
    run(own, *without_server, *drawn, "task.rounds=2")
    (wrote,) = {*folders(own)} - {asked}
    run(own, *(each.replace("RUN_ID", wrote) for each in OLD.arguments), *drawn, "action.name=mine")
    patterns = {
        re.sub("RUN_ID|NAME|_N_|EXPERIMENT", "*", each.replace("output_dir", "outputs")) for each in named(FILE)
    }
    assert len(patterns) >= 20
    assert {each for each in patterns if not any(own.rglob(each.rstrip("/")))} == set()
    for part, name in named(r"`(\w+)` in `([\w.]+\.json)`"):
        assert any(part in json.loads(file.read_text("utf-8")) for file in own.rglob(name))
    for heading in named(r'"([\w ]+)" in `report.md`'):
        assert f"\n### {heading}\n" in (own / "outputs" / "contextcliff" / asked / "report.md").read_text("utf-8")


def test_japanese_comes_through_as_it_is_written() -> None:
    needle = composed(*KEY.arguments).task.needle
    assert needle.text == "「銅の鍵」は、戸棚（二段目）の奥にある：灰色の箱＝右側。"
    assert needle.question == "「銅の鍵」は どこにありますか？"
    assert needle.keywords == ["戸棚", "灰色の箱"]
    several = composed(*TAGS.arguments)
    assert several.dataset.path == "小説/第一章.txt"
    assert several.task.needles[0] == {"text": "傘の札は8317番だ。", "answer": "8317"}


def test_quotes_interpolations_and_apostrophes_are_escaped_as_the_page_says() -> None:
    needle = composed(*QUOTES.arguments).task.needle
    assert needle.text == 'He said "vermilion" (a=b, c: [d]) for ${5}, and that\'s all.'


def test_on_windows_the_pairs_of_quotes_change_places() -> None:
    changed = composed("task=niah_static_ja", "task.needle.text='鍵は、底（右）にある。'")
    assert changed.task.needle.text == "鍵は、底（右）にある。"


def test_without_the_inner_quotes_the_error_writes_the_command() -> None:
    assert line_of("task=niah_static_ja", "task.needle.text=鍵は、底にある。") == (
        "task.needle.text=鍵は、底にある。: needs quotes twice, for the shell and inside; write "
        "'task.needle.text=\"鍵は、底にある。\"'"
    )
