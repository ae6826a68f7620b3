"""The needle tasks as they are shipped, and their samples over a text."""

from __future__ import annotations

from typing import Any

import pytest

from contextcliff.datasets.synthetic import Synthetic
from contextcliff.records.corpus import Corpus, Document
from contextcliff.records.generation import Generation
from contextcliff.records.sample import Prompt, Sample, render
from contextcliff.tasks.needles.niah import Niah
from contextcliff.tasks.task import ContextBudget, Materials, Task, TaskPlan
from contextcliff.text.tokenizers import WordTokenizer
from contextcliff.text.tokens import Tokenizer
from tests.tasks.made_tasks import shipped

ROOM = ContextBudget(context_window=8192, answer_tokens=48)
TEXTS = Synthetic().corpus(tokens=3_000, seed=1, count=8).documents
TEXT = TEXTS[0]
FAMILY = ("niah", "niah_multi", "niah_multikey", "niah_semantic", "tracing", "aggregation", "babilong_qa3", "repeat")
ALIKE = ("niah_static", "niah_static_ja", "niah_multi_static", "babilong_qa1", "babilong_qa2")
"""Those of them that differ from another in their words alone."""
RULER = (
    *("ruler_niah_single_1", "ruler_niah_single_2", "ruler_niah_single_3", "ruler_niah_multivalue"),
    *("ruler_niah_multikey_1", "ruler_niah_multikey_2", "ruler_niah_multikey_3", "ruler_niah_multiquery", "ruler_vt"),
)
OPTIONS = [*FAMILY, *(pytest.param(option, marks=pytest.mark.slow) for option in (*ALIKE, *RULER))]
"""For what holds of both."""


def niah(**changes: Any) -> Niah:
    task = shipped("niah", **changes)
    assert isinstance(task, Niah)
    return task


def materials(
    *documents: Document, seed: int = 0, context_budget: ContextBudget = ROOM, tokenizer: Tokenizer | None = None
) -> Materials:
    return Materials(
        corpus=Corpus(documents=documents or TEXTS),
        tokenizer=tokenizer or WordTokenizer(),
        context_budget=context_budget,
        seed=seed,
        text_identity="text",
    )


def built(
    task: Task,
    *documents: Document,
    seed: int = 0,
    context_budget: ContextBudget = ROOM,
    tokenizer: Tokenizer | None = None,
) -> TaskPlan:
    return task.build(materials(*documents, seed=seed, context_budget=context_budget, tokenizer=tokenizer))


def build(task: Task, *, document: Document = TEXT, seed: int = 0) -> tuple[Sample, ...]:
    return built(task, document, seed=seed).samples


def prompt(sample: Sample, *documents: Document) -> Prompt:
    return render(sample.recipe, {document.document_id: document for document in documents or TEXTS})


def said(text: str, finish_reason: str = "stop") -> Generation:
    return Generation(
        text=text,
        finish_reason=finish_reason,
        prompt_tokens=10,
        completion_tokens=1,
        cached_tokens=0,
        ttft_ms=1.0,
        latency_ms=2.0,
    )
