"""The files that a run leaves: `report.json`, `report.md`, `samples.jsonl`, `manifest.json`, `figures/`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from contextcliff.findings.finding import PAGE_NAME, FinishedRun, findings_of, images_of
from contextcliff.records.generation import ScoredSample, read_characters
from contextcliff.records.report import Report
from contextcliff.reporting.data_files import LINE_ENDS, json_text, write_text
from contextcliff.reporting.markdown import render_markdown
from contextcliff.reporting.schema import flatten

CONTROLS_NAME = "controls.jsonl"
FIGURES = "figures"


def write_report_files(
    run: FinishedRun,
    *,
    table: Sequence[Mapping[str, object]] | None = None,
    controls: Sequence[ScoredSample] = (),
    manifest: Mapping[str, object],
    folder: Path,
    figures: bool,
) -> None:
    """Write everything that a run leaves into `folder`. `table` is what `samples.jsonl` has, if it is made already;
    with `figures` the report shows those that `draw_figures` draws. Raises `ValueError` where a number is not finite:
    JSON has no word for it."""
    report = run.report
    links = [f"{FIGURES}/{name}.png" for name in images_of(report)] if figures else []
    write_text(path=folder / "report.json", text=json_text(flatten(report)))
    write_text(path=folder / "report.md", text=render_markdown(report, figures=links))
    write_text(path=folder / "samples.jsonl", text=_lines(samples_table(run.scored) if table is None else table))
    write_manifest(manifest, folder=folder)
    if controls:
        rows = zip(samples_table(controls), controls, strict=True)
        text = _lines({**row, "control": item.sample.control} for row, item in rows)
        write_text(path=folder / CONTROLS_NAME, text=text)
    for finding in findings_of(report):
        for name, text in finding.files(run).items():
            write_text(path=folder / name, text=text)


def stale_files(report: Report) -> tuple[str, ...]:
    """Patterns of files that a report may lack: those of an earlier analysis would be taken for this one's."""
    pages = (section.page_name for section in findings_of(report) if section.page_name)
    return (f"{FIGURES}/*.png", CONTROLS_NAME, PAGE_NAME, *pages)


def write_manifest(manifest: Mapping[str, object], *, folder: Path) -> Path:
    """Write `manifest.json` into a folder: indented, but for the samples, each of which is a line."""
    samples = manifest.get("samples")
    text = json_text({**manifest, "samples": None} if samples else manifest)
    if isinstance(samples, list) and samples:
        lines = ",\n".join(f"    {_compact(sample)}" for sample in samples)
        # Only the manifest's own key stands so: line ends inside texts are escaped.
        text = text.replace('\n  "samples": null', f'\n  "samples": [\n{lines}\n  ]')
    return write_text(path=folder / "manifest.json", text=text)


def samples_table(scored: Iterable[ScoredSample], *, replayed: Iterable[ScoredSample] = ()) -> list[dict[str, object]]:
    """A row a sample for `samples.jsonl` and the tracking table, all with the same keys: what no sample has is left
    out."""
    rows = [*map(_sample_row, scored), *(_sample_row(item) | {"replayed": True} for item in replayed)]
    absent = {name for name, usual in _USUAL.items() if all(row[name] == usual for row in rows)}
    if len({row["served_model"] for row in rows} - {None, ""}) < 2:
        absent.add("served_model")
    return [{name: value for name, value in row.items() if name not in absent} for row in rows]


_USUAL: Mapping[str, object] = {
    **{"cluster": "", "evidence_distance_tokens": None, "metadata": {}, "judge_rating": None, "level": None},
    **{"em": None, "f1": None, "contains_reference": None, "false_refusal": None, "output": None},
    **{
        "reasoning": "",
        "reasoning_tokens": None,
        "completion_tokens": None,
        "retries": 0,
        "item": "",
        "repeat": 0,
        "step": None,
        "replayed": False,
    },
    "figures": {},
}
"""Keys that are left out of all lines where every sample has this value."""
_COLUMNS = frozenset({"em", "f1", "contains_reference", "false_refusal"})
"""Details of a score that have a key of their own."""


def _sample_row(scored: ScoredSample) -> dict[str, object]:
    sample, generation, details = scored.sample, scored.generation, scored.details
    level = sample.metadata.get("level")
    distance = sample.metadata.get("evidence_distance_tokens")
    return {
        "sample_id": sample.sample_id,
        "task": sample.task,
        "context_tokens": sample.context_tokens,  # as asked for
        "prompt_tokens": generation.prompt_tokens if generation else None,
        "depth": sample.depth,
        "trial": sample.trial,
        "document_id": sample.document_id,
        "question": sample.question,
        "answers": list(sample.answers),
        "prediction": scored.prediction,
        "score": scored.score,
        "failure": scored.failure,
        "finish_reason": generation.finish_reason if generation else None,
        "ttft_ms": generation.ttft_ms if generation else None,
        "latency_ms": generation.latency_ms if generation else None,
        "cached_tokens": generation.cached_tokens if generation else None,
        "prompt_sha256": scored.prompt_sha256,
        "seed": sample.seed,
        "cluster": sample.cluster,  # what it shares with other samples of its length
        # Between neighbouring pieces of evidence, where there are several.
        "evidence_distance_tokens": distance if isinstance(distance, int) else None,
        "metadata": dict(sample.metadata),
        "judge_rating": scored.judge_rating,
        "level": level if isinstance(level, int) else None,  # 1 a single piece of evidence, 2 several
        "em": details.get("em"),
        "f1": details.get("f1"),
        # Whether an accepted answer stands in what the model said, alone or among further words; None: not looked at.
        "contains_reference": bool(details["contains_reference"]) if "contains_reference" in details else None,
        # Whether the model said that the text doesn't tell, though it does; None: not looked at.
        "false_refusal": bool(details["false_refusal"]) if "false_refusal" in details else None,
        "output": generation.text if generation else None,
        # Before the answer; a server may send anything, and state.db has all of it.
        "reasoning": generation.reasoning[: read_characters(sample)] if generation else "",
        "reasoning_tokens": generation.reasoning_tokens if generation else None,  # part of completion_tokens
        "completion_tokens": generation.completion_tokens if generation else None,  # reasoning included
        "served_model": generation.served_model if generation else None,  # by the server's own name
        "retries": scored.retries,
        "item": sample.item,  # the question that it repeats
        "repeat": sample.repeat,
        "step": sample.step,  # of a search, from 0
        "replayed": False,  # asked only to stay paired with another run: no figure of the report counts it
        "figures": {name: v for name, v in details.items() if name not in _COLUMNS and math.isfinite(v)},
    }


def _lines(rows: Iterable[Mapping[str, object]]) -> str:
    return "".join(f"{_compact(dict(row)).translate(LINE_ENDS)}\n" for row in rows)


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
