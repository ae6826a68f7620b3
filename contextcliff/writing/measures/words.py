"""The words of a text, and what is counted of them: variety, repetition, rhythm, and what was copied."""

from __future__ import annotations

import math
import re
import statistics
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from unicodedata import normalize

from contextcliff.statistics.descriptive import kurtosis, skewness
from contextcliff.text.sentences import sentence_starts
from contextcliff.text.words import combining_marks, common_subsequence_length

UNSPACED = frozenset({"bo", "dz", "ja", "km", "lo", "my", "th", "wuu", "yue", "zh"})
"""Languages without spaces between words: their words are not counted."""

_PLAIN = str.maketrans(
    {"’": "'", "ʼ": "'", "＇": "'", "\u2010": "-", "\u2011": "-", "_": " ", "\u00ad": None, "\u200b": None}
)
"""Apostrophes and hyphens are made ASCII, underscores (Gutenberg's italics) spaces; invisible signs are removed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prose:
    """A text with its sentences and their words; no words where the language sets no spaces between them."""

    text: str
    language: str
    """Primary subtag of the language's tag: `en` for `en-GB`."""
    sentences: tuple[str, ...]
    words: tuple[str, ...]
    """In lower case, with straight apostrophes."""
    words_per_sentence: tuple[int, ...]


def primary(language: str) -> str:
    return language.replace("_", "-").partition("-")[0].lower()


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case: letters, marks and digits with single apostrophes and hyphens inside. `--`
    and dashes separate words. A number with its points and commas is one word."""
    return _word().findall(normalize("NFC", text).translate(_PLAIN).lower())


@cache
def _word() -> re.Pattern[str]:
    letters = rf"[\w{combining_marks()}]+"
    return re.compile(rf"\d+(?:[.,:]\d+)+|{letters}(?:['-]{letters})*")


def prose_of(text: str, *, language: str = "en") -> Prose:
    """The sentences and words of a text. A stretch without letters (`* * *`, `1868`) is no sentence."""
    # A model's answer can end inside a surrogate pair.
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    bounds = [*sentence_starts(text, language=primary(language)), len(text)]
    stretches = (text[start:end].strip() for start, end in pairwise(bounds))
    sentences = tuple(stretch for stretch in stretches if any(map(str.isalpha, stretch.translate(_PLAIN))))
    spaced = primary(language) not in UNSPACED
    words = [words_of(sentence) for sentence in sentences] if spaced else []
    return Prose(
        text=text,
        language=primary(language),
        sentences=sentences,
        words=tuple(word for sentence in words for word in sentence),
        words_per_sentence=tuple(map(len, words)),
    )


_SIGNS = {
    "comma_density": ",，、،",
    "semicolon_density": ";；؛",
    "question_density": "?？؟",
    "exclamation_density": "!！",
}
"""Full-width and Arabic signs count as the Latin ones."""


def sentence_lengths(lengths: Sequence[int]) -> dict[str, float | None]:
    """Mean, sample variance, skewness and excess kurtosis (G1 and G2 of Joanes and Gill 1998), where they exist."""
    n, differ = len(lengths), len(set(lengths)) > 1
    return {
        "avg_sentence_length": statistics.fmean(lengths) if n else None,
        "sentence_length_variance": statistics.variance(map(float, lengths)) if n >= 2 else None,
        "sentence_length_skewness": skewness(lengths) if n >= 3 and differ else None,
        "sentence_length_kurtosis": kurtosis(lengths) if n >= 4 and differ else None,
    }


def punctuation(prose: Prose) -> dict[str, float | None]:
    """Commas, semicolons, question and exclamation marks per sentence."""
    if not prose.sentences:
        return {}
    return {name: sum(map(prose.text.count, signs)) / len(prose.sentences) for name, signs in _SIGNS.items()}


COPIED_RUN = 8
"""Words in a row from which on a run counts as copied: by chance an author repeats four or five of their own."""


class PromptIndex:
    """A prompt as a string with one character for each different word: `str` finds runs of words in it, exactly."""

    def __init__(self, words: Sequence[str]) -> None:
        self._characters: dict[str, str] = {}
        codes = (self._characters.setdefault(word, chr(len(self._characters) + 1)) for word in words)
        self._text = "".join(codes)

    def copied_runs(self, words: Sequence[str], run: int) -> list[bool]:
        """Whether each run of `run` words occurs in the prompt, by its first word."""
        text = self._coded(words)
        return [text[start : start + run] in self._text for start in range(len(text) - run + 1)]

    def longest(self, words: Sequence[str]) -> int:
        """Words of the longest run that occurs in the prompt."""
        text, longest = self._coded(words), 0
        for end in range(1, len(text) + 1):
            # A run that ends here is at most a word longer than the longest one before.
            if longest < end and text[end - longest - 1 : end] in self._text:
                longest += 1
        return longest

    def _coded(self, words: Sequence[str]) -> str:
        return "".join(self._characters.get(word, "\0") for word in words)


@lru_cache(maxsize=4)
def prompt_index(text: str) -> PromptIndex:
    return PromptIndex(words_of(text))


def copied_share(words: Sequence[str], index: PromptIndex) -> float | None:
    """Share of the words that lie in a run of at least 8 words that occurs in the prompt."""
    starts = (start for start, copied in enumerate(index.copied_runs(words, COPIED_RUN)) if copied)
    copied = {place for start in starts for place in range(start, start + COPIED_RUN)}
    return len(copied) / len(words) if words else None


def rouge_l(words: Sequence[str], reference: Sequence[str]) -> float | None:
    """ROUGE-L F1 (Lin 2004)."""
    if not words or not reference:
        return None
    return 2.0 * common_subsequence_length(words, reference) / (len(words) + len(reference))


WINDOW = 100
MTLD_THRESHOLD = 0.72
MTLD_LEAST_WORDS = 50
"""In shorter texts the remainder of the last factor determines the result."""


def vocabulary_diversity(words: Sequence[str]) -> float | None:
    """Type-token ratio, which falls with a text's length."""
    return len(set(words)) / len(words) if words else None


def unique_word_ratio(words: Sequence[str], *, window: int = WINDOW) -> float | None:
    """Mean type-token ratio of all stretches of `window` words (Covington and McFall 2010); None for a shorter text."""
    if len(words) < window:
        return None
    counts = Counter(words[:window])
    types = total = len(counts)
    for leaving, entering in zip(words, words[window:], strict=False):
        counts[entering] += 1
        types += counts[entering] == 1
        counts[leaving] -= 1
        types -= counts[leaving] == 0
        total += types
    return total / (window * (len(words) - window + 1))


def entropy(units: Iterable[str]) -> float | None:
    """Shannon's entropy of the distribution of words or characters, in bits per unit."""
    counts = Counter(units).values()
    total = sum(counts)
    # Subtracted from 0.0, so that the entropy of a single repeated unit is 0.0 and not -0.0.
    return 0.0 - sum(count / total * math.log2(count / total) for count in counts) if total else None


def mtld(words: Sequence[str]) -> float | None:
    """Mean length in words of stretches that keep a type-token ratio of 0.72, read forwards and backwards. McCarthy and
    Jarvis (2010), Behavior Research Methods 42(2), 381-392. None below 50 words, and if no word repeats."""
    forwards, backwards = _factors(words), _factors(words[::-1])
    if len(words) < MTLD_LEAST_WORDS or not forwards or not backwards:
        return None
    return (len(words) / forwards + len(words) / backwards) / 2


def _factors(words: Sequence[str]) -> float:
    """Number of such stretches, with the last, partial one as a fraction."""
    factors, seen, length = 0.0, set[str](), 0
    for word in words:
        seen.add(word)
        length += 1
        if len(seen) / length < MTLD_THRESHOLD:
            factors, length = factors + 1, 0
            seen.clear()
    if length:
        factors += (1 - len(seen) / length) / (1 - MTLD_THRESHOLD)
    return factors


LONG_RANGE = 100
"""Fewest words between a phrase and its repetition: more than in rhetorical repetition."""
_LONG_RANGE_NGRAM = 4
_LONG_RANGE_LEAST_WORDS = 150
_LEAST_WORDS = 3


def repetition_rate(words: Sequence[str], n: int) -> float | None:
    """Share of a text's n-grams that repeat an earlier one; None below 3 words."""
    if len(words) < max(n, _LEAST_WORDS):
        return None
    ngrams = _ngrams(words, n)
    return (len(ngrams) - len(set(ngrams))) / len(ngrams)


def long_range_repetition(words: Sequence[str]) -> float | None:
    """Share of the 4-grams from the 101st word on that began at least 100 words earlier too; None below 150 words."""
    if len(words) < _LONG_RANGE_LEAST_WORDS:
        return None
    ngrams = _ngrams(words, _LONG_RANGE_NGRAM)
    first: dict[tuple[str, ...], int] = {}
    for place, ngram in enumerate(ngrams):
        first.setdefault(ngram, place)
    later = range(LONG_RANGE, len(ngrams))
    return sum(place - first[ngrams[place]] >= LONG_RANGE for place in later) / len(later)


def compression_ratio(text: str) -> float | None:
    """UTF-8 bytes per byte of zlib at level 9 (Shaib et al., arXiv:2403.00553), which grows with a text's length."""
    data = text.encode(errors="replace")
    return len(data) / len(zlib.compress(data, 9)) if data else None


def _ngrams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return list(zip(*(words[start:] for start in range(n)), strict=False))
