"""What an answer to a question on a text is worth, and its failure tag.

A phrase is worth what its metric says, a choice 1 or 0, a summary its ROUGE-L F, whose tags `partial` and `wrong` are
no failures. The metric `auto` is `contains` where all accepted answers of a question are short, and else `f1`: a model
that gives a name in a full sentence is right, and of a long answer nobody repeats each word.

Why an answer to a question on a text is wrong: exactly one tag, the first of this order that holds.

| | tag | holds where |
| --- | --- | --- |
| 1 | `empty` | nothing was said: a blank reply in either form, or a blank `answer` in JSON |
| 2 | `schema` | JSON was asked for, and the reply is none or lacks the key; so is an object that was cut off |
| 3 | `verbose` | right, but said in too many words: a reference stands in it, and it is no exact match (phrases only) |
| 4 | `refusal` | it says that the text doesn't tell, or that the model won't, and no reference says so too |
| 5 | `incomplete` | the token limit stopped the answer, or it ends in mid-sentence |
| 6 | `hallucination` | most content words that it adds to the question stand neither in the text nor in a reference |
| 7 | `drift` | far longer than the references; or a sentence without a content word of the question or of the text |
| 8 | `partial` | token F1 of 0.5 or more, with a content word of a reference (phrases only, again) |
| 9 | `wrong` | none of these: it is of the text, and not the answer |

`verbose` stands before all that judge words, since what is right stays so among apologies and inventions, and before
the end is reached. `answers.py` says what stands in an answer: a refusal that names the reference does not give it.

`false_refusal` is a mark beside the tag: the reply refuses, and the evidence was there. It is set on `refusal` and,
since a model that refuses seldom does it in JSON, on `schema`.

Content words are words of three letters and more that are no English function words, whatever holds a digit, and pairs
of characters in scripts that set no spaces. They are compared as written: an inflected form is another word."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Annotated, Any

from pydantic import PlainValidator

from contextcliff.errors import ConfigError, one_line
from contextcliff.records.generation import Generation, Score
from contextcliff.records.note import Note
from contextcliff.records.sample import Sample
from contextcliff.tasks.questions.answers import (
    LETTERS,
    UNSPACED,
    Format,
    Metric,
    best,
    chosen_letter,
    contains_reference,
    exact_match,
    has_unspaced,
    normalise,
    rouge_l,
    runs,
    token_f1,
)
from contextcliff.tasks.values import is_refusal, plain

MEASURES: Mapping[str, Metric] = {"f1": token_f1, "em": exact_match, "rouge_l": rouge_l}
METRICS = ("auto", "contains", *MEASURES, "judge")
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
    """Raise `ValueError` for a metric that isn't there."""
    if isinstance(metric, OwnMetric) or metric in METRICS:
        return
    raise ValueError(
        f"task.metric={one_line(str(metric), longest=_LONGEST_SHOWN)}: is unknown; choose one of "
        f"{', '.join(METRICS)}, or a scorer of your own as 'task.metric={{_target_: my_module.my_scorer}}'"
    )


def settled(metric: str | OwnMetric, references: Sequence[str]) -> str | OwnMetric:
    """What scores the answers to a short question with these accepted answers, by `task.metric`."""
    if metric != "auto":
        return metric
    for reference in references:
        words = normalise(reference).split()
        size, most = (len("".join(words)), SHORT_CHARACTERS) if has_unspaced(reference) else (len(words), SHORT_WORDS)
        if size > most:
            return "f1"
    return "contains"


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

    `answer` is what was parsed from the reply. The prediction is the answer, the text of the choice taken, or the reply
    itself where nothing could be parsed."""
    references, kind, choices = sample.answers, sample.reference.kind, sample.reference.choices
    wrong = partial(failure_of, sample, generation, format=format, context_words=context_words)
    shown, failure = answer, None
    value = em = f1 = contains = 0.0
    if kind == "choice":
        letter = chosen_letter(answer or "", choices)
        taken = None if letter is None else choices[LETTERS.index(letter)]
        value = em = f1 = contains = float(taken is not None and plain(taken) in map(plain, references))
        shown = taken or answer
        if not value:
            # The options are words of the question: one is never invented, and its letter no talk of other things.
            failure = wrong(letter or answer, question="\n".join((sample.question, *choices)))
    elif not answer:
        failure = wrong(answer)
    else:
        em, f1 = (best(measure, answer, references) for measure in (exact_match, token_f1))
        if kind == "summary":
            value = best(rouge_l, answer, references)
            failure = wrong(answer)
            failure = None if failure[0] in ("partial", "wrong") else failure
        else:
            given = em == 1 or contains_reference(answer, references, question=sample.question)
            contains = float(given)
            value = score_by(settled(metric, references), answer, references, contains=given)
            failure = None if 1 in (em, value) else wrong(answer, contains_reference=given)
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


_RIGHT_OR_NOT = {"contains", "em", "letter", "judge"}


def claim_by(metrics: Collection[str]) -> Note:
    """What is claimed of answers that these score: how many are right, or how many points they earn."""
    if _RIGHT_OR_NOT.issuperset(metrics):
        return Note("In a test of questions {whether}the model answers {share} questions right in prompts of {lengths}")
    return Note("In a test of questions {whether}the model earns {share} points in prompts of {lengths}")


# ---------------------------------------------------------------- why it is wrong

PARTIAL_F1 = 0.5
_FAR_LONGER = 5
_FAR_LONGER_CHARACTERS = 100
"""Far longer: over five times the longest reference, and a sentence beyond that."""
_SHORT = 5
"""Content words up to which an answer that touches nothing is an invented one, and no talk of something else."""
_DRESS = "\"'”’*_`.。 \n"
_OPENING = 300
"""A refusal shows in so many characters; further on, "was not given" is a sentence about the text."""

_FUNCTION_WORDS = frozenset(
    """
    the and but for nor not yet are was were has had have been being did does done can could may might must
    shall should will would this that these those there here where when which who whom whose what why how with
    from into onto upon about after before over under than then them they their theirs she her hers him his its
    our ours you your yours all any both each few more most other some such only own same too very just also
    because while during between through out off again once don didn doesn isn wasn weren
    """.split()  # noqa: SIM905
)
_PIECE = re.compile(rf"[{UNSPACED}]+|[^{UNSPACED}]+")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_THOUSANDS = re.compile(r"(?<=\d)[.,](?=\d{3}(?!\d))")
_MID_SENTENCE = re.compile(r"(?:[,;:、，；：–—(\[{„「『]|\w-|\s(?:the|a|an|and|or|but|of|because))\Z")


@lru_cache(maxsize=32)
def context_words_of(text: str) -> frozenset[str]:
    """The content words of a document: a second for 5 MB, hence kept for the questions that follow on the same."""
    words = content_words(text)
    # An answer of one character (犬) has no pair to be looked for by.
    single = {character for word in words if _UNSPACED.match(word) for character in word}
    return words | single


def content_words(text: str) -> frozenset[str]:
    """The words of a text that say something; numbers without the marks between thousands."""
    words: set[str] = set()
    for run in set(runs(_THOUSANDS.sub("", text))):
        for piece in _PIECE.findall(run):
            if _UNSPACED.match(piece):
                words.update(piece[place : place + 2] for place in range(max(1, len(piece) - 1)))
            elif (len(piece) > 2 and piece not in _FUNCTION_WORDS) or any(map(str.isdigit, piece)):
                words.add(piece)
    return frozenset(words)


def failure_of(
    sample: Sample,
    generation: Generation,
    answer: str | None,
    *,
    format: Format,
    context_words: frozenset[str],
    question: str | None = None,
    contains_reference: bool = False,
) -> tuple[str, bool]:
    """The tag of a reply that is no exact match, by the order above, and whether it is a false refusal.

    `answer` is what was parsed from it, None where it isn't in the form that was asked for. `context_words` are those
    of the text; where they are empty it is not known, and nothing counts as invented."""
    reply, kind, references = generation.text, sample.reference.kind, sample.answers
    text = reply.strip() if answer is None else answer
    if not reply.strip() or answer == "":
        return "empty", False
    said_so_too = any(len(reference) <= _OPENING and is_refusal(reference) for reference in references)
    told = kind == "summary" and len(text) > _OPENING
    refuses = not told and is_refusal(text[:_OPENING]) and not said_so_too
    is_false = refuses and sample.control != "floor"  # to refuse is then right, though still no answer
    if answer is None and format == "json":
        return "schema", is_false
    if contains_reference and kind == "short":
        return "verbose", False
    if refuses:
        return "refusal", is_false
    # Where the answer is not the last that the reply says, a limit has cut what follows it.
    said, answered = (words.rstrip(_DRESS).rpartition("\n")[-1] for words in (reply, text))
    if (generation.finish_reason == "length" and said.endswith(answered)) or _MID_SENTENCE.search(text):
        return "incomplete", False
    return _tag_of_words(text, question or sample.question, references, context_words, kind), False


def _tag_of_words(
    text: str, question: str, references: Sequence[str], context: frozenset[str], question_kind: str
) -> str:
    said, asked = content_words(text), content_words(question)
    added = said - asked
    invented = added - context - content_words("\n".join(references)) if context else frozenset()
    elsewhere = len(said) > _SHORT and said.isdisjoint(asked) and said.isdisjoint(context)
    if 2 * len(invented) > len(added) and not elsewhere:
        return "hallucination"
    longest = max(map(len, references), default=0)
    if elsewhere or len(text) > _FAR_LONGER * longest + _FAR_LONGER_CHARACTERS:
        return "drift"
    if question_kind == "short" and any(
        token_f1(text, one) >= PARTIAL_F1 and not said.isdisjoint(content_words(one)) for one in references
    ):
        return "partial"
    return "wrong"
