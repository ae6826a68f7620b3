"""A model that is always right gets its whole range in every task and experiment as shipped; where none could, that is
said before anything is sent, with what is needed."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from contextcliff.actions.ahead import impossible_cap
from contextcliff.actions.prepare import Prepared, deployment, planned_step, prepare
from contextcliff.analysis.analyse import analyse, study_of
from contextcliff.analysis.study import StudyFacts
from contextcliff.composing import conf_dir
from contextcliff.records.analysis import Analysis
from contextcliff.records.generation import ScoredSample
from contextcliff.records.sample import Sample
from tests import compositions
from tests.commands import TEN_DEPTHS

PERFECT = ("engine=simulated", "engine.law=flat", "engine.ceiling=1.0", "tracking=none")
TASKS = sorted(file.stem for file in (conf_dir() / "task").glob("*.yaml"))
EXPERIMENTS = sorted(file.stem for file in (conf_dir() / "experiment").glob("*.yaml"))
APART = ("natural_qa", "small_vs_large", "needle_family", "full")


ASKED = [
    *[compositions.without_hub(task) for task in TASKS],
    *[pytest.param((f"experiment={name}",), marks=pytest.mark.slow) for name in EXPERIMENTS if name not in APART],
    ("experiment=small_vs_large", "model=smollm2"),
]


async def prepared_for(*overrides: str) -> Prepared:
    invocation = compositions.built(*PERFECT, *overrides)
    async with invocation.engine.open(deployment(invocation)) as session:
        return prepare(invocation, own=session.tokenizer, served=session.served)


def warned(*overrides: str) -> str | None:
    """What is said of an invocation before anything is sent."""
    return impossible_cap(compositions.built(*PERFECT, *overrides), asyncio.run(prepared_for(*overrides)))


def right(sample: Sample) -> ScoredSample:
    return ScoredSample(
        sample=sample, prompt_sha256="", score=1.0, failure=None, prediction="", generation=None,
        details={"healthy": 1.0},
    )  # fmt: skip


def analysed(*overrides: str) -> Analysis:
    """The analysis of every sample that the run asks a model that is always right."""
    invocation, prepared = compositions.built(*PERFECT, *overrides), asyncio.run(prepared_for(*overrides))
    planned = [item.sample for item in prepared.planned if item.sample.is_ordinary]
    scored, search, traits = [right(sample) for sample in planned], prepared.search, invocation.task.traits
    if search is not None:
        used = search.perfect_path().used
        steps = [item.sample for key in sorted(used) for item in planned_step(prepared, key)]
        scored = [right(sample) for sample in steps if sample.is_ordinary]
    facts = StudyFacts(
        max_context_tokens=prepared.run.facts.context_window,
        designed_lengths=traits.designed_lengths,
        relative_by_default=traits.relative_by_default,
        search=prepared.run.facts.search,
        quantity=traits.cap_quantity,
    )
    found = analyse(study_of(scored, invocation.analysis, facts), ())
    if search is not None and found.safe_cap.censored:  # with as few samples as the plan begins with
        assert {sample.sample_id for sample in planned} == {item.sample.sample_id for item in scored}
    return found


@pytest.mark.parametrize("overrides", ASKED, ids=" ".join)
def test_a_perfect_model_gets_its_whole_range(overrides: tuple[str, ...]) -> None:
    gets_its_whole_range(*overrides)


def gets_its_whole_range(*overrides: str) -> None:
    found = analysed(*overrides)
    assert found.safe_cap.censored, found.safe_cap.reason
    assert warned(*overrides) is None
    assert found.safe_cap.tokens == found.bins[-1].clears_up_to


def questions_in(folder: Path, lengths: Iterable[int]) -> Path:
    """A file of questions, each on a document of so many sentences."""
    rows = [
        {"context": " ".join([f"The secret of place {i} is code{i}x.", *["It rains over the old bridge."] * length]),
         "question": f"What is the secret of place {i}?", "answers": [f"code{i}x"]}
        for i, length in enumerate(lengths)
    ]  # fmt: skip
    file = folder / "questions.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


def test_a_perfect_model_gets_its_whole_range_of_natural_qa_over_documents_that_fill_its_bins(tmp_path: Path) -> None:
    """The stories that are shipped are too few for ten bins, as the experiment says."""
    file = questions_in(tmp_path, range(40, 2000, 8))
    gets_its_whole_range("experiment=natural_qa", "dataset=jsonl", f"dataset.path={file}", "model.context_window=32768")


def is_searched(task: str) -> bool:
    return "trials: auto" in (conf_dir() / "task" / f"{task}.yaml").read_text(encoding="utf-8")


FIXED = ("task.haystacks=1", TEN_DEPTHS)
SHORT = [
    ("task=niah", "task.trials=1"),
    ("task=niah", *FIXED, "task.trials=4", "task.haystacks=4"),
    ("task=niah_multikey", *FIXED, "task.trials=1"),
    ("task=niah_static", *FIXED, "task.trials=4"),
    ("task=qa", "task.samples_per_bin=6"),
    ("task=continuation", "task.rounds=8"),
    ("task=continuation", "task.rounds=9"),
    ("task=continuation", "task.rounds=12", "analysis.threshold=0.8"),
    ("task=tracing", "task.haystacks=1", "task.trials=3", "analysis.threshold=0.9"),
    ("task=aggregation", "task.haystacks=1", "analysis.relative_to_baseline=true", "task.trials=13"),
]
SEARCHED = [
    *[(*compositions.without_hub(task), "task.max_trials=15") for task in TASKS if is_searched(task)],
    *[(f"task={task}", "task.haystacks=8") for task in ("niah", "niah_multikey", "niah_multi", "tracing")],
    ("task=niah", "task.haystacks=1", "task.max_trials=11"),
    ("task=niah", "search=walk", "task.max_trials=11"),
    ("task=niah", "analysis.threshold=0.99", "task.haystacks=8"),
    ("task=niah", "analysis.relative_to_baseline=true", "task.max_trials=22"),
    ("task=niah", "analysis.relative_to_baseline=true", "analysis.threshold=0.95"),
]
NEEDED = re.compile(r"at least (\d+) samples a length(?: in \d+ \w+)? are needed; raise (task\.max_trials)$")


@pytest.mark.slow
@pytest.mark.parametrize("overrides", [*SHORT, *SEARCHED], ids=" ".join)
def test_a_perfect_model_gets_the_whole_range_or_it_was_said_that_none_could(overrides: tuple[str, ...]) -> None:
    whole = analysed(*overrides).safe_cap
    told = warned(*overrides)
    assert (told is None) == whole.censored, told or whole.reason


@pytest.mark.slow
@pytest.mark.parametrize("overrides", SEARCHED, ids=" ".join)
def test_what_a_search_is_told_to_ask_is_enough_and_one_less_is_not(overrides: tuple[str, ...]) -> None:
    needed = NEEDED.search(warned(*overrides) or "")
    if needed is not None:
        count, key = int(needed[1]), needed[2]
        assert warned(*overrides, f"{key}={count}") is None
        assert warned(*overrides, f"{key}={count - 1}") is not None


RELATIVE = "analysis.relative_to_baseline=true"
NONE = "no safe cap is possible: {} a length cannot show {} at 95% confidence even if "


@pytest.mark.parametrize(
    ("overrides", "begins", "ends"),
    [
        (
            ("task=niah", *FIXED, "task.trials=1"),
            NONE.format("10 samples", "0.80"),
            "; at least 14 samples a length are needed; raise task.trials",
        ),
        (("task=continuation", "task.rounds=3"), "", "; at least 9 samples a length are needed; raise task.rounds"),
        (
            ("task=qa", "task.samples_per_bin=6"),
            "",
            "; at least 14 questions a length are needed; raise task.samples_per_bin, if the dataset has as many "
            "questions, or lower analysis.bins",
        ),
        (
            ("task=niah", *FIXED, "task.trials=4", "task.haystacks=4"),
            "",
            "; at least 140 samples a length in 14 texts are needed; raise task.trials and task.haystacks, or take "
            "task.haystacks=fresh",
        ),
        (
            ("task=niah_multikey", "task.max_trials=100"),
            "",
            "; at least 110 samples a length in 22 contexts are needed; raise task.max_trials",
        ),
        (
            ("task=continuation", "sampling=greedy"),
            NONE.format("1 distinct sample", "a healthy share of 0.70"),
            "; samples that are one draw (temperature 0, or sampling.seed is set) count once, and more of them show no "
            "more; with a temperature above 0 and no sampling.seed each is a draw of its own",
        ),
        (
            ("task=continuation", "task.lengths=[4096]", RELATIVE),
            "no safe cap can be tested: there is no length beyond the baseline to compare with it; ask for more",
            "or take analysis.relative_to_baseline=false",
        ),
        (
            ("task=niah", *FIXED, "task.trials=4", "analysis.threshold=1"),
            NONE.format("40 samples", "1.00"),
            "; no number of samples could; lower analysis.threshold",
        ),
    ],
)  # fmt: skip
def test_what_no_model_could_show_is_said_with_what_is_needed(
    overrides: tuple[str, ...], begins: str, ends: str
) -> None:
    told = warned(*overrides) or ""
    assert (told[: len(begins)], told[-len(ends) :]) == (begins, ends)


def test_a_thin_bin_alone_is_named_by_its_length(tmp_path: Path) -> None:
    """Twenty short documents, twenty of medium length and ten long ones, a question each."""
    file = questions_in(tmp_path, [*range(20, 40), *range(120, 140), *range(220, 230)])
    told = warned("task=qa", "dataset=jsonl", f"dataset.path={file}", "analysis.binning=fixed", "analysis.bins=3")
    assert re.fullmatch(
        r"no safe cap beyond [\d,]+ tokens is possible: at [\d,]+ tokens 10 questions cannot show 0\.80 of the "
        r"baseline at 95% confidence even if all are right; at least 14 questions a length are needed; raise .*",
        told or "",
    )
