"""Samples and facts as the store has them: read back as they were, those of earlier versions too."""

from __future__ import annotations

import json
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
from contextcliff.records.generation import Generation
from contextcliff.records.positions import Positions
from contextcliff.records.report import RunFacts
from contextcliff.records.sample import Reference
from tests.tasks.needles import build, niah

SAMPLE = build(niah(lengths=[300], depths=[0.5], trials=1))[0]
REFERENCE = Reference(
    kind="choice",
    choices=("a lamp", "a key"),
    evidence=(Span(start=3, end=9),),
    distractors=("1234567",),
    reply="B",
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
ANSWER = Generation(
    text="47, été",
    finish_reason="stop",
    prompt_tokens=300,
    completion_tokens=3,
    cached_tokens=0,
    ttft_ms=12.5,
    latency_ms=30.0,
    reasoning="hm",
    attention_entropy=(0.5, 1.0),
)


@pytest.mark.parametrize("reference", [Reference(), REFERENCE])
def test_a_sample_comes_back_as_it_was_and_without_what_is_at_its_default(reference: Reference) -> None:
    sample = replace(SAMPLE, reference=reference)
    text = sample_to_json(sample)
    assert sample_from_json(text) == sample
    whole = TypeAdapter(type(sample)).dump_python(sample, mode="json")
    earlier = {**whole.pop("reference"), **whole}  # as earlier versions wrote it
    assert sample_from_json(json.dumps(earlier)) == sample
    assert earlier.keys() - json.loads(text).keys() >= {"pilot", "bin", "repeat", "item"}


@pytest.mark.parametrize("answer", [ANSWER, replace(ANSWER, cached_tokens=None, reasoning="", attention_entropy=())])
def test_an_answer_comes_back_as_it_was(answer: Generation) -> None:
    assert generation_from_json(generation_to_json(answer)) == answer
    assert generation_from_json(json.dumps(asdict(answer))) == answer  # as earlier versions wrote it
    assert len(generation_to_json(answer)) < len(json.dumps(asdict(answer)))


@pytest.mark.parametrize("facts", [PLAIN, FACTS])
def test_facts_come_back_as_they_were(facts: RunFacts) -> None:
    assert facts_from_json(json.dumps(facts_to_strings(facts))) == facts


def test_facts_of_an_early_version_are_read() -> None:
    early = {"model": "qwen", "engine": "openai", "window": "32768", "tokenizer": "words", "notes": ""}
    assert facts_from_json(json.dumps(early)) == replace(PLAIN, dataset="")
