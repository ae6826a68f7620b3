"""A run as it is tracked, from its folder alone: no configuration is composed, no store opened."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from contextcliff.datasets.local_files import refuse_large
from contextcliff.errors import ConfigError
from contextcliff.reporting.data_files import CONTEXTS_NAME, read_contexts
from contextcliff.reporting.run_names import read_parameters, read_provenance
from contextcliff.reporting.stored_reports import REPORT_NAME, UnreadableReport, read_report
from contextcliff.reporting.stored_samples import SAMPLES_NAME
from contextcliff.tracking.tracker import Tracked, TrackingError

_MANIFEST = "manifest.json"
_LARGEST_LINE = 64 << 20


def tracked_of(folder: Path) -> Tracked:
    """What a finished run's files say of it. The report has the digest that it had when it was written.

    Raises `TrackingError` for a folder without them, and for files that are too large or can't be read.
    """
    file = folder
    try:
        for name in (REPORT_NAME, _MANIFEST, SAMPLES_NAME):
            file = folder / name
            refuse_large(file.stat().st_size, str(file))
        report = read_report(folder / REPORT_NAME)
        samples = _rows(folder / SAMPLES_NAME)
    except UnreadableReport as error:
        raise TrackingError(f"{folder / REPORT_NAME} {error}") from error
    except ConfigError as error:
        raise TrackingError(str(error)) from error
    except OSError as error:
        raise TrackingError(f"{file}: {error.strerror}; make it anew with action=analyze run={folder}") from error
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
    with file.open("rb") as lines:
        for number, line in enumerate(iter(lambda: lines.readline(_LARGEST_LINE), b""), start=1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if not isinstance(row, dict):
                raise TrackingError(f"{file} line {number} is no sample; make it anew with action=analyze")
            rows.append(row)
    return rows
