"""The needle tasks as they are shipped, and their samples over a text."""

from __future__ import annotations

from typing import Any

import pytest
from omegaconf import OmegaConf
from pydantic import TypeAdapter

from contextcliff.composing import conf_dir
from contextcliff.datasets.synthetic import Synthetic
from contextcliff.records.corpus import Corpus, Document
from contextcliff.records.generation import Generation
from contextcliff.records.sample import Passage, Prompt, Sample, render
from contextcliff.tasks.needles.aggregation import Aggregation
from contextcliff.tasks.needles.babilong import Babilong
from contextcliff.tasks.needles.niah import Niah
from contextcliff.tasks.needles.niah_multi import NiahMulti
from contextcliff.tasks.needles.niah_multikey import NiahAmongNeedles, NiahMultikey
from contextcliff.tasks.needles.niah_semantic import NiahSemantic
from contextcliff.tasks.needles.tracing import Tracing
from contextcliff.tasks.repeat import Repeat
from contextcliff.tasks.task import ContextBudget, Materials, Task, TaskPlan
from contextcliff.text.tokenizers import WordTokenizer
from contextcliff.text.tokens import Tokenizer

ROOM = ContextBudget(context_window=8192, answer_tokens=48)
TEXTS = Synthetic().corpus(tokens=3_000, seed=1, count=8).documents
TEXT = TEXTS[0]
FAMILY: dict[str, type] = {
    "niah": Niah,
    "niah_static": Niah,
    "niah_static_ja": Niah,
    "niah_multi": NiahMulti,
    "niah_multi_static": NiahMulti,
    "niah_multikey": NiahMultikey,
    "niah_semantic": NiahSemantic,
    "tracing": Tracing,
    "aggregation": Aggregation,
    **{f"babilong_qa{facts}": Babilong for facts in (1, 2, 3)},
    "repeat": Repeat,
}
RULER: dict[str, type] = {
    **{f"ruler_niah_single_{number}": Niah for number in (1, 2, 3)},
    "ruler_niah_multikey_1": NiahMultikey,
    "ruler_niah_multikey_2": NiahAmongNeedles,
    "ruler_niah_multikey_3": NiahAmongNeedles,
    "ruler_niah_multivalue": NiahMulti,
    "ruler_niah_multiquery": NiahMulti,
    "ruler_vt": Tracing,
}
OPTIONS = [*FAMILY, *(pytest.param(option, marks=pytest.mark.slow) for option in RULER)]
"""For what holds of both; `test_ruler_needles.py` has what holds of RULER's alone."""


def shipped(option: str, **changes: Any) -> Any:
    """A task as its YAML has it, with some keys changed; a mapping changes the keys of a section."""
    values: Any = OmegaConf.to_container(OmegaConf.load(conf_dir() / "task" / f"{option}.yaml"))
    for other in ("_target_", "defaults"):
        values.pop(other, None)
    for key, value in changes.items():
        values[key] = {**values[key], **value} if isinstance(value, dict) else value
    return TypeAdapter({**FAMILY, **RULER}[option]).validate_python(values)


def niah(**changes: Any) -> Niah:
    task = shipped("niah", **changes)
    assert isinstance(task, Niah)
    return task


def passages(sample: Sample) -> tuple[Passage, Passage]:
    """The text before the needle and the text after it."""
    before, after = (piece for piece in sample.recipe.user if isinstance(piece, Passage))
    return before, after


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
