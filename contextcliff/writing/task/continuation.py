"""Task `continuation`: go on with a long text as its author would, and be measured against the author.

Every length goes on from the same point of the text, `rounds` times with fresh seeds. A score is 1 − calibrated
composite / 100. The cap is tested on the share of rounds that are healthy: a mean hides collapse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Annotated

from pydantic import Field

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Document, Span
from contextcliff.records.generation import Generation, Score
from contextcliff.records.note import Note
from contextcliff.records.sample import Passage, Prompt, Recipe, Reference, Sample, Words
from contextcliff.seeding import digest_of, seed_of
from contextcliff.settings import Count, Fraction, GivenPath, Int, NonNegativeInt, PositiveInt, settings
from contextcliff.tasks.grid import refuse_twice
from contextcliff.tasks.needles.haystack import SEAM_TOKENS
from contextcliff.tasks.task import UNJUDGED, ContextBudget, Materials, ScoringContext, Task, TaskPlan, Traits, one_text
from contextcliff.writing.author_norms import FEWEST_WINDOWS, author_windows, author_z
from contextcliff.writing.measures.readability import WordList, dale_chall, word_list_of
from contextcliff.writing.task.continuation_contexts import context_tiers, points_for, start_notes, starts_for
from contextcliff.writing.task.continuation_scoring import compared_sentences, score_continuation

POINT = "continuation_point"
"""The key of `Sample.metadata` that holds the character at which the prompt ends."""


_FEWEST_TOKENS = 64
"""A shorter continuation has too few words to be measured."""
_WINDOW_SHARE = 4
"""An answer takes a quarter of the window at most."""


@settings
class Continuation(Task):
    """`rounds` continuations at every context length from `start_context` to `max_context`."""

    name = "continuation"
    claim = Note("In a writing test {whether}the model keeps {share} rounds healthy in prompts of {lengths}")
    traits = Traits(
        count_key="task.rounds",
        more_samples="raise task.rounds",
        cap_quantity="healthy",  # a mean hides collapse: a round is fine, or it is not
        graded=True,
        reads_documents=True,  # prose is measured against the author's own
        has_references=False,
        embeds_texts=True,
        findings=("writing",),
        not_asked=(*UNJUDGED, "min_tokens_fraction", "word_list"),
    )

    lengths: tuple[PositiveInt, ...] = ()
    """Context lengths given outright, text, template, instruction and answer together; none: the tiers below."""
    start_context: PositiveInt
    """The shortest; never under twice the answer."""
    max_context: PositiveInt | None = None
    """The longest; None: the model's window."""
    divisions: NonNegativeInt = 0
    """Geometric points inside each octave: 0 or a power of two."""
    rounds: Count
    max_tokens: Annotated[Int, Field(ge=_FEWEST_TOKENS)]
    """Tokens of a continuation; less where that is over a quarter of the window."""
    min_tokens_fraction: Fraction
    """A continuation with a smaller share of them is `too_short`: tagged, and kept."""
    word_list: GivenPath | None = None
    """A file of familiar words, one a line, in the place of the Dale-Chall list."""
    instruction: Annotated[str, Field(min_length=1)]
    """Stands before the text, so that the prompt ends where the author went on."""
    reminder: str = ""
    """Stands after the text, where a model needs to be told again."""

    def __post_init__(self) -> None:
        refuse_twice("task.lengths", self.lengths, more="task.rounds")
        self.familiar()

    def familiar(self) -> WordList:
        """The words that count as familiar. Raises `ConfigError` for a list that can't be read."""
        if self.word_list is None:
            return dale_chall()
        file = Path(self.word_list).expanduser()
        try:
            return _word_list(file, file.stat().st_mtime_ns)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "is no UTF-8 text"
            raise ConfigError(f"task.word_list={self.word_list}: {reason}; give a file with one word a line") from error

    def longest_answer(self, context_budget: ContextBudget) -> int:
        return min(self.max_tokens, context_budget.context_window // _WINDOW_SHARE)

    def longest_context(self, context_budget: ContextBudget) -> int:
        return max(self.tiers(context_budget)) - self._generated(context_budget)

    def tiers(self, context_budget: ContextBudget) -> tuple[int, ...]:
        """Context lengths, answers included. Raises `ConfigError` where the window holds none."""
        longest = context_budget.context_window if self.max_context is None else self.max_context
        if max(longest, *self.lengths, 0) > context_budget.context_window:
            asked = f"task.max_context={longest:,}" if longest > context_budget.context_window else "task.lengths"
            raise ConfigError(
                f"{asked}: longer than model.context_window={context_budget.context_window:,}; ask for shorter contexts"
            )
        if self.lengths:
            answer = self._generated(context_budget)
            least = 2 * answer
            short = next((length for length in sorted(self.lengths) if length < least), None)
            if short is not None:
                raise ConfigError(
                    f"task.lengths: {short:,} tokens are under twice the answer of {answer:,}; "
                    "lower task.max_tokens, or ask for longer contexts"
                )
            return tuple(sorted(self.lengths))
        answer, divisions = self._generated(context_budget), self.divisions
        return context_tiers(start=self.start_context, longest=longest, divisions=divisions, answer_tokens=answer)

    def build(self, materials: Materials) -> TaskPlan:
        context_budget, document = materials.context_budget, one_text(materials.corpus, task=self.name)
        answer, tiers = self.longest_answer(context_budget), self.tiers(context_budget)
        frame = materials.tokenizer.count_prompt(Prompt(user=self._before + self.reminder))
        taken = frame + self._generated(context_budget) + SEAM_TOKENS
        source, points = points_for(
            document, materials.tokenizer, before_tokens=max(tiers) - answer, answer_tokens=answer
        )
        held = source.text.tokens_between(0, points[-1])
        fitting = [tier for tier in tiers if 0 < tier - taken <= held]
        if not fitting:
            raise ConfigError(
                f"dataset: {document.title} has {held:,} tokens before its last possible continuation point, and the "
                f"smallest context of {tiers[0]:,} needs {max(1, tiers[0] - taken):,}; give a longer text "
                "(dataset.path), or lower task.max_tokens and task.start_context"
            )
        # Template, instruction and thinking are left out of account, so that they don't move the point.
        far_enough = (at for at in points if source.text.tokens_between(0, at) >= fitting[-1] - answer)
        point = next(far_enough, points[-1])
        span = Span(start=point, end=source.text.end_for(point, answer))
        self._refuse_unknown_author(document, characters=span.end - span.start)
        starts = starts_for(source, point, fitting, taken=taken)
        left_out = [
            f"the text is too short for contexts of {tier:,} tokens: they are left out; they need {tier - taken:,} "
            f"tokens before a point to go on from, and the last such point of {document.title} has {held:,}"
            for tier in tiers
            if tier not in fitting
        ]
        built = {start: frame + source.text.tokens_between(start, point) for start in starts.values()}
        samples = (
            self._sample(trial, tokens, start, span, materials, built_tokens=built[start])
            for tokens, start in starts.items()
            for trial in range(self.rounds)
        )
        notes = (*self._notes(context_budget, document, point, tiers), *start_notes(source, starts), *left_out)
        return TaskPlan(samples=tuple(samples), notes=notes)

    def _sample(
        self, trial: int, context_tokens: int, start: int, original: Span, materials: Materials, *, built_tokens: int
    ) -> Sample:
        answer, point = self.longest_answer(materials.context_budget), original.start
        (document,) = materials.corpus.documents
        text = Passage(document_id=document.document_id, start=start, end=point)
        reminder = (Words(text=self.reminder),) if self.reminder else ()
        # Room for thinking makes the text shorter.
        thinking = materials.context_budget.thinking_tokens
        asked = [self.instruction, self.reminder, answer, point, *([thinking] if thinking else [])]
        context = (materials.seed, self.name, asked, materials.text_identity, context_tokens, trial)
        return Sample(
            sample_id=f"{self.name}-{context_tokens:06d}-r{trial:02d}-{digest_of(*context)[:8]}",
            task=self.name,
            context_tokens=context_tokens,
            built_tokens=built_tokens,
            depth=None,
            trial=trial,
            document_id=document.document_id,
            question=self.instruction,
            answers=(),
            recipe=Recipe(user=(Words(text=self._before), text, *reminder)),
            seed=seed_of(*context),
            metadata={POINT: point},
            reference=Reference(evidence=(original,)),
            answer_tokens=answer,
        )

    def texts_to_embed(self, sample: Sample, generation: Generation, context: ScoringContext) -> tuple[str, ...]:
        return tuple(chain(*compared_sentences(sample, generation, context)))

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:
        least = self.min_tokens_fraction * (sample.answer_tokens or self.max_tokens)
        return score_continuation(sample, generation, context, word_list=self.familiar(), least_tokens=least)

    def author(self, texts: Sequence[str], document: Document) -> Mapping[str, Sequence[float]]:
        characters = round(fmean(len(text.strip()) for text in texts))
        return author_z(document.text, document.language, self.familiar(), characters)

    @property
    def _before(self) -> str:
        return f"{self.instruction}\n\n"

    def _generated(self, context_budget: ContextBudget) -> int:
        return self.longest_answer(context_budget) + context_budget.thinking_tokens

    def _refuse_unknown_author(self, document: Document, *, characters: int) -> None:
        windows = author_windows(document.text, language=document.language, characters=characters)
        if len(windows) < FEWEST_WINDOWS:
            raise ConfigError(
                f"dataset: {document.title} has {len(document.text):,} characters, and {len(windows)} windows of "
                f"{characters:,} from sentence to sentence, too few: its author is known by {FEWEST_WINDOWS}; give a "
                "longer text (dataset.path), or lower task.max_tokens"
            )

    def _notes(
        self, context_budget: ContextBudget, document: Document, point: int, tiers: Sequence[int]
    ) -> tuple[str, ...]:
        answer = self.longest_answer(context_budget)
        notes = [
            f"all contexts end at character {point:,} of {document.title}; what is found is about this text and "
            "this point of it",
            f"a context length holds the answer too ({answer:,} tokens), so that its prompts are shorter by as much",
        ]
        if answer < self.max_tokens:
            notes.append(f"answers take {answer:,} tokens, a quarter of the window, and not {self.max_tokens:,}")
        if not self.lengths and tiers[0] > self.start_context and tiers[0] != self.max_context:
            notes.append(
                f"the shortest context is {tiers[0]:,} tokens, not {self.start_context:,}: a power of two of at least "
                "twice the answer"
            )
        return tuple(notes)


@lru_cache(maxsize=4)
def _word_list(file: Path, _modified_ns: int) -> WordList:
    return word_list_of(file.read_text(encoding="utf-8-sig"), file.name)
