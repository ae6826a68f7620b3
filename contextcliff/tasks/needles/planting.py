"""What the needle tasks share: facts planted in a haystack, and the controls that go with them.

A task of this kind says what is planted for one sample (`plant`) and what counts as found (`score`); the
grid, the cutting, the haystacks and the controls are here. A control asks the same question over the
evidence alone (its score is the ceiling) or over the bare haystack at the shortest length (the floor).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from itertools import pairwise

from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Sample
from contextcliff.seeding import digest_of, seed_of
from contextcliff.settings import PositiveInt, settings
from contextcliff.tasks.grid import NOT_IN_A_SAMPLE, DesignedLengths
from contextcliff.tasks.needles.haystack import prepare
from contextcliff.tasks.needles.planter import Planted, Planter, SampleSite, planting_notes
from contextcliff.tasks.needles.values import ValueForm, score_value
from contextcliff.tasks.prose_sources import several_texts, unused_notes
from contextcliff.tasks.task import Lever, Materials, Raised, ScoringContext, TaskPlan, configured

_NOT_ASKED = (
    *("lengths", "length_grid", "length_fractions", "depths", "depth_grid", "trials"),
    *("reserve_tokens", "controls"),
    *NOT_IN_A_SAMPLE,
)
"""Keys that say which samples there are, and nothing of what one of them is."""
_MISPLACED = 0.2
"""Of the text, where one depth is asked for, or none."""


@settings
class PlantingTask(DesignedLengths):
    """A grid of lengths and places over `haystacks` stretches of text, with `trials` samples a cell."""

    haystacks: PositiveInt = 1
    """Different stretches of the text; eight or more make the result a general one."""
    instruction: str
    """Stands before the text."""
    answer_format: str
    """Stands after the question."""

    @property
    def texts(self) -> int:
        """A text for each haystack."""
        return self.haystacks

    @property
    def levers(self) -> tuple[Lever, ...]:
        """More haystacks too, where those that there are hold back what more samples of each can show."""
        return (*super().levers, Lever(now=self.haystacks, at=self._with_haystacks))

    def _with_haystacks(self, count: int) -> Raised:
        return Raised(override=f"task.haystacks={count}", task=self._with(haystacks=count))

    @property
    def places(self) -> tuple[float | None, ...]:
        """Depths of the grid; one None for a task that has no depth."""
        return (None,)

    def asked(self) -> Mapping[str, object]:
        """What of the configuration determines a single sample."""
        return configured(self, but=_NOT_ASKED)

    def check_text(self, text: str) -> None:
        """Raise `ConfigError` for a text that gives the answer by itself, where no other draw can help."""

    @abstractmethod
    def plant(self, site: SampleSite) -> Planted:
        """Draw what one sample hides and asks; pure."""

    def haystack_of(self, depth: float | None, trial: int) -> int:
        """Which haystack a sample is cut from: the trials of a depth go round, from where the depth starts them."""
        return (seed_of("haystack", depth) + trial) % self.haystacks

    def build(self, materials: Materials) -> TaskPlan:
        """One sample for each length, depth and trial, and their controls."""
        lengths = self.lengths_in(materials.context_budget)
        haystacks = [
            prepare(document, tokens=max(lengths), tokenizer=materials.tokenizer)
            for document in several_texts(materials.corpus, task=self.name, count=self.haystacks)
        ]
        for haystack in haystacks:
            self.check_text(haystack.text.text[: haystack.end_for(max(lengths))])
        planter = Planter(task=self, materials=materials, haystacks=haystacks, asked=digest_of(dict(self.asked())))
        made = [
            planter.make(context_tokens=length, depth=depth, trial=trial)
            for length in lengths
            for depth in self.places
            for trial in range(self.trials)
        ]
        controls = {control.sample_id: control for item in made for control in item.controls}
        return TaskPlan(
            samples=tuple(item.sample for item in made),
            controls=tuple(controls.values()),
            notes=(
                *unused_notes(materials.corpus, count=self.haystacks),
                *planting_notes(made, misplaced=self._misplaced()),
            ),
        )

    def _misplaced(self) -> float:
        """From how far on a needle stands at another depth than its own: that between two that are asked for."""
        depths = sorted({depth for depth in self.places if depth is not None})
        return min((right - left for left, right in pairwise(depths)), default=_MISPLACED)


def score_planted(sample: Sample, generation: Generation, context: ScoringContext, form: ValueForm) -> Score:
    """1 where the one value that was asked for stands in the answer, and none of the context's others."""
    return score_value(
        generation.text,
        expected=sample.answers[0],
        form=form,
        distractors=sample.reference.distractors,
        foreign=context.foreign_answers,
        cut_off=generation.finish_reason == "length",
    )
