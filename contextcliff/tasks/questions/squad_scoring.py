"""How near an answer comes to the accepted ones: exact match and token F1 as SQuAD counts them, and ROUGE-L.

Every measure lies between 0 and 1, up is better, and the best of several references counts.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING
from unicodedata import category, normalize

if TYPE_CHECKING:
    from rouge_score.rouge_scorer import RougeScorer

Metric = Callable[[str, str], float]
"""Prediction and one reference to 0-1."""

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Characters of scripts that set no spaces between words, as the inside of a regular expression's brackets."""
# Vowel signs and accents that stand by themselves are part of a word; to `re` they are none of its characters.
_MARKS = "".join(chr(code) for code in range(0x300, 0x10000) if category(chr(code)).startswith("M"))
_RUN = re.compile(rf"[\w{_MARKS}]+")
_WORD = re.compile(rf"[{UNSPACED}]|[^{UNSPACED}]+")


def normalise(text: str) -> str:
    """A text as SQuAD v1.1 compares it: lower case, without ASCII punctuation, English articles and spare spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(prediction: str, reference: str) -> float:
    """1 where both are the same after `normalise`, else 0 (Rajpurkar et al. 2016, arXiv:1606.05250)."""
    return float(normalise(prediction) == normalise(reference))


def token_f1(prediction: str, reference: str) -> float:
    """Harmonic mean of precision and recall over the words that both share, 0-1 (Rajpurkar et al. 2016).

    As in the official script, a text that `normalise` leaves nothing of shares no word with any other: its F1 is 0,
    even where its exact match is 1. A script without spaces is one word up to the next space.
    """
    said, wanted = normalise(prediction).split(), normalise(reference).split()
    shared = (Counter(said) & Counter(wanted)).total()
    if shared == 0:
        return 0.0
    precision, recall = shared / len(said), shared / len(wanted)
    return 2 * precision * recall / (precision + recall)


def rouge_l(prediction: str, reference: str) -> float:
    """ROUGE-L F: harmonic mean of the longest common subsequence's share of both texts, 0-1 (Lin 2004).

    By Google's `rouge-score`, without a stemmer. On ASCII text it is that library's own figure; its tokenizer drops
    every other letter, so `words` takes its place.
    """
    return float(_rouge_scorer().score(reference, prediction)["rougeL"].fmeasure)


def best(metric: Metric, prediction: str, references: Sequence[str]) -> float:
    """The metric against the reference that it is highest for. Raises `ValueError` where there is none."""
    return max(metric(prediction, reference) for reference in references)


def runs(text: str) -> Iterator[str]:
    """The stretches of letters, their marks and digits in a text, without case and in compatibility form."""
    return (match.group() for match in _RUN.finditer(normalize("NFKC", text).casefold().replace("_", " ")))


def words(text: str) -> list[str]:
    """The words of a text: its `runs`, and in a script without spaces every character."""
    return [word for run in runs(text) for word in _WORD.findall(run)]


class _Words:
    """`words`, as `rouge-score` wants its tokenizers."""

    def tokenize(self, text: str) -> list[str]:
        return words(text)


@cache
def _rouge_scorer() -> RougeScorer:
    from rouge_score.rouge_scorer import RougeScorer  # it imports NLTK, which a run without summaries need not wait for

    return RougeScorer(["rougeL"], tokenizer=_Words())
