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
from contextcliff.records.report import DrawnBins, RunFacts
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
AUDIT = LengthAudit(
    lengths=(400, 900),
    too_short=1,
    too_long=0,
    bins=(AuditBin(min_tokens=400, max_tokens=900, documents=2, questions=6, drawn_documents=2, drawn_questions=4),),
)
FACTS = RunFacts(
    model="qwen",
    engine="openai",
    context_window=32768,
    tokenizer="words",
    own_tokenizer=True,
    dataset="stories: 2 documents, 6 questions",
    texts="2 documents, 6 questions",
    task_option="qa",
    dataset_option="stories",
    drawn=DrawnBins(bins=5, binning="fixed"),
    notes=("one document is left out", "the cap is tested on fresh samples"),
    audit=AUDIT,
    server=("vllm 0.9", "prefix cache on"),
    api="chat",
    judge="gpt-5",
    judge_served="gpt-5-2026",
    embedder="nomic",
    positions=Positions(trained_tokens=8_192, source="gguf", scaling="yarn", factor=2.0),
)


@pytest.mark.parametrize("reference", [Reference(), REFERENCE])
def test_a_sample_comes_back_as_it_was(reference: Reference) -> None:
    sample = replace(SAMPLE, reference=reference)
    assert sample_from_json(sample_to_json(sample)) == sample


def test_what_is_at_its_default_is_left_out_and_read_from_stores_that_have_it() -> None:
    values = json.loads(sample_to_json(SAMPLE))
    assert values.keys().isdisjoint({"kind", "choices", "evidence", "reply", "pilot", "bin", "repeat", "item"})
    whole = TypeAdapter(type(SAMPLE)).dump_python(SAMPLE, mode="json")
    earlier = {**whole.pop("reference"), **whole}
    assert earlier.keys() > values.keys()
    assert sample_from_json(json.dumps(earlier)) == SAMPLE


def test_a_generation_comes_back_as_it_was() -> None:
    generation = Generation(
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
    for each in (generation, replace(generation, cached_tokens=None, reasoning="", attention_entropy=())):
        assert generation_from_json(generation_to_json(each)) == each
        assert generation_from_json(json.dumps(asdict(each))) == each  # as earlier versions wrote it
    assert len(generation_to_json(generation)) < len(json.dumps(asdict(generation)))


@pytest.mark.parametrize("text", ["5", "[]", "{}", "not json"])
def test_what_is_no_sample_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        sample_from_json(text)


@pytest.mark.parametrize(
    "facts",
    [FACTS, replace(FACTS, own_tokenizer=False, drawn=None, audit=None, judge=None, embedder=None, positions=None)],
)
def test_facts_come_back_as_they_were(facts: RunFacts) -> None:
    facts = facts if facts.judge else replace(facts, judge_served=None)
    assert facts_from_json(json.dumps(facts_to_strings(facts))) == facts


def test_facts_of_an_early_version_are_read() -> None:
    early = {"model": "m", "engine": "e", "window": "8192", "tokenizer": "words", "dataset": "text", "notes": ""}
    facts = facts_from_json(json.dumps(early))
    assert (facts.context_window, facts.task_option, facts.notes, facts.judge) == (8192, None, (), None)
    assert facts.positions is None


def test_facts_without_a_window_are_refused() -> None:
    with pytest.raises(ValueError, match="window"):
        facts_from_json(json.dumps({"model": "m", "engine": "e", "tokenizer": "words"}))
