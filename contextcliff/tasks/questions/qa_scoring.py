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
from typing import Annotated, Any

from pydantic import PlainValidator

from contextcliff.errors import ConfigError, one_line
from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Sample
from contextcliff.tasks.questions.answers import (
    LETTERS,
    Format,
    Metric,
    best,
    chosen_letter,
    contains_reference,
    exact_match,
    has_unspaced,
    normalise,
    rouge_l,
    token_f1,
)
from contextcliff.tasks.questions.taxonomy import classify
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


def scored(
    sample: Sample,
    generation: Generation,
    *,
    answer: str | None,
    format: Format,
    context_words: frozenset[str],
    metric: str | OwnMetric,
) -> Score:
    """The score of the answer to a sample, the best of all references; its measures are details, 0-1 and up is better.

    `answer` is what was parsed from the reply. `em` and `f1` of a choice are whether it is right. `contains_reference`
    is 1 where a reference stands in the answer, alone or among further words; a summary has none. The prediction is the
    answer, the text of the choice taken, or the reply itself where nothing could be parsed.
    """
    references, kind, choices = sample.answers, sample.reference.kind, sample.reference.choices

    def failing(said: str | None, question: str = sample.question, *, contains: bool = False) -> tuple[str, bool]:
        return classify(
            generation.text,
            answer=said,
            question=question,
            references=references,
            context_words=context_words,
            finish_reason=generation.finish_reason,
            format=format,
            question_kind=kind,
            evidence_present=sample.control != "floor",  # to refuse is then right, though still no answer
            contains_reference=contains,
        )

    shown, failure = answer, None
    value = em = f1 = contains = 0.0
    if kind == "choice":
        letter = chosen_letter(answer or "", choices)
        taken = None if letter is None else choices[LETTERS.index(letter)]
        value = em = f1 = contains = float(taken is not None and plain(taken) in map(plain, references))
        shown = taken or answer
        if not value:
            # The options are words of the question: one is never invented, and its letter no talk of other things.
            failure = failing(letter or answer, "\n".join((sample.question, *choices)))
    elif not answer:
        failure = failing(answer)
    else:
        em, f1 = (best(measure, answer, references) for measure in (exact_match, token_f1))
        if kind == "summary":
            value = best(rouge_l, answer, references)
            failure = failing(answer)
            failure = None if failure[0] in ("partial", "wrong") else failure
        else:
            given = em == 1 or contains_reference(answer, references, question=sample.question)
            contains = float(given)
            value = score_by(settled(metric, references), answer, references, contains=given)
            failure = None if 1 in (em, value) else failing(answer, contains=given)
    tag, false_refusal = failure or (None, False)
    details = {"em": em, "f1": f1, "false_refusal": float(false_refusal)}
    if kind != "summary":
        details["contains_reference"] = contains
    prediction = generation.text.strip() if shown is None else shown
    return Score(value=value, prediction=prediction, failure=tag, details=details)


_OF_KINDS = {"choice": "letter", "summary": "rouge_l"}


def deciding(samples: Iterable[Sample], metric: str | OwnMetric) -> tuple[str, ...]:
    """By what the answers to these samples are scored, each once; a judge rates all kinds of questions."""
    if metric == "judge":
        return ("judge",)
    kinds = {(sample.reference.kind, sample.answers) for sample in samples}
    return tuple(sorted({_OF_KINDS.get(kind) or str(settled(metric, answers)) for kind, answers in kinds}))
