"""The sections of a report, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any

from contextcliff.records.report import Report
from contextcliff.reporting.section import Section


@dataclass(frozen=True, kw_only=True, slots=True)
class Listed:
    """Where a section's class stands: `package.module.Class`.

    `only_for` is the key of a finding that few runs have: the module is imported where a task or a report names it,
    and nowhere else. Empty: every run has the section.
    """

    path: str
    only_for: str = ""


def _core(name: str) -> Listed:
    return Listed(path=f"contextcliff.reporting.sections.{name}")


SECTIONS: tuple[Listed, ...] = (
    _core("answer_section.AnswerSection"),
    _core("answer_section.ZonesSection"),
    _core("warnings_section.WarningsSection"),
    _core("guide_section.GuideSection"),
    replace(_core("answer_measures_section.AnswerMeasuresSection"), only_for="answer_measures"),
    _core("score_section.ScoreSection"),
    _core("search_section.SearchSection"),
    _core("extrapolation_section.ExtrapolationSection"),
    Listed(path="contextcliff.writing.sections.writing_section.WritingSection", only_for="writing"),
    _core("natural_lengths_section.NaturalLengthsSection"),
    _core("fitted_length_section.FittedLengthSection"),
    _core("half_life_section.HalfLifeSection"),
    _core("position_section.PositionSection"),
    _core("every_depth_section.EveryDepthSection"),
    _core("text_effect_section.TextEffectSection"),
    _core("facets_section.FacetsSection"),
    _core("controls_section.ControlsSection"),
    _core("judge_section.JudgeSection"),
    _core("failures_section.FailuresSection"),
    _core("failures_section.LatencySection"),
    _core("kv_cache_section.KVCacheSection"),
    _core("entropy_section.EntropySection"),
    _core("took_section.TookSection"),
    _core("appendix_sections.NotesSection"),
    _core("appendix_sections.MethodSection"),
    _core("appendix_sections.CapRulesSection"),
    _core("further_figures_section.FurtherFiguresSection"),
    _core("appendix_sections.RunSection"),
)


def sections_with(findings: Collection[str] = ()) -> tuple[Section[Any], ...]:
    """Every section that all runs have, and those of `findings`, in the order of the list."""
    return tuple(_loaded(each.path) for each in SECTIONS if not each.only_for or each.only_for in findings)


def sections_of(report: Report) -> tuple[Section[Any], ...]:
    """The sections that a report can show."""
    return sections_with(report.analysis.findings.keys())


def absent_keys(findings: Collection[str]) -> tuple[str, ...]:
    """Findings that only some runs have, and these have not."""
    return tuple(each.only_for for each in SECTIONS if each.only_for and each.only_for not in findings)


@cache
def _loaded(path: str) -> Section[Any]:
    module, _, name = path.rpartition(".")
    section: Section[Any] = getattr(import_module(module), name)()
    return section
