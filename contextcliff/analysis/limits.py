"""Which of the limits that were asked for holds first: the model's answers, memory or time.

Memory: the longest context whose KV cache fits beside the weights, one request at a time: of `model.memory_gib`, or of
nine tenths of what the device has, since computing takes memory too. The cache's size comes from the model's metadata
and the policy (`contextcliff/kv/model_cache.py`).

Latency: the last length, from the shortest up, at which the share of requests whose whole answer came within
`analysis.latency_slo_ms` is shown to be above `analysis.latency_slo_share`, by the exact one-sided binomial bound at
the analysis' confidence. The order is fixed beforehand, so that no correction is needed. A sample without an answer
counts as too late. Only requests count whose prompt the server had to read (`analysis.bins.fresh_requests`)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from contextcliff.analysis.bins import fresh_requests
from contextcliff.analysis.controls import FEWEST_KNOWN
from contextcliff.analysis.lengths import LengthResult, planned_at
from contextcliff.analysis.search import fewest_steps
from contextcliff.analysis.study import Study
from contextcliff.analysis.walk import LOW_BASELINE, FixedSequenceTest, RelativeThreshold, Threshold
from contextcliff.records.amounts import QUANTITIES, none_scored
from contextcliff.records.analysis import Limit, LimitName, Outcome, SafeCap
from contextcliff.records.generation import NOT_SENT
from contextcliff.records.kv_cache import CacheFacts
from contextcliff.records.note import Note
from contextcliff.records.search_record import BASELINE_SAMPLES
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.intervals import clopper_pearson_low
from contextcliff.statistics.sample_size import MOST

USABLE = 0.9
"""Share of a device's memory that weights and cache may take; vLLM's own default."""
_LONGEST = 1 << 34


def limited(study: Study, *, judge_is_known: bool = True) -> SafeCap:
    """The cap by every limit that was asked for; `study` has that by the model's answers alone. `judge_is_known`:
    enough answers show how often the judge is right, where one decides."""
    cap, window = study.safe_cap, study.facts.max_context_tokens
    limits = (_quality(study) if judge_is_known else _by_unknown_judge(), *_memory(study), *_latency(study))
    open_ = [each for outcome in ("below", "undecided") for each in limits if each.outcome == outcome]
    least = open_[0] if open_ else min(limits, key=lambda each: (each.tokens or 0, each.at_least))
    return replace(
        cap, outcome=least.outcome, tokens=least.tokens, limited_by=None if least.at_least else least.name,
        limits=limits, fraction_of_max=least.tokens / window if least.tokens is not None and window else None,
        reason=cap.reason
        if least.name == "quality" or least.at_least
        else Note("{why}; by the answers: {reason}", why=least.why, reason=cap.reason),
        claim=_claim(study, least),
    )  # fmt: skip


_NOT_BY_ANSWERS: Mapping[tuple[Outcome, LimitName], Note] = {
    ("below", "memory"): Note("Not even prompts of {tokens:,} tokens, the shortest tested, fit into the memory"),
    ("below", "latency"): Note("Not even prompts of {tokens:,} tokens, the shortest tested, are answered in time"),
    ("undecided", "memory"): Note("It is not known whether prompts of {tokens:,} tokens fit into the memory"),
    ("undecided", "latency"): Note("It is not decided whether prompts of {tokens:,} tokens are answered in time"),
}
_SHARES: Mapping[tuple[bool, bool], Note] = {
    (False, False): Note("at least {share:percent} of{base:unsaid}"),
    (False, True): Note("fewer than {share:percent} of{base:unsaid}"),
    (True, False): Note("at least {share:percent} as many{base:unsaid}"),
    (True, True): Note("fewer than {share:percent} as many{base:unsaid}"),
}
"""By whether the threshold is relative, and whether the score is shown to be below it."""


def _claim(study: Study, least: Limit) -> Note | None:
    """What was asked and what came of it, in one sentence."""
    sequence, threshold, share = study.sequence, study.threshold, study.safe_cap.threshold
    if sequence is None or threshold is None:
        return None
    if (other := _NOT_BY_ANSWERS.get((least.outcome, least.name))) is not None:
        return Note(other.template, tokens=study.bins[0].clears_up_to)
    relative, base, at = threshold.relative, None, sequence.stop or sequence.results[-1]
    if relative is not None and not relative.is_low:
        base = relative.baseline.bin.median_tokens
    elif relative is not None:  # a share of a baseline near 0 is no threshold
        at, share = relative.baseline, LOW_BASELINE
    tokens = at.bin.median_tokens
    lengths = Note("more than {tokens:,} tokens", tokens=base) if base == tokens else Note("{n:,} tokens", n=tokens)
    if least.tokens is not None:
        upto = Note("up to at least {tokens:,} tokens") if least.at_least else Note("up to {tokens:,} tokens")
        lengths = Note(upto.template, tokens=least.tokens)
    if base is not None:
        lengths = Note("{lengths} as in those of {base:,} tokens", lengths=lengths, base=base)
    return Note(
        study.facts.claim.template, lengths=lengths,
        whether=Note("it is not decided whether ") if least.outcome == "undecided" else "",
        share=Note(_SHARES[base is not None, least.outcome == "below"].template, share=share, base=base),
    )  # fmt: skip


def _quality(study: Study) -> Limit:
    sequence, threshold = study.sequence, study.threshold
    if sequence is None or threshold is None:
        return Limit(name="quality", outcome="undecided", why=study.safe_cap.reason)
    stop, tokens = sequence.stop, sequence.cap_tokens
    if tokens is not None:
        is_cut_short = sequence.is_open or (stop is not None and _is_unsent(stop))
        no_fall = stop is None or (is_cut_short and sequence.below_from is None)
        return Limit(name="quality", outcome="safe", tokens=tokens, at_least=no_fall)
    below = _below(sequence, threshold)
    if below is not None:
        return Limit(name="quality", outcome="below", why=below)
    return Limit(
        name="quality", outcome="undecided", why=_undecided(sequence, threshold),
        at_tokens=None if stop is None else stop.bin.asked_tokens, more=_more(study, sequence, threshold),
    )  # fmt: skip


def _by_unknown_judge() -> Limit:
    why = Note("a judge decides only after {fewest:,} answers whose exact score is known", fewest=FEWEST_KNOWN)
    return Limit(name="quality", outcome="undecided", why=why)


def _is_unsent(result: LengthResult) -> bool:
    return any(sample.failure == NOT_SENT for item in result.items for sample in item.samples)


def _below(sequence: FixedSequenceTest, threshold: Threshold) -> Note | None:
    """That the shortest length is shown to be below, or the shortest beyond the baseline; None where neither is."""
    shortest, baseline, stop = sequence.results[0], threshold.relative, sequence.stop
    result = shortest if baseline is None else baseline.baseline
    said: dict[str, object] = {"what": QUANTITIES[threshold.quantity], "tokens": result.bin.median_tokens}
    if baseline is not None and not baseline.is_low and stop is not None and threshold.is_shown_below(stop):
        said |= {"mean": stop.bin.mean, "tokens": stop.bin.median_tokens}
        return Note("the {what} is {mean:.2f} at {tokens:,} tokens, the shortest beyond the baseline", **said)
    is_decided = threshold.is_shown_below(shortest)
    if baseline is not None and not (sequence.is_open and sequence.cleared == 0):
        is_decided = _is_low(baseline)
    if not is_decided or result.bin.mean is None:
        return None
    return Note(
        "the {what} is {mean:.2f} at the shortest length already ({tokens:,} tokens)", mean=result.bin.mean, **said
    )


def _is_low(threshold: RelativeThreshold) -> bool:
    """Whether the baseline is hardly one, were its unscored samples right too."""
    base = threshold.baseline
    return len(base.scores) >= BASELINE_SAMPLES and mean_of(base.if_unscored_right.scores) < LOW_BASELINE


def _undecided(sequence: FixedSequenceTest, threshold: Threshold) -> Note:
    """In a few words why no length is shown to be safe, and the shortest not to be below."""
    results, stop, baseline = sequence.results, sequence.stop, threshold.relative
    if not any(result.scores for result in results):
        return none_scored(sum(result.planned for result in results), results[0].noun)
    if stop is None:
        return Note("there is no longer length to compare the baseline with")
    tokens = stop.bin.median_tokens
    if sequence.is_open or _is_unsent(stop):
        return Note("{tokens:,} tokens are not decided yet", tokens=tokens)
    if not stop.scores:
        return Note("at {tokens:,} tokens {none}", tokens=tokens, none=none_scored(stop.planned, stop.noun))
    if baseline is not None and len(baseline.baseline.scores) < BASELINE_SAMPLES:
        return Note(
            "a baseline takes {fewest} scored samples at {tokens:,} tokens, not {n:,}",
            fewest=BASELINE_SAMPLES, tokens=tokens, n=len(baseline.baseline.scores),
        )  # fmt: skip
    at = stop if baseline is None or not baseline.is_low else baseline.baseline
    return Note(
        "{samples} at {tokens:,} tokens {n:does/do} not decide it ({what} {mean:.2f})",
        samples=planned_at(at), n=at.planned, tokens=at.bin.median_tokens,
        what=QUANTITIES[threshold.quantity], mean=at.bin.mean,
    )  # fmt: skip


def _more(study: Study, sequence: FixedSequenceTest, threshold: Threshold) -> int | None:
    """Further answers at the length that stopped the test with which it is decided, or likely to be."""
    stop, needed, baseline = sequence.stop, study.settled_by, threshold.relative
    if stop is None:
        return None
    if study.search is not None:  # the fewest with which it passes, if all are right
        plan, rule = study.search.plan, study.settings.search_rule(relative=study.relative)
        needed = fewest_steps(replace(plan, most_steps=MOST), rule) * plan.step_samples
    elif baseline is not None and len(baseline.baseline.scores) < BASELINE_SAMPLES:
        needed = BASELINE_SAMPLES
    return None if needed is None or needed <= stop.planned else needed - stop.planned


def memory_of(facts: CacheFacts) -> float | None:
    """GiB that weights and cache may take; None if neither `model.memory_gib` nor a device says it."""
    if facts.device is None:
        return None
    return facts.device.gib * (USABLE if facts.device.name else 1.0)


def memory_cap(facts: CacheFacts, memory_gib: float) -> int | None:
    """Tokens whose cache fits beside the weights, 0 if none do; None if the sizes are unknown, or all tokens fit."""
    if facts.weights_gib is None or not facts.layers:
        return None
    free = memory_gib - facts.weights_gib
    fitting = bisect_right(range(_LONGEST), free, key=lambda tokens: facts.gib(tokens) or 0.0)
    return None if fitting == _LONGEST else max(0, fitting - 1)


def _memory(study: Study) -> Iterator[Limit]:
    """The limit by memory where `model.memory_gib` asks for it; a device that tells its own asks for nothing."""
    facts = study.facts.cache
    if facts is None or facts.device is None or facts.device.name or not study.bins:
        return
    shortest, gib = study.bins[0].clears_up_to, facts.device.gib
    tokens = memory_cap(facts, gib)
    if facts.weights_gib is None or not facts.layers:
        why = Note("how much memory the weights and the KV cache take is not known")
        yield Limit(name="memory", outcome="undecided", why=why)
    elif tokens is None:
        window = study.facts.max_context_tokens or study.bins[-1].clears_up_to
        yield Limit(name="memory", outcome="safe", tokens=window, at_least=True)
    elif tokens < shortest:
        why = Note("not even {tokens:,} tokens fit beside the weights in {gib:g} GiB", tokens=shortest, gib=gib)
        yield Limit(name="memory", outcome="below", why=why)
    else:
        why = Note("no more than {tokens:,} tokens fit beside the weights in {gib:g} GiB", tokens=tokens, gib=gib)
        yield Limit(name="memory", outcome="safe", tokens=tokens, why=why)


@dataclass(frozen=True, kw_only=True, slots=True)
class WithinLimit:
    """The requests of one length that were answered in time."""

    context_tokens: int
    """As asked."""
    n_requests: int
    n_within: int
    ci_low: float
    """One-sided lower bound of the share, at the analysis' confidence."""
    clears: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class LatencyCap:
    """The cap by latency; `tokens` is None where not even the shortest length clears."""

    tokens: int | None
    slo_ms: float
    share: float
    lengths: tuple[WithinLimit, ...]


def latency_cap(study: Study) -> LatencyCap | None:
    """The cap, or None where no limit is set."""
    limit, share = study.settings.latency_slo_ms, study.settings.latency_slo_share
    if limit is None:
        return None
    lengths = []
    for group in study.groups:
        times = [item.generation.latency_ms for item in fresh_requests(group.samples) if item.generation is not None]
        n = len(times) + sum(item.generation is None for item in group.samples)
        within = sum(time <= limit for time in times)
        low = clopper_pearson_low(within, n, study.confidence)
        lengths.append(
            WithinLimit(
                context_tokens=group.asked_tokens, n_requests=n, n_within=within, ci_low=low, clears=low > share
            )
        )
    cleared = next((place for place, each in enumerate(lengths) if not each.clears), len(lengths))
    tokens = study.bins[cleared - 1].clears_up_to if cleared else None
    return LatencyCap(tokens=tokens, slo_ms=limit, share=share, lengths=tuple(lengths))


def _latency(study: Study) -> Iterator[Limit]:
    """The limit by latency where `analysis.latency_slo_ms` asks for it."""
    cap = latency_cap(study)
    if cap is None or not cap.lengths:
        return
    place, stop = next((each for each in enumerate(cap.lengths) if not each[1].clears), (-1, None))
    if stop is None:
        yield Limit(name="latency", outcome="safe", tokens=cap.tokens, at_least=True)
        return
    late = stop.n_requests - stop.n_within
    needed = _fewest_in_time(stop, cap.share, study.confidence)
    more = None if needed is None else needed - stop.n_requests
    is_late = 1.0 - clopper_pearson_low(late, stop.n_requests, study.confidence) < cap.share
    why = Note(
        "{within:,} of {n:requests} of {tokens:,} tokens ended within {limit:,.4g} s{short}",
        within=stop.n_within, n=stop.n_requests, tokens=study.bins[place].median_tokens, limit=cap.slo_ms / 1000.0,
        short="" if is_late or needed is None else Note(", and {n:,} are needed", n=needed),
    )  # fmt: skip
    if cap.tokens is not None:
        yield Limit(name="latency", outcome="safe", tokens=cap.tokens, at_least=not late, why=why)
    elif is_late:
        yield Limit(name="latency", outcome="below", why=why)
    else:
        yield Limit(name="latency", outcome="undecided", why=why, at_tokens=stop.context_tokens, more=more)


def _fewest_in_time(length: WithinLimit, share: float, confidence: float) -> int | None:
    """Fewest requests that clear if no more of them are late than now; None if that takes more than 20,000."""
    late, counts = length.n_requests - length.n_within, range(length.n_requests + 1, MOST + 1)
    at = bisect_left(counts, True, key=lambda n: clopper_pearson_low(n - late, n, confidence) > share)
    return counts[at] if at < len(counts) else None
