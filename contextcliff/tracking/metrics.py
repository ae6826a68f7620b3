"""What of a report becomes metrics, tags and parameters. Pure: knows MLflow's rules, not its code."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import cache

from contextcliff.analysis.judged_by import compact, rule_of
from contextcliff.findings.finding import Measurement, findings_of
from contextcliff.records.report import Report, shown_model
from contextcliff.reporting.run_names import with_file_names
from contextcliff.reporting.schema import flatten

_MAX_KEY = 250
_MAX_PARAMETER = 6_000
_MAX_TAG = 8_000
RULE = "contextcliff.rule"
_NOT_SAID = frozenset({"created_at", "command", "next_command", "stopped", "usage.wall_s", "counts.reused"})
_MODEL = ("model", "model.name")
LEFT_OUT: Mapping[str, str] = {
    "schema_version": "the layout of the file",
    "published": "curves that others measured",
    "guide.rows": "figures of `bins`, beside what to do at each length",
    "search.path": "single samples: `samples.jsonl` and the figure of the search have them",
    "search.plan": "how the search was set up: parameters have it",
    "audit.lengths": "single texts",
    "writing.health.at": "the row of `writing.health.levels` that decides",
    "writing.tiers.outliers": "single rounds: `samples.jsonl` has them",
}
"""Numbers of `report.json` that are no metrics, and why."""
_STEPS = ("asked_tokens", "context_tokens", "max_tokens")
"""The length of a row, in this order: it is the step of the numbers in it."""
_NAMES = ("name", "measure", "against", "law", "design")
"""What tells rows of one length apart; so do `facet` with `value`, and `depth`, which is the step, in thousandths, of
rows without a length."""
_RENAMED = tuple(
    (re.compile(f"^{path}"), name)
    for path, name in {
        "bins/failures_": "failures/",
        "bins/mean$": "by_length/score",
        "bins/(ci_low|ci_high|tested_low)$": r"by_length/score_\1",
        "bins/": "by_length/",
        "controls/": "by_length/control_",
        "prefill/": "by_length/ttft_",
        "latency_slo/lengths_": "by_length/latency_slo_",
        "kv_cache/lengths_gib$": "by_length/kv_gib",
        "kv_cache/lengths_": "by_length/",
        "kv_cache/facts_in_use_bytes_per_token$": "kv/bytes_per_token_measured",
        "kv_cache/(facts_)?": "kv/",
        "attention_entropy/lengths_by_layer_": "attention/layer_",
        "attention_entropy/lengths_mean$": "by_length/attention_entropy",
        "attention_entropy/lengths_": "by_length/attention_entropy_",
        "attention_entropy/threshold$": "attention/entropy_threshold",
        "attention_entropy/": "attention/",
        "answer_measures/measures_(f1|em|contains_reference)_lengths_": r"by_length/\1_",
        "answer_measures/measures_": "answers/",
        "(answers|by_length)/em_": r"\1/exact_match_",
        "(answers|by_length)/(.+)_mean$": r"\1/\2",
        "(cells|profile)/mean_": r"\1/score_",
        "(facets/.+) mean$": r"\1 score",
        "every_depth/lengths_thirds_": "every_depth/",
        "(mean|successes)$": r"score/\1",
        "safe_cap/tokens$": "safe_cap_tokens",
        "safe_cap/fraction_of_max$": "safe_cap/fraction_of_window",
        "fitted_length/area_value$": "fitted/score_area",
        "fitted_length/area_": "fitted/score_area_",
        "fitted_length/effective_length_tokens$": "fitted/effective_length",
        "fitted_length/": "fitted/",
        "half_life_lsq$": "half_life/least_squares",
        "judgement/share$": "judge/disagreement",
        "judgement/": "judge/",
        "search/tested_": "search/",
        "alarms/": "warnings/p_",
        "warnings/(.+)_figures_": r"warnings/\1_",
        "warnings/(.+)_median_tokens$": r"warnings/\1_tokens",
        "audit/": "natural_lengths/",
        "usage/judge_": "judge_",
        "(counts|usage)/": "took/",
        "writing/tiers_measures_(.+_(n|cv|ci_low|ci_high|author_mean|author_std|z_std))$": r"writing/measures/\1",
        "writing/(tests|trends|steps)_": r"writing/\1/",
        "writing/tiers_(measures_)?": "writing/",
        "writing/([^/]+)_mean$": r"writing/\1",
        "writing/health_levels_": "writing/healthy_",
        r"(candidate_\d+)/lengths_": r"\1/by_length/",
        "(mean_over_tasks.*)/points_": r"\1/",
    }.items()
)
"""The metrics that have other names than in `report.json`: MLflow sorts sections by name, and the curve, `by_length`,
is to stand before what says less."""

CAP_TO_COME = Measurement(key="safe_cap_tokens", value=math.nan)
"""Not a number until there is a cap: MLflow lists metrics in the order in which they came."""


def measurements(report: Report) -> list[Measurement]:
    """What findings compute, and every number of `report.json` but those of `LEFT_OUT`; one for each key and step."""
    computed = (point for section in findings_of(report) for point in section.metrics(report))
    found: dict[tuple[str, int], Measurement] = {}
    for point in (*computed, *numbers_of(flatten(report))):
        if point.value is not None and math.isfinite(point.value):
            key = valid_key(point.key)
            found.setdefault((key, point.step), Measurement(key=key, value=float(point.value), step=point.step))
    return list(found.values())


def numbers_of(value: object, key: str = "", path: str = "", step: int = 0, end: str = "") -> Iterator[Measurement]:
    """The numbers below objects and lists of JSON, each called by its place: `caps/walk_up`, `warnings/count`."""
    if path in LEFT_OUT:
        return
    if isinstance(value, Mapping):
        for name, inner in value.items():
            under = f"{key}{name}{'_' if key else '/'}"
            yield from numbers_of(inner, under, f"{path}.{name}".lstrip("."), step, end)
    elif isinstance(value, list | tuple):
        for place, row in enumerate(value):
            yield from _numbers_of_row(row, place, key, path, step, end)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield Measurement(key=_renamed(key[:-1] + end), value=value, step=step)


def _numbers_of_row(row: object, place: int, key: str, path: str, step: int, end: str) -> Iterator[Measurement]:
    if not isinstance(row, Mapping):
        yield from numbers_of(row, f"{key}{place:02}_", path, step, end)
        return
    rest = dict(row)
    name = f"{row['facet']}/{row['value']} " if "facet" in row else "".join(f"{row[k]}_" for k in _NAMES if k in row)
    length, depth = next((rest.pop(k) for k in _STEPS if k in row), None), rest.pop("depth", None)
    if length is not None:
        step, end = length, end if depth is None else f"_at_depth_{depth:.2f}"
    elif depth is not None:
        step = round(1000 * depth)
    elif not name:
        name = f"{place}_"
    yield from numbers_of(rest, key + name, path, step, end)


@cache
def _renamed(key: str) -> str:
    for path, name in _RENAMED:
        key = path.sub(name, key)
    return key


def tags(report: Report) -> dict[str, str]:
    """What runs are filtered and grouped by; none is empty."""
    named = {
        "contextcliff.run_id": report.run.run_id,
        "contextcliff.fingerprint": report.run.fingerprint,
        "contextcliff.label": report.run.label,
        "contextcliff.digest": digest(report),
        RULE: json.dumps(dict(compact(rule_of(report)))),
        "model": report.run.model,
        "task": report.run.task,
        "task_kind": report.run.task_kind,
        "kv_policy": report.run.kv_policy,
        "rope": report.run.rope or "as trained",
        "engine": report.run.engine,
        "dataset": report.run.dataset,
        "dataset_kind": report.run.dataset_kind,
        "texts": report.run.texts,
        "partial": str(report.run.partial).lower(),
        "api": report.run.api,
        "safe_cap": report.analysis.safe_cap.in_short,
    }
    for section in findings_of(report):
        named |= section.tags(report)
    return {key: value[:_MAX_TAG] for key, value in named.items() if value}


def parameters(flattened: Mapping[str, str]) -> dict[str, str]:
    """The configuration as MLflow takes it: valid keys, values cut at the limit, no class and no path."""
    engine = flattened.get("engine", "")
    kept: dict[str, str] = {}
    for name, value in with_file_names(flattened).items():
        if name.rpartition(".")[2] == "_target_":
            continue
        kept[valid_key(name)] = (shown_model(value, engine=engine) if name in _MODEL else value)[:_MAX_PARAMETER]
    return kept


def valid_key(name: str) -> str:
    """A name that MLflow takes on every platform. Slashes stay: MLflow groups by what stands before the last one."""
    parts = (re.sub(r"[^\w.\- ]", "_", part).strip() for part in name.split("/"))
    return "/".join(part if part.strip(".") else f"_{part}" for part in parts)[:_MAX_KEY].rstrip("/ ")


def digest(report: Report) -> str:
    """SHA-256 of all that a report says: of everything in `report.json` but the fields of `_NOT_SAID`."""
    flat = flatten(report)
    for path in _NOT_SAID:
        first, _, second = path.partition(".")
        inner = flat[first]
        if second and isinstance(inner, dict):
            inner.pop(second)
        else:
            flat.pop(first)
    return hashlib.sha256(json.dumps(flat, sort_keys=True).encode()).hexdigest()
