"""The samples of two runs, matched by id and prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from contextcliff.errors import ConfigError
from contextcliff.records.amounts import Quantity
from contextcliff.records.comparison import Matching, ScoredPair
from contextcliff.records.report import Report
from contextcliff.records.search_record import Search
from contextcliff.reporting.comparison.comparison import ComparedRun
from contextcliff.reporting.data_files import AGAIN, SAMPLES_NAME, StoredSample, stored_samples

Samples = Mapping[str, StoredSample]
"""By id."""


def samples_of(run: ComparedRun, *, asked: str) -> Samples:
    """The samples of a run of ours, those among them that were asked to stay paired.

    Raises `ConfigError` for a file that can't be read, or that lacks what the run's cap is tested on.
    """
    samples = {each.sample_id: each for each in stored_samples(Path(run.source), asked=asked)}
    quantity: Quantity = "score" if run.report is None else run.report.analysis.safe_cap.quantity
    lacking = next((each for each in samples.values() if _lacks(each, quantity)), None)
    if lacking is not None:
        raise ConfigError(
            f"{asked}: {Path(run.source) / SAMPLES_NAME} doesn't say whether {lacking.sample_id} is {quantity}; {AGAIN}"
        )
    return samples


def _lacks(sample: StoredSample, quantity: Quantity) -> bool:
    """Whether a scored sample says nothing of the quantity, as in a file of an earlier version."""
    return quantity != "score" and sample.score is not None and quantity not in sample.figures


def match(baseline: Report, candidate: Report, *, there: Samples, here: Samples) -> Matching:
    """The pairs of two runs, and how many samples are none."""
    common = [(each, here[each.sample_id]) for each in there.values() if each.sample_id in here]
    same = [(base, own) for base, own in common if base.prompt_sha256 == own.prompt_sha256]
    quantity, other = (report.analysis.safe_cap.quantity for report in (baseline, candidate))
    search = baseline.analysis.finding(Search) or candidate.analysis.finding(Search)
    pairs = tuple(
        ScoredPair(
            sample_id=base.sample_id,
            context_tokens=base.context_tokens,
            baseline=_outcome(base, quantity),
            candidate=_outcome(own, quantity),
            cluster=base.cluster,
            item=base.item or own.item,  # rounds that are one draw in either run are no independent pairs
            block=base.block,
            baseline_figures=base.figures,
            candidate_figures=own.figures,
        )
        for base, own in same
        if quantity == other
    )
    return Matching(
        pairs=pairs,
        only_baseline=sum(not each.replayed for each in there.values()) - _counted(there, common),
        only_candidate=sum(not each.replayed for each in here.values()) - _counted(here, common),
        other_prompt=len(common) - len(same),
        searched=search is not None,
        lengths=() if search is None else _in_order(search, pairs),
        n_walk_lengths=0 if search is None else len(search.plan.lengths),
        block_size=0 if search is None else search.plan.block,
        quantity=quantity,
    )


def _outcome(sample: StoredSample, quantity: Quantity) -> float | None:
    """What a sample counts as; None where it has no score."""
    return sample.score if quantity == "score" or sample.score is None else sample.figures[quantity]


def _counted(samples: Samples, common: Sequence[tuple[StoredSample, StoredSample]]) -> int:
    """How many of the samples in common the run's own report counts."""
    return sum(not samples[base.sample_id].replayed for base, _ in common)


def _in_order(search: Search, pairs: Sequence[ScoredPair]) -> tuple[int, ...]:
    """The lengths of the walk, then refined ones in the order of testing, then any that only the other run came to."""
    tested = (each.context_tokens for each in search.tested)
    others = sorted(pair.context_tokens for pair in pairs)
    return tuple(dict.fromkeys((*search.plan.lengths, *tested, *others)))


def why_no_pairs(baseline: Report, candidate: Report, matching: Matching) -> str:
    """The reason, as the end of a sentence: the first fact in which two runs without a scored pair differ."""
    if matching.pairs:
        return "since no pair of samples has both scores"
    facts = (
        ("task", baseline.run.task, candidate.run.task),
        ("dataset", baseline.run.dataset, candidate.run.dataset),
        ("texts", baseline.run.texts, candidate.run.texts),
        ("tokenizer", baseline.run.tokenizer, candidate.run.tokenizer),
        ("caps of", baseline.analysis.safe_cap.quantity, candidate.analysis.safe_cap.quantity),
    )
    for name, there, own in facts:
        if there != own:
            return f"since they were not asked the same: {name} {there} there and {own} here"
    if matching.other_prompt:
        return f"since all {matching.other_prompt:,} samples of one id have other prompts"
    return "since no sample was asked in both"
