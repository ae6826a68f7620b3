"""The comparison parts there are, each imported only where a compared run has its finding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

from contextcliff.reporting.comparison.comparison import ComparisonPart


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedPart:
    """Where a part's class stands (`package.module.Class`), and what is known of it without importing it."""

    key: str
    """The finding that it compares."""
    path: str
    files: tuple[str, ...]
    """All that it may leave in the folder of a comparison."""
    without: Mapping[str, object] = field(default_factory=dict)
    """Its keys of `comparison.json` where no run has the finding."""
    without_of_run: Mapping[str, object] = field(default_factory=dict)
    """The same of a run there."""


PARTS: tuple[ListedPart, ...] = (
    ListedPart(
        key="writing",
        path="contextcliff.writing.comparison.WritingComparison",
        # `writing.html` is a page of earlier versions.
        files=("writing_core.png", "writing_measures.png", "writing.html"),
        without={"measures": [], "measure_differences": []},
        without_of_run={"writing_verdict": None},
    ),
    ListedPart(
        key="kv_cache",
        path="contextcliff.reporting.comparison.kv_comparison.KVComparison",
        files=("memory.png",),
        without={
            "kv_policies": [],
            "recommended_policy": None,
            "recommended_overrides": None,
            "recommended_commands": [],
        },
    ),
)


def parts_with(findings: Iterable[str]) -> tuple[ComparisonPart, ...]:
    """The parts that compare some of these findings, loaded, in the order of the list."""
    keys = frozenset(findings)
    return tuple(_loaded(listed.path) for listed in PARTS if listed.key in keys)


def all_parts() -> tuple[ComparisonPart, ...]:
    """Every part, loaded: for a path that is no run of ours."""
    return parts_with(listed.key for listed in PARTS)


@cache
def _loaded(path: str) -> ComparisonPart:
    module, _, name = path.rpartition(".")
    part: ComparisonPart = getattr(import_module(module), name)()
    return part
