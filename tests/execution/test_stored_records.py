"""Samples and facts as the store has them: read back as they were, those of earlier versions too."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace

import pytest
from pydantic import TypeAdapter

from contextcliff.execution.store import (
    facts_from_json,
    facts_to_strings,
    generation_from_json,
    generation_to_json,
    sample_from_json,
    sample_to_json,
)
from contextcliff.records.corpus import AuditBin, LengthAudit, Span
from contextcliff.records.positions import Positions
from contextcliff.records.report import RunFacts
from contextcliff.records.sample import Reference
from tests.tasks.needles import build, niah, said

SAMPLE = build(niah(lengths=[300], depths=[0.5], trials=1))[0]
REFERENCE = Reference(
    kind="choice", choices=("a lamp", "a key"), evidence=(Span(start=3, end=9),), distractors=("1234567",), reply="B"
)
BIN = AuditBin(min_tokens=400, max_tokens=900, documents=2, questions=6, drawn_documents=2, drawn_questions=4)
PLAIN = RunFacts(model="qwen", engine="openai", context_window=32768, tokenizer="words", dataset="stories")
FACTS = replace(
    PLAIN,
    own_tokenizer=True,
    texts="2 documents, 6 questions",
    task_option="qa",
    drawn=(5, "fixed"),
    notes=("one document is left out", "the cap is tested on fresh samples"),
    audit=LengthAudit(lengths=(400, 900), too_short=1, too_long=0, bins=(BIN,)),
    server=("vllm 0.9", "prefix cache on"),
    api="chat",
    judge="gpt-5",
    judge_served="gpt-5-2026",
    embedder="nomic",
    positions=Positions(trained_tokens=8_192, source="gguf", scaling="yarn", factor=2.0),
)
ANSWER = replace(said("47, été"), cached_tokens=0, reasoning="hm", attention_entropy=(0.5, 1.0))


def facts_to_json(facts: RunFacts) -> str:
    return json.dumps(facts_to_strings(facts))


@pytest.mark.parametrize(
    ("written", "read", "record"),
    [
        (sample_to_json, sample_from_json, SAMPLE),
        (sample_to_json, sample_from_json, replace(SAMPLE, reference=REFERENCE)),
        (generation_to_json, generation_from_json, ANSWER),
        (generation_to_json, generation_from_json, replace(ANSWER, cached_tokens=None, attention_entropy=())),
        (facts_to_json, facts_from_json, PLAIN),
        (facts_to_json, facts_from_json, FACTS),
    ],
)
def test_a_record_comes_back_as_it_was(
    written: Callable[[object], str], read: Callable[[str], object], record: object
) -> None:
    assert read(written(record)) == record


def test_those_of_earlier_versions_are_read() -> None:
    whole = TypeAdapter(type(SAMPLE)).dump_python(SAMPLE, mode="json")
    assert sample_from_json(json.dumps({**whole.pop("reference"), **whole})) == SAMPLE
    assert generation_from_json(json.dumps(asdict(ANSWER))) == ANSWER
    early = {"model": "qwen", "engine": "openai", "window": "32768", "tokenizer": "words", "notes": ""}
    assert facts_from_json(json.dumps(early)) == replace(PLAIN, dataset="")
