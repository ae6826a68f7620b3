"""Early warnings: what changes beside the mean score as prompts grow. A warning begins at the shortest length where the
difference is large and shown; each kind holds at the analysis' confidence over all lengths together (Holm; the canary
and a search: Bonferroni). Items that share a text are clusters. Scores are compared with the baseline, the shortest
length or all up to `analysis.baseline_tokens`: a spread by the distances from the median (Mann and Whitney), a share by
melding, which is Fisher's exact test for independent values of 0 or 1; in a search, which stops by the scores,
confidence sequences have to lie apart. Latency shows memory that runs out, a cache that spills or a server that swaps:
the time to the first token by the tokens that the server had to read, against the prefill curve of
`statistics/prefill_curve.py`. The canary needs that the shorter lengths follow a curve, that all together follow none,
and that the typical time is `JUMP` times the predicted one at this length and each longer one. The time per token has
to rise by `RISE` too: else a load that ends after the shortest lengths would look like a cliff; one that lasts to the
longest does. For the spread each time is divided by what the curve of all lengths predicts for its prompt; with a
canary there is none."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from contextcliff.analysis import limits
from contextcliff.analysis.bins import Group, is_failure
from contextcliff.analysis.lengths import Item, LengthResult, evidence_of, items_of
from contextcliff.analysis.study import Study
from contextcliff.findings.finding import Block, Finding, Heading, Lines, Measurement, Table, Text, columns
from contextcliff.findings.phrases import milliseconds, percent, score, whole
from contextcliff.records.analysis import Bin
from contextcliff.records.note import Note
from contextcliff.records.report import Report
from contextcliff.statistics.clusters import Evidence, p_at_most_share
from contextcliff.statistics.confidence_sequence import confidence_sequence
from contextcliff.statistics.descriptive import counted, mean_of, standard_deviation
from contextcliff.statistics.prefill_curve import fitted_curve, follows_a_curve, predicted
from contextcliff.statistics.ranks import holm, is_significant, p_larger

FACTOR = 2.0
"""A spread or a share has to grow by so much."""
LEAST_SHARE = 0.1
LEAST_SPREAD = 0.1
JUMP = 1.5
RISE = 1.2
WarningName = Literal[
    "latency_canary", "latency_spread", "score_spread", "instability", "failure_spike", "unscored_spike"
]


@dataclass(frozen=True, kw_only=True, slots=True)
class EarlyWarning:
    """One warning. It is shown at the analysis' confidence over all lengths together, and large enough to matter."""

    name: WarningName
    context_tokens: int
    """The length where it begins, as asked."""
    median_tokens: int
    """The same, measured."""
    figures: Mapping[str, float]
    """What it rests on."""
    reason: Note


@dataclass(frozen=True, kw_only=True, slots=True)
class EarlyWarnings:
    """What was shown to change as prompts grow; `prefill` and `latency_slo` are the times behind it."""

    warnings: tuple[EarlyWarning, ...]
    prefill: tuple[limits.PrefillAtLength, ...] = ()
    latency_slo: limits.LatencyCap | None = None


def score_warnings(study: Study) -> tuple[EarlyWarning, ...]:
    """The warnings on scores and failures; none where only the baseline was tested."""
    results, most = study.results, study.settings.baseline_tokens
    n_baseline = max(1, 0 if most is None else sum(each.bin.max_tokens <= most for each in results))
    if len(results) <= n_baseline:
        return ()
    shortest, longer = results[:n_baseline], results[n_baseline:]
    samples = (sample for result in shortest for item in result.items for sample in item.samples)
    baseline = replace(shortest[-1], items=items_of(samples))
    found = [_rising_share(kind, baseline, longer, study) for kind in _SHARES]
    if not study.binary and study.search is None:
        found.insert(0, _wider_scores(baseline, longer, study.confidence))
    return tuple(each for each in found if each is not None)


def _warning(name: WarningName, begins: Bin, reason: Note, **figures: float) -> EarlyWarning:
    return EarlyWarning(
        name=name, context_tokens=begins.asked_tokens, median_tokens=begins.median_tokens, figures=figures,
        reason=reason,
    )  # fmt: skip


def _where_wider(spreads: Sequence[float], distances: Sequence[Sequence[float]], confidence: float) -> int | None:
    first, *longer = distances
    corrected = holm([p_larger(each, first) for each in longer])
    for place, p_value in enumerate(corrected, start=1):
        if spreads[place] >= max(LEAST_SPREAD, FACTOR * spreads[0]) and is_significant(p_value, confidence):
            return place
    return None


def _wider_scores(baseline: LengthResult, longer: Sequence[LengthResult], confidence: float) -> EarlyWarning | None:
    base_std = standard_deviation(baseline.scores)
    known = [(each, std) for each in longer if (std := standard_deviation(each.scores)) is not None]
    if base_std is None or not known:
        return None
    every = [(baseline, base_std), *known]
    place = _where_wider([std for _, std in every], [_from_median(each) for each, _ in every], confidence)
    if place is None:
        return None
    begins, std = every[place]
    reason = Note(
        "at {tokens:,} tokens scores vary more: their standard deviation is {std:.2f}, against {baseline_std:.2f} up to"
        " {baseline_tokens:,}",
        tokens=begins.bin.median_tokens, std=std, baseline_std=base_std, baseline_tokens=baseline.bin.median_tokens,
    )  # fmt: skip
    return _warning("score_spread", begins.bin, reason, std=std, baseline_std=base_std)


def _from_median(length: LengthResult) -> list[float]:
    middle = statistics.median(length.scores)
    by_text: defaultdict[str | int, list[float]] = defaultdict(list)
    for place, item in enumerate(length.items):
        if item.score is not None:
            by_text[item.cluster or place].append(abs(item.score - middle))
    return [mean_of(distances) for distances in by_text.values()]


_SHARES: dict[WarningName, Callable[[Item], tuple[float, ...]]] = {
    "instability": lambda item: () if item.variance is None else (float(item.variance > 0.0),),
    "failure_spike": lambda item: tuple(float(is_failure(each)) for each in item.samples if each.score is not None),
    "unscored_spike": lambda item: tuple(float(each.score is None) for each in item.samples),
}
"""What each of an item's values is 1 for; an item without values is left out."""


def _rising_share(
    kind: WarningName, baseline: LengthResult, longer: Sequence[LengthResult], study: Study
) -> EarlyWarning | None:
    base = _evidence(baseline, kind)
    known = [(each, evidence) for each in longer if (evidence := _evidence(each, kind)) is not None]
    if base is None or not known:
        return None
    shown = _shown_larger(base, [evidence for _, evidence in known], study)
    base_share = mean_of(base.scores)
    for (each, evidence), is_shown in zip(known, shown, strict=True):
        share = mean_of(evidence.scores)
        # Rounded, since 0.15 - 0.05 is a little less than 0.1 in binary.
        if not is_shown or share <= FACTOR * base_share or round(share - base_share, 9) < LEAST_SHARE:
            continue
        figures = {"share": percent(share), "n": len(evidence.scores)}
        rises = {
            "instability": Note("{share} of {n:,} repeated questions change their score between repeats", **figures),
            "failure_spike": Note("{share} of {n:,} answers fail", **figures),
            "unscored_spike": Note("{share} of {n:,} samples have no answer that can be scored", **figures),
        }
        reason = Note(
            "at {tokens:,} tokens {rises}{most_often}, against {baseline_share} of {baseline_n:,} up to"
            " {baseline_tokens:,}",
            tokens=each.bin.median_tokens, rises=rises[kind], most_often=_most_often(kind, each),
            baseline_share=percent(base_share), baseline_n=len(base.scores), baseline_tokens=baseline.bin.median_tokens,
        )  # fmt: skip
        return _warning(kind, each.bin, reason, share=share, baseline_share=base_share)
    return None


def _evidence(length: LengthResult, kind: WarningName) -> Evidence | None:
    """The values of a share as evidence, the mean of an item's values a piece; None where there are none."""
    known = ((item, values) for item in length.items if (values := _SHARES[kind](item)))
    pieces = [replace(item, score=mean_of(values), repeats=values, unscored=0) for item, values in known]
    return evidence_of(pieces, binary=all(piece.score in (0.0, 1.0) for piece in pieces)) if pieces else None


def _shown_larger(base: Evidence, compared: Sequence[Evidence], study: Study) -> list[bool]:
    """At which lengths the share is shown to be larger than the baseline's, over all of them together."""
    if study.search is not None:
        confidence = 1.0 - (1.0 - study.confidence) / len(compared)
        pieces = (tuple(c.total / c.scored for c in each.clusters) or each.scores for each in (base, *compared))
        (_, most), *longer = (confidence_sequence(piece, confidence) for piece in pieces)
        return [least > most for least, _ in longer]
    p_values = [
        # Clustered values of which all or none are 1 have no difference to test.
        1.0 if math.fsum(each.scores) == 0.0 else p_at_most_share(each, base, 1.0, study.confidence)
        for each in compared
    ]
    return [is_significant(p_value, study.confidence) for p_value in holm(p_values)]


def _most_often(kind: WarningName, length: LengthResult) -> Note | str:
    if kind == "instability":
        return ""
    samples = (sample for item in length.items for sample in item.samples)
    meant = (each for each in samples if (is_failure(each) if kind == "failure_spike" else each.score is None))
    tags = counted(each.failure for each in meant if each.failure is not None)
    tag, n = next(iter(tags.items()), ("", 0))
    return Note(", most often by {tag} ({n:,})", tag=tag, n=n) if tag else ""


def latency_warnings(groups: Sequence[Group], bins: Sequence[Bin], confidence: float) -> tuple[EarlyWarning, ...]:
    """The canary, or else the growing spread, as far as they are shown at `confidence`."""
    times = limits.times_by_length(groups, bins)
    found = (_canary(times, confidence) or _wider_times(times, confidence)) if len(times) > 1 else None
    return () if found is None else (found,)


def _canary(times: Sequence[limits.Times], confidence: float) -> EarlyWarning | None:
    each_length = 1.0 - (1.0 - confidence) / len(times)
    rates = [each.rate(each_length) for each in times]
    if follows_a_curve(rates):
        return None
    for place in range(1, len(times)):
        shorter, rate, begins = rates[:place], rates[place], times[place]
        rises = rate.typical.value >= RISE * shorter[-1].typical.value
        jumps = rises and all(each.typical.value >= JUMP * predicted(shorter, each) for each in rates[place:])
        if not jumps or not follows_a_curve(shorter):
            continue
        ttft_ms = rate.typical.value * begins.computed
        predicted_ms = predicted(shorter, rate) * begins.computed
        ratio = ttft_ms / predicted_ms
        reason = Note(
            "from {tokens:,} tokens on the first token takes {ratio:.1f} times as long as the time to read the prompt"
            " predicts ({n:requests}): memory or cache may be short, whatever the score; another load on the server at"
            " that time looks the same",
            tokens=begins.length.median_tokens, ratio=ratio, n=len(begins.rates),
        )  # fmt: skip
        figures = {"ttft_ms": ttft_ms, "predicted_ms": predicted_ms, "ratio": ratio}
        return _warning("latency_canary", begins.length, reason, **figures)
    return None


def _wider_times(times: Sequence[limits.Times], confidence: float) -> EarlyWarning | None:
    curve = fitted_curve([each.rate(0.0) for each in times])
    ratios = [each.against(curve) for each in times]
    spreads = [limits.spread_of(each) for each in ratios]
    medians = [statistics.median(each) for each in ratios]
    # As the logarithm of a ratio: half and twice the median are equally far from it.
    distances = [[abs(math.log(r / median)) for r in each] for each, median in zip(ratios, medians, strict=True)]
    place = _where_wider(spreads, distances, confidence)
    if place is None:
        return None
    first, begins = times[0].length, times[place].length
    reason = Note(
        "at {tokens:,} tokens the time to the first token is unsteady: its quartiles are {spread} of the median apart"
        " ({n:requests}), against {baseline_spread} at {baseline_tokens:,}",
        tokens=begins.median_tokens, spread=percent(spreads[place]), n=len(ratios[place]),
        baseline_spread=percent(spreads[0]), baseline_tokens=first.median_tokens,
    )  # fmt: skip
    return _warning("latency_spread", begins, reason, spread=spreads[place], baseline_spread=spreads[0])


_TITLES: Mapping[WarningName, str] = {
    "latency_canary": "Latency canary",
    "latency_spread": "Latency spread",
    "score_spread": "Score spread",
    "instability": "Instability",
    "failure_spike": "Failure spike",
    "unscored_spike": "Unscored spike",
}


def _line(warning: EarlyWarning) -> Text:
    return Text(label=_TITLES[warning.name], text=warning.reason, mood="doubtful")


def _show_cap(cap: limits.LatencyCap, confidence: str) -> tuple[Block, ...]:
    meaning = (
        f"A length clears where at least {percent(cap.share)} of its requests are shown to end within"
        f" {milliseconds(cap.slo_ms)}, at {confidence} confidence; a sample without an answer counts as late."
    )
    table = columns(
        cap.lengths, ("asked", lambda row: whole(row.context_tokens)), ("requests", lambda row: whole(row.n_requests)),
        ("in time", lambda row: whole(row.n_within)), ("tested bound", lambda row: score(row.ci_low)),
        ("clears", lambda row: "yes" if row.clears else "no"), words=("clears",),
    )  # fmt: skip
    return (Heading(text="Limit on latency"), Text(text=meaning), Table(columns=table))


_READ = (
    "Of requests whose prompt the server had to read. Predicted: the time to the first token by the curve of the"
    " shorter lengths. Spread: the distance of the quartiles over the median."
)


def _show_prefill(rows: Sequence[limits.PrefillAtLength]) -> tuple[Block, ...]:
    table = columns(
        rows, ("asked", lambda row: whole(row.context_tokens)), ("n", lambda row: whole(row.n_requests)),
        ("predicted", lambda row: milliseconds(row.predicted_ms)),
        ("ms per token", lambda row: f"{row.ms_per_token:.3g}"), ("spread", lambda row: percent(row.spread)),
    )  # fmt: skip
    return (Heading(text="Time to read the prompt"), Text(text=_READ), Table(columns=table))


class WarningsFinding(Finding[EarlyWarnings]):
    key = "early_warnings"
    title = "Early warnings"
    record = EarlyWarnings
    inline = True
    cap_rules = {  # noqa: RUF012 - a ClassVar of the base class
        "latency": "the last length, from the shortest up, at which the share"
        " analysis.latency_slo_share of the requests was shown to end within analysis.latency_slo_ms"
    }

    def find(self, study: Study) -> EarlyWarnings | None:
        if not study.groups:
            return None
        return EarlyWarnings(
            warnings=(*latency_warnings(study.groups, study.bins, study.confidence), *score_warnings(study)),
            prefill=limits.prefill_by_length(study.groups, study.bins),
            latency_slo=limits.latency_cap(study),
        )

    def caps(self, finding: EarlyWarnings, study: Study) -> Mapping[str, int | None]:  # noqa: ARG002
        return {} if finding.latency_slo is None else {"latency": finding.latency_slo.tokens}

    def look(self, report: Report) -> tuple[Text, ...]:
        """What begins below the safe cap: beyond it nobody relies on the length anyway."""
        cap = report.analysis.safe_cap.tokens or 0
        return tuple(_line(each) for each in self.of(report).warnings if each.median_tokens <= cap)

    def show(self, report: Report) -> tuple[Block, ...]:
        finding = self.of(report)
        confidence = percent(report.analysis.safe_cap.confidence)
        blocks: list[Block] = []
        if finding.warnings:
            shown = f"Each is shown at {confidence} confidence against the shortest length, over all lengths together."
            blocks = [Text(text=shown), Lines(lines=tuple(map(_line, finding.warnings)))]
        if len(finding.prefill) > 1:
            blocks += _show_prefill(finding.prefill)
        if finding.latency_slo is not None:
            blocks += _show_cap(finding.latency_slo, confidence)
        return tuple(blocks)

    def metrics(self, report: Report) -> Iterator[Measurement]:
        finding = self.of(report)
        yield Measurement(key="warnings/count", value=len(finding.warnings))
        for each in finding.warnings:
            yield Measurement(key=f"warnings/{each.name}_tokens", value=each.median_tokens)
            for name, figure in each.figures.items():
                yield Measurement(key=f"warnings/{each.name}_{name}", value=figure, step=each.context_tokens)
        for length in finding.prefill:
            step = length.context_tokens
            yield Measurement(key="by_length/ttft_ms_per_token", value=length.ms_per_token, step=step)
            yield Measurement(key="by_length/ttft_ms_predicted", value=length.predicted_ms, step=step)
            yield Measurement(key="by_length/ttft_spread", value=length.spread, step=step)
        if finding.latency_slo is not None:
            for within in finding.latency_slo.lengths:
                share = within.n_within / within.n_requests if within.n_requests else None
                yield Measurement(key="by_length/within_latency_slo", value=share, step=within.context_tokens)

    def tags(self, report: Report) -> Mapping[str, str]:
        names = ", ".join(each.name for each in self.of(report).warnings)
        return {"warnings": names} if names else {}
