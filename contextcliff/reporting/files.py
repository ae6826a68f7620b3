"""The files that a run leaves: `report.json`, `report.md`, `samples.jsonl`, `manifest.json`, `figures/`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from contextcliff.records import Report, ScoredSample
from contextcliff.reporting.atomic import write_text
from contextcliff.reporting.figures import draw_figures
from contextcliff.reporting.markdown import render_markdown

# Some readers end a line at these too; inside JSON they only occur in strings, where an escape is the same.
_LINE_ENDS = {ord(char): f"\\u{ord(char):04x}" for char in "\x85\u2028\u2029"}


@dataclass(frozen=True, kw_only=True, slots=True)
class SampleLine:
    """A line of `samples.jsonl`. What only a generation can tell is None where there was none."""

    sample_id: str
    task: str
    context_tokens: int
    """The length asked for."""
    prompt_tokens: int | None
    """The server's count."""
    depth: float | None
    trial: int
    document_id: str
    question: str
    answers: tuple[str, ...]
    prediction: str
    score: float | None
    failure: str | None
    finish_reason: str | None
    ttft_ms: float | None
    latency_ms: float | None
    cached_tokens: int | None
    prompt_sha256: str
    seed: int
    cluster: str
    """What it shares with other samples of its length; empty: nothing."""
    evidence_distance_tokens: int | None
    """Tokens between neighbouring pieces of evidence, where there are several."""
    metadata: Mapping[str, str | int | float]
    judge_rating: int | None


def write_report_files(
    report: Report,
    *,
    scored: Sequence[ScoredSample],
    controls: Sequence[ScoredSample] = (),
    manifest: Mapping[str, object],
    folder: Path,
    dpi: int,
) -> tuple[Path, ...]:
    """Write everything that a run leaves into `folder`, each file whole or not at all; return the paths.

    Raises `ValueError` where a number is not finite: JSON has no word for it, and a report must not
    hold one.
    """
    figures = draw_figures(report, folder=folder / "figures", dpi=dpi)
    links = [path.relative_to(folder).as_posix() for path in figures]
    told = [(row, item.sample.control) for row, item in zip(samples_table(controls), controls, strict=True)]
    extra = (
        ()
        if not controls
        else (
            write_text(
                path=folder / "controls.jsonl", text=_lines({**row, "control": control} for row, control in told)
            ),
        )
    )
    return (
        write_text(path=folder / "report.json", text=_json(asdict(report), indent=2) + "\n"),
        write_text(path=folder / "report.md", text=render_markdown(report, figures=links)),
        write_text(path=folder / "samples.jsonl", text=_lines(samples_table(scored))),
        write_text(path=folder / "manifest.json", text=_json(dict(manifest), indent=2) + "\n"),
        *extra,
        *figures,
    )


def samples_table(scored: Iterable[ScoredSample]) -> list[dict[str, object]]:
    """A row a sample with the keys of `SampleLine`, for `samples.jsonl` and for the tracking table."""
    # `answers` becomes a list, so that a row equals what reading its line gives back.
    return [{**asdict(line), "answers": list(line.answers)} for line in map(sample_line, scored)]


def sample_line(scored: ScoredSample) -> SampleLine:
    """What `samples.jsonl` says of one sample."""
    sample, generation = scored.sample, scored.generation
    distance = sample.metadata.get("evidence_distance_tokens")
    return SampleLine(
        sample_id=sample.sample_id,
        task=sample.task,
        context_tokens=sample.context_tokens,
        prompt_tokens=generation.prompt_tokens if generation else None,
        depth=sample.depth,
        trial=sample.trial,
        document_id=sample.document_id,
        question=sample.question,
        answers=sample.answers,
        prediction=scored.prediction,
        score=scored.score,
        failure=scored.failure,
        finish_reason=generation.finish_reason if generation else None,
        ttft_ms=generation.ttft_ms if generation else None,
        latency_ms=generation.latency_ms if generation else None,
        cached_tokens=generation.cached_tokens if generation else None,
        prompt_sha256=scored.prompt_sha256,
        seed=sample.seed,
        cluster=sample.cluster,
        evidence_distance_tokens=distance if isinstance(distance, int) else None,
        metadata=dict(sample.metadata),
        judge_rating=scored.judge_rating,
    )


def _lines(rows: Iterable[Mapping[str, object]]) -> str:
    return "".join(f"{_json(dict(row)).translate(_LINE_ENDS)}\n" for row in rows)


def _json(value: object, *, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
