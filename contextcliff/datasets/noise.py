"""Dataset `noise`: a few short sentences over and over, the plainest text to hide something in."""

from __future__ import annotations

from collections.abc import Mapping

from contextcliff.records.corpus import Corpus, Document
from contextcliff.settings import settings

_CHARACTERS_PER_TOKEN = 8
"""English has 4 to 5 characters per token in common vocabularies; the rest is margin."""


@settings
class Noise:
    """As many rounds of the sentences as the longest prompt needs, a line each.

    The noise of RULER (Hsieh et al. 2024, arXiv:2404.06654), whose sentences are others.
    """

    text: str
    """Its sentences, in one line."""

    def __post_init__(self) -> None:
        if not self.text.strip() or "\n" in self.text:
            raise ValueError(f"dataset.text={self.text!r}: must be one line of sentences; give such a one")

    @property
    def name(self) -> str:
        """Name in reports."""
        return "noise"

    def identity(self) -> Mapping[str, object]:
        """The sentences."""
        return {"dataset": self.name, "text": self.text}

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:  # noqa: ARG002 - nothing is drawn
        """`count` times the same text: one stretch of noise is as good as any other."""
        rounds = tokens * _CHARACTERS_PER_TOKEN // (len(self.text) + 1) + 1
        text = "\n".join([self.text] * rounds)
        return Corpus(
            documents=tuple(
                Document(document_id=f"noise-{position}", title="Noise", text=text, endless=True)
                for position in range(count)
            )
        )
