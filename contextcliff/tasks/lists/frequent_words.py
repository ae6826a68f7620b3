"""Task `frequent_words`: which three words of a coded text occur most often?

RULER's frequent word extraction (Hsieh et al. 2024, arXiv:2404.06654): words of random letters, whose frequencies
follow a zeta distribution. Of N words the k-th most frequent occurs N·k^−α / ζ(α) times, rounded down; the most
frequent of all is a noise word (dots) that the question says to ignore, and the next three are asked for. Length grows
N, and the vocabulary by a word for each 50 tokens. Scored by the share of the three that the answer names.

Other than in RULER, what is found are whole words, and only the first three words of the text that an answer names
count. Every sample is shuffled anew, where RULER shuffles all of them by one seed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Annotated

from pydantic import Field

from contextcliff.settings import Float, Int, PositiveInt, settings
from contextcliff.tasks.lists.word_list import WordListTask

_CONTROL_LEADS = 2
"""By so many occurrences the words asked for lead in a control."""


@settings
class FrequentWords(WordListTask):
    """A row of lengths. The words after the first in frequency are asked for, `frequent_words` of them."""

    name = "frequent_words"

    frequent_words: Annotated[Int, Field(ge=1, le=20)]
    """How many words are asked for."""
    alpha: Annotated[Float, Field(gt=1.0, le=4.0)]
    """Of the zeta distribution: the higher, the more the most frequent words stand out."""
    letters: Annotated[Int, Field(ge=4, le=20)]
    """Of a coded word."""
    tokens_per_word: PositiveInt
    """Tokens of a length for each different word of its vocabulary."""
    noise: Annotated[str, Field(min_length=1)]
    """The most frequent word, which is not asked for."""

    @property
    def asked_for(self) -> int:
        return self.frequent_words

    def listings(self, rng: random.Random, context_tokens: int) -> Iterator[CodedText]:
        """A coded text, which can be of any length."""
        words = max(self.frequent_words + 1, context_tokens // self.tokens_per_word - 1)
        yield CodedText(
            words=(self.noise, *_coded(rng, words, self.letters, apart_from=self.noise)),
            asked_for=self.frequent_words,
            shares=zeta_shares(self.alpha, words + 1),
            seed=rng.getrandbits(32),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class CodedText:
    """A shuffled text of coded words, the most frequent first in `words`; its size is N."""

    words: tuple[str, ...]
    asked_for: int
    shares: Sequence[float]
    """Of N, for each of the words."""
    seed: int

    @property
    def answers(self) -> tuple[str, ...]:
        """The words after the noise."""
        return self.words[1 : 1 + self.asked_for]

    @property
    def opening(self) -> str:
        """RULER gives no example here."""
        return ""

    @property
    def sizes(self) -> tuple[int, int | None]:
        """From where the last word that is asked for leads the next one at every size."""
        return self._leading_by(1), None

    def text(self, size: int) -> str:
        """N = `size`; rounding down leaves some of it out, and the rarest words where they come to nothing."""
        return self._text(self.words, size)

    def short(self, *, answered: bool) -> str:
        """The shortest text in which the words asked for stand out."""
        gone = () if answered else self.answers
        return self._text([("" if word in gone else word) for word in self.words], self._leading_by(_CONTROL_LEADS))

    def _leading_by(self, occurrences: int) -> int:
        last, after = self.shares[self.asked_for], self.shares[self.asked_for + 1]
        return math.ceil(occurrences / (last - after))

    def _text(self, words: Sequence[str], size: int) -> str:
        counts = (int(size * share) for share in self.shares)
        text = [word for word, count in zip(words, counts, strict=True) if word for _ in range(count)]
        random.Random(self.seed).shuffle(text)
        return " ".join(text)


def zeta_shares(alpha: float, words: int) -> tuple[float, ...]:
    """The probabilities k^−α / ζ(α) of the first `words` ranks of a zeta distribution; α above 1."""
    from scipy.special import zeta

    whole = float(zeta(alpha))
    return tuple(rank**-alpha / whole for rank in range(1, words + 1))


def _coded(rng: random.Random, count: int, letters: int, *, apart_from: str) -> list[str]:
    words: dict[str, None] = {}
    while len(words) < count:
        word = "".join(rng.choices(ascii_lowercase, k=letters))
        if word != apart_from:
            words[word] = None
    return list(words)
