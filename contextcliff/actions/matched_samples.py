"""The samples of two runs, matched by id and prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from contextcliff.records.comparison import Matching, ScoredPair
from contextcliff.records.report import Report
from contextcliff.records.search_record import Search
from contextcliff.reporting.comparison.comparison import ComparedRun
from contextcliff.reporting.stored_samples import StoredSample, stored_samples

Samples = Mapping[str, StoredSample]
"""By id."""


def samples_of(run: ComparedRun, *, asked: str) -> Samples:
    """The samples of a run of ours, those among them that were asked to stay paired. Raises `ConfigError`."""
    return {each.sample_id: each for each in stored_samples(Path(run.source), asked=asked)}


def match(baseline: Report, candidate: Report, *, there: Samples, here: Samples) -> Matching:
    """The pairs of two runs, and how many samples are none."""
    common = [(each, here[each.sample_id]) for each in there.values() if each.sample_id in here]
    same = [(base, own) for base, own in common if base.prompt_sha256 == own.prompt_sha256]
    search = baseline.analysis.finding(Search) or candidate.analysis.finding(Search)
    pairs = tuple(
        ScoredPair(
            sample_id=base.sample_id,
            context_tokens=base.context_tokens,
            baseline=base.score,
            candidate=own.score,
            cluster=base.cluster,
            item=base.item,
            block=base.block,
        )
        for base, own in same
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
    )


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
    )
    for name, there, own in facts:
        if there != own:
            return f"since they were not asked the same: {name} {there} there and {own} here"
    if matching.other_prompt:
        return f"since all {matching.other_prompt:,} samples of one id have other prompts"
    return "since no sample was asked in both"
