"""A niah task as it is shipped, and its samples over a text."""

from __future__ import annotations

from typing import Any

from omegaconf import OmegaConf

from contextcliff.composing import conf_dir
from contextcliff.datasets.synthetic import Synthetic
from contextcliff.records import Document, Generation, Passage, Prompt, Sample, render
from contextcliff.tasks.niah import Niah
from contextcliff.tasks.task import Materials, Room
from contextcliff.text.words import WordTokenizer

ROOM = Room(context_window=8192, answer_tokens=48)
TEXT = Synthetic().documents(tokens=3_000, seed=1)[0]


def niah(**changes: Any) -> Niah:
    shipped: Any = OmegaConf.to_container(OmegaConf.load(conf_dir() / "task" / "niah.yaml"))
    del shipped["_target_"]
    return Niah(**{**shipped, **changes})


def passages(sample: Sample) -> tuple[Passage, Passage]:
    """The text before the needle and the text after it."""
    before, after = (piece for piece in sample.recipe.user if isinstance(piece, Passage))
    return before, after


def build(task: Niah, *, document: Document = TEXT, seed: int = 0) -> tuple[Sample, ...]:
    return task.build(
        Materials(documents=[document], tokenizer=WordTokenizer(), room=ROOM, seed=seed, text_identity="text")
    )


def prompt(sample: Sample, document: Document = TEXT) -> Prompt:
    return render(sample.recipe, {document.document_id: document})


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
