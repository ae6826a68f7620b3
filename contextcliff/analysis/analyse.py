"""From scored samples to the answer."""

from __future__ import annotations

from collections.abc import Sequence

from contextcliff.analysis import rules
from contextcliff.analysis.bar import Bar, make_bar
from contextcliff.analysis.bins import Level, group, mean_of, summarise
from contextcliff.analysis.caps import Walk, crossing_ceiling, walk_up
from contextcliff.analysis.cells import depth_cells
from contextcliff.analysis.notes import notes_of
from contextcliff.analysis.reasons import reason_of
from contextcliff.analysis.settings import AnalysisSettings
from contextcliff.analysis.zones import zones_of
from contextcliff.records import Analysis, Guide, HalfLife, PositionPattern, SafeCap, ScoredSample


def analyse(
    scored: Sequence[ScoredSample],
    settings: AnalysisSettings,
    *,
    max_context_tokens: int,
    designed_lengths: bool,
    relative_by_default: bool,
) -> Analysis:
    """Say how long a prompt can be, and how sure that is.

    `scored` are all planned samples, unscored ones included, in any order. `designed_lengths` is whether
    the task chose its lengths (a bin each) or took documents as they are (quantile bins).
    `relative_by_default` decides where `settings.relative_to_baseline` is None. Nothing is read, written or
    drawn at random: the same samples give the same analysis.
    """
    relative = settings.relative_to_baseline
    if relative is None:
        relative = relative_by_default
    groups = group(scored, designed_lengths=designed_lengths, bins=settings.bins)
    levels = summarise(groups, settings.confidence)
    scores = sorted(item.score for item in scored if item.score is not None)
    if not levels:
        return _nothing(settings, relative=relative)
    bar = make_bar(levels, threshold=settings.threshold, relative=relative, confidence=settings.confidence)
    walk = walk_up(levels, bar, settings.confidence)
    return Analysis(
        bins=tuple(level.bin for level in levels),
        cells=depth_cells(groups),
        zones=zones_of(walk),
        safe_cap=_safe_cap(walk, bar, settings, relative=relative, max_context_tokens=max_context_tokens),
        caps=_caps(walk.cap_tokens, levels, settings.threshold),
        half_life=_half_life(),
        half_life_lsq=None,
        profile=(),
        position=_no_position(),
        guide=Guide(rows=(), advice=()),
        facets=(),
        controls=(),
        judgement=None,
        mean=mean_of(scores) if scores else None,
        successes=sum(score == 1.0 for score in scores),
        notes=notes_of(scored, walk, bar),
    )


def _safe_cap(walk: Walk, bar: Bar, settings: AnalysisSettings, *, relative: bool, max_context_tokens: int) -> SafeCap:
    tokens = walk.cap_tokens
    return SafeCap(
        tokens=tokens,
        ci_low=tokens,
        ci_high=crossing_ceiling(walk, bar),
        censored=walk.stop is None,
        fraction_of_max=None if tokens is None else tokens / max_context_tokens,
        rule="walk_up",
        threshold=settings.threshold,
        relative_to_baseline=relative,
        confidence=settings.confidence,
        verdict=walk.verdict,
        reason=reason_of(walk, bar, threshold=settings.threshold, confidence=settings.confidence),
    )


def _caps(walk_up_tokens: int | None, levels: Sequence[Level], threshold: float) -> dict[str, int | None]:
    """Every rule's tokens; None where it gives none, or is measured by something else than scores."""
    bins = [level.bin for level in levels]
    found: dict[str, int | None] = dict.fromkeys(rules.RULES)
    found["walk_up"] = walk_up_tokens
    found["blueprint"] = rules.blueprint(bins)
    found["absolute"] = rules.absolute(bins, threshold)
    found["relative"] = rules.relative(bins)
    return found


def _half_life() -> HalfLife:
    return HalfLife(tokens=None, ci_low=None, ci_high=None, censored=False, reason="not estimated by this version")


def _no_position() -> PositionPattern:
    return PositionPattern(pattern=None, p_value=None, n_samples=0, reason="there are no samples to analyse")


def _nothing(settings: AnalysisSettings, *, relative: bool) -> Analysis:
    """The analysis of a run without samples."""
    return Analysis(
        bins=(),
        cells=(),
        zones=(),
        safe_cap=SafeCap(
            tokens=None,
            ci_low=None,
            ci_high=None,
            censored=False,
            fraction_of_max=None,
            rule="walk_up",
            threshold=settings.threshold,
            relative_to_baseline=relative,
            confidence=settings.confidence,
            verdict="insufficient_evidence",
            reason="there are no samples to analyse",
        ),
        caps=dict.fromkeys(rules.RULES),
        half_life=_half_life(),
        half_life_lsq=None,
        profile=(),
        position=_no_position(),
        guide=Guide(rows=(), advice=()),
        facets=(),
        controls=(),
        judgement=None,
        mean=None,
        successes=0,
        notes=(),
    )
