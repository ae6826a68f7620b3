"""Answers as traces: in MLflow's page they are read one by one, and filtered by tag and length."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from contextcliff.tracking.place import Opened
from contextcliff.tracking.tracker import Tracked

if TYPE_CHECKING:
    from mlflow.entities import Assessment, TraceInfo
    from mlflow.entities.span import Span

MOST_TRACES = 1_000
"""Of one run: a trace takes some ten milliseconds and two kilobytes."""
_LONGEST_TEXT = 200_000
_PREVIEW = 500
_SPANS_A_CALL = 100
_MS = 1_000_000
_ATTRIBUTES = (
    "ttft_ms",
    "latency_ms",
    "cached_tokens",
    "reasoning_tokens",
    "finish_reason",
    "retries",
    "document_id",
    "seed",
)


def log_traces(
    opened: Opened, mlflow_run: str, tracked: Tracked, *, kept: Literal["failures", "all", "none"], started_ms: int
) -> None:
    """Keep the answers of a run as traces, at most `MOST_TRACES`: of `failures` those that are no full success."""
    asked = () if kept == "none" else (row for row in tracked.samples if not row.get("replayed"))
    rows = [row for row in asked if kept == "all" or row.get("failure")][:MOST_TRACES]
    if not rows:
        return
    from mlflow.tracing.client import TracingClient

    client, experiment_id = TracingClient(opened.client.tracking_uri), opened.experiment_id
    spans: list[Span] = []
    for row in rows:
        info, span = _trace(row, tracked, experiment_id=experiment_id, mlflow_run=mlflow_run, started_ms=started_ms)
        client.start_trace(info)
        spans.append(span)
    for start in range(0, len(spans), _SPANS_A_CALL):
        client.log_spans(experiment_id, spans[start : start + _SPANS_A_CALL])


def delete_traces(opened: Opened, mlflow_run: str) -> None:
    from mlflow.tracing.client import TracingClient

    client = TracingClient(opened.client.tracking_uri)
    while found := client.search_traces(
        locations=[opened.experiment_id],
        filter_string=f"metadata.`mlflow.sourceRun` = '{mlflow_run}'",
        max_results=100,
        include_spans=False,
    ):
        client.delete_traces(opened.experiment_id, trace_ids=[trace.info.trace_id for trace in found])


def _trace(
    row: Mapping[str, object], tracked: Tracked, *, experiment_id: str, mlflow_run: str, started_ms: int
) -> tuple[TraceInfo, Span]:
    from mlflow.entities import TraceInfo, TraceLocation, TraceState
    from mlflow.entities.span import Span
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import SpanContext, Status, StatusCode, TraceFlags

    sample_id = str(row.get("sample_id"))
    # From the run and the sample, so that the same answer is the same trace however often it is sent.
    number = int.from_bytes(hashlib.sha256(f"{mlflow_run} {sample_id}".encode()).digest()[:24], "big")
    otel_trace, otel_span = number >> 64, number & (1 << 64) - 1 or 1
    trace_id = f"tr-{otel_trace:032x}"
    duration_ms = _number(row.get("latency_ms")) or 0
    answered = row.get("finish_reason") is not None or row.get("prediction") is not None
    prompt = tracked.prompts.get(sample_id)
    asked = prompt if prompt is not None else str(row.get("question") or "")
    said = str(row.get("output") or row.get("prediction") or "") if answered else f"no answer: {row.get('failure')}"
    request = {"messages": [{"role": "user", "content": asked[:_LONGEST_TEXT]}]}
    content: object = said[:_LONGEST_TEXT]
    if thought := str(row.get("reasoning") or "")[:_LONGEST_TEXT]:
        summary = [{"type": "summary_text", "text": thought}]
        content = [{"type": "reasoning", "summary": summary}, {"type": "text", "text": content}]
    response = {"choices": [{"message": {"role": "assistant", "content": content}}]}
    start_ns = started_ms * _MS
    span = ReadableSpan(
        name="generation",
        context=SpanContext(otel_trace, otel_span, is_remote=False, trace_flags=TraceFlags(1)),
        attributes={
            "mlflow.traceRequestId": json.dumps(trace_id),
            "mlflow.spanInputs": json.dumps(request),
            "mlflow.spanOutputs": json.dumps(response),
            "mlflow.spanType": json.dumps("CHAT_MODEL"),
            **{key: json.dumps(row[key]) for key in _ATTRIBUTES if row.get(key) is not None},
        },
        start_time=start_ns,
        end_time=start_ns + duration_ms * _MS,
        status=Status(StatusCode.OK if answered else StatusCode.ERROR),
        resource=Resource.get_empty(),
    )
    run = tracked.report.run
    tags = {
        "mlflow.traceName": f"{run.task} at {row.get('context_tokens')}",
        "failure": row.get("failure") or "none",
        "context_tokens": row.get("context_tokens"),
        "depth": row.get("depth"),
        "sample_id": sample_id,
        "model": run.model,
        "task": run.task,
        "kv_policy": run.kv_policy,
        "run": tracked.folder.name,
    }
    tokens = {"input_tokens": row.get("prompt_tokens"), "output_tokens": row.get("completion_tokens")}
    usage = {key: count for key, value in tokens.items() if (count := _number(value)) is not None}
    metadata = {"mlflow.sourceRun": mlflow_run, "mlflow.trace_schema.version": "3"}
    if usage:
        metadata["mlflow.trace.tokenUsage"] = json.dumps({**usage, "total_tokens": sum(usage.values())})
    info = TraceInfo(
        trace_id=trace_id,
        trace_location=TraceLocation.from_experiment_id(experiment_id),
        request_time=started_ms,
        state=TraceState.OK if answered else TraceState.ERROR,
        execution_duration=duration_ms,
        request_preview=asked[-_PREVIEW:],
        response_preview=said[:_PREVIEW],
        trace_metadata=metadata,
        tags={key: str(value)[:_PREVIEW] for key, value in tags.items() if value is not None},
        assessments=list(_assessments(row)),
    )
    return info, Span(span)


def _assessments(row: Mapping[str, object]) -> Iterator[Assessment]:
    from mlflow.entities import AssessmentSource, Expectation, Feedback

    code = AssessmentSource(source_type="CODE", source_id="contextcliff")
    judge = AssessmentSource(source_type="LLM_JUDGE")
    for name in ("score", "em", "f1", "contains_reference", "judge_rating"):
        value = row.get(name)
        if isinstance(value, (bool, int, float)):
            why = str(row.get("failure") or "right") if name == "score" else None
            source = judge if name == "judge_rating" else code
            yield Feedback(name=name, value=value, source=source, rationale=why)
    answers = row.get("answers")
    if isinstance(answers, (list, tuple)) and answers:
        yield Expectation(name="expected_response", value=" | ".join(map(str, answers))[:_PREVIEW], source=code)


def _number(value: object) -> int | None:
    return int(value) if isinstance(value, (int, float)) else None
