"""Tasks as they are shipped, with some keys changed, and what they are built from."""

from __future__ import annotations

from typing import Any

from omegaconf import OmegaConf
from pydantic import TypeAdapter

from contextcliff.composing import conf_dir
from contextcliff.config import _class_at
from contextcliff.records.corpus import Corpus
from contextcliff.tasks.task import ContextBudget, Materials
from contextcliff.text.tokenizers import WordTokenizer

WIDE = ContextBudget(context_window=200_000, answer_tokens=48)


def shipped(option: str, **changes: Any) -> Any:
    """The task of a YAML with other values of some keys; a mapping changes the keys of a section."""
    values: Any = OmegaConf.to_container(OmegaConf.load(conf_dir() / "task" / f"{option}.yaml"))
    values.pop("defaults", None)
    cls = _class_at(values.pop("_target_"), "task")
    for key, value in changes.items():
        values[key] = {**values[key], **value} if isinstance(value, dict) else value
    return TypeAdapter(cls).validate_python(values)


def materials(corpus: Corpus | None = None, *, seed: int = 0) -> Materials:
    """A corpus, or none, with the tokenizer of words and a wide window."""
    return Materials(
        corpus=corpus or Corpus(documents=()),
        tokenizer=WordTokenizer(),
        context_budget=WIDE,
        seed=seed,
        text_identity="text",
    )
