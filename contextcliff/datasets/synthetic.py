"""Endless texts: generated prose (`synthetic`), plain sentences (`noise`) and needles alone (`needles`)."""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from typing import Literal

from contextcliff.records.corpus import Corpus, Document
from contextcliff.seeding import seed_of
from contextcliff.settings import NonNegativeInt, settings
from contextcliff.text.prose import prose
from contextcliff.text.sentences import ENDS
from contextcliff.text.value_forms import FORMS

_CHARACTERS_PER_TOKEN = 8
"""English has 4 to 5 characters per token in common vocabularies; the rest is margin."""


@settings
class Drawn:
    """A text for each seed and variant, as long as the longest prompt needs."""

    variant: NonNegativeInt = 0
    """Each number gives another text for the same run seed."""

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:
        characters = tokens * _CHARACTERS_PER_TOKEN
        return Corpus(documents=tuple(self._document(i, characters=characters, seed=seed) for i in range(count)))

    @abstractmethod
    def _document(self, position: int, *, characters: int, seed: int) -> Document: ...


@settings
class Synthetic(Drawn):
    """As much generated prose as the longest prompt needs."""

    name = "synthetic"

    def identity(self) -> Mapping[str, object]:
        return {"dataset": self.name, "variant": self.variant}

    def _document(self, position: int, *, characters: int, seed: int) -> Document:
        coordinates = ("synthetic", seed, self.variant, *((position,) if position else ()))
        name = "-".join(str(part) for part in ("synthetic", self.variant, *coordinates[3:]))
        text = prose(seed=seed_of(*coordinates), characters=characters)
        return Document(document_id=name, title="Synthetic prose", text=text, endless=True)


@settings
class Noise:
    """As many rounds of the sentences as the longest prompt needs, a line each. The noise of RULER (Hsieh et al. 2024,
    arXiv:2404.06654), whose sentences are others."""

    name = "noise"

    text: str

    def __post_init__(self) -> None:
        if not self.text.strip() or "\n" in self.text:
            raise ValueError(f"dataset.text={self.text!r}: must be one line of sentences; give such a one")

    def identity(self) -> Mapping[str, object]:
        return {"dataset": self.name, "text": self.text}

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:  # noqa: ARG002 - nothing is drawn
        rounds = tokens * _CHARACTERS_PER_TOKEN // (len(self.text) + 1) + 1
        text = "\n".join([self.text] * rounds)
        return Corpus(
            documents=tuple(
                Document(document_id=f"noise-{position}", title="Noise", text=text, endless=True)
                for position in range(count)
            )
        )


_LONGEST_WORD = 12
"""Characters of the coined words. A UUID is cut inside, where a text ends in one: it takes some thirty tokens."""


@settings
class NeedleText(Drawn):
    """Sentences of one template, each with a key and a value that no other has.

    The haystack of RULER's multikey 2 and 3 (Hsieh et al. 2024, arXiv:2404.06654). Its YAML takes template and kinds
    from the task, so that text and needle are of one form."""

    name = "needles"

    template: str
    key: Literal["word", "uuid"]
    value: Literal["number", "uuid", "word"]

    def __post_init__(self) -> None:
        missing = [name for name in ("{city}", "{number}") if name not in self.template]
        if missing:
            raise ValueError(f"dataset.template={self.template!r}: {' and '.join(missing)} must stand in it")

    def identity(self) -> Mapping[str, object]:
        return {"dataset": self.name, **asdict(self)}

    def _document(self, position: int, *, characters: int, seed: int) -> Document:
        rng = random.Random(seed_of("needles", seed, self.variant, self.key, self.value, position))
        sentence = self.template if self.template.endswith(ENDS) else f"{self.template}."
        drawn: set[str] = set()
        written: list[str] = []
        length = 0
        while length < characters:
            key, value = FORMS[self.key].draw(rng), FORMS[self.value].draw(rng)
            if key in drawn or value in drawn:
                continue
            drawn |= {key, value}
            written.append(sentence.replace("{city}", key).replace("{number}", value))
            length += len(written[-1]) + 1
        return Document(
            document_id=f"needles-{self.variant}-{position}",
            title="Needles",
            text=" ".join(written),
            endless=True,
            longest_word=_LONGEST_WORD,
        )
