"""Dataset `synthetic`: prose without end, from a seed, so that no haystack runs short."""

from __future__ import annotations

from collections.abc import Mapping

from contextcliff.records.corpus import Corpus, Document
from contextcliff.seeding import seed_of
from contextcliff.settings import NonNegativeInt, settings
from contextcliff.text.prose import prose

_CHARACTERS_A_TOKEN = 8
"""English comes to 4-5 characters a token in every common vocabulary; the rest is margin."""


@settings
class Synthetic:
    """As much generated prose as the longest prompt takes. `variant` gives another text for the same run seed."""

    variant: NonNegativeInt = 0

    @property
    def name(self) -> str:
        """Name in reports."""
        return "synthetic"

    def identity(self) -> Mapping[str, object]:
        """The variant; the run's seed is in the fingerprint already."""
        return {"dataset": self.name, "variant": self.variant}

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:
        """So many documents, of each of which a longer run's is a continuation."""
        characters = tokens * _CHARACTERS_A_TOKEN
        return Corpus(documents=tuple(self._document(i, characters=characters, seed=seed) for i in range(count)))

    def _document(self, position: int, *, characters: int, seed: int) -> Document:
        coordinates = ("synthetic", seed, self.variant, *((position,) if position else ()))
        name = "-".join(str(part) for part in ("synthetic", self.variant, *coordinates[3:]))
        text = prose(seed=seed_of(*coordinates), characters=characters)
        return Document(document_id=name, title="Synthetic prose", text=text)
