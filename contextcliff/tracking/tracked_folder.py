"""A run as it is tracked, from its folder alone: no configuration is composed, no store opened."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from contextcliff.datasets.local_files import MAX_BYTES, UnreadableFile, opened, parsed
from contextcliff.reporting.data_files import CONTEXTS_NAME, SAMPLES_NAME, read_contexts, sample_lines
from contextcliff.reporting.run_names import read_parameters, read_provenance
from contextcliff.reporting.stored_reports import REPORT_NAME, UnreadableReport, read_report
from contextcliff.tracking.tracker import Tracked, TrackingError

_MANIFEST = "manifest.json"


def tracked_of(folder: Path) -> Tracked:
    """What a finished run's files say of it. The report has the digest that it had when it was written.

    Raises `TrackingError` for a folder without them, and for files that are too large or can't be read.
    """
    file = folder / _MANIFEST
    try:
        with opened(file, most=MAX_BYTES):
            file = folder / SAMPLES_NAME
        samples = _rows(file)
        report = read_report(folder / REPORT_NAME)
    except UnreadableReport as error:
        raise TrackingError(f"{folder / REPORT_NAME} {error}") from error
    except UnreadableFile as error:
        again = f"make it anew with action=analyze run={folder}"
        raise TrackingError(f"{file}: {error}; {again}") from error
    return Tracked(
        report=report,
        folder=folder,
        parameters=read_parameters(folder / _MANIFEST),
        samples=samples,
        name=folder.name,
        prompts=read_contexts(folder / CONTEXTS_NAME),
        provenance=read_provenance(folder / _MANIFEST),
        interrupted=report.run.partial,
    )


def _rows(file: Path) -> list[Mapping[str, object]]:
    """The lines of `samples.jsonl`, each as the table of samples has it."""
    rows: list[Mapping[str, object]] = []
    for number, line in enumerate(sample_lines(file), start=1):
        try:
            row = parsed(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise TrackingError(f"{file} line {number} is no sample; make it anew with action=analyze")
        rows.append(row)
    return rows
