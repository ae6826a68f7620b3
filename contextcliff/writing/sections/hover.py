"""What a point of the interactive page says of its run, in Plotly's markup."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Protocol

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
