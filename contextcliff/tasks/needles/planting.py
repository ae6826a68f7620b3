"""What the needle tasks share: facts planted in a haystack, and the controls that go with them.

A task of this kind says what is planted for one sample (`plant`) and what counts as found (`score`); the
grid, the cutting, the haystacks and the controls are here. A control asks the same question over the
evidence alone (its score is the ceiling) or over the bare haystack at the shortest length (the floor).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter
from typing import ClassVar, Literal

from contextcliff.records.corpus import Document
from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Sample
from contextcliff.seeding import digest_of, seed_of
from contextcliff.settings import Count, settings
from contextcliff.tasks.grid import WHICH_SAMPLES, DesignedLengths
from contextcliff.tasks.needles.haystack import FRESH_CHARACTERS, Haystack, prepare, prepare_fresh
from contextcliff.tasks.needles.planter import Planted, Planter, SampleSite
from contextcliff.tasks.needles.values import score_value
from contextcliff.tasks.prose_sources import several_texts
from contextcliff.tasks.task import ContextBudget, Materials, ScoringContext, Traits, configured
from contextcliff.text.value_forms import ValueForm

_CHARACTERS_PER_TOKEN = 8
"""As an endless text counts them, with a margin."""
_MISPLACED = 0.2
"""Of the text, where one depth is asked for, or none."""


@settings
class PlantingTask(DesignedLengths):
    """A grid of lengths and places over `haystacks` stretches of text, with `trials` samples a cell."""

    inert: ClassVar[Mapping[str, object]] = {}
    """Options, by their key in the task, with the value that changes nothing: with it they are left out of what a
    sample is."""

    haystacks: Count | Literal["fresh"] = 1
    """Different stretches of the text, or `fresh`: every sample starts at another sentence of it."""
    instruction: str
    """Stands before the text."""
    answer_format: str
    """Stands after the question."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.trials == "auto" and 1 < self.texts < self.trials_in_block:
            raise ValueError(
                f"task.haystacks={self.haystacks}: a block of the search takes {self.trials_in_block}, since each "
                f"trial has its own; give {self.trials_in_block} or more, fresh, or 1"
            )

    @property
    def trials_in_block(self) -> int:
        """One where there are several haystacks and no depths: a block is then a sample of a haystack."""
        return 1 if self.texts > 1 and self.places == (None,) else super().trials_in_block

    @property
    def traits(self) -> Traits:
        traits, unused = super().traits, [key for key, value in self.inert.items() if attrgetter(key)(self) == value]
        more = f"{traits.more_samples} and task.haystacks, or take task.haystacks=fresh"
        return replace(
            traits,
            texts=self.texts,
            takes_any_prose=True,
            begins_anywhere=self.haystacks == "fresh",
            more_samples=traits.more_samples if self.texts == 1 else more,
            idle=(*traits.idle, *(key.rpartition(".")[2] for key in unused)),
        )

    @property
    def texts(self) -> int:
        return 1 if self.haystacks == "fresh" else self.haystacks

    def text_tokens(self, context_budget: ContextBudget) -> int:
        """The longest length; where contexts begin anywhere, what of an endless text they can begin in too."""
        extra = FRESH_CHARACTERS // _CHARACTERS_PER_TOKEN if self.haystacks == "fresh" else 0
        return super().text_tokens(context_budget) + extra

    @property
    def shares_context(self) -> bool:
        """Whether all depths of a length and trial ask of one context."""
        return False

    def asked(self) -> Mapping[str, object]:
        """What of the configuration determines a single sample."""
        return configured(self, but=(*WHICH_SAMPLES, *self.traits.not_asked, *self.traits.idle))

    def check_text(self, text: str) -> None:
        """Raise `ConfigError` for a text that gives the answer by itself, where no other draw can help."""

    @abstractmethod
    def plant(self, site: SampleSite) -> Planted:
        """Draw what one sample hides and asks; pure."""

    def haystack_of(self, depth: float | None, trial: int) -> int:
        """Which haystack a sample is cut from: the trials of a depth go round, from where the depth starts them."""
        first = 0 if self.trials == "auto" else seed_of("haystack", depth)
        return (first + trial) % self.texts

    @property
    def block_evidence(self) -> int:
        """A trial is one piece where its depths share a haystack or a context."""
        return self.trials_in_block if self.texts > 1 or self.shares_context else super().block_evidence

    @property
    def most_blocks(self) -> int:
        """A trial for each haystack, where there are several: one that comes again is no further evidence."""
        most = super().most_blocks
        return min(most, self.texts // self.trials_in_block) if self.texts > 1 else most

    def text_holds(self, materials: Materials) -> int | None:
        texts = self._texts(materials)
        if materials.corpus.filler or any(document.endless for document in texts):
            return None
        longest = max(self.lengths_in(materials.context_budget))
        return self.held([prepare(document, tokens=longest, tokenizer=materials.tokenizer) for document in texts])

    def held(self, haystacks: Sequence[Haystack]) -> int:
        """Tokens that one of the haystacks has, or each of them where samples go round them."""
        tokens = [haystack.tokens_of_text for haystack in haystacks]
        return max(tokens) if self.haystacks == "fresh" else min(tokens)

    def maker(self, materials: Materials) -> Planter:
        haystacks = self._haystacks(self._texts(materials), materials)
        longest = max(self.lengths_in(materials.context_budget))
        filler = materials.corpus.filler if self.held(haystacks) < longest else ()
        return Planter(
            task=self,
            materials=materials,
            haystacks=haystacks,
            filler=self._haystacks(filler, materials),
            asked=digest_of(dict(self.asked())),
        )

    def _haystacks(self, texts: Sequence[Document], materials: Materials) -> tuple[Haystack, ...]:
        longest = max(self.lengths_in(materials.context_budget))
        ready = prepare_fresh if self.haystacks == "fresh" else prepare
        haystacks = tuple(ready(document, tokens=longest, tokenizer=materials.tokenizer) for document in texts)
        for haystack in haystacks:
            self.check_text(
                haystack.text.text if self.haystacks == "fresh" else haystack.text.text[: haystack.end_for(longest)]
            )
        return haystacks

    def _texts(self, materials: Materials) -> tuple[Document, ...]:
        count = len(materials.corpus.documents) if self.haystacks == "fresh" else self.haystacks
        return several_texts(materials.corpus, task=self.name, count=count)

    def misplaced(self) -> float:
        """From how far on a needle stands at another depth than its own, as a share of the text.

        That is the distance between two depths that are asked for.
        """
        depths = sorted({depth for depth in self.places if depth is not None})
        return min((right - left for left, right in pairwise(depths)), default=_MISPLACED)


def score_planted(
    sample: Sample, generation: Generation, context: ScoringContext, form: ValueForm, *, may_hedge: bool = False
) -> Score:
    """1 where the one value that was asked for stands in the answer, and none of the context's others.

    With `may_hedge` the others may stand beside it.
    """
    return score_value(
        generation.text,
        expected=sample.answers[0],
        form=form,
        distractors=sample.reference.distractors,
        foreign=context.foreign_answers,
        cut_off=generation.finish_reason == "length",
        question=sample.question,
        may_hedge=may_hedge,
    )
