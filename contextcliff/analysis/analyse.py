"""From scored samples to the answer."""

from __future__ import annotations

from collections.abc import Sequence

from contextcliff.analysis import rules
from contextcliff.analysis.bar import Bar, make_bar
from contextcliff.analysis.bins import Group, Level, group, mean_of, summarise
from contextcliff.analysis.caps import Walk, crossing_ceiling, walk_up
from contextcliff.analysis.cells import depth_cells
from contextcliff.analysis.controls import control_book, control_levels
from contextcliff.analysis.dispersion import design_effect
from contextcliff.analysis.facets import facet_rows
from contextcliff.analysis.guide import operating_guide
from contextcliff.analysis.half_life import half_life, half_life_lsq
from contextcliff.analysis.notes import notes_of
from contextcliff.analysis.position import position_pattern
from contextcliff.analysis.profile import depth_profile
from contextcliff.analysis.reasons import reason_of
from contextcliff.analysis.settings import AnalysisSettings
from contextcliff.analysis.zones import zones_of
from contextcliff.records import Analysis, Guide, HalfLife, PositionPattern, SafeCap, ScoredSample

_NO_SAMPLES = "there are no samples to analyse"


def analyse(
    scored: Sequence[ScoredSample],
    settings: AnalysisSettings,
    *,
    max_context_tokens: int,
    designed_lengths: bool,
    relative_by_default: bool,
    controls: Sequence[ScoredSample] = (),
) -> Analysis:
    """Say how long a prompt can be, and how sure that is.

    `scored` are all planned samples, unscored ones included, in any order. `designed_lengths` is whether
    the task chose its lengths (a bin each) or took documents as they are (quantile bins).
    `relative_by_default` decides where `settings.relative_to_baseline` is None. `controls` are the scored controls
    that samples name in `Sample.controls`; they count in no score. Nothing is read, written or drawn at random: the
    same samples give the same analysis.
    """
    relative = settings.is_relative(by_default=relative_by_default)
    groups = group(scored, designed_lengths=designed_lengths, bins=settings.bins)
    scores = sorted(item.score for item in scored if item.score is not None)
    if not groups:
        return _nothing(settings, relative=relative)
    walk, bar = walk_of(groups, settings, relative=relative)
    levels = walk.levels
    halving = half_life(levels, settings.confidence, dispersion=design_effect(levels))
    book = control_book(controls)
    controlled = control_levels(groups, book, threshold=bar.score, confidence=settings.confidence)
    cells = depth_cells(groups, book, controlled, threshold=bar.score, confidence=settings.confidence)
    return Analysis(
        bins=tuple(level.bin for level in levels),
        cells=cells,
        zones=zones_of(walk),
        safe_cap=_safe_cap(walk, bar, settings, relative=relative, max_context_tokens=max_context_tokens),
        caps=_caps(walk.cap_tokens, levels, settings.threshold, halving),
        half_life=halving,
        half_life_lsq=half_life_lsq(levels),
        profile=depth_profile(groups, settings.confidence, binary=levels[0].binary),
        position=position_pattern(groups, settings.confidence),
        # The guide's limits are those of recall: how hard a question set is, and what prose is, would move them.
        guide=operating_guide(levels, halving)
        if designed_lengths and not relative_by_default
        else Guide(rows=(), advice=()),
        facets=facet_rows(
            groups,
            threshold=settings.threshold,
            relative=relative,
            confidence=settings.confidence,
            binary=levels[0].binary,
        ),
        controls=controlled,
        judgement=None,
        mean=mean_of(scores) if scores else None,
        successes=sum(score == 1.0 for score in scores),
        notes=notes_of(groups, walk, bar, controlled, cells),
    )


def walk_of(groups: Sequence[Group], settings: AnalysisSettings, *, relative: bool) -> tuple[Walk, Bar]:
    """The walk over at least one length, and what each had to clear."""
    levels = summarise(groups, settings.confidence)
    bar = make_bar(
        levels,
        threshold=settings.threshold,
        relative=relative,
        confidence=settings.confidence,
        baseline=_baseline(groups, settings, binary=levels[0].binary),
    )
    return walk_up(levels, bar, settings.confidence), bar


def _baseline(groups: Sequence[Group], settings: AnalysisSettings, *, binary: bool) -> Level | None:
    """The lengths up to `baseline_tokens` as one; None where that is the shortest alone."""
    if settings.baseline_tokens is None:
        return None
    short = [group for group in groups if max(s.measured_tokens for s in group.samples) <= settings.baseline_tokens]
    if len(short) < 2:
        return None
    together = Group(asked_tokens=short[-1].asked_tokens, samples=tuple(s for group in short for s in group.samples))
    return summarise([together], settings.confidence, binary=binary)[0]


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
        threshold_score=bar.score,
        relative_to_baseline=relative,
        confidence=settings.confidence,
        verdict=walk.verdict,
        reason=reason_of(walk, bar, threshold=settings.threshold, confidence=settings.confidence),
    )


def _caps(
    walk_up_tokens: int | None, levels: Sequence[Level], threshold: float, halving: HalfLife
) -> dict[str, int | None]:
    """Every rule's tokens; None where it gives none, or is measured by something else than scores."""
    bins = [level.bin for level in levels]
    found: dict[str, int | None] = dict.fromkeys(rules.RULES)
    found["walk_up"] = walk_up_tokens
    found["blueprint"] = rules.blueprint(bins)
    found["absolute"] = rules.absolute(bins, threshold)
    found["relative"] = rules.relative(bins)
    found["half_life"] = halving.tokens
    return found


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
            reason=_NO_SAMPLES,
        ),
        caps=dict.fromkeys(rules.RULES),
        half_life=HalfLife(tokens=None, ci_low=None, ci_high=None, censored=False, reason=_NO_SAMPLES),
        half_life_lsq=None,
        profile=(),
        position=PositionPattern(pattern=None, p_value=None, n_samples=0, reason=_NO_SAMPLES),
        guide=Guide(rows=(), advice=()),
        facets=(),
        controls=(),
        judgement=None,
        mean=None,
        successes=0,
        notes=(),
    )
