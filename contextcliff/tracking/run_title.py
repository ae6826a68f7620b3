"""What a run is called. Imports nothing that a run without a report does without."""

from __future__ import annotations

from contextcliff.tracking.tracker import RunTitle

_BETWEEN = " · "
_LONGEST_MODEL = 40
_UNTELLING = frozenset({"", "served"})
"""Options of `conf/model/` that name no model."""


def run_name(title: RunTitle, *, rule: str = "") -> str:
    """`qwen · niah · q8_0`, then what else was chosen; `rule` says by what a further report was judged."""
    return _BETWEEN.join(
        part for part in (title.model, title.task, title.kv_policy, title.rope, title.label, rule) if part
    )


def model_title(model: str, *, option: str) -> str:
    """The option by which a model was chosen, else the last part of its name."""
    if option not in _UNTELLING:
        return option
    last = model.rstrip("/").rpartition("/")[2] or model
    return last if len(last) <= _LONGEST_MODEL else f"{last[:_LONGEST_MODEL]}…"
