"""The findings of a report as the pages that are not sections yet read them."""

from __future__ import annotations

from contextcliff.analysis.controls import ControlLevel, ControlResults
from contextcliff.analysis.facets import FacetRow, Facets
from contextcliff.analysis.guide import Guide
from contextcliff.analysis.half_life import HalfLife, HalfLifeFits
from contextcliff.analysis.judgement import Judgement
from contextcliff.analysis.position import PositionPattern, PositionProfile
from contextcliff.analysis.profile import DepthPoint
from contextcliff.records.corpus import LengthAudit
from contextcliff.records.report import Report

_NO_FITS = HalfLifeFits(half_life=HalfLife(tokens=None, ci_low=None, ci_high=None, censored=False, reason=""))
_NO_PATTERN = PositionProfile(position=PositionPattern(pattern=None, p_value=None, n_samples=0, reason=""))


def half_life(report: Report) -> HalfLife:
    return (report.analysis.finding(HalfLifeFits) or _NO_FITS).half_life


def half_life_lsq(report: Report) -> int | None:
    return (report.analysis.finding(HalfLifeFits) or _NO_FITS).half_life_lsq


def profile(report: Report) -> tuple[DepthPoint, ...]:
    return (report.analysis.finding(PositionProfile) or _NO_PATTERN).profile


def position(report: Report) -> PositionPattern:
    return (report.analysis.finding(PositionProfile) or _NO_PATTERN).position


def guide(report: Report) -> Guide:
    return report.analysis.finding(Guide) or Guide(rows=(), advice=())


def facets(report: Report) -> tuple[FacetRow, ...]:
    found = report.analysis.finding(Facets)
    return () if found is None else found.facets


def controls(report: Report) -> tuple[ControlLevel, ...]:
    found = report.analysis.finding(ControlResults)
    return () if found is None else found.controls


def judgement(report: Report) -> Judgement | None:
    return report.analysis.finding(Judgement)


def audit(report: Report) -> LengthAudit | None:
    return report.analysis.finding(LengthAudit)
