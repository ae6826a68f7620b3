"""`writing.html`: the prose of several runs by context length, to be explored in a browser without a network."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Protocol

from contextcliff.reporting import phrases
from contextcliff.reporting.run_names import with_file_names
from contextcliff.writing.analysis.draws import level_of
from contextcliff.writing.measures.measure import BY_NAME, COMPOSITE, CORE, MEASURES
from contextcliff.writing.prose_findings import MeasureLevel, Writing, WritingTier
from contextcliff.writing.sections.writing_phrases import value, way
from contextcliff.writing.words.english_writing import COMPOSITE_TITLES

if TYPE_CHECKING:
    from jinja2 import Template

_FIRST = (
    *("model", "kv_policy", "rope", "engine", "dataset", "text", "label", "rounds"),
    *("sampling.temperature", "sampling.top_k", "sampling.top_p", "sampling.min_p", "task.max_tokens"),
)
_ELSEWHERE = ("_target_", "action.", "tracking.", "reporting.", "budget.", "output_dir", "run", "created")
"""Keys that say nothing of the answers: `run` and `created` are in the table."""
_MOST_LINES = 20
_LONGEST = 60


class Configured(Protocol):
    """A run by its parameters."""

    @property
    def parameters(self) -> Mapping[str, str]:
        """Dotted key to value."""
        ...


def hover_parameters(run: Configured, runs: Sequence[Configured]) -> list[tuple[str, str]]:
    """The parameters that are shown at each point of a run: the chief ones, then those in which the runs differ."""
    shared = shared_parameters(runs)
    differing = [
        key
        for key in run.parameters
        if key not in shared and key not in _FIRST and not key.startswith(_ELSEWHERE) and not key.endswith("_target_")
    ]
    keys = [*(key for key in _FIRST if run.parameters.get(key) not in (None, "", "None")), *differing]
    return [(key, _cut(run.parameters[key])) for key in keys[:_MOST_LINES]]


def shared_parameters(runs: Sequence[Configured]) -> dict[str, str]:
    """The parameters that every run has with the same value."""
    if not runs:
        return {}
    first, *others = runs
    return {
        key: value for key, value in first.parameters.items() if all(run.parameters.get(key) == value for run in others)
    }


def mark_up(text: str) -> str:
    """A text escaped for Plotly: one line, in which nothing is read as a tag, an entity or a field."""
    flat = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    # A name is a template too: an unknown field in it would be left out.
    return html.escape(flat, quote=False).replace("%{", "%&#123;")


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


_SHOWN_AT_FIRST = (COMPOSITE, *CORE)


@dataclass(frozen=True, kw_only=True, slots=True)
class WritingRun:
    """A run on the page: what tells it from the others, how it was configured, and what it wrote."""

    name: str
    parameters: Mapping[str, str]
    """Dotted key to value, in the order in which they are shown."""
    writing: Writing


def page_of(runs: Sequence[WritingRun]) -> str:
    """The whole page, with the drawing library in it. Nothing of a run is trusted: names and values are escaped.

    The page is made to be passed on: of a path it shows the file's name.
    """
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    runs = [replace(run, parameters=with_file_names(run.parameters)) for run in runs]

    return _template().render(
        names=[run.name for run in runs],
        differing=_differing(runs),
        shared=[(key, [value]) for key, value in shared_parameters(runs).items()],
        plotly=Markup(get_plotlyjs()),  # noqa: S704 - the library's own code, nothing of a run
        data=page_data(runs),
    )


def page_data(runs: Sequence[WritingRun]) -> dict[str, object]:
    """What the page draws, all text in it marked up for Plotly."""
    texts = list(dict.fromkeys((run.writing.document_id, run.writing.continuation_point) for run in runs))
    return {
        "lengths": sorted({tier.context_tokens for run in runs for tier in run.writing.tiers}),
        "measures": _measures(runs),
        "runs": [
            {
                "name": mark_up(run.name),
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
            "title": f"<b>{mark_up(label)}</b>{f' ({worse})' if worse else ''}",
            "unit": mark_up(unit),
            "measured": key in measured,
            "on": key in measured and key in _SHOWN_AT_FIRST,
        }
        for key, label, unit, worse in known
    ]


def _lines(run: WritingRun, *, beside: Sequence[WritingRun]) -> dict[str, object]:
    tiers = _in_order(run)
    lead = "<br>".join(
        [f"<b>{mark_up(run.name)}</b>", *(f"{mark_up(k)}: {mark_up(v)}" for k, v in hover_parameters(run, beside))]
    )
    return {
        name: _line(tiers, [level_of(tier, name) for tier in tiers], lead=lead, name=run.name)
        for name in (*COMPOSITE_TITLES, *BY_NAME)
    }


def _in_order(run: WritingRun) -> list[WritingTier]:
    return sorted(run.writing.tiers, key=lambda tier: tier.context_tokens)


def _line(tiers: Sequence[WritingTier], levels: Sequence[MeasureLevel], *, lead: str, name: str) -> dict[str, object]:
    return {
        "y": [level.mean for level in levels],
        "above": [_less(level.ci_high, level.mean) for level in levels],
        "below": [_less(level.mean, level.ci_low) for level in levels],
        "hover": [
            f"{lead}<br>{_figures(tier, level)}" if level.mean is not None else None
            for tier, level in zip(tiers, levels, strict=True)
        ],
        "original": [level.original for level in levels],
        "original_hover": [f"original beside {mark_up(name)}: {value(level.original)}" for level in levels],
        "band_low": [_less(level.author_mean, level.author_std) for level in levels],
        "band_high": [_less(level.author_mean, _negative(level.author_std)) for level in levels],
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


def _less(value: float | None, by: float | None) -> float | None:
    return None if value is None or by is None else value - by


def _negative(value: float | None) -> float | None:
    return None if value is None else -value


def _differing(runs: Sequence[WritingRun]) -> list[tuple[str, list[str]]]:
    """The parameters in which the runs differ, each with its value in every run."""
    shared = shared_parameters(runs)
    keys = dict.fromkeys(key for run in runs for key in run.parameters)
    return [(key, [run.parameters.get(key, phrases.MISSING) for run in runs]) for key in keys if key not in shared]


@cache
def _template() -> Template:
    """The page's template. Every text in it is escaped; only the drawing library is marked as safe."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("contextcliff.writing.sections", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment.get_template("writing.html")
