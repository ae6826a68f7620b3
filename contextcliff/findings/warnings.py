"""Early warnings: what changes beside the mean score as prompts grow. A warning begins at the shortest length where the
difference is large and shown; each kind holds at the analysis' confidence over all lengths together (Holm; the canary
and a search: Bonferroni), and all that a report may warn of together (`analysis.study.findings_of`). Items that share a
text are clusters. Scores are compared with the baseline, the shortest length or all up to `analysis.baseline_tokens`: a
spread by the distances from the median (Mann and Whitney), a share by melding, which is Fisher's exact test for
independent values of 0 or 1; in a search, which stops by the scores, confidence sequences have to lie apart. The
latency canary is in `analysis/prefill.py`."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from contextcliff.analysis import limits
from contextcliff.analysis.bins import is_failure
from contextcliff.analysis.lengths import Item, LengthResult, evidence_of, items_of
from contextcliff.analysis.prefill import AS_FAST, Times, rechecked, slowdown, times_by_length
from contextcliff.analysis.study import Study
from contextcliff.findings.finding import Block, Finding, Heading, Lines, Measurement, Table, Text, columns
from contextcliff.findings.phrases import milliseconds, percent, score, whole
from contextcliff.records.analysis import Bin
from contextcliff.records.note import Note
from contextcliff.records.report import Report
from contextcliff.statistics.clusters import Evidence, p_at_most_share
from contextcliff.statistics.confidence_sequence import confidence_sequence
from contextcliff.statistics.descriptive import counted, mean_of, standard_deviation
from contextcliff.statistics.ranks import holm, is_significant, p_larger, p_of

FACTOR = 2.0
"""A spread or a share has to grow by so much."""
LEAST_SHARE = 0.1
LEAST_SPREAD = 0.1
WarningName = Literal[
    "latency_canary", "latency_spread", "score_spread", "instability", "failure_spike", "unscored_spike"
]
"""`latency_spread` is only in reports of earlier versions."""


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
    p_value: float = 1.0
    """Of "at no length", allowing for all of them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PrefillAtLength:
    """The time to the first token at one length, over the requests that the server had to read."""

    context_tokens: int
    """As asked."""
    n_requests: int
    ms_per_token: float
    """Median of the times over the tokens that were read."""
    spread: float
    """Distance of the quartiles of that, as a share of the median."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EarlyWarnings:
    """What was shown to change as prompts grow; `prefill` and `latency_slo` are the times behind it."""

    warnings: tuple[EarlyWarning, ...]
    not_warned: Note | None = None
    """That the server was slower from some length on, and why it is no warning; None where it is one, or was not."""
    prefill: tuple[PrefillAtLength, ...] = ()
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


def _tested(study: Study) -> Iterator[WarningName]:
    """What there is something to warn of: where nothing failed at all, failures are no test."""
    items = [item for result in study.results for item in result.items]
    yield from (kind for kind, values in _SHARES.items() if any(any(values(item)) for item in items))
    if not study.binary and study.search is None:
        yield "score_spread"
    if len(times_by_length(study.groups)) > 2:
        yield "latency_canary"


def _warning(name: WarningName, begins: Bin | Times, reason: Note, p_value: float, **figures: float) -> EarlyWarning:
    return EarlyWarning(
        name=name, context_tokens=begins.asked_tokens, median_tokens=begins.median_tokens, figures=figures,
        reason=reason, p_value=p_value,
    )  # fmt: skip


def _wider_scores(baseline: LengthResult, longer: Sequence[LengthResult], confidence: float) -> EarlyWarning | None:
    base_std = standard_deviation(baseline.scores)
    known = [(each, std) for each in longer if (std := standard_deviation(each.scores)) is not None]
    if base_std is None or not known:
        return None
    p_values = holm([p_larger(_from_median(each), _from_median(baseline)) for each, _ in known])
    for (begins, std), p_value in zip(known, p_values, strict=True):
        if std < max(LEAST_SPREAD, FACTOR * base_std) or not is_significant(p_value, confidence):
            continue
        reason = Note(
            "at {tokens:,} tokens scores vary more: their standard deviation is {std:.2f}, against {baseline_std:.2f}"
            " up to {baseline_tokens:,}",
            tokens=begins.bin.median_tokens, std=std, baseline_std=base_std, baseline_tokens=baseline.bin.median_tokens,
        )  # fmt: skip
        return _warning("score_spread", begins.bin, reason, min(p_values), std=std, baseline_std=base_std)
    return None


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
    p_values = _p_larger_shares(base, [evidence for _, evidence in known], study)
    base_share = mean_of(base.scores)
    for (each, evidence), p_value in zip(known, p_values, strict=True):
        share = mean_of(evidence.scores)
        # Rounded, since 0.15 - 0.05 is a little less than 0.1 in binary.
        is_large = share > FACTOR * base_share and round(share - base_share, 9) >= LEAST_SHARE
        if not (is_large and is_significant(p_value, study.confidence)):
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
        return _warning(kind, each.bin, reason, min(p_values), share=share, baseline_share=base_share)
    return None


def _evidence(length: LengthResult, kind: WarningName) -> Evidence | None:
    """The values of a share as evidence, the mean of an item's values a piece; None where there are none."""
    known = ((item, values) for item in length.items if (values := _SHARES[kind](item)))
    pieces = [replace(item, score=mean_of(values), repeats=values, unscored=0) for item, values in known]
    return evidence_of(pieces, binary=all(piece.score in (0.0, 1.0) for piece in pieces)) if pieces else None


def _p_larger_shares(base: Evidence, compared: Sequence[Evidence], study: Study) -> Sequence[float]:
    """Of each length the p-value of "its share is no larger than the baseline's", allowing for all of them."""
    if study.search is not None:
        first, *longer = (tuple(c.total / c.scored for c in each.clusters) or each.scores for each in (base, *compared))

        def is_shown(pieces: Sequence[float], confidence: float) -> bool:
            strict = 1.0 - (1.0 - confidence) / len(compared)
            return confidence_sequence(pieces, strict)[0] > confidence_sequence(first, strict)[1]

        return [p_of(partial(is_shown, pieces), study.confidence) for pieces in longer]
    return holm([
        # Clustered values of which all or none are 1 have no difference to test.
        1.0 if math.fsum(each.scores) == 0.0 else p_at_most_share(each, base, 1.0, study.confidence)
        for each in compared
    ])  # fmt: skip


def _most_often(kind: WarningName, length: LengthResult) -> Note | str:
    if kind == "instability":
        return ""
    samples = (sample for item in length.items for sample in item.samples)
    meant = (each for each in samples if (is_failure(each) if kind == "failure_spike" else each.score is None))
    tags = counted(each.failure for each in meant if each.failure is not None)
    tag, n = next(iter(tags.items()), ("", 0))
    return Note(", most often by {tag} ({n:,})", tag=tag, n=n) if tag else ""


def latency_warning(study: Study) -> tuple[EarlyWarning | None, Note | None]:
    """The canary, or why there is none though the server was slower from some length on."""
    times = times_by_length(study.groups)
    found = slowdown(times, study.confidence)
    if found is None:
        return None, None
    again, begins = rechecked(times[0], study.controls), found.begins
    slower = Note(
        "from {tokens:,} tokens on the first token takes {ratio:.1f} times as long for each token of the prompt"
        " ({n:requests})", tokens=begins.median_tokens, ratio=found.ratio, n=len(begins.rates),
    )  # fmt: skip
    told: dict[str, object] = {"slower": slower, "shortest": times[0].median_tokens, "again": again}
    if again is None:
        return None, Note(
            "{slower}. That is no warning, since another load on the server looks the same, and no new texts of"
            " {shortest:,} tokens were answered at the end", **told,
        )  # fmt: skip
    if again > AS_FAST:
        return None, Note(
            "{slower}. That is no warning: new texts of {shortest:,} tokens, asked at the end, took {again:.1f} times"
            " as long as at first, as by another load on the server", **told,
        )  # fmt: skip
    reason = Note(
        "{slower}, while new texts of {shortest:,} tokens were as fast at the end as at first: memory or cache may be"
        " short, whatever the score", **told,
    )  # fmt: skip
    return _warning("latency_canary", begins, reason, found.p_value, ratio=found.ratio, recheck_ratio=again), None


_TITLES: Mapping[str, str] = {
    "latency_canary": "Latency canary",
    "score_spread": "Score spread",
    "instability": "Instability",
    "failure_spike": "Failure spike",
    "unscored_spike": "Unscored spike",
}


def _line(warning: EarlyWarning) -> Text:
    return Text(label=_TITLES.get(warning.name, warning.name), text=warning.reason, mood="doubtful")


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


def _show_prefill(rows: Sequence[PrefillAtLength]) -> tuple[Block, ...]:
    table = columns(
        rows, ("asked", lambda row: whole(row.context_tokens)), ("n", lambda row: whole(row.n_requests)),
        ("ms per token", lambda row: f"{row.ms_per_token:.3g}"), ("spread", lambda row: percent(row.spread)),
    )  # fmt: skip
    read = (
        "The time to the first token for each token that was read. Spread: distance of the quartiles over the median."
    )
    return (Heading(text="Time to read the prompt"), Text(text=read), Table(columns=table))


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
        canary, not_warned = latency_warning(study)
        prefill = (
            PrefillAtLength(context_tokens=each.asked_tokens, n_requests=len(each.rates), ms_per_token=each.rate,
                            spread=each.spread)
            for each in times_by_length(study.groups)
        )  # fmt: skip
        return EarlyWarnings(
            warnings=(*([canary] if canary else []), *score_warnings(study)), not_warned=not_warned,
            prefill=tuple(prefill), latency_slo=limits.latency_cap(study),
        )  # fmt: skip

    def caps(self, finding: EarlyWarnings, study: Study) -> Mapping[str, int | None]:  # noqa: ARG002
        return {} if finding.latency_slo is None else {"latency": finding.latency_slo.tokens}

    def alarms(self, finding: EarlyWarnings, study: Study) -> Mapping[str, float]:
        tested: dict[str, float] = dict.fromkeys(_tested(study), 1.0)
        return tested | {each.name: each.p_value for each in finding.warnings}

    def raised(self, finding: EarlyWarnings, study: Study) -> EarlyWarnings:
        return replace(finding, warnings=tuple(each for each in finding.warnings if study.raises(each.name)))

    def look(self, report: Report) -> tuple[Text, ...]:
        """What begins below the safe cap: beyond it nobody relies on the length anyway."""
        cap = report.analysis.safe_cap.tokens or 0
        return tuple(_line(each) for each in self.of(report).warnings if each.median_tokens <= cap)

    def show(self, report: Report) -> tuple[Block, ...]:
        finding = self.of(report)
        confidence = percent(report.analysis.safe_cap.confidence)
        blocks: list[Block] = []
        if finding.warnings:
            shown = (
                f"Shown at {confidence} confidence against the shortest length, over all lengths and all that this"
                " report may warn of."
            )
            blocks = [Text(text=shown), Lines(lines=tuple(map(_line, finding.warnings)))]
        if finding.not_warned is not None:
            blocks.append(Text(text=finding.not_warned))
        if len(finding.prefill) > 1:
            blocks += _show_prefill(finding.prefill)
        if finding.latency_slo is not None:
            blocks += _show_cap(finding.latency_slo, confidence)
        return tuple(blocks)

    def metrics(self, report: Report) -> Iterator[Measurement]:
        finding = self.of(report)
        yield Measurement(key="warnings/count", value=len(finding.warnings))
        if finding.latency_slo is not None:
            for within in finding.latency_slo.lengths:
                share = within.n_within / within.n_requests if within.n_requests else None
                yield Measurement(key="by_length/within_latency_slo", value=share, step=within.context_tokens)

    def tags(self, report: Report) -> Mapping[str, str]:
        names = ", ".join(each.name for each in self.of(report).warnings)
        return {"warnings": names} if names else {}
