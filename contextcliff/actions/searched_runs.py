"""Runs found by what they are: `kv_policy=q8_0 model=qwen` instead of a run id."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from contextcliff.errors import ConfigError
from contextcliff.reporting.run_names import read_parameters
from contextcliff.reporting.stored_reports import REPORT_NAME, StoredReport, stored_reports

_GROUPS = ("model", "kv_policy", "task", "dataset", "engine", "label", "rope", "tokenizer")
_MOST_VALUES = 8
Wanted = Mapping[str, str]


def is_search(name: str) -> bool:
    """Whether a name is a search and no id or path: `KEY=VALUE`, several of them with spaces between."""
    parts = name.split()
    return bool(parts) and all(0 < part.find("=") < len(part) - 1 for part in parts) and not Path(name).exists()


def searched_runs(search: str, *, key: str, experiment: Path) -> Sequence[StoredReport]:
    """The stored reports of an experiment that have all these values, the oldest first; one at least.

    A key is a group (`kv_policy`, `model`, `task` …: its option, or the name that the report has) or dotted, as in the
    run's configuration. Raises `ConfigError` where none matches, with the values that there are.
    """
    wanted = dict(part.split("=", 1) for part in search.split())
    reports = stored_reports(experiment).found
    matching = [report for report in reports if all(value in _values(report, name) for name, value in wanted.items())]
    if not matching:
        raise ConfigError(f"{key}={search}: matches no run of {experiment}; {_there(reports, wanted)}")
    return matching


def _values(stored: StoredReport, name: str) -> frozenset[str]:
    """Every value that a run has of a key: as its report names it, as it was configured, and as it was typed."""
    run = stored.report.run
    values = {str(getattr(run, name))} if name in _GROUPS else set()
    if "." in name:
        values |= {value for each, value in read_parameters(stored.folder / "manifest.json").items() if each == name}
    typed = (part.partition("=") for part in shlex.split(run.command))
    return frozenset(values | {value for each, _, value in typed if each.lstrip("+") == name})


def _there(reports: Sequence[StoredReport], wanted: Wanted) -> str:
    """The values that the runs have of the keys that were asked for."""
    if not reports:
        return f"it holds no {REPORT_NAME}"
    parts = []
    for name in wanted:
        values = sorted({value for report in reports for value in _values(report, name) if value})
        more = f" and {len(values) - _MOST_VALUES} more" if len(values) > _MOST_VALUES else ""
        parts.append(f"{name} there: {', '.join(values[:_MOST_VALUES]) or 'none'}{more}")
    return "; ".join(parts)
