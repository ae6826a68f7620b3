"""Failures by length: how many answers failed, and in which way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.figures.canvas import SMALL, blank, drawable, heading

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HEIGHT = 3.4
_MOST_TAGS = 9
_OTHER = "other"


def failures_figure(report: Report) -> Figure:
    """Draw a report with a failure: a stacked column a length, as shares of its planned samples.

    Unscored samples are among them under the fault that kept them so. The rarest tags beyond nine are `other`.
    """
    import matplotlib as mpl

    bins = sorted(report.analysis.bins, key=lambda a_bin: a_bin.median_tokens)
    width = min(13.0, max(8.0, 0.6 * len(bins)))
    figure, axes = blank(width=width, height=_HEIGHT)
    tags = list(phrases.all_failures(report))
    shown, rest = tags[:_MOST_TAGS], tags[_MOST_TAGS:]
    colours = mpl.colormaps["tab10"]
    places = range(len(bins))
    bottoms = [0.0] * len(bins)
    for position, tag in enumerate([*shown, *([_OTHER] if rest else [])]):
        members = rest if tag == _OTHER and rest else [tag]
        heights = [
            sum(b.failures.get(member, 0) for member in members) / max(1, b.n_samples + b.n_unscored) for b in bins
        ]
        colour = "0.6" if tag == _OTHER and rest else colours(position)
        axes.bar(
            places, heights, bottom=bottoms, width=0.72, color=colour, label=drawable(tag), edgecolor="white",
            linewidth=0.5,
        )  # fmt: skip
        bottoms = [bottom + height for bottom, height in zip(bottoms, heights, strict=True)]
    labels = [f"{b.min_tokens:,}\n{b.max_tokens:,}\nn={b.n_samples + b.n_unscored:,}" for b in bins]
    axes.set_xticks(list(places), labels=labels, fontsize=SMALL - 1)
    axes.set_ylim(0.0, 1.0)
    axes.set_ylabel("share of samples", fontsize=9)
    axes.set_xlabel("prompt length in tokens: shortest, longest", fontsize=9)
    axes.tick_params(axis="y", labelsize=SMALL)
    axes.grid(axis="y", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=SMALL)
    heading(
        axes,
        title=f"Failures by length: {report.run.model}",
        subtitle=f"{report.run.task}, KV policy {report.run.kv_policy}. The white rest of a column is answered right",
        inches=width,
        above=10,
    )
    return figure
