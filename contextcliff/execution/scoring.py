"""From the store to scored samples: how each planned sample ended, and what the task scores of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from types import MappingProxyType

from contextcliff.engines.openai.faults import CONTENT_FILTER, TOOL_CALLS, calls_tools, is_filtered, named_window
from contextcliff.errors import EngineFault
from contextcliff.execution.store import PlannedSample, Store
from contextcliff.records.corpus import Document
from contextcliff.records.generation import (
    CUT_OFF,
    NO_TOKENS,
    NOT_SENT,
    OVERFLOW,
    TRUNCATED,
    Generation,
    Outcome,
    Score,
    ScoredSample,
    read_characters,
)
from contextcliff.records.sample import Sample
from contextcliff.tasks.task import ScoringContext, Task

_OUT_OF_THOUGHT = "thinking_budget"
_REFUSAL = "refusal"


class Scorer:
    """Scores the answers of one run, each of them once. An answer that belongs to another of `samples` is a mix-up."""

    def __init__(
        self,
        task: Task,
        samples: Iterable[Sample],
        documents: Mapping[str, Document] = MappingProxyType({}),
        *,
        vectors_of: Callable[[Sequence[str]], Mapping[str, Sequence[float]]] | None = None,
    ) -> None:
        self._task = task
        self._foreign_answers = frozenset(answer for sample in samples for answer in sample.answers)
        self._documents = documents if task.traits.reads_documents else {}
        self._vectors_of = vectors_of
        self._scored: dict[str, tuple[Generation, Score]] = {}

    def score(self, outcome: Outcome) -> ScoredSample:
        sample, generation = outcome.sample, outcome.generation
        answered = generation is not None and outcome.unscored is None
        score = self._score(sample, generation) if generation is not None and answered else None
        return ScoredSample(
            sample=sample,
            prompt_sha256=outcome.prompt_sha256,
            score=None if score is None else score.value,
            failure=outcome.unscored if score is None else score.failure,
            prediction="" if score is None else score.prediction,
            generation=generation,
            details={} if score is None else score.details,
            graded=self._task.traits.graded,
            document=self._documents.get(sample.document_id),
            retries=outcome.retries,
            window_tokens=_window(outcome),
        )

    def texts_to_embed(self, outcome: Outcome) -> tuple[str, ...]:
        if outcome.generation is None or outcome.unscored is not None:
            return ()
        read = _read(outcome.sample, outcome.generation)
        return self._task.texts_to_embed(outcome.sample, read, self._context(outcome.sample))

    def _score(self, sample: Sample, generation: Generation) -> Score:
        before = self._scored.get(sample.sample_id)
        if before is not None and before[0] == generation:
            return before[1]
        context, read = self._context(sample), _read(sample, generation)
        if self._vectors_of is not None:
            texts = self._task.texts_to_embed(sample, read, context)
            context = replace(context, vectors=self._vectors_of(texts))
        score = self._task.score(sample, read, context)
        thought = generation.reasoning or generation.reasoning_tokens
        if thought and generation.finish_reason == "length" and not generation.text.strip():
            score = replace(score, value=0.0, prediction="", failure=_OUT_OF_THOUGHT)
        elif generation.refused and score.failure is not None:
            score = replace(score, failure=_REFUSAL)
        self._scored[sample.sample_id] = generation, score
        return score

    def _context(self, sample: Sample) -> ScoringContext:
        return ScoringContext(document=self._documents.get(sample.document_id), foreign_answers=self._foreign_answers)


def _read(sample: Sample, generation: Generation) -> Generation:
    return replace(generation, text=generation.text[: read_characters(sample)])


def _window(outcome: Outcome) -> int | None:
    if outcome.unscored == TRUNCATED and outcome.generation is not None:
        return outcome.generation.prompt_tokens
    return named_window(outcome.detail) if outcome.unscored == OVERFLOW else None


_LEAST_SHARE, _TEMPLATE_TOKENS = 0.95, 16
"""Share of a prompt's tokens that must arrive, and how far our count of a chat template may be off."""


def recall(store: Store, run_id: str, planned: Sequence[PlannedSample]) -> tuple[Outcome, ...]:
    faults = store.faults(run_id)
    last, attempts = dict(faults), Counter(sample_id for sample_id, _ in faults)
    own = has_own_tokenizer(store, run_id)
    # Of samples with one key only the first is sent: its fault is theirs too.
    of_key = {item.key: last[item.sample.sample_id] for item in planned if item.sample.sample_id in last}
    ended = []
    for item in planned:
        answer, failed = store.generation(item.key, prompt_sha256=item.prompt_sha256), attempts[item.sample.sample_id]
        # The last failed attempt was tried again only if an answer came.
        retries = failed if answer is not None else max(0, failed - 1)
        ended.append(replace(outcome_of(item, answer, of_key.get(item.key), own=own), retries=retries))
    return tuple(_without_silence(ended))


def _without_silence(outcomes: Sequence[Outcome]) -> Iterator[Outcome]:
    """Leave an answer of no token unscored if a shorter prompt was answered: such a model does not end at once."""
    said = [each.sample.built_tokens for each in outcomes if each.text.strip()]
    for outcome in outcomes:
        generation = outcome.generation
        is_silent = outcome.unscored is None and generation is not None and generation.completion_tokens == 0
        if is_silent and min(said, default=inf) < outcome.sample.built_tokens:
            outcome = replace(outcome, unscored=NO_TOKENS, detail="no token was generated")
        yield outcome


def has_own_tokenizer(store: Store, run_id: str) -> bool:
    run = store.run(run_id)
    return run is not None and run.facts.own_tokenizer


def outcome_of(item: PlannedSample, generation: Generation | None, fault: EngineFault | None, *, own: bool) -> Outcome:
    """A sample's outcome. An answer to a cut prompt, one that a filter stopped, or tool calls alone have no score.

    `own`: the model's own tokenizer counted the prompt; else the server's counts alone tell (`analysis/server_counts`).
    """
    unscored, detail, built = None, "", item.sample.built_tokens
    if generation is None:
        unscored, detail = (NOT_SENT, "") if fault is None else (fault.kind, fault.detail)
    elif own and generation.server_counted and generation.prompt_tokens < _LEAST_SHARE * built - _TEMPLATE_TOKENS:
        # Some servers cut a long prompt and say nothing.
        unscored, detail = TRUNCATED, f"the server counted {generation.prompt_tokens:,} of {built:,} tokens"
    elif generation.finish_reason == CUT_OFF:
        unscored, detail = CUT_OFF, "the answer broke off"
    elif is_filtered(generation.finish_reason):
        unscored, detail = CONTENT_FILTER, f"the answer ended with finish_reason={generation.finish_reason}"
    elif calls_tools(generation.finish_reason) and not generation.text.strip():
        unscored, detail = TOOL_CALLS, f"the answer ended with finish_reason={generation.finish_reason}"
    return Outcome(
        sample=item.sample, prompt_sha256=item.prompt_sha256, generation=generation, unscored=unscored, detail=detail
    )
