"""What no model could show is said before anything is sent, with what is needed."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest

from contextcliff.actions.action import Invocation
from contextcliff.actions.ahead import impossible_cap
from contextcliff.actions.prepare import Prepared, deployment, prepare
from contextcliff.analysis.analyse import analyse, study_of
from contextcliff.analysis.study import StudyFacts
from contextcliff.composing import conf_dir
from contextcliff.records.analysis import Analysis
from contextcliff.records.generation import Outcome
from contextcliff.records.sample import render
from contextcliff.writing.task.continuation import Continuation
from contextcliff.writing.task.continuation_scoring import original_of
from tests import compositions
from tests.actions.test_perfect_model import questions_in
from tests.commands import SIMULATED, TEN_DEPTHS, contextcliff, plan_of, reports
from tests.execution.planned_samples import score_outcomes

PERFECT = ("engine=simulated", "engine.law=flat", "engine.ceiling=1.0", "tracking=none")


def is_searched(task: str) -> bool:
    return "trials: auto" in (conf_dir() / "task" / f"{task}.yaml").read_text(encoding="utf-8")


TASKS = sorted(file.stem for file in (conf_dir() / "task").glob("*.yaml"))
FIXED = ("task.haystacks=1", TEN_DEPTHS)
SHORT = [
    ("task=niah", "task.trials=1"),
    ("task=niah", *FIXED, "task.trials=4", "task.haystacks=4"),
    ("task=niah", *FIXED, "task.trials=4", "task.haystacks=4", "task.depths=[0.1,0.5,0.9]"),
    ("task=niah_multikey", *FIXED, "task.trials=1"),
    ("task=niah_static", *FIXED, "task.trials=4"),
    ("task=qa", "task.samples_per_bin=6"),
    ("task=continuation", "task.rounds=3"),
    ("task=continuation", "task.rounds=8"),
    ("task=continuation", "task.rounds=9"),
    ("task=continuation", "task.rounds=12", "analysis.threshold=0.8"),
    ("task=repeat", "task.trials=4", "analysis.threshold=0.7"),
    ("task=tracing", "task.haystacks=1", "task.trials=3", "analysis.threshold=0.9"),
    ("task=aggregation", "task.haystacks=1", "analysis.relative_to_baseline=true", "task.trials=13"),
]
SEARCHED = [
    *[(*compositions.without_hub(task), "task.max_trials=15") for task in TASKS if is_searched(task)],
    *[(f"task={task}", "task.haystacks=8") for task in ("niah", "niah_multikey", "niah_multi", "tracing")],
    ("task=niah", "task.haystacks=1", "task.max_trials=11"),
    ("task=niah", "search=walk", "task.max_trials=11"),
    ("task=niah", "analysis.threshold=0.99"),
    ("task=niah", "analysis.threshold=0.99", "task.haystacks=8"),
    ("task=niah", "analysis.relative_to_baseline=true"),
    ("task=niah", "analysis.relative_to_baseline=true", "task.max_trials=22"),
    ("task=niah", "analysis.relative_to_baseline=true", "analysis.threshold=0.95"),
]
NEEDED = re.compile(r"at least (\d+) samples a length(?: in \d+ \w+)? are needed; raise (task\.max_trials)$")


def built(*overrides: str) -> Invocation:
    return compositions.built(*PERFECT, *overrides)


async def _prepared(invocation: Invocation) -> Prepared:
    async with invocation.engine.open(deployment(invocation)) as session:
        return prepare(invocation, own=session.tokenizer, served=session.served)


def warned(*overrides: str) -> str | None:
    """What is said of an invocation before anything is sent."""
    invocation = built(*overrides)
    return impossible_cap(invocation, asyncio.run(_prepared(invocation)))


async def _analysed(invocation: Invocation) -> Analysis:
    prepared = await _prepared(invocation)
    outcomes, answers = [], {}
    async with invocation.engine.open(deployment(invocation)) as session:
        for item in prepared.planned:
            sample = item.sample
            if item.key not in answers:
                said = await session.generate(
                    sample,
                    render(sample.recipe, prepared.documents),
                    invocation.sampling.for_answer(sample.answer_tokens),
                )
                if isinstance(invocation.task, Continuation):
                    # What it writes is no good prose: the best that is known is what the author wrote there.
                    said = replace(said, text=original_of(sample, said, prepared.documents[sample.document_id]))
                answers[item.key] = said
            outcomes.append(Outcome(sample=sample, prompt_sha256=item.prompt_sha256, generation=answers[item.key]))
    scored = [item for item in score_outcomes(invocation.task, outcomes, prepared.documents) if item.sample.is_ordinary]
    facts = StudyFacts(
        max_context_tokens=prepared.run.facts.context_window,
        designed_lengths=invocation.task.traits.designed_lengths,
        relative_by_default=invocation.task.traits.relative_by_default,
        search=prepared.run.facts.search,
        quantity=invocation.task.traits.cap_quantity,
    )
    return analyse(study_of(scored, invocation.analysis, facts), ())


@pytest.mark.slow
@pytest.mark.parametrize("overrides", [*SHORT, *SEARCHED], ids=lambda overrides: " ".join(overrides))
def test_a_perfect_model_gets_the_whole_range_or_it_was_said_that_none_could(overrides: tuple[str, ...]) -> None:
    whole = asyncio.run(_analysed(built(*overrides))).safe_cap
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


@pytest.mark.parametrize(
    ("overrides", "needed"),
    [
        (("task=niah", *FIXED, "task.trials=1"), "14 samples a length are needed; raise task.trials"),
        (
            ("task=niah_multikey", *FIXED, "task.trials=1"),
            "60 samples a length in 6 contexts are needed; raise task.trials",
        ),
        (("task=continuation", "task.rounds=3"), "9 samples a length are needed; raise task.rounds"),
        (
            ("task=qa", "task.samples_per_bin=6"),
            "14 questions a length are needed; raise task.samples_per_bin, if the dataset has as many questions, or "
            "lower analysis.bins",
        ),
        (
            ("task=niah", *FIXED, "task.trials=4", "task.haystacks=4"),
            "60 samples a length in 6 texts are needed; raise task.trials and task.haystacks, or take "
            "task.haystacks=fresh",
        ),
        (
            ("task=niah_multikey", "task.max_trials=100"),
            "110 samples a length in 22 contexts are needed; raise task.max_trials",
        ),
        (
            ("task=niah", "task.haystacks=8"),
            "242 samples a length in 22 texts are needed; raise task.max_trials and task.haystacks, or take "
            "task.haystacks=fresh",
        ),
    ],
)  # fmt: skip
def test_the_fewest_samples_that_could_show_it_are_named(overrides: tuple[str, ...], needed: str) -> None:
    assert (warned(*overrides) or "").endswith(f"; at least {needed}")


@pytest.mark.slow
def test_a_plan_and_a_run_say_it_and_go_on(tmp_path: Path) -> None:
    given = (*SIMULATED, *FIXED, "task.trials=1")
    said = (
        "no safe cap is possible: 10 samples a length cannot show 0.80 at 95% confidence even if all are right; "
        "at least 14 samples a length are needed; raise task.trials"
    )
    assert contextcliff(*given, "action=plan", cwd=tmp_path).returncode == 0
    assert plan_of(tmp_path)["notes"][0] == said
    done = contextcliff(*given, "reporting.progress=true", cwd=tmp_path)
    assert (done.returncode, done.stderr.startswith(f"warning: {said}\n")) == (0, True)
    (report,) = reports(tmp_path)
    assert report["counts"]["completed"] == 30
    again = contextcliff(*given, "reporting.progress=true", cwd=tmp_path)
    assert (again.returncode, again.stderr) == (0, "analysing\nwriting the report's page\n")
    quiet = contextcliff(*given, "seed=1", cwd=tmp_path)
    assert (quiet.returncode, quiet.stderr) == (0, "")


def test_rounds_that_are_one_draw_need_another_sampling_and_not_more_rounds() -> None:
    assert warned("task=continuation", "sampling=greedy") == (
        "no safe cap is possible: 1 distinct sample a length cannot show a healthy share of 0.70 at 95% confidence "
        "even if it is healthy; samples that are one draw (temperature 0, or sampling.seed is set) count once, and "
        "more of them show no more; with a temperature above 0 and no sampling.seed each is a draw of its own"
    )


def test_a_single_length_has_nothing_to_be_a_share_of() -> None:
    assert warned("task=continuation", "task.lengths=[4096]", "analysis.relative_to_baseline=true") == (
        "no safe cap can be tested: there is no length beyond the baseline to compare with it; ask for more lengths, "
        "or take analysis.relative_to_baseline=false"
    )
    assert warned("task=niah", "task.lengths=[1024]") is None


def test_a_threshold_that_no_number_of_samples_can_show_is_said_so() -> None:
    assert warned("task=niah", *FIXED, "task.trials=4", "analysis.threshold=1") == (
        "no safe cap is possible: 40 samples a length cannot show 1.00 at 95% confidence even if all are right; no "
        "number of samples could; lower analysis.threshold"
    )


def test_a_search_for_all_of_the_baseline_is_hopeless() -> None:
    warning = warned("task=niah", "analysis.relative_to_baseline=true", "analysis.threshold=1")
    assert warning is not None
    assert warning.startswith("no safe cap is possible: 154 samples a length cannot")
    assert warning.endswith("; no number of samples could; lower analysis.threshold")


def test_a_thin_bin_alone_is_named_by_its_length(tmp_path: Path) -> None:
    """Twenty short documents, twenty of medium length and ten long ones, a question each."""
    file = questions_in(tmp_path, [*range(20, 40), *range(120, 140), *range(220, 230)])
    given = ("task=qa", "dataset=jsonl", f"dataset.path={file}", "analysis.binning=fixed", "analysis.bins=3")
    told = warned(*given)
    assert told is not None
    assert re.fullmatch(
        r"no safe cap beyond [\d,]+ tokens is possible: at [\d,]+ tokens 10 questions cannot show 0\.80 of the "
        r"baseline at 95% confidence even if all are right; at least 14 questions a length are needed; raise .*",
        told,
    )


@pytest.mark.slow
def test_a_plan_counts_a_repeated_question_once_where_it_says_what_it_detects(tmp_path: Path) -> None:
    drops = []
    for repeats in (1, 3):
        done = contextcliff(*SIMULATED, "task=qa", f"task.repeats={repeats}", "action=plan", cwd=tmp_path)
        assert done.returncode == 0
        drops.append(plan_of(tmp_path)["detectable_drop"])
    assert drops[0] == drops[1]
