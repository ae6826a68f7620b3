"""Dataset `synthetic`: endless generated prose, so that no haystack is too short."""

from __future__ import annotations

from collections.abc import Mapping

from contextcliff.records.corpus import Corpus, Document
from contextcliff.seeding import seed_of
from contextcliff.settings import NonNegativeInt, settings
from contextcliff.text.prose import prose

_CHARACTERS_PER_TOKEN = 8
"""English has 4 to 5 characters per token in common vocabularies; the rest is margin."""


@settings
class Synthetic:
    """As much generated prose as the longest prompt needs."""

    variant: NonNegativeInt = 0
    """Each number gives another text for the same run seed."""

    @property
    def name(self) -> str:
        """Name in reports."""
        return "synthetic"

    def identity(self) -> Mapping[str, object]:
        """The variant. The run's seed is part of the fingerprint anyway."""
        return {"dataset": self.name, "variant": self.variant}

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:
        """`count` texts of at least `tokens` tokens. With more tokens each one is longer and begins the same."""
        characters = tokens * _CHARACTERS_PER_TOKEN
        return Corpus(documents=tuple(self._document(i, characters=characters, seed=seed) for i in range(count)))

    def _document(self, position: int, *, characters: int, seed: int) -> Document:
        coordinates = ("synthetic", seed, self.variant, *((position,) if position else ()))
        name = "-".join(str(part) for part in ("synthetic", self.variant, *coordinates[3:]))
        text = prose(seed=seed_of(*coordinates), characters=characters)
        return Document(document_id=name, title="Synthetic prose", text=text, endless=True)
