"""The first stage of a run with `task.pilot`: from the pilot's answers to the samples that are worth sending."""

from __future__ import annotations

from dataclasses import replace

from contextcliff.actions.action import Identity, Invocation
from contextcliff.actions.prepare_run import Prepared
from contextcliff.execution.outcomes import recall
from contextcliff.execution.scoring import Scorer
from contextcliff.execution.store import Store


def has_pilot(prepared: Prepared) -> bool:
    """Whether some samples are sent first, to say which others are."""
    return any(item.sample.pilot for item in prepared.planned)


def first_stage(prepared: Prepared) -> Prepared:
    """The pilot alone, with the controls."""
    return replace(prepared, planned=tuple(item for item in prepared.planned if not item.sample.is_ordinary))


def after_pilot(
    invocation: Invocation, identity: Identity, store: Store, prepared: Prepared, scorer: Scorer
) -> Prepared:
    """The pilot and the samples of the bins that it points to, with a note of what was saved.

    The same pilot gives the same choice, so that a run that was stopped goes on where it was.
    """
    from contextcliff.analysis.pilot import bins_to_fill

    asked = [item for item in prepared.planned if item.sample.pilot]
    outcomes = recall(store, identity.run_id, asked)
    scored = [scorer.score(outcome) for outcome in outcomes]
    settings = invocation.analysis
    chosen = bins_to_fill(
        scored,
        threshold=settings.threshold,
        relative=settings.is_relative(by_default=invocation.task.relative_by_default),
    )
    planned = tuple(item for item in prepared.planned if not item.sample.is_ordinary or item.sample.bin in chosen)
    whole = sum(item.sample.built_tokens for item in prepared.planned)
    left = sum(item.sample.built_tokens for item in planned)
    bins = sorted({item.sample.bin for item in prepared.planned if item.sample.bin is not None})
    numbers = ", ".join(str(position + 1) for position in chosen)
    note = (
        f"a pilot of {len(asked):,} samples pointed to bins {numbers} of {len(bins)}; only those were filled, which "
        f"saved {whole - left:,} of {whole:,} prompt tokens ({(whole - left) / whole:.0%}); the cap is tested on the "
        "fresh samples alone"
    )
    facts = replace(prepared.run.facts, notes=(*prepared.run.facts.notes, note))
    return replace(prepared, planned=planned, run=replace(prepared.run, facts=facts))
