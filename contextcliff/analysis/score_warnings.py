"""Spread, instability and failures against the shortest length: what can change before the mean score does.

Each length is compared with the baseline, which is the shortest one, or the lengths up to `analysis.baseline_tokens`. A
warning begins at the shortest length where the difference is shown and large:

- spread: the standard deviation of the scores is at least twice the baseline's and at least 0.1, and the distances from
  the median score are shown to be larger (Mann and Whitney). Not for 0/1 scores, whose spread restates their mean, and
  not in a search, which stops by the scores;
- instability, failures, unscored samples: a share that is more than twice the baseline's and at least 10 points above
  it, and shown to be larger (melding, which is Fisher's exact test for independent 0/1 values; in a search confidence
  sequences that do not overlap, since a search stops by the scores).

Over the lengths each kind holds together at the analysis' confidence (Holm; in a search Bonferroni). Items that share a
text count as clusters.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from contextcliff.analysis.bins import is_failure
from contextcliff.analysis.early_warning import EarlyWarning, WarningName
from contextcliff.analysis.items import Item, evidence_of, items_of
from contextcliff.analysis.study import Study
from contextcliff.records.analysis import Bin
from contextcliff.records.fact import Fact
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.clusters import Evidence, p_at_most_share
from contextcliff.statistics.descriptive import counted, mean_of, standard_deviation
from contextcliff.statistics.ranks import holm, is_significant, p_larger
from contextcliff.statistics.sequential import confidence_sequence

FACTOR = 2.0
LEAST_SHARE = 0.1
LEAST_SPREAD = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class WiderScores(Fact):
    """The standard deviation of the scores, at this length and at the baseline, whose longest prompt is given."""

    tokens: int
    std: float
    baseline_tokens: int
    baseline_std: float


@dataclass(frozen=True, kw_only=True, slots=True)
class RisingShare(Fact):
    """A share of the samples or questions that is larger at this length than at the baseline.

    `tag` is the failure that is commonest at this length, of `n_tag` samples; empty where failures are not meant.
    """

    kind: WarningName
    tokens: int
    share: float
    n: int
    baseline_tokens: int
    baseline_share: float
    baseline_n: int
    tag: str = ""
    n_tag: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Length:
    """A length, or the baseline's lengths together."""

    bin: Bin
    samples: tuple[ScoredSample, ...]
    items: tuple[Item, ...]


def score_warnings(study: Study) -> Iterator[EarlyWarning]:
    """The warnings that are shown; nothing where only the baseline was tested."""
    lengths = [
        _Length(bin=result.bin, samples=group.samples, items=result.items)
        for group, result in zip(study.groups, study.results, strict=True)
    ]
    if not lengths:
        return
    most = study.settings.baseline_tokens
    n_baseline = max(1, 0 if most is None else sum(each.bin.max_tokens <= most for each in lengths))
    baseline, longer = _together(lengths[:n_baseline]), lengths[n_baseline:]
    if not longer:
        return
    if not study.binary and study.search is None:
        yield from _spread(baseline, longer, study.confidence)
    for kind, of_item in _SHARES.items():
        yield from _share(kind, of_item, baseline, longer, study)


def _together(lengths: Sequence[_Length]) -> _Length:
    samples = tuple(item for each in lengths for item in each.samples)
    return _Length(bin=lengths[-1].bin, samples=samples, items=items_of(samples))


def _spread(baseline: _Length, longer: Sequence[_Length], confidence: float) -> Iterator[EarlyWarning]:
    base_std = standard_deviation(_scores(baseline))
    compared = [(each, standard_deviation(_scores(each))) for each in longer]
    known = [(each, std) for each, std in compared if std is not None]
    if base_std is None or not known:
        return
    base_distances = _distances(baseline)
    corrected = holm([p_larger(_distances(each), base_distances) for each, _ in known])
    for (each, std), p_value in zip(known, corrected, strict=True):
        if std < max(LEAST_SPREAD, FACTOR * base_std) or not is_significant(p_value, confidence):
            continue
        fact = WiderScores(
            tokens=each.bin.median_tokens, std=std, baseline_tokens=baseline.bin.max_tokens, baseline_std=base_std
        )
        yield EarlyWarning(
            name="score_spread",
            context_tokens=each.bin.asked_tokens,
            median_tokens=fact.tokens,
            figures={"std": std, "baseline_std": base_std},
            reason=fact,
        )
        return


def _scores(length: _Length) -> tuple[float, ...]:
    return tuple(item.score for item in length.items if item.score is not None)


def _distances(length: _Length) -> list[float]:
    """How far the score of each item is from the median; of items that share a text their mean, one a text."""
    scores = sorted(_scores(length))
    middle = 0.5 * (scores[(len(scores) - 1) // 2] + scores[len(scores) // 2])
    by_text: defaultdict[str | int, list[float]] = defaultdict(list)
    for place, item in enumerate(length.items):
        if item.score is not None:
            by_text[item.cluster or place].append(abs(item.score - middle))
    return [mean_of(distances) for distances in by_text.values()]


def _failing(item: Item) -> tuple[float, ...]:
    return tuple(float(is_failure(sample)) for sample in item.samples if sample.score is not None)


def _unscored(item: Item) -> tuple[float, ...]:
    return tuple(float(sample.score is None) for sample in item.samples)


def _changing(item: Item) -> tuple[float, ...]:
    return () if item.variance is None else (float(item.variance > 0.0),)


_SHARES: dict[WarningName, Callable[[Item], tuple[float, ...]]] = {
    "instability": _changing,
    "failure_spike": _failing,
    "unscored_spike": _unscored,
}
"""What each of an item's values is 1 for; nothing: the item is left out."""


def _share(
    kind: WarningName, of_item: Callable[[Item], tuple[float, ...]], baseline: _Length, longer: Sequence[_Length],
    study: Study,
) -> Iterator[EarlyWarning]:  # fmt: skip
    base, compared = _evidence(baseline, of_item), [(each, _evidence(each, of_item)) for each in longer]
    known = [(each, evidence) for each, evidence in compared if evidence is not None]
    if base is None or not known:
        return
    shown = _shown(base, [evidence for _, evidence in known], study)
    base_share = mean_of(base.scores)
    for (each, evidence), is_shown in zip(known, shown, strict=True):
        share = mean_of(evidence.scores)
        # Rounded, since 0.15 - 0.05 is a little less than 0.1 in binary.
        if not is_shown or share <= FACTOR * base_share or round(share - base_share, 9) < LEAST_SHARE:
            continue
        tag, n_tag = _commonest(kind, each)
        fact = RisingShare(
            kind=kind,
            tokens=each.bin.median_tokens,
            share=share,
            n=len(evidence.scores),
            baseline_tokens=baseline.bin.max_tokens,
            baseline_share=base_share,
            baseline_n=len(base.scores),
            tag=tag,
            n_tag=n_tag,
        )
        yield EarlyWarning(
            name=kind,
            context_tokens=each.bin.asked_tokens,
            median_tokens=fact.tokens,
            figures={"share": share, "baseline_share": base_share},
            reason=fact,
        )
        return


def _evidence(length: _Length, of_item: Callable[[Item], tuple[float, ...]]) -> Evidence | None:
    """The values as evidence, the mean of an item's values a piece; None where there are none."""
    pieces = [
        replace(item, score=mean_of(values), repeats=values, unscored=0)
        for item in length.items
        if (values := of_item(item))
    ]
    binary = all(piece.score in (0.0, 1.0) for piece in pieces)
    return evidence_of(pieces, binary=binary) if pieces else None


def _shown(base: Evidence, compared: Sequence[Evidence], study: Study) -> list[bool]:
    """At which lengths the share is shown to be larger than the baseline's, over all of them together."""
    if study.search is not None:
        confidence = 1.0 - (1.0 - study.confidence) / len(compared)
        _, most = confidence_sequence(_units(base), confidence)
        return [confidence_sequence(_units(each), confidence)[0] > most for each in compared]
    p_values = [
        # Clustered values of which all or none are 1 have no difference to test.
        1.0 if math.fsum(each.scores) == 0.0 else p_at_most_share(each, base, 1.0, study.confidence)
        for each in compared
    ]
    return [is_significant(p_value, study.confidence) for p_value in holm(p_values)]


def _units(evidence: Evidence) -> tuple[float, ...]:
    """The independent values: the means of texts, where items share some."""
    return tuple(c.total / c.scored for c in evidence.clusters) or evidence.scores


def _commonest(kind: WarningName, length: _Length) -> tuple[str, int]:
    """The commonest tag of the samples that a rising share is about."""
    if kind == "instability":
        return "", 0
    is_meant = is_failure if kind == "failure_spike" else _has_no_score
    tags = counted(item.failure for item in length.samples if item.failure is not None and is_meant(item))
    return next(iter(tags.items()), ("", 0))


def _has_no_score(item: ScoredSample) -> bool:
    return item.score is None
