"""What a needle task is given for one sample, and what it hides and asks there."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from contextcliff.tasks.needles.haystack import Fact
from contextcliff.text.tokens import TokenisedText


@dataclass(frozen=True, kw_only=True, slots=True)
class SampleSite:
    """Where a sample stands. `seed` is its own; `context_seed` is shared by all depths of its length and trial."""

    seed: int
    context_seed: int
    context_tokens: int
    depth: float | None
    trial: int
    text: TokenisedText
    end: int
    """Characters of `text` that a prompt of this length can hold."""

    def holds(self, words: str) -> bool:
        """Whether the text of a prompt of this length holds these words already."""
        return self.text.text.find(words, 0, self.end) >= 0

    def rng(self) -> random.Random:
        """Draws for this sample."""
        return random.Random(self.seed)

    def context_rng(self) -> random.Random:
        """Draws for everything that samples of one context share."""
        return random.Random(self.context_seed)


@dataclass(frozen=True, kw_only=True, slots=True)
class Planted:
    """What one sample hides and asks. `evidence` are the positions in `facts` that the answer needs."""

    facts: tuple[Fact, ...]
    evidence: tuple[int, ...]
    question: str
    answers: tuple[str, ...]
    distractors: tuple[str, ...] = ()
    metadata: Mapping[str, str | int | float] = field(default_factory=dict)
    context: str = ""
    """Names the context where several samples ask of the same one."""
    context_questions: tuple[str, ...] = ()
    """All questions of that context: it is cut for the longest, so that it is the same for each."""
    redrawn: int = 0
    """Draws that the text held already."""
