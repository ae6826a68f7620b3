"""What an answer to a question on a text is worth, and its failure tag.

| kind | score | a failure where |
| --- | --- | --- |
| `short` | token F1 (or the metric asked for) | it can't be parsed, or is no exact match, `verbose` ones included |
| `choice` | 1 for the right choice, else 0 | it is not the right choice |
| `summary` | ROUGE-L F | what was said can't count as a summary: every tag but `partial` and `wrong` |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contextcliff.tasks.answer_texts import plain
from contextcliff.tasks.questions.answer_format import LETTERS, Format, Parsed, chosen_letter, parse_answer
from contextcliff.tasks.questions.contained import contains_reference
from contextcliff.tasks.questions.squad_scoring import Metric, best, exact_match, rouge_l, token_f1
from contextcliff.tasks.questions.taxonomy import ContextWords, Failure, classify

METRICS: Mapping[str, Metric] = {"em": exact_match, "f1": token_f1, "rouge_l": rouge_l}
"""What a `short` answer can be scored by."""
CONSIDERED = ("coreference", "execution_success")
"""Metrics that the blueprint weighed and did not build."""


def refuse_metric(name: str) -> str:
    """The error line for a metric that isn't there; one that was only considered is refused as that."""
    why = "is not built (only considered)" if name in CONSIDERED else "is unknown"
    return f"task.metric={name}: {why}; choose one of {', '.join(METRICS)}"


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
    question_kind: str,
    references: Sequence[str],
    choices: Sequence[str],
    format: Format,
    context_words: ContextWords,
    question: str,
    finish_reason: str,
    metric: str = "f1",
    evidence_present: bool = True,
) -> QaScore:
    """Score a reply against the accepted answers, the best of them.

    `metric` (a key of `METRICS`) is for `short` answers. `evidence_present` is False where the text was withheld, as
    in a floor control: refusing is then right, though still no answer. Raises `ValueError` without references.
    """
    if not references:
        raise ValueError(f"no reference answers for the question {question!r}")
    parsed = parse_answer(raw, format=format, whole=question_kind == "summary")

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
    failure = None if em == 1 else failure_of(parsed, question, contains=given)
    value = best(METRICS[metric], parsed.answer, references)
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
