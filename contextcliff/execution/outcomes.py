"""How each planned sample ended, as the store has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from contextcliff.engines.openai.faults import CONTENT_FILTER, is_filtered
from contextcliff.execution.store import Fault, PlannedSample, Store
from contextcliff.records.generation import NOT_SENT, Generation, Outcome

TRUNCATED = "truncated"
_SHARE_THAT_MUST_ARRIVE = 0.9


def recall(store: Store, run_id: str, planned: Sequence[PlannedSample]) -> tuple[Outcome, ...]:
    """The outcome of every planned sample."""
    faults, attempts = store.last_faults(run_id), store.failed_attempts(run_id)
    # Of samples with one key only the first is sent: its fault is theirs too.
    of_key = {item.key: faults[item.sample.sample_id] for item in planned if item.sample.sample_id in faults}
    ended = (outcome_of(item, store.generation(item.key), of_key.get(item.key)) for item in planned)
    return tuple(replace(outcome, retries=_retries(outcome, attempts)) for outcome in ended)


def outcome_of(item: PlannedSample, generation: Generation | None, fault: Fault | None) -> Outcome:
    """A sample's outcome. An answer to a prompt that the server cut, or that a filter stopped, is not the model's."""
    if generation is not None and is_truncated(generation, built_tokens=item.sample.built_tokens):
        detail = f"the server counted {generation.prompt_tokens:,} of {item.sample.built_tokens:,} tokens"
        return _outcome(item, generation, TRUNCATED, detail)
    if generation is not None and is_filtered(generation.finish_reason):
        detail = f"the answer ended with finish_reason={generation.finish_reason}"
        return _outcome(item, generation, CONTENT_FILTER, detail)
    if generation is not None:
        return _outcome(item, generation, None, "")
    return _outcome(item, None, NOT_SENT, "") if fault is None else _outcome(item, None, fault.kind, fault.detail)


def is_truncated(generation: Generation, *, built_tokens: int) -> bool:
    """Whether the server read far less than it was sent: some cut a long prompt and say nothing."""
    return generation.server_counted and generation.prompt_tokens < _SHARE_THAT_MUST_ARRIVE * built_tokens


def _retries(outcome: Outcome, attempts: Mapping[str, int]) -> int:
    """Of failed attempts all but the last were tried again; that one too where an answer came after it."""
    failed = attempts.get(outcome.sample.sample_id, 0)
    return failed if outcome.generation is not None else max(0, failed - 1)


def _outcome(item: PlannedSample, generation: Generation | None, unscored: str | None, detail: str) -> Outcome:
    return Outcome(
        sample=item.sample,
        prompt_sha256=item.prompt_sha256,
        generation=generation,
        unscored=unscored,
        detail=detail,
    )
