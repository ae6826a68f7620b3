"""A run asks what another's decisions rest on as well (`task.like`), so that the two stay paired.

A search stops when its own decisions are made. Two searches over the same prompts therefore share those that both came
to, and whether there is a pair depends on the answers. A run that replays the other's blocks has a pair for each
sample that counted there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from contextcliff.actions.action import Identity, Invocation
from contextcliff.actions.baseline import FIRST, KEY, Baseline, different_keys, listed
from contextcliff.actions.prepare import Prepared, PreparedSearch, planned_block
from contextcliff.analysis.search import BlockKey
from contextcliff.errors import ConfigError
from contextcliff.execution.store import PlannedSample
from contextcliff.records.search_record import Replay
from contextcliff.text.tokenizers import WordTokenizer


def with_replay(invocation: Invocation, identity: Identity, prepared: Prepared, baseline: Baseline | None) -> Prepared:
    """The run with the blocks that it asks to stay paired with `baseline`; one without a search asks the same anyway.

    Raises `ConfigError` where a prompt of the baseline is another one here, and says what differs. A plan that counts
    tokens by an estimate can't tell.
    """
    if baseline is None:
        return prepared
    search = prepared.search
    if search is None:
        _require_the_same_prompts(invocation, prepared, baseline, prepared.planned)
        return prepared
    _require_lengths_in_reach(search, baseline)
    asked = Counter(sample.context_tokens for sample in baseline.asked)
    counts = {length: math.ceil(asked[length] / search.plan.block) for length in sorted(asked)}
    keys = tuple(BlockKey(context_tokens=length, index=i) for length, count in counts.items() for i in range(count))
    built = (item for key in keys for item in planned_block(prepared, search, identity, key))
    _require_the_same_prompts(invocation, prepared, baseline, built)
    record = Replay(run_id=baseline.run_id, blocks=counts, partial=baseline.partial)
    return replace(
        prepared,
        search=replace(search, replayed=keys),
        run=replace(prepared.run, facts=replace(prepared.run.facts, replay=record)),
    )


def replayed_blocks(record: Replay | None) -> frozenset[BlockKey]:
    """The blocks of a replay; none where there is none."""
    if record is None:
        return frozenset()
    return frozenset(
        BlockKey(context_tokens=length, index=index)
        for length, count in record.blocks.items()
        for index in range(count)
    )


def replay_notes(invocation: Invocation, prepared: Prepared) -> tuple[str, ...]:
    """What a plan says of the samples that are asked to stay paired."""
    record = prepared.run.facts.replay
    if record is not None and prepared.search is not None:
        count = sum(record.blocks.values()) * prepared.search.plan.block
        return (
            f"{KEY}: the decisions of {record.run_id} rest on {count:,} samples; the figures count those of them that "
            "are not stored and that this run would not ask by itself",
        )
    if invocation.like == "":
        return (f"{KEY}={FIRST}: the first job has not run yet, and what it will ask is not counted here",)
    return ()


def _require_lengths_in_reach(search: PreparedSearch, baseline: Baseline) -> None:
    longest, most = max((each.context_tokens for each in baseline.asked), default=0), search.plan.lengths[-1]
    if longest > most:
        raise ConfigError(
            f"{KEY}={baseline.run_id}: asked {longest:,} tokens, and the longest length here is {most:,}; give the "
            "same lengths in tokens with task.lengths"
        )


def _require_the_same_prompts(
    invocation: Invocation, prepared: Prepared, baseline: Baseline, built: Iterable[PlannedSample]
) -> None:
    tokenizer = prepared.run.facts.tokenizer
    if isinstance(prepared.materials.tokenizer, WordTokenizer) and tokenizer != baseline.tokenizer:
        return  # the plan of a run whose tokenizer is not at hand
    here = {item.sample.sample_id: item.prompt_sha256 for item in built}
    others = sum(here.get(each.sample_id) != each.prompt_sha256 for each in baseline.asked)
    if others:
        why = listed(_differences(invocation, baseline, tokenizer))
        raise ConfigError(
            f"{KEY}={baseline.run_id}: {others:,} of its {len(baseline.asked):,} prompts are other ones here"
            + (f": {why}; give the same, or take another run" if why else "; run that one again with this version")
        )


def _differences(invocation: Invocation, baseline: Baseline, tokenizer: str) -> tuple[str, ...]:
    """What the prompts are made of, where that differs; else what can decide how many there are."""
    others = (
        () if tokenizer == baseline.tokenizer else (f"the tokenizer {baseline.tokenizer} there and {tokenizer} here",)
    )
    recorded = baseline.configuration
    made_of = (*different_keys(recorded, invocation, "seed", "dataset", "tokenizer"), *others)
    return made_of or different_keys(
        recorded, invocation, "model.context_window", "sampling.max_tokens", "analysis.bins", "analysis.binning"
    )
