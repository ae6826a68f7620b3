"""What an answer to a question on a text is worth, and its failure tag.

| kind | score | a failure where |
| --- | --- | --- |
| `short` | the metric asked for | it has less than the full score, unless it is an exact match |
| `choice` | 1 for the right choice, else 0 | it is not the right choice |
| `summary` | ROUGE-L F | what was said can't count as a summary: every tag but `partial` and `wrong` |

The metric `auto` is `contains` where all accepted answers of a question are short, and else `f1`: a model that gives a
name in a full sentence is right, and of a long answer nobody repeats each word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import PlainValidator

from contextcliff.errors import ConfigError, one_line
from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Sample
from contextcliff.tasks.questions.answer_format import LETTERS, Format, Parsed, chosen_letter
from contextcliff.tasks.questions.contained import contains_reference
from contextcliff.tasks.questions.squad_scoring import (
    Metric,
    best,
    exact_match,
    has_unspaced,
    normalise,
    rouge_l,
    token_f1,
)
from contextcliff.tasks.questions.taxonomy import ContextWords, Failure, classify
from contextcliff.tasks.values import plain

MEASURES: Mapping[str, Metric] = {"f1": token_f1, "em": exact_match, "rouge_l": rouge_l}
METRICS = ("auto", "contains", *MEASURES, "judge")
CONSIDERED = ("coreference", "execution_success")
"""Metrics that the blueprint weighed and did not build."""
SHORT_WORDS, SHORT_CHARACTERS = 6, 20
"""Most words of a short answer after SQuAD's normalisation; most characters in a script without spaces."""
_LONGEST_SHOWN = 80


class OwnMetric:
    """A scorer of the user's own, called with an answer and the accepted ones; it gives a number from 0 to 1."""

    def __init__(self, name: str, scorer: Callable[[str, tuple[str, ...]], object]) -> None:
        self._name = name
        self._scorer = scorer

    def __call__(self, prediction: str, references: Sequence[str]) -> float:
        """The score. Raises `ConfigError` where the scorer raises, or returns anything else."""
        shown = one_line(prediction, longest=_LONGEST_SHOWN)
        try:
            given: Any = self._scorer(prediction, tuple(references))
            score = float(given)
        except Exception as error:
            why = one_line(f"{type(error).__name__}: {error}", longest=2 * _LONGEST_SHOWN)
            raise ConfigError(f"task.metric={self}: fails on the answer {shown!r} ({why}); {WANTED}") from error
        if isinstance(given, str) or not 0.0 <= score <= 1.0:
            value = one_line(repr(given), longest=_LONGEST_SHOWN)
            raise ConfigError(f"task.metric={self}: returns {value} for the answer {shown!r}; {WANTED}")
        return score

    def __str__(self) -> str:
        return self._name

    def __deepcopy__(self, memo: object) -> OwnMetric:
        """Itself, where the settings that hold it are copied: a scorer may have loaded a model."""
        return self


WANTED = "it takes (prediction, references), a text and a tuple of texts, and returns a number from 0 to 1"
# What is checked by `refuse_metric`, whose line names the ways out; null is `auto`.
MetricChoice = Annotated[str | OwnMetric, PlainValidator(lambda given: "auto" if given is None else given)]


def refuse_metric(metric: object) -> None:
    """Raise `ValueError` for a metric that isn't there; one that was only considered is refused as that."""
    if isinstance(metric, OwnMetric) or metric in METRICS:
        return
    why = "is not built (only considered)" if metric in CONSIDERED else "is unknown"
    raise ValueError(
        f"task.metric={one_line(str(metric), longest=_LONGEST_SHOWN)}: {why}; choose one of {', '.join(METRICS)}, or "
        "a scorer of your own as 'task.metric={_target_: my_module.my_scorer}'"
    )


def settled(metric: str | OwnMetric, references: Sequence[str]) -> str | OwnMetric:
    """What scores the answers to a short question with these accepted answers, by `task.metric`."""
    if metric != "auto":
        return metric
    return "contains" if all(map(_is_short, references)) else "f1"


def _is_short(reference: str) -> bool:
    words = normalise(reference).split()
    return len("".join(words)) <= SHORT_CHARACTERS if has_unspaced(reference) else len(words) <= SHORT_WORDS


def score_by(metric: str | OwnMetric, answer: str, references: Sequence[str], *, contains: bool) -> float:
    """What an answer is worth, 0-1, by a metric that is `settled`; `contains`: whether it gives a reference."""
    if isinstance(metric, OwnMetric):
        return metric(answer, references)
    return best(MEASURES[metric], answer, references) if metric in MEASURES else float(contains)


@dataclass(frozen=True, kw_only=True, slots=True)
class QaScore:
    """A scored answer. `value`, `em` and `f1` are 0-1, up is better; of a choice all three are whether it is right.

    `contains_reference` is 1 where a reference stands in the answer, alone or among further words, else 0; of a choice
    whether it is right, and None of a summary.
    `prediction` is the answer as it was parsed: the text of the choice taken, or the reply itself where nothing
    could be parsed. `failure` is the one tag, None for an answer that is none.
    """

    value: float
    em: float
    f1: float
    contains_reference: float | None
    prediction: str
    failure: str | None
    false_refusal: bool


def score_answer(
    raw: str,
    *,
    parsed: Parsed,
    question_kind: str,
    references: Sequence[str],
    choices: Sequence[str],
    format: Format,
    context_words: ContextWords,
    question: str,
    finish_reason: str,
    metric: str | OwnMetric = "auto",
    evidence_present: bool = True,
) -> QaScore:
    """Score a reply, of which `parsed` is the answer, against the accepted ones, the best of them.

    `metric` is for `short` answers. `evidence_present` is False where the text was withheld, as in a floor control:
    refusing is then right, though still no answer. Raises `ValueError` without references.
    """
    if not references:
        raise ValueError(f"no reference answers for the question {question!r}")

    def failure_of(said: Parsed, asked: str, *, contains: bool = False) -> Failure:
        return classify(
            raw,
            parsed=said,
            question=asked,
            references=references,
            context_words=context_words,
            finish_reason=finish_reason,
            format=format,
            question_kind=question_kind,
            evidence_present=evidence_present,
            contains_reference=contains,
        )

    if question_kind == "choice":
        letter = chosen_letter(parsed.answer or "", choices)
        taken = None if letter is None else choices[LETTERS.index(letter)]
        right = taken is not None and plain(taken) in map(plain, references)
        # The options are words of the question: one of them is never invented, and its letter no talk of other things.
        said = parsed if letter is None else Parsed(answer=letter)
        failure = None if right else failure_of(said, "\n".join((question, *choices)))
        shown = taken or parsed.answer
        worth = float(right)
        return _scored(raw, shown, value=worth, em=worth, f1=worth, contains=worth, failure=failure)
    if not parsed.answer:
        contains = None if question_kind == "summary" else 0.0
        failure = failure_of(parsed, question)
        return _scored(raw, parsed.answer, value=0.0, em=0.0, f1=0.0, contains=contains, failure=failure)
    em, f1 = (best(measure, parsed.answer, references) for measure in (exact_match, token_f1))
    if question_kind == "summary":
        summary_failure = failure_of(parsed, question)
        failure = None if summary_failure.tag in ("partial", "wrong") else summary_failure
        value = best(rouge_l, parsed.answer, references)
        return _scored(raw, parsed.answer, value=value, em=em, f1=f1, contains=None, failure=failure)
    given = em == 1 or contains_reference(parsed.answer, references, question=question)
    value = score_by(settled(metric, references), parsed.answer, references, contains=given)
    failure = None if 1 in (em, value) else failure_of(parsed, question, contains=given)
    return _scored(raw, parsed.answer, value=value, em=em, f1=f1, contains=float(given), failure=failure)


def _scored(
    raw: str,
    answer: str | None,
    *,
    value: float,
    em: float,
    f1: float,
    contains: float | None,
    failure: Failure | None,
) -> QaScore:
    return QaScore(
        value=value,
        em=em,
        f1=f1,
        contains_reference=contains,
        prediction=raw.strip() if answer is None else answer,
        failure=None if failure is None else failure.tag,
        false_refusal=failure is not None and failure.false_refusal,
    )


def scored(
    sample: Sample,
    generation: Generation,
    *,
    parsed: Parsed,
    format: Format,
    context_words: ContextWords,
    metric: str | OwnMetric,
) -> Score:
    """The score of the answer to a sample, with its measures as details and the one tag of a failure."""
    found = score_answer(
        generation.text,
        parsed=parsed,
        question_kind=sample.reference.kind,
        references=sample.answers,
        choices=sample.reference.choices,
        format=format,
        context_words=context_words,
        question=sample.question,
        finish_reason=generation.finish_reason,
        metric=metric,
        evidence_present=sample.control != "floor",
    )
    details = {"em": found.em, "f1": found.f1, "false_refusal": float(found.false_refusal)}
    if found.contains_reference is not None:
        details["contains_reference"] = found.contains_reference
    return Score(value=found.value, prediction=found.prediction, failure=found.failure, details=details)


_OF_KINDS = {"choice": "letter", "summary": "rouge_l"}


def deciding(samples: Iterable[Sample], metric: str | OwnMetric) -> tuple[str, ...]:
    """By what the answers to these samples are scored, each once; a judge rates all kinds of questions."""
    if metric == "judge":
        return ("judge",)
    kinds = {(sample.reference.kind, sample.answers) for sample in samples}
    return tuple(sorted({_OF_KINDS.get(kind) or str(settled(metric, answers)) for kind, answers in kinds}))
