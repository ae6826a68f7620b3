"""Task `qa`: questions on whole documents of natural length.

A document is asked about as it is, without a cut, without padding, with nothing inserted. Documents are put into bins
by their length, as many questions are drawn of each bin, and each question is put `repeats` times, since a model that
answers now so and now so is near its limit. One short frame, the same bytes for every length, stands around it."""

from __future__ import annotations

import json
import math
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, zip_longest
from typing import Annotated, Literal

from pydantic import Field

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import AuditBin, LengthAudit, Question
from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Passage, Prompt, Recipe, Reference, Sample, Words
from contextcliff.seeding import digest_of, seed_of
from contextcliff.settings import Count, Few, NonNegativeInt, PositiveInt, settings
from contextcliff.statistics.descriptive import quantile_classes
from contextcliff.tasks.needles.haystack import SEAM_TOKENS
from contextcliff.tasks.questions.answers import LETTERS, parse_answer
from contextcliff.tasks.questions.qa_scoring import (
    MetricChoice,
    claim_by,
    context_words_of,
    deciding,
    refuse_metric,
    scored,
)
from contextcliff.tasks.task import (
    UNJUDGED,
    ContextBudget,
    Materials,
    ScoringContext,
    Task,
    TaskPlan,
    Traits,
    control_of,
    distances,
)
from contextcliff.text.tokens import tokenise


@settings
class Qa(Task):
    """Up to `samples_per_bin` questions for each of `analysis.bins` bins of documents, `repeats` times each."""

    name = "qa"

    format: Literal["json", "plain"]
    metric: MetricChoice
    samples_per_bin: Count
    repeats: Few
    min_samples: Count
    pilot: NonNegativeInt = 0
    levels: tuple[PositiveInt, ...] = ()
    min_context_tokens: NonNegativeInt = 0
    max_context_tokens: PositiveInt | None = None
    reserve_tokens: NonNegativeInt = 200
    max_tokens: PositiveInt
    controls: bool = False
    instruction: Annotated[str, Field(min_length=1)]
    question_label: str
    json_format: str
    plain_format: str
    choice_format: str

    def __post_init__(self) -> None:
        refuse_metric(self.metric)

    @property
    def traits(self) -> Traits:
        return Traits(
            designed_lengths=False,
            chooses_by_answers=f"task.pilot={self.pilot}" if self.pilot else "",
            count_key="task.samples_per_bin",
            more_samples="raise task.samples_per_bin, if the dataset has as many questions, or lower analysis.bins",
            relative_by_default=True,  # how hard a set's questions are is the set's; length shows against shorter ones
            reads_documents=True,  # whether an answer's words stand in the document decides its failure tag
            is_judged=self.metric == "judge",
            findings=("answer_measures",),
            not_asked=(*UNJUDGED, "metric"),
        )

    def metrics_of(self, samples: Iterable[Sample]) -> tuple[str, ...]:
        return deciding(samples, self.metric)

    claim_by = staticmethod(claim_by)

    def longest_context(self, context_budget: ContextBudget) -> int:
        longest = context_budget.context_window - max(self.reserve_tokens, self.longest_answer(context_budget))
        if longest < 1:
            raise ConfigError(
                f"model.context_window={context_budget.context_window:,}: no document fits beside the answer; lower "
                "task.max_tokens or task.reserve_tokens"
            )
        return longest

    def longest_answer(self, context_budget: ContextBudget) -> int:  # noqa: ARG002 - the same in every window
        return self.max_tokens

    def build(self, materials: Materials) -> TaskPlan:
        if not materials.corpus.questions:
            raise ConfigError(
                "dataset: this one has no questions, and task=qa asks them; take dataset=stories, squad, narrativeqa, "
                "quality, qasper, hotpotqa, longbench_v2, jsonl, documents or mixed"
            )
        return QaSamples(self, materials).plan()

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:
        text = "" if context.document is None else context.document.text
        return scored(
            sample,
            generation,
            answer=parse_answer(generation.text, format=self.format, whole=sample.reference.kind == "summary"),
            format=self.format,
            context_words=context_words_of(text),
            metric=self.metric,
        )


_SPAN = 2.0


class QaSamples:
    """The samples of one run: its questions on documents that are tokenised once each."""

    def __init__(self, task: Qa, materials: Materials) -> None:
        self._task, self._materials = task, materials
        self._documents = {document.document_id: document for document in materials.corpus.documents}
        self._tokenised = {
            name: tokenise(document.text, materials.tokenizer) for name, document in self._documents.items()
        }
        self._lengths = {name: text.tokens for name, text in self._tokenised.items()}
        self._frames: dict[str, int] = {}

    def plan(self) -> TaskPlan:
        """Which questions are asked, in which bins. Raises `ConfigError` where hardly any can be."""
        task, materials, lengths = self._task, self._materials, self._lengths
        asked = [each for each in materials.corpus.questions if not task.levels or each.level in task.levels]
        most = min(task.longest_context(materials.context_budget), task.max_context_tokens or sys.maxsize)
        long_enough = [each for each in asked if lengths[each.document_id] >= task.min_context_tokens]
        fitting = [each for each in long_enough if lengths[each.document_id] + self._frame_tokens(each) <= most]
        self._refuse_unspanned([lengths[each.document_id] for each in asked], fitting, most)
        if materials.corpus.drawn:
            bins, drawing_notes = redraw(fitting, lengths, materials.corpus.drawn)
        else:
            bins, drawing_notes = draw(
                fitting,
                lengths,
                bins=materials.bins,
                binning=materials.binning,
                per_bin=task.pilot + task.samples_per_bin,
                min_samples=task.min_samples,
                seed=materials.seed,
            )
        documents, of_length, left = ({each.document_id for each in some} for some in (asked, long_enough, fitting))
        too_short, too_long = len(documents - of_length), len(of_length - left)
        notes = {
            f"{too_long:,} documents are longer than the {most:,} tokens that a prompt can have here and are left out, "
            "never cut": too_long,
            f"{too_short:,} documents are shorter than task.min_context_tokens={task.min_context_tokens:,}": too_short,
        }
        samples: list[Sample] = []
        controls: dict[str, Sample] = {}
        for position, (_, questions) in enumerate(bins):
            for rank, question in enumerate(questions):
                is_pilot = rank < task.pilot
                repeats = [self._sample(question, position, each) for each in range(1 if is_pilot else task.repeats)]
                beside = {each.sample_id: each for each in self._controls(repeats[0], question)}
                samples += [replace(each, pilot=is_pilot, controls=tuple(beside)) for each in repeats]
                controls |= beside
        if all(sample.pilot for sample in samples):
            raise ConfigError(f"task.pilot={task.pilot}: takes every question of every bin; lower it")
        return TaskPlan(
            samples=tuple(samples),
            controls=tuple(controls.values()),
            notes=(*(note for note, count in notes.items() if count), *drawing_notes),
            audit=LengthAudit(
                lengths=tuple(sorted(lengths.values())),
                too_short=too_short,
                too_long=too_long,
                bins=tuple(audit for audit, _ in bins),
            ),
        )

    def _refuse_unspanned(self, lengths: Sequence[int], fitting: Sequence[Question], most: int) -> None:
        task = self._task
        if not lengths:
            raise ConfigError(f"task.levels={list(task.levels)}: no question of the dataset has such a level")
        span = f"the dataset spans {min(lengths):,} to {max(lengths):,} tokens in {len(set(lengths)):,} lengths"
        if not fitting:
            raise ConfigError(
                f"dataset: {span}, and none of its documents fits between task.min_context_tokens="
                f"{task.min_context_tokens:,} and the {most:,} tokens that a prompt can have here; take another "
                "dataset, or a model with a longer window"
            )
        if task.max_context_tokens is not None and max(lengths) * _SPAN < task.max_context_tokens:
            raise ConfigError(
                f"task.max_context_tokens={task.max_context_tokens:,}: {span}, so it can't show what happens up to "
                "there; ask for a shorter range, or add longer documents (dataset=mixed)"
            )

    def _sample(self, question: Question, position: int, repeat: int) -> Sample:
        task, name = self._task, question.document_id
        text, (before, after) = self._tokenised[name], self._frame(question)
        asked = digest_of(task.format, task.instruction, task.question_label, task.json_format, task.plain_format)
        options = (after,) if question.choices else ()
        coordinates = (task.name, asked, name, question.question_id, question.text, *options)
        again = f"-r{repeat}" if repeat else ""
        passage = Passage(document_id=name, start=0, end=len(text.text))
        metadata: dict[str, str | int | float] = {**question.metadata, "level": question.level}
        if places := sorted(text.tokens_between(0, span.start) for span in question.evidence):
            metadata["evidence_depth"] = round(places[0] / max(1, text.tokens), 3)
        metadata |= distances(places)
        return Sample(
            sample_id=f"qa-{text.tokens:06d}-{digest_of(*coordinates)[:12]}{again}",
            task=task.name,
            context_tokens=text.tokens,
            built_tokens=text.tokens + self._frame_tokens(question) - SEAM_TOKENS,
            depth=None,
            trial=repeat,
            document_id=name,
            question=question.text,
            answers=question.answers,
            recipe=Recipe(user=(Words(text=before), passage, Words(text=after))),
            seed=seed_of(*coordinates, repeat),
            cluster=name,
            metadata=metadata,
            item=question.question_id,
            repeat=repeat,
            bin=position,
            reference=Reference(
                kind=question.kind, choices=question.choices, evidence=question.evidence, reply=self._reply(question)
            ),
            answer_tokens=task.max_tokens,
        )

    def _controls(self, sample: Sample, question: Question) -> Iterator[Sample]:
        texts: dict[Literal["floor", "ceiling"], str] = {"floor": ""} if self._task.controls else {}
        if texts and question.evidence:
            document = self._documents[question.document_id].text
            texts["ceiling"] = "\n\n".join(document[span.start : span.end] for span in question.evidence)
        before, after = self._frame(question)
        for kind, text in texts.items():
            prompt = f"{before}{text}{after}"
            tokens = self._materials.tokenizer.count_prompt(Prompt(user=prompt))
            recipe = Recipe(user=(Words(text=prompt),))
            control = control_of(sample, kind, (kind, prompt), recipe=recipe, tokens=tokens)
            yield replace(control, reference=replace(sample.reference, evidence=()))

    def _frame(self, question: Question) -> tuple[str, str]:
        task = self._task
        options = "".join(f"\n{letter}. {text}" for letter, text in zip(LETTERS, question.choices, strict=False))
        answer_format = task.json_format if task.format == "json" else task.plain_format
        form = f"{task.choice_format} {answer_format}" if question.choices else answer_format
        return f"{task.instruction}\n\n", f"\n\n{task.question_label} {question.text}{options}\n{form}"

    def _frame_tokens(self, question: Question) -> int:
        if question.question_id not in self._frames:
            prompt = Prompt(user="".join(self._frame(question)))
            self._frames[question.question_id] = self._materials.tokenizer.count_prompt(prompt) + SEAM_TOKENS
        return self._frames[question.question_id]

    def _reply(self, question: Question) -> str:
        right = question.answers[0]
        if question.choices and right in question.choices:
            right = LETTERS[question.choices.index(right)]
        return json.dumps({"answer": right}, ensure_ascii=False) if self._task.format == "json" else right


# ---------------------------------------------------------------- bins

Bins = list[tuple[AuditBin, Sequence[Question]]]
_WIDE = 8
"""Longest over shortest document of a bin from which on its mean says little of either: three octaves."""


def draw(
    questions: Sequence[Question],
    lengths: Mapping[str, int],
    *,
    bins: int,
    binning: str,
    per_bin: int,
    min_samples: int,
    seed: int,
) -> tuple[Bins, list[str]]:
    """Put documents into bins by their length in tokens, and draw up to `per_bin` questions of each; with notes on it.

    A bin with fewer than `min_samples` questions (of equal steps of the logarithm: documents, which are few where the
    long ones are) is merged with the smaller of its neighbours. Questions are drawn round the documents of a bin, so
    that as many as can be have a part."""
    by_document: defaultdict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_document[question.document_id].append(question)
    ordered = sorted(by_document, key=lambda name: (lengths[name], name))
    classes = [{*group} for group in quantile_classes([lengths[name] for name in ordered], bins)]
    groups = [[name for name in ordered if lengths[name] in group] for group in classes]
    widest = max(groups, key=lambda names: lengths[names[-1]] / lengths[names[0]])
    notes = []
    if binning == "auto" and lengths[widest[-1]] > _WIDE * lengths[widest[0]]:
        binning = "log"
        notes.append(
            f"with as many documents in each bin, one would have those of {_range(widest, lengths)}: the bins are "
            "steps of the logarithm of the length (analysis.binning=log)"
        )
    if binning in ("fixed", "log"):
        scale = math.log2 if binning == "log" else float
        low, span = scale(lengths[ordered[0]]), scale(lengths[ordered[-1]] + 1) - scale(lengths[ordered[0]])
        steps = max(bins, math.ceil(span)) if binning == "log" else bins
        place = {name: min(steps - 1, int((scale(lengths[name]) - low) * steps / span)) for name in ordered}
        groups = [[*names] for _, names in groupby(ordered, place.__getitem__)]
    groups, merged = _merged(groups, by_document, min_samples, lengths, by_documents=binning == "log")
    notes += merged
    drawn: Bins = []
    for names in groups:
        shuffled = sorted(names, key=lambda name: seed_of("draw", seed, name))
        rounds = zip_longest(*(_shuffled(by_document[name], seed) for name in shuffled))
        chosen = [question for around in rounds for question in around if question is not None][:per_bin]
        available = [question for name in names for question in by_document[name]]
        drawn.append((_audited(available, chosen, lengths), chosen))
        if len(available) < per_bin:
            notes.append(
                f"the bin of {_range(names, lengths)} is starved: {len(available)} questions, and {per_bin} are asked "
                "for (task.samples_per_bin, task.pilot)"
            )
    return drawn, notes


def redraw(
    questions: Sequence[Question], lengths: Mapping[str, int], drawn: Sequence[Sequence[str]]
) -> tuple[Bins, list[str]]:
    """The draw of an earlier run again, by its question ids; what can't be asked any more is noted."""
    known = {question.question_id: question for question in questions}
    parts = [[known[name] for name in names if name in known] for names in drawn]
    missing = sum(name not in known for names in drawn for name in names)
    notes = [f"{missing} questions of the earlier run do not fit any more and are left out"] if missing else []
    return [(_audited(part, part, lengths), part) for part in parts if part], notes


def _audited(available: Sequence[Question], chosen: Sequence[Question], lengths: Mapping[str, int]) -> AuditBin:
    documents = {question.document_id for question in available}
    return AuditBin(
        min_tokens=min(lengths[name] for name in documents),
        max_tokens=max(lengths[name] for name in documents),
        documents=len(documents),
        questions=len(available),
        drawn_documents=len({question.document_id for question in chosen}),
        drawn_questions=len(chosen),
    )


def _merged(
    groups: list[list[str]],
    by_document: Mapping[str, Sequence[Question]],
    min_samples: int,
    lengths: Mapping[str, int],
    *,
    by_documents: bool,
) -> tuple[list[list[str]], list[str]]:
    groups, before = [list(names) for names in groups], len(groups)
    while len(groups) > 1:
        sizes = [len(names) if by_documents else sum(len(by_document[name]) for name in names) for names in groups]
        thinnest = min(range(len(groups)), key=lambda position: sizes[position])
        if sizes[thinnest] >= min_samples:
            break
        neighbours = [position for position in (thinnest - 1, thinnest + 1) if 0 <= position < len(groups)]
        first, second = sorted((thinnest, min(neighbours, key=lambda position: sizes[position])))
        groups[first : second + 1] = [groups[first] + groups[second]]
    if len(groups) == before:
        return groups, []
    unit = "documents" if by_documents else "questions"
    return groups, [
        f"{before} bins are {len(groups)} after those with fewer than task.min_samples={min_samples} {unit} are merged "
        f"with a neighbour: {'; '.join(_range(names, lengths) for names in groups)}"
    ]


def _shuffled(questions: Sequence[Question], seed: int) -> list[Question]:
    shuffled = sorted(questions, key=lambda question: question.question_id)
    random.Random(seed_of("draw", seed, shuffled[0].document_id)).shuffle(shuffled)
    return shuffled


def _range(names: Sequence[str], lengths: Mapping[str, int]) -> str:
    tokens = [lengths[name] for name in names]
    return f"{min(tokens):,} to {max(tokens):,} tokens"
