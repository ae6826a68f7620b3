"""From scored samples to the answer."""

from __future__ import annotations

from collections.abc import Sequence

from contextcliff.analysis import other_rules as rules
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.bins import summarise
from contextcliff.analysis.cells import depth_cells
from contextcliff.analysis.controls import control_book, control_levels
from contextcliff.analysis.facets import facet_rows
from contextcliff.analysis.fixed_sequence import FixedSequenceTest, crossing_ceiling, fixed_sequence_test
from contextcliff.analysis.groups import Group, group
from contextcliff.analysis.guide import operating_guide
from contextcliff.analysis.half_life import half_life, half_life_lsq
from contextcliff.analysis.length_result import LengthResult
from contextcliff.analysis.notes import notes_of
from contextcliff.analysis.position import position_pattern
from contextcliff.analysis.profile import depth_profile
from contextcliff.analysis.reasons import reason_of
from contextcliff.analysis.threshold import Threshold, make_threshold
from contextcliff.analysis.zones import zones_of
from contextcliff.records.analysis import Analysis, Guide, HalfLife, PositionPattern, SafeCap
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.clusters import pooled_design_effect
from contextcliff.statistics.descriptive import mean_of

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
    sequence, threshold = sequence_of(groups, settings, relative=relative)
    results = sequence.results
    dispersion = pooled_design_effect(result.evidence.clusters for result in results)
    halving = half_life(results, settings.confidence, dispersion=dispersion)
    book = control_book(controls)
    controlled = control_levels(groups, book, threshold=threshold.score, confidence=settings.confidence)
    cells = depth_cells(groups, book, controlled, threshold=threshold.score, confidence=settings.confidence)
    return Analysis(
        bins=tuple(result.bin for result in results),
        cells=cells,
        zones=zones_of(sequence),
        safe_cap=_safe_cap(sequence, threshold, settings, relative=relative, max_context_tokens=max_context_tokens),
        caps=_caps(sequence.cap_tokens, results, settings.threshold, halving),
        half_life=halving,
        half_life_lsq=half_life_lsq(results),
        profile=depth_profile(groups, settings.confidence, binary=results[0].binary),
        position=position_pattern(groups, settings.confidence),
        # The guide's limits are those of recall: how hard a question set is, and what prose is, would move them.
        guide=operating_guide(results, halving)
        if designed_lengths and not relative_by_default
        else Guide(rows=(), advice=()),
        facets=facet_rows(
            groups,
            threshold=settings.threshold,
            relative=relative,
            confidence=settings.confidence,
            binary=results[0].binary,
        ),
        controls=controlled,
        judgement=None,
        mean=mean_of(scores) if scores else None,
        successes=sum(score == 1.0 for score in scores),
        notes=notes_of(groups, sequence, threshold, controlled, cells),
    )


def sequence_of(
    groups: Sequence[Group], settings: AnalysisSettings, *, relative: bool
) -> tuple[FixedSequenceTest, Threshold]:
    """The walk over at least one length, and what each had to clear."""
    results = summarise(groups, settings.confidence)
    threshold = make_threshold(
        results,
        threshold=settings.threshold,
        relative=relative,
        confidence=settings.confidence,
        baseline=_baseline(groups, settings, binary=results[0].binary),
    )
    return fixed_sequence_test(results, threshold, settings.confidence), threshold


def _baseline(groups: Sequence[Group], settings: AnalysisSettings, *, binary: bool) -> LengthResult | None:
    """The lengths up to `baseline_tokens` as one; None where that is the shortest alone."""
    if settings.baseline_tokens is None:
        return None
    short = [group for group in groups if max(s.measured_tokens for s in group.samples) <= settings.baseline_tokens]
    if len(short) < 2:
        return None
    together = Group(asked_tokens=short[-1].asked_tokens, samples=tuple(s for group in short for s in group.samples))
    return summarise([together], settings.confidence, binary=binary)[0]


def _safe_cap(
    sequence: FixedSequenceTest,
    threshold: Threshold,
    settings: AnalysisSettings,
    *,
    relative: bool,
    max_context_tokens: int,
) -> SafeCap:
    tokens = sequence.cap_tokens
    return SafeCap(
        tokens=tokens,
        ci_low=tokens,
        ci_high=crossing_ceiling(sequence, threshold),
        censored=sequence.stop is None,
        fraction_of_max=None if tokens is None else tokens / max_context_tokens,
        rule="walk_up",
        threshold=settings.threshold,
        threshold_score=threshold.score,
        relative_to_baseline=relative,
        confidence=settings.confidence,
        verdict=sequence.verdict,
        reason=reason_of(sequence, threshold, asked=settings.threshold, confidence=settings.confidence),
    )


def _caps(
    walk_up_tokens: int | None, results: Sequence[LengthResult], threshold: float, halving: HalfLife
) -> dict[str, int | None]:
    """Every rule's tokens; None where it gives none, or is measured by something else than scores."""
    bins = [result.bin for result in results]
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
