"""A run in a comparison: one of ours with its report, or one of another tool without."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from contextcliff.records.report import Report
from contextcliff.reporting.file_names import file_name
from contextcliff.reporting.run_names import RunFacts


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparedRun:
    """A run of ours, with its report, or one of another tool, without."""

    name: str
    facts: RunFacts
    """What the name is made of."""
    source: str
    """The folder or file that it was read from."""
    parameters: Mapping[str, str]
    """Dotted key to value, in the order in which they are shown."""
    lengths: tuple[int, ...]
    """The tested lengths in tokens, ascending."""
    report: Report | None
    findings: Mapping[str, object]
    """What a comparison part compares, by the part's key."""
    tool: str = ""
    """Whose run it is, where it isn't ours."""
    keeps_texts: bool = False
    """Whether the answers of another tool's run are at hand."""
    remeasured: bool = False
    """Whether those answers were measured by our rules."""

    @property
    def run_id(self) -> str:
        """Id of the run, by its own tool."""
        return self.facts.run_id

    @property
    def folder(self) -> str:
        """The last part of the source: it tells two reports of one run apart."""
        return file_name(self.source)
