"""What a plan says beside its figures: what they leave out, and where a budget would end the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from contextcliff.actions.action import Invocation
from contextcliff.actions.analyse_run import price_left_out
from contextcliff.actions.load import Load
from contextcliff.analysis.walk import AbsoluteThreshold
from contextcliff.engines.engine import Download
from contextcliff.execution.budget import Budget
from contextcliff.execution.store import Rates
from contextcliff.findings.kv_cache import memory_of, memory_words
from contextcliff.findings.phrases import duration
from contextcliff.models.model import dollars
from contextcliff.records.kv_cache import CacheFacts
from contextcliff.records.run_plan import JudgePlan, PlanBin, RunSize

if TYPE_CHECKING:
    from contextcliff.analysis.forecast import BestCase

_ENDS_THERE = "; what is decided when the budget is used up is the answer"


def notes_of(invocation: Invocation, rates: Rates | None, download: Download | None) -> tuple[str, ...]:
    notes = []
    if invocation.task.graded and invocation.task.cap_quantity == "score":
        notes.append(
            "the fall that is detected is one of right-or-wrong scores; those of prose are fractions and spread less: "
            "a run says how many rounds would settle it"
        )
    if download is not None:
        notes.append("the weights are not here yet: tokens are estimated, and the run would fetch them first")
    if rates is None:
        notes.append(
            "no rate is known: give action.prefill_tokens_per_s (and action.decode_tokens_per_s), or run a few samples"
        )
    return tuple(notes)


def unpriced(usd: float | None, judge: JudgePlan | None) -> tuple[str, ...]:
    """What the dollars of a plan leave out."""
    if judge is None or (usd is None) is (judge.usd is None):
        return ()
    return (price_left_out(judge=judge.usd is None),)


def no_chances(best: BestCase) -> tuple[str, ...]:
    """Why a plan leaves out the chance that a length clears."""
    if any(result.sharing for result in best.sequence.results):
        return ("the chance that a length clears is not given: it depends on how alike the samples of one text are",)
    if not isinstance(best.threshold, AbsoluteThreshold):
        return ("the chance that a length clears is not given: it depends on the score of the baseline",)
    return ()


def beyond_memory(cache: CacheFacts | None, bins: Sequence[PlanBin]) -> Iterator[str]:
    """Lengths whose KV cache does not fit beside the weights."""
    memory = None if cache is None else memory_of(cache)
    if cache is None or memory is None or cache.weights_gib is None:
        return
    for each in bins:
        if each.kv_gib is not None and cache.weights_gib + each.kv_gib > memory:
            yield (
                f"from {each.context_tokens:,} tokens on the KV cache ({memory_words(each.kv_gib)}) and the weights "
                f"({memory_words(cache.weights_gib)}) take more than the {memory_words(memory)} that there are"
            )
            return


def beyond_budget(budget: Budget, size: RunSize, load: Load) -> Iterator[str]:
    """Limits that the run is expected to reach."""
    tokens = round(load.prompt_tokens + load.completion_tokens)
    if budget.minutes is not None and size.wall_s is not None and size.wall_s > 60.0 * budget.minutes:
        yield f"budget.minutes={budget.minutes:g}: the run would take about {duration(size.wall_s)}{_ENDS_THERE}"
    if budget.tokens is not None and tokens > budget.tokens:
        yield f"budget.tokens={budget.tokens:,}: the run would take about {tokens:,} tokens{_ENDS_THERE}"
    if budget.usd is not None and size.usd is not None and size.usd > budget.usd:
        yield f"budget.usd={budget.usd:g}: the run would cost about {dollars(size.usd)}{_ENDS_THERE}"
