"""`writing.html` of a comparison: the prose of several runs by context length, to be explored without a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from contextcliff.findings import phrases
from contextcliff.reporting.page.chart import in_chart, minus, plus
from contextcliff.reporting.page.packing import rendered
from contextcliff.reporting.run_names import with_file_names
from contextcliff.writing.analysis.draws import level_of
from contextcliff.writing.measures.measure import BY_NAME, COMPOSITE, CORE, MEASURES
from contextcliff.writing.prose_findings import MeasureLevel, Writing, WritingTier
from contextcliff.writing.sections.shown_lengths import as_shown, shown_lengths
from contextcliff.writing.sections.writing_phrases import value, way
from contextcliff.writing.words.english_writing import COMPOSITE_TITLES, say

PACKAGE = "contextcliff.writing.comparison"
_ELSEWHERE = ("_target_", "action.", "tracking.", "reporting.", "budget.", "output_dir", "run", "created")
"""Keys that say nothing of the answers."""
_MOST_LINES = 8
_LONGEST = 60
_SHOWN_AT_FIRST = (COMPOSITE, *CORE)


@dataclass(frozen=True, kw_only=True, slots=True)
class WritingRun:
    """A run on the page: what tells it from the others, how it was configured, and what it wrote."""

    name: str
    parameters: Mapping[str, str]
    """Dotted key to value, in the order in which they are shown."""
    writing: Writing
    cap: str = ""
    """Its safe cap in words; empty where nobody sought one."""
    folder: str = ""
    """The name of its folder, where its texts can be read; empty: those of another tool."""


def page_of(runs: Sequence[WritingRun]) -> str:
    """The whole page, with the drawing library in it. Nothing of a run is trusted: names and values are escaped.

    The page is made to be passed on: of a path it shows the file's name.
    """
    runs = [replace(run, parameters=with_file_names(run.parameters)) for run in runs]
    shared = shared_parameters(runs)
    return rendered(
        "writing_runs.html",
        {},
        page_data(runs),
        package=PACKAGE,
        runs=[(run, say(run.writing.verdict)) for run in runs],
        names=[run.name for run in runs],
        differing=_differing(runs),
        shared=[(key, [value]) for key, value in shared.items()],
    )


def differing_parameters(run: WritingRun, runs: Sequence[WritingRun]) -> list[tuple[str, str]]:
    """What stands at each point of a run: that in which the runs differ, as far as it says something of the answers."""
    shared = shared_parameters(runs)
    differing = [
        (key, _cut(value)) for key, value in run.parameters.items() if key not in shared and _tells_of_answers(key)
    ]
    return differing[:_MOST_LINES]


def _tells_of_answers(key: str) -> bool:
    return not key.startswith(_ELSEWHERE) and not key.endswith("_target_")


def shared_parameters(runs: Sequence[WritingRun]) -> dict[str, str]:
    """The parameters that every run has with the same value."""
    if not runs:
        return {}
    first, *others = runs
    return {
        key: value for key, value in first.parameters.items() if all(run.parameters.get(key) == value for run in others)
    }


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def page_data(runs: Sequence[WritingRun]) -> dict[str, object]:
    """What the page draws, all text in it marked up for Plotly."""
    texts = list(dict.fromkeys((run.writing.document_id, run.writing.continuation_point) for run in runs))
    names = {shown_lengths(run.writing).name for run in runs}
    runs = [replace(run, writing=as_shown(run.writing)) for run in runs]
    return {
        "lengths": sorted({tier.context_tokens for run in runs for tier in run.writing.tiers}),
        "axis": names.pop() if len(names) == 1 else "context length in tokens",
        "measures": _measures(runs),
        "runs": [
            {
                "name": in_chart(run.name),
                "text": texts.index((run.writing.document_id, run.writing.continuation_point)),
                "x": [tier.context_tokens for tier in _in_order(run)],
                "lines": _lines(run, beside=runs),
            }
            for run in runs
        ],
    }


def _measures(runs: Sequence[WritingRun]) -> list[dict[str, object]]:
    measured = {
        name
        for run in runs
        for tier in run.writing.tiers
        for name in (*COMPOSITE_TITLES, *BY_NAME)
        if level_of(tier, name).mean is not None
    }
    known = [
        *((key, label, "0-100", "up is worse") for key, label in COMPOSITE_TITLES.items()),
        *((measure.name, measure.title, measure.unit, way(measure.name)) for measure in MEASURES),
    ]
    return [
        {
            "key": key,
            "label": label,
            "title": f"<b>{in_chart(label)}</b>{f' ({worse})' if worse else ''}",
            "unit": in_chart(unit),
            "measured": key in measured,
            "on": key in measured and key in _SHOWN_AT_FIRST,
        }
        for key, label, unit, worse in known
    ]


def _lines(run: WritingRun, *, beside: Sequence[WritingRun]) -> dict[str, object]:
    tiers = _in_order(run)
    told = [f"{in_chart(key)}: {in_chart(value)}" for key, value in differing_parameters(run, beside)]
    rest = "<br>".join((f"<b>{in_chart(run.name)}</b>", *told))
    return {
        name: _line(tiers, [level_of(tier, name) for tier in tiers], rest=rest, name=run.name)
        for name in (*COMPOSITE_TITLES, *BY_NAME)
    }


def _in_order(run: WritingRun) -> list[WritingTier]:
    return sorted(run.writing.tiers, key=lambda tier: tier.context_tokens)


def _line(tiers: Sequence[WritingTier], levels: Sequence[MeasureLevel], *, rest: str, name: str) -> dict[str, object]:
    return {
        "y": [level.mean for level in levels],
        "above": [minus(level.ci_high, level.mean) for level in levels],
        "below": [minus(level.mean, level.ci_low) for level in levels],
        "hover": [
            f"{_figures(tier, level)}<br>{rest}" if level.mean is not None else None
            for tier, level in zip(tiers, levels, strict=True)
        ],
        "original": [level.original for level in levels],
        "original_hover": [f"original beside {in_chart(name)}: {value(level.original)}" for level in levels],
        "band_low": [minus(level.author_mean, level.author_std) for level in levels],
        "band_high": [plus(level.author_mean, level.author_std) for level in levels],
    }


def _figures(tier: WritingTier, level: MeasureLevel) -> str:
    lines = [
        f"<b>{phrases.whole(tier.context_tokens)} tokens: {value(level.mean)}</b>"
        f"{'' if level.std is None else f' ± {value(level.std)}'} (n = {level.n:,})"
    ]
    if level.ci_low is not None and level.ci_high is not None:
        lines.append(f"interval {value(level.ci_low)} to {value(level.ci_high)}")
    if level.original is not None:
        lines.append(f"original {value(level.original)}")
    if level.author_mean is not None:
        lines.append(f"author {value(level.author_mean)} ± {value(level.author_std)}")
    if level.z is not None:
        lines.append(f"z {value(level.z, signed=True)}")
    return "<br>".join(lines)


def _differing(runs: Sequence[WritingRun]) -> list[tuple[str, list[str]]]:
    """The parameters in which the runs differ, each with its value in every run."""
    shared = shared_parameters(runs)
    keys = dict.fromkeys(key for run in runs for key in run.parameters if _tells_of_answers(key))
    return [(key, [run.parameters.get(key, phrases.MISSING) for run in runs]) for key in keys if key not in shared]
