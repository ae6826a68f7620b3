"""How close an answer is to the accepted ones: exact match and token F1 as SQuAD counts them, and ROUGE-L.

Every measure lies between 0 and 1, higher is better, and the best of several references counts.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from unicodedata import normalize

from contextcliff.text.words import combining_marks, common_subsequence_length

Metric = Callable[[str, str], float]
"""A measure of a prediction and one reference, 0-1."""

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Characters of scripts without spaces between words, for the inside of a regular expression's brackets."""
_ANY_UNSPACED = re.compile(f"[{UNSPACED}]")
_WORD = re.compile(rf"[{UNSPACED}]|[^{UNSPACED}]+")
_WIDE_MARKS = str.maketrans("", "", "。、，．！？：；・「」『』（）【】《》〈〉〜…")
_POLITE_END = re.compile(r"(?:です|でした|である)$")


def has_unspaced(text: str) -> bool:
    """Whether a text has characters of a script without spaces."""
    return _ANY_UNSPACED.search(text) is not None


def normalise(text: str) -> str:
    """A text as SQuAD v1.1 compares it: lower case, without ASCII punctuation, English articles and extra spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(prediction: str, reference: str) -> float:
    """1 where both are the same after `normalise`, else 0 (Rajpurkar et al. 2016, arXiv:1606.05250)."""
    return float(_compared(prediction) == _compared(reference))


def _compared(text: str) -> str:
    """`normalise`; in a script without spaces wide marks and a polite end (`です`) don't count either."""
    normal = normalise(text)
    return _POLITE_END.sub("", normal.translate(_WIDE_MARKS)) if has_unspaced(text) else normal


def token_f1(prediction: str, reference: str) -> float:
    """Harmonic mean of precision and recall over the words that both share, 0-1 (Rajpurkar et al. 2016).

    As in the official script, a text of which `normalise` leaves nothing has an F1 of 0, even where its exact match is
    1. In a script without spaces every character is a word.
    """
    predicted, accepted = (
        [word for run in _compared(text).split() for word in _WORD.findall(run)] for text in (prediction, reference)
    )
    return _f1((Counter(predicted) & Counter(accepted)).total(), len(predicted), len(accepted))


def _f1(shared: int, predicted: int, accepted: int) -> float:
    """Harmonic mean of precision and recall, where `shared` of the predicted and of the accepted words are common."""
    if shared == 0:
        return 0.0
    precision, recall = shared / predicted, shared / accepted
    return 2 * precision * recall / (precision + recall)


def rouge_l(prediction: str, reference: str) -> float:
    """ROUGE-L F: harmonic mean of the longest common subsequence's share of both texts, 0-1 (Lin 2004).

    On ASCII text it is the figure of Google's `rouge-score` without a stemmer; that library's tokenizer drops all other
    letters, so `words` takes its place.
    """
    predicted, accepted = words(prediction), words(reference)
    return _f1(common_subsequence_length(predicted, accepted), len(predicted), len(accepted))


def best(metric: Metric, prediction: str, references: Sequence[str]) -> float:
    """The highest value of the metric over the references. Raises `ValueError` without references."""
    return max(metric(prediction, reference) for reference in references)


def runs(text: str) -> Iterator[str]:
    """The stretches of letters, their marks and digits in a text, case-folded and in compatibility form (NFKC)."""
    return (match.group() for match in _run().finditer(normalize("NFKC", text).casefold().replace("_", " ")))


@cache
def _run() -> re.Pattern[str]:
    return re.compile(rf"[\w{combining_marks()}]+")


def words(text: str) -> list[str]:
    """The words of a text: its `runs`; in a script without spaces every character is a word."""
    return [word for run in runs(text) for word in _WORD.findall(run)]
