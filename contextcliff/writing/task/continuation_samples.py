"""The samples of a continuation: every round of every length, from one point of one text."""

from __future__ import annotations

from dataclasses import dataclass

from contextcliff.records.corpus import Span
from contextcliff.records.sample import Passage, Recipe, Reference, Sample, Words
from contextcliff.seeding import digest_of, seed_of
from contextcliff.tasks.needles.haystack import Haystack
from contextcliff.tasks.task import Materials
from contextcliff.writing.task.continuation_contexts import Origin, Reach

POINT = "continuation_point"
"""The key of `Sample.metadata` that holds the character at which the prompt ends."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ContinuationMaker:
    """Makes the samples that go on from one point."""

    name: str
    instruction: str
    reminder: str
    n_rounds: int
    materials: Materials
    origin: Origin
    answer_tokens: int
    frame_tokens: int
    reference: Span

    def rounds(self, reach: Reach) -> tuple[Sample, ...]:
        """One tier."""
        source: Haystack = self.origin.source
        point, document = self.origin.point, source.document
        start, context_tokens = reach.start, reach.context_tokens
        pieces: list[Words | Passage] = [
            Words(text=f"{self.instruction}\n\n"),
            Passage(document_id=document.document_id, start=start, end=point),
        ]
        if self.reminder:
            pieces.append(Words(text=self.reminder))
        recipe = Recipe(user=tuple(pieces))
        built = self.frame_tokens + source.text.tokens_between(start, point)
        # Room for thinking makes the text shorter.
        thinking = self.materials.context_budget.thinking_tokens
        asked = [self.instruction, self.reminder, self.answer_tokens, point, *([thinking] if thinking else [])]
        context = (self.materials.seed, self.name, asked, self.materials.text_identity, context_tokens)
        return tuple(
            Sample(
                sample_id=f"{self.name}-{context_tokens:06d}-r{trial:02d}-{digest_of(*context, trial)[:8]}",
                task=self.name,
                context_tokens=context_tokens,
                built_tokens=built,
                depth=None,
                trial=trial,
                document_id=document.document_id,
                question=self.instruction,
                answers=(),
                recipe=recipe,
                seed=seed_of(*context, trial),
                metadata={POINT: point},
                reference=Reference(evidence=(self.reference,)),
                answer_tokens=self.answer_tokens,
            )
            for trial in range(self.n_rounds)
        )
