"""Answers as traces: read one by one in MLflow, with their scores, filtered by tag and length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contextcliff.tracking.mlflow import MLflowTracker
from tests.tracking.tracking_runs import client_of, experiment_of, report, tracked

ROWS: list[dict[str, object]] = [
    {
        **{"sample_id": "right", "context_tokens": 512, "depth": 0.5, "question": "Which number?", "answers": ["7"]},
        **{"prediction": "7", "output": "It is 7.", "score": 1.0, "failure": None, "finish_reason": "stop"},
        **{"prompt_tokens": 500, "completion_tokens": 4, "latency_ms": 120.0, "ttft_ms": 80.0},
    },
    {
        **{"sample_id": "wrong", "context_tokens": 4096, "depth": 0.0, "question": "Which number?", "answers": ["9"]},
        **{"prediction": "3", "output": "<b>3</b>", "score": 0.0, "failure": "wrong_needle", "finish_reason": "stop"},
        **{"prompt_tokens": 4000, "completion_tokens": 6, "latency_ms": 900.0, "ttft_ms": 700.0},
    },
    {
        **{"sample_id": "away", "context_tokens": 4096, "depth": 1.0, "question": "Which number?", "answers": ["5"]},
        **{"prediction": None, "output": None, "score": None, "failure": "timeout", "finish_reason": None},
    },
]
REPLAYED: dict[str, object] = {**ROWS[1], "sample_id": "replayed", "replayed": True}


def traces(tracker: MLflowTracker, **search: Any) -> list[Any]:
    found = client_of(tracker).search_traces(locations=[experiment_of(tracker)], **search)
    return sorted(found, key=lambda trace: trace.info.tags["sample_id"])


def ids(tracker: MLflowTracker, **search: Any) -> list[str]:
    return [trace.info.tags["sample_id"] for trace in traces(tracker, **search)]


def logged(store: str, folder: Path, name: str, **changes: Any) -> MLflowTracker:
    tracker = MLflowTracker(uri=store, experiment=name, **changes)
    tracker.log(tracked(folder, samples=[*ROWS, REPLAYED], prompts={"away": "the whole text. Which number?"}))
    return tracker


def test_a_trace_has_the_question_the_answer_the_tokens_the_time_and_the_score(store: str, tmp_path: Path) -> None:
    away, wrong = traces(logged(store, tmp_path, "whole"))
    assert (away.info.state, wrong.info.state) == ("ERROR", "OK")
    assert [each.name for each in away.info.assessments] == ["expected_response"]
    assert "no answer: timeout" in away.info.response_preview
    assert away.data.spans[0].inputs["messages"][0]["content"] == "the whole text. Which number?"  # the prompt was kept
    (span,) = wrong.data.spans
    assert span.inputs == {"messages": [{"role": "user", "content": "Which number?"}]}
    assert span.outputs == {"choices": [{"message": {"role": "assistant", "content": "<b>3</b>"}}]}
    assert wrong.info.token_usage == {"input_tokens": 4000, "output_tokens": 6, "total_tokens": 4006}
    assert wrong.info.execution_duration == 900
    said = {each.name: each for each in wrong.info.assessments}
    assert (said["score"].value, said["score"].rationale) == (0.0, "wrong_needle")
    assert said["expected_response"].value == "9"
    assert wrong.info.tags["kv_policy"] == "none"


def test_a_trace_of_a_thinking_model_has_its_reasoning_beside_the_answer(store: str, tmp_path: Path) -> None:
    tracker = MLflowTracker(uri=store, experiment="thinking")
    thinking = {**ROWS[1], "reasoning": "<b>hm</b>", "reasoning_tokens": 5}
    tracker.log(tracked(tmp_path, samples=[thinking]))
    (span,) = traces(tracker)[0].data.spans
    assert span.outputs["choices"][0]["message"]["content"] == [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "<b>hm</b>"}]},
        {"type": "text", "text": "<b>3</b>"},
    ]
    assert span.attributes["reasoning_tokens"] == 5


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        ({"traces": "all"}, ["away", "right", "wrong"]),
        ({"traces": "none"}, []),
        ({"traces": "all", "log_text": False}, []),
    ],
)
def test_all_answers_that_were_asked_can_be_traces_and_none(
    changes: dict[str, Any], kept: list[str], store: str, tmp_path: Path
) -> None:
    assert ids(logged(store, tmp_path, " ".join(changes), **changes)) == kept


def test_traces_are_filtered_by_tag_length_and_run(store: str, tmp_path: Path) -> None:
    tracker = logged(store, tmp_path, "filtered", traces="all")
    assert ids(tracker, filter_string="tags.failure = 'wrong_needle'") == ["wrong"]
    assert ids(tracker, filter_string="tags.context_tokens = '4096'") == ["away", "wrong"]
    run = traces(tracker)[0].info.trace_metadata["mlflow.sourceRun"]
    assert len(ids(tracker, filter_string=f"metadata.`mlflow.sourceRun` = '{run}'")) == 3


def test_the_traces_of_a_run_that_another_replaces_are_gone(store: str, tmp_path: Path) -> None:
    tracker = logged(store, tmp_path, "replaced")
    tracker.log(tracked(tmp_path, report(successes=1), samples=ROWS[:2]))
    assert ids(tracker) == ["wrong"]
