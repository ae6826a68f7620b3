"""A model that is always right gets its whole range, in every shipped task and experiment as it is shipped."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from contextcliff.actions.action import Invocation
from contextcliff.actions.ahead import impossible_cap
from contextcliff.actions.prepare import Prepared, PreparedSearch, deployment, planned_samples, prepare
from contextcliff.analysis.analyse import analyse, study_of
from contextcliff.analysis.search import complete_blocks, follow
from contextcliff.analysis.study import StudyFacts
from contextcliff.composing import conf_dir
from contextcliff.engines.engine import Session
from contextcliff.records.generation import Outcome, ScoredSample
from contextcliff.records.sample import Sample, render
from tests import compositions
from tests.execution.planned_samples import score_outcomes

PERFECT = ("engine=simulated", "engine.law=flat", "engine.ceiling=1.0", "tracking=none")
TASKS = sorted(file.stem for file in (conf_dir() / "task").glob("*.yaml"))
EXPERIMENTS = sorted(file.stem for file in (conf_dir() / "experiment").glob("*.yaml"))
SWEEPS = ("needle_family", "full")
APART = ("natural_qa", "small_vs_large", *SWEEPS)


def jobs(experiment: str) -> list[tuple[str, ...]]:
    """The overrides of each job of an experiment that sweeps tasks, with the `++` keys that its task has."""
    params = OmegaConf.load(conf_dir() / "experiment" / f"{experiment}.yaml").hydra.sweeper.params
    forced = {key.removeprefix("++"): value for key, value in params.items() if key.startswith("++task.")}
    return [
        (
            f"experiment={experiment}",
            f"task={task}",
            *[
                f"{key}={value}"
                for key, value in forced.items()
                if key.removeprefix("task.") in OmegaConf.load(conf_dir() / "task" / f"{task}.yaml")
            ],
        )
        for task in params.task.split(",")
    ]


ASKED = [
    *[compositions.without_hub(task) for task in TASKS],
    *[pytest.param((f"experiment={name}",), marks=pytest.mark.slow) for name in EXPERIMENTS if name not in APART],
    ("experiment=small_vs_large", "model=smollm2"),
    *[pytest.param(job, marks=pytest.mark.slow) for experiment in SWEEPS for job in jobs(experiment)],
]


async def answered(invocation: Invocation) -> tuple[Prepared, list[ScoredSample]]:
    """Every sample that the run asks for, with the answers of a model that is always right."""
    async with invocation.engine.open(deployment(invocation)) as session:
        prepared = prepare(invocation, own=session.tokenizer, served=session.served)
        if prepared.search is None:
            samples = [item.sample for item in prepared.planned if item.sample.is_ordinary]
            return prepared, [right(sample) for sample in samples]
        return prepared, await searched(invocation, prepared, prepared.search, session)


async def searched(
    invocation: Invocation, prepared: Prepared, search: PreparedSearch, session: Session
) -> list[ScoredSample]:
    scored: list[ScoredSample] = []
    respondent = invocation.identify().respondent
    while wanted := follow(search.plan, search.rule, complete_blocks(scored, search.plan)).wanted:
        outcomes = []
        for key in wanted:
            block = search.blocks.block(key.context_tokens, key.index)
            for item in planned_samples(block, prepared.materials.corpus, respondent, served=prepared.served):
                sampling = invocation.sampling.for_answer(item.sample.answer_tokens)
                said = await session.generate(item.sample, render(item.sample.recipe, prepared.documents), sampling)
                outcomes.append(Outcome(sample=item.sample, prompt_sha256=item.prompt_sha256, generation=said))
        answers = score_outcomes(invocation.task, outcomes, prepared.documents)
        scored += [item for item in answers if item.sample.is_ordinary]
    return scored


def right(sample: Sample) -> ScoredSample:
    return ScoredSample(
        sample=sample, prompt_sha256="", score=1.0, failure=None, prediction="", generation=None,
        details={"healthy": 1.0},
    )  # fmt: skip


@pytest.mark.parametrize("overrides", ASKED, ids=" ".join)
def test_a_perfect_model_gets_its_whole_range(overrides: tuple[str, ...]) -> None:
    gets_its_whole_range(*overrides)


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


def gets_its_whole_range(*overrides: str) -> None:
    invocation = compositions.built(*PERFECT, *overrides)
    prepared, scored = asyncio.run(answered(invocation))
    facts = StudyFacts(
        max_context_tokens=prepared.run.facts.context_window,
        designed_lengths=invocation.task.traits.designed_lengths,
        relative_by_default=invocation.task.traits.relative_by_default,
        search=prepared.run.facts.search,
        quantity=invocation.task.traits.cap_quantity,
    )
    analysed = analyse(study_of(scored, invocation.analysis, facts), ())
    assert analysed.safe_cap.censored, analysed.safe_cap.reason
    assert impossible_cap(invocation, prepared) is None
    assert analysed.safe_cap.tokens == analysed.bins[-1].clears_up_to
    if invocation.task.traits.is_searched:  # and with as few samples as the plan begins with
        planned = [item.sample for item in prepared.planned if item.sample.is_ordinary]
        assert {sample.sample_id for sample in planned} == {item.sample.sample_id for item in scored}
