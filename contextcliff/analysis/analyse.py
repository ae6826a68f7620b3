"""From scored samples to the answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.bins import Group, group, summarise
from contextcliff.analysis.controls import control_book, control_levels, decided_by_judge, mean, p_uninformative
from contextcliff.analysis.lengths import LengthResult
from contextcliff.analysis.limits import limited
from contextcliff.analysis.notes import notes_of, told_apart
from contextcliff.analysis.reason import cap_reason, settling_samples
from contextcliff.analysis.search import design_of
from contextcliff.analysis.server_counts import server_offset, without_cut
from contextcliff.analysis.shape import evidence_of, said, shape_of, verdict_of
from contextcliff.analysis.study import Finder, Study, StudyFacts, findings_of
from contextcliff.analysis.walk import (
    FixedSequenceTest,
    SearchThreshold,
    Threshold,
    fixed_sequence_test,
    make_threshold,
    searched,
    with_sequential_bounds,
)
from contextcliff.records.amounts import Quantity
from contextcliff.records.analysis import CAP_RULES, Analysis, Bin, DepthCell, SafeCap, Zone, ZoneName
from contextcliff.records.generation import ScoredSample
from contextcliff.records.note import Note
from contextcliff.records.search_record import Search
from contextcliff.statistics.descriptive import mean_of, mean_of_known


def analyse(study: Study, finders: Sequence[Finder]) -> Analysis:
    """Say how long a prompt can be, how sure that is, and everything that `finders` find beside it."""
    scores = sorted(item.score for item in study.scored if item.score is not None)
    study, findings, caps = findings_of(study, finders, _alarms_of_notes(study))
    sequence, threshold = study.sequence, study.threshold
    cells = _cells(study)
    return Analysis(
        bins=tuple(each.with_offset(study.safe_cap.server_offset_tokens or 0) for each in study.bins), cells=cells,
        zones=() if sequence is None or threshold is None else zones_of(sequence, threshold), safe_cap=study.safe_cap,
        caps={**_caps(study), **caps}, mean=mean_of(scores) if scores else None,
        successes=sum(score == 1.0 for score in scores),
        notes=()
        if sequence is None or threshold is None
        else (
            *_of_later(study),
            *notes_of(
                study.groups, sequence, threshold, study.control_levels, window=study.facts.max_context_tokens,
                positions=study.facts.positions, begins_anywhere=study.facts.begins_anywhere,
                draws_anew=study.facts.draws_anew, raises=study.raises,
            ),
        ),
        findings=findings, alarms=study.alarms,
    )  # fmt: skip


def _alarms_of_notes(study: Study) -> Mapping[str, float]:
    """The p-values of what notes may warn of, by the names that they ask for."""
    if study.sequence is None or study.threshold is None:
        return {}
    found = {}
    if (told := told_apart(study.groups, study.sequence.results)) is not None:
        found["served_models"] = told[0]
    if study.control_levels:
        book = control_book(study.controls)
        controls = [book.of(group.samples) for group in study.groups]
        found["controls"] = p_uninformative(controls, study.threshold.score, study.confidence)
    return found


def _of_later(study: Study) -> Iterator[Note]:
    """What a search loses by lengths that were added to it, and a fixed design by looks before it."""
    if study.facts.looks:
        yield Note(
            "{n:earlier looks} at some of these samples, with other numbers of them, {n:was a claim/were claims} too:"
            " this one is tested at {test:percent}, and the cap holds at {left:percent} confidence, not"
            " {whole:percent}. task.trials=auto may be looked at at any time; another seed is a test of its own",
            n=study.facts.looks, test=study.safe_cap.confidence + study.safe_cap.lost_confidence,
            left=study.safe_cap.holds_at, whole=study.safe_cap.confidence,
        )  # fmt: skip
    if study.facts.search is not None and study.facts.search.added:
        yield Note(
            "{n:lengths} in task.lengths {n:was/were} added after longer ones had been answered, each a claim more: the"
            " cap holds at {left:percent} confidence, not {whole:percent}. search=refine looks between lengths without"
            " that; another seed is a test of its own",
            n=len(study.facts.search.added), left=study.safe_cap.holds_at, whole=study.safe_cap.confidence,
        )  # fmt: skip


def study_of(
    scored: Sequence[ScoredSample],
    settings: AnalysisSettings,
    facts: StudyFacts,
    *,
    controls: Sequence[ScoredSample] = (),
) -> Study:
    """Group the samples by length and test the lengths."""
    relative = settings.is_relative(by_default=facts.relative_by_default)
    search = None
    if facts.search is None:
        scored = without_cut(scored, designed_lengths=facts.designed_lengths)
    else:
        search, scored = searched(scored, facts.search, settings.search_rule(relative=relative))
    offset = server_offset(scored, own=facts.own_tokenizer)
    if offset:  # from here on lengths are those of the user's own prompts
        scored = tuple(replace(item, server_offset_tokens=offset) for item in scored)
    groups = group(scored, designed_lengths=facts.designed_lengths, bins=settings.bins)
    # Each look at a fixed design has half of the error of the one before.
    tested_at = 1.0 - (1.0 - settings.confidence) / 2.0**facts.looks
    sequence: FixedSequenceTest | None = None
    threshold: Threshold | None = None
    if groups:
        sequence, threshold = sequence_of(
            groups, settings, relative=relative, tested_at=tested_at, search=search, quantity=facts.quantity,
            draws_anew=facts.draws_anew,
        )  # fmt: skip
    of_judge, enough = None, True
    if facts.judge_decides and sequence is not None and threshold is not None:
        sequence, threshold, of_judge, enough = decided_by_judge(sequence, threshold, scored, tested_at)
    by_answers, settled_by = _safe_cap(
        sequence, threshold, settings, relative=relative, quantity=facts.quantity, offset=offset
    )
    lost = tested_at - settings.confidence
    if facts.search is not None:
        lost = design_of(facts.search, settings.search_rule(relative=relative)).added_alpha
    by_answers = replace(by_answers, metrics=facts.metrics, lost_confidence=lost)
    if of_judge is not None and enough:
        by_answers = replace(by_answers, reason=Note("{reason}; {judge}", reason=by_answers.reason, judge=of_judge))
    elif of_judge is not None:
        settled_by = None
        by_answers = replace(
            by_answers, verdict="insufficient_evidence", evidence="unsettled", settling_samples=None, reason=of_judge
        )
    study = Study(
        scored=tuple(scored), search=search, controls=tuple(controls), settings=settings, facts=facts,
        relative=relative, groups=groups, sequence=sequence, threshold=threshold,
        control_levels=control_levels(
            groups, control_book(controls), threshold=None if threshold is None else threshold.score,
            confidence=settings.confidence,
        ),
        safe_cap=by_answers, settled_by=settled_by,
        by_score=None if facts.quantity == "score" else summarise(groups, settings.confidence),
    )  # fmt: skip
    return replace(study, safe_cap=limited(study, judge_is_known=enough))


def sequence_of(
    groups: Sequence[Group],
    settings: AnalysisSettings,
    *,
    relative: bool,
    tested_at: float | None = None,
    search: Search | None = None,
    quantity: Quantity = "score",
    draws_anew: bool = True,
) -> tuple[FixedSequenceTest, Threshold]:
    """The walk over at least one length, and what each had to clear. Lengths are tested at the confidence `tested_at`,
    that of the settings if None; intervals have that of the settings."""
    groups = _tested_on(groups, quantity)
    results = summarise(groups, settings.confidence, draws_anew=draws_anew)
    tested_at = settings.confidence if tested_at is None else tested_at
    if tested_at != settings.confidence:
        tested = (each.bin.tested_low for each in summarise(groups, tested_at, draws_anew=draws_anew))
        results = tuple(
            replace(each, bin=replace(each.bin, tested_low=low)) for each, low in zip(results, tested, strict=True)
        )
    # A search compares with the shortest length alone.
    baseline = None if search is not None else _baseline(groups, settings, binary=results[0].binary)
    threshold: Threshold = make_threshold(
        results, threshold=settings.threshold, relative=relative, confidence=tested_at, baseline=baseline,
        quantity=quantity,
    )  # fmt: skip
    if search is not None:
        rule = settings.search_rule(relative=relative)
        threshold = by_search = SearchThreshold(asked=threshold, search=search, rule=rule)
        results = tuple(with_sequential_bounds(result, by_search, settings.confidence) for result in results)
    return fixed_sequence_test(results, threshold, is_open=search is not None and search.is_open), threshold


def _tested_on(groups: Sequence[Group], quantity: Quantity) -> Sequence[Group]:
    """The samples with this detail of their score in its place; a sample without a score stays without one."""
    if quantity == "score":
        return groups

    def tested(item: ScoredSample) -> ScoredSample:
        return item if item.score is None else replace(item, score=item.details[quantity])

    return [replace(each, samples=tuple(map(tested, each.samples))) for each in groups]


def _baseline(groups: Sequence[Group], settings: AnalysisSettings, *, binary: bool) -> LengthResult | None:
    """The lengths up to `baseline_tokens` as one; None where that is the shortest alone."""
    if settings.baseline_tokens is None:
        return None
    short = [group for group in groups if max(s.measured_tokens for s in group.samples) <= settings.baseline_tokens]
    if len(short) < 2:
        return None
    together = Group(asked_tokens=short[-1].asked_tokens, samples=tuple(s for group in short for s in group.samples))
    return summarise([together], settings.confidence, binary=binary)[0]


def _cells(study: Study) -> tuple[DepthCell, ...]:
    """One cell for each length and depth that was planned, shortest and shallowest first."""
    book, confidence = control_book(study.controls), study.confidence
    threshold = None if study.threshold is None else study.threshold.score
    void = {level.asked_tokens for level in study.control_levels if not level.informative}
    cells: list[DepthCell] = []
    for each in study.groups:
        by_depth: defaultdict[float, list[ScoredSample]] = defaultdict(list)
        for item in each.samples:
            if item.sample.depth is not None:
                by_depth[item.sample.depth].append(item)
        for depth in sorted(by_depth):
            scores = [item.score for item in by_depth[depth] if item.score is not None]
            own = book.of(by_depth[depth])
            cells.append(
                DepthCell(
                    asked_tokens=each.asked_tokens, depth=depth, n_samples=len(scores),
                    mean=mean_of(scores) if scores else None, ceiling=mean(own.ceiling), floor=mean(own.floor),
                    informative=each.asked_tokens not in void and own.informative(threshold, confidence),
                )
            )  # fmt: skip
    return tuple(cells)


def _safe_cap(
    sequence: FixedSequenceTest | None,
    threshold: Threshold | None,
    settings: AnalysisSettings,
    *,
    relative: bool,
    quantity: Quantity,
    offset: int | None,
) -> tuple[SafeCap, int | None]:
    """The cap by the model's answers, with what would settle it; without samples there is none."""
    tokens = sequence.cap_tokens if sequence is not None else None
    cap = SafeCap(
        tokens=tokens, outcome="undecided", ci_low=tokens,
        ci_high=None if sequence is None else sequence.below_from,
        censored=sequence is not None and tokens is not None and sequence.stop is None and not sequence.is_open,
        fraction_of_max=None, rule="walk_up", threshold=settings.threshold,
        threshold_score=None if threshold is None else threshold.score, relative_to_baseline=relative,
        quantity=quantity, server_offset_tokens=offset,
        confidence=settings.confidence, verdict="insufficient_evidence", reason=Note("there are no samples to analyse"),
    )  # fmt: skip
    return (cap, None) if sequence is None or threshold is None else _with_shape(cap, sequence, threshold)


def _with_shape(cap: SafeCap, sequence: FixedSequenceTest, threshold: Threshold) -> tuple[SafeCap, int | None]:
    shape = shape_of(sequence.results, threshold)
    evidence = None if shape is None else evidence_of(sequence, threshold, shape)
    reason, settled_by = cap_reason(sequence, threshold, shape, asked=cap.threshold, confidence=cap.confidence)
    cap = replace(
        cap, evidence=evidence, verdict=verdict_of(sequence, shape, evidence), reason=reason,
        settling_samples=settling_samples(sequence, threshold, shape) if evidence == "unsettled" else None,
    )  # fmt: skip
    if shape is not None and evidence is not None and (name := said(shape, evidence, sequence.results)) is not None:
        cap = replace(cap, shape=name, shape_step=shape.step, dip_tokens=shape.dip)
    return cap, settled_by


def _caps(study: Study) -> dict[str, int | None]:
    """Every rule's tokens; None where it gives none, or is a finding's."""
    caps: dict[str, int | None] = dict.fromkeys(CAP_RULES)
    if study.sequence is not None:
        caps["walk_up"] = study.sequence.cap_tokens
        caps["blueprint"] = blueprint_cap(study.bins)
        tested = [result.bin for result in study.sequence.results]  # what the threshold is a threshold of
        score = study.safe_cap.threshold_score
        # A share of a baseline of 0, or of one without a score, is no threshold.
        caps["absolute"] = absolute_cap(tested, None if study.relative and not score else score)
        caps["relative"] = relative_cap(study.bins)
    return caps


def zones_of(sequence: FixedSequenceTest, threshold: Threshold) -> tuple[Zone, ...]:
    """The zones from 0 tokens (without a cap: from the shortest length) to the longest length, no gaps. They meet at
    the cap and at the ceiling."""
    results = sequence.results
    if not results:
        return ()
    longest = max(result.bin.below_from for result in results)
    cap, stable = sequence.cap_tokens, 0 if sequence.cap_tokens is None else sequence.cleared
    start = min(result.bin.clears_up_to for result in results) if cap is None else cap + 1
    first_degraded = sequence.degraded[0] if sequence.degraded else len(results)
    fall = longest + 1 if sequence.below_from is None else sequence.below_from
    zones = [
        *([] if cap is None else [_zone("stable", 0, cap, results[:stable])]),
        _zone("transition", start, min(fall - 1, longest), results[stable:first_degraded]),
        _zone("degraded", fall, longest, results[first_degraded:]),
    ]
    return _with_falls([zone for zone in zones if zone.min_tokens <= zone.max_tokens], threshold)


def _zone(name: ZoneName, low: int, high: int, results: Sequence[LengthResult]) -> Zone:
    mean = mean_of_known(score for result in results for score in result.scores)
    return Zone(name=name, min_tokens=low, max_tokens=high, mean=mean)


def _with_falls(zones: Sequence[Zone], threshold: Threshold) -> tuple[Zone, ...]:
    """How far each zone's mean is below the baseline's, or else below that of the first zone with scores."""
    scored = [zone for zone in zones if zone.mean is not None]
    if threshold.relative is not None:
        reference, first = threshold.relative.baseline.bin.mean, None
    else:
        reference, first = (scored[0].mean, scored[0]) if scored else (None, None)
    return tuple(
        zone if zone is first or zone.mean is None or not reference else replace(zone, fall=1.0 - zone.mean / reference)
        for zone in zones
    )


EFFECTIVE_SHARE = 0.85
"""Share of the baseline of an "effective length": NoLiMa's (arXiv 2502.05167), and near RULER's, which
takes a fixed score of 85.6 (arXiv 2404.06654)."""

_SPREAD_FACTOR = 2.0
_MEAN_SHARE = 0.7
_FAILURE_FACTOR = 2.0
_FAILURE_STEP = 0.1


def absolute_cap(bins: Sequence[Bin], score: float | None) -> int | None:
    """The length up to which the last one clears before the first whose mean is below `score`."""
    last = None
    for length in bins:
        if score is None or length.mean is None or length.mean < score:
            break
        last = length.clears_up_to
    return last


def relative_cap(bins: Sequence[Bin], share: float = EFFECTIVE_SHARE) -> int | None:
    """The last length before the first whose mean is below `share` of the shortest length's."""
    if not bins or not bins[0].mean:
        return None
    return absolute_cap(bins, share * bins[0].mean)


def blueprint_cap(bins: Sequence[Bin]) -> int | None:
    """The first failing length, by spread, mean or failures against the shortest length.

    A length fails where its standard deviation is at least twice the baseline's (any spread, if the baseline has none),
    its mean is down by more than 30%, or its failures spike: more than twice the baseline's rate and at least 10 points
    above it. Where none fails: all of them. None if the shortest length has no score, or scores 0."""
    if not bins or not bins[0].mean:
        return None
    baseline = bins[0]
    failing = (b for b in bins[1:] if _fails_blueprint(b, baseline))
    return next(failing, bins[-1]).clears_up_to


def _fails_blueprint(length: Bin, baseline: Bin) -> bool:
    if length.mean is None or baseline.mean is None or length.mean < _MEAN_SHARE * baseline.mean:
        return True
    if length.std and baseline.std is not None and length.std >= _SPREAD_FACTOR * baseline.std:
        return True
    if length.failure_rate is None or baseline.failure_rate is None:
        return False
    # Rounded, since 0.15 − 0.05 is a little less than 0.1 in binary.
    step = round(length.failure_rate - baseline.failure_rate, 9)
    return length.failure_rate > _FAILURE_FACTOR * baseline.failure_rate and step >= _FAILURE_STEP
