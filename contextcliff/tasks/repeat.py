"""Task `repeat`: copy a long list in which one item differs, and say where it stands.

After the repeated-words test of Chroma's "Context Rot" (Hong, Troynikov and Huber 2025), with numbered lines, so that
the place can be named without counting. Nothing has to be found or understood, so that length alone makes it hard.
Scored by the share of lines that are copied, and 0 where the odd line is not named or lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from contextcliff.errors import ConfigError
from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Prompt, Recipe, Sample, Words
from contextcliff.seeding import digest_of, seed_of
from contextcliff.settings import settings
from contextcliff.tasks.grid import Depths, Maker
from contextcliff.tasks.needles.values import tag_without_value
from contextcliff.tasks.task import Materials, ScoringContext, Traits
from contextcliff.text.tokens import Tokenizer, tokenise
from contextcliff.text.words import as_typed

_LINE = re.compile(r"\W*+(\d++)[.):]\s*+(.*\w|)")  # possessive: no character is tried twice
_ODD = re.compile(r"odd\s+(?:line|one|item)\D{0,40}(\d+)", re.IGNORECASE)
_CONTROL_LINES = 8
_ANSWER_MARGIN = 1.1
_ANSWER_EXTRA_TOKENS = 32
_ODD_EXTRA_TOKENS = 4


@settings
class Pair:
    """The line that is repeated, and the one that differs."""

    common: Annotated[str, Field(min_length=1)]
    odd: Annotated[str, Field(min_length=1)]


@settings
class Repeat(Depths):
    """A grid of lengths and depths (of the odd line); each sample draws one of `pairs`."""

    name = "repeat"

    instruction: str
    """Stands before the list."""
    answer_format: str
    """Stands after the list."""
    pairs: Annotated[tuple[Pair, ...], Field(min_length=1)]

    @property
    def traits(self) -> Traits:
        return replace(super().traits, takes_texts=False)

    def answer_tokens(self, context_tokens: int) -> int:
        return round(_ANSWER_MARGIN * context_tokens) + _ANSWER_EXTRA_TOKENS

    @property
    def most_blocks(self) -> int:
        """A block for each pair: a list that comes again is no further evidence."""
        return min(super().most_blocks, len(self.pairs))

    def maker(self, materials: Materials) -> ListMaker:
        return ListMaker(task=self, materials=materials)

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:  # noqa: ARG002
        """The share of lines copied in their place, where the odd one is among them and is named."""
        return score_copy(generation.text, expected=sample.answers[0], cut_off=generation.finish_reason == "length")

    def ask(self, materials: Materials, context_tokens: int, depth: float, trial: int) -> Iterator[Sample]:
        """The list of one length, depth and trial; the trials of a place go through the pairs."""
        texts = [[pair.common, pair.odd] for pair in self.pairs]
        asked = digest_of(texts, self.instruction, self.answer_format)
        coordinates = (materials.seed, self.name, asked, context_tokens, depth, trial)
        seed = seed_of(*coordinates)
        first = seed_of(materials.seed, self.name, asked, context_tokens, depth)
        pair = self.pairs[(first + trial) % len(self.pairs)]
        lines = self._lines_for(pair, context_tokens, materials.tokenizer)
        sheet = Sheet(pair=pair, lines=lines, odd_line=_line_at(depth, lines))
        sample = replace(
            self._sample(materials, sheet, sheet.text),
            sample_id=f"repeat-{context_tokens:06d}-d{depth:.3f}-t{trial:02d}-{digest_of(*coordinates)[:8]}",
            context_tokens=context_tokens,
            depth=depth,
            trial=trial,
            seed=seed,
            answer_tokens=self.answer_tokens(context_tokens),
        )
        yield sample
        if self.controls:
            few = Sheet(pair=pair, lines=_CONTROL_LINES, odd_line=_line_at(depth, _CONTROL_LINES))
            yield replace(self._sample(materials, few, few.text), control="ceiling")
            yield replace(self._sample(materials, few, few.bare), control="floor")

    def _sample(self, materials: Materials, sheet: Sheet, text: str) -> Sample:
        """A sample of a list by itself, as a control is asked it."""
        prompt = self._framed(text)
        identity = digest_of(self.name, prompt, sheet.odd_line)
        tokens = materials.tokenizer.count_prompt(Prompt(user=prompt))
        return Sample(
            sample_id=f"repeat-control-{identity[:16]}",
            task=self.name,
            context_tokens=tokens,
            built_tokens=tokens,
            depth=None,
            trial=0,
            document_id=f"list of {sheet.pair.common}",
            question=self.answer_format,
            answers=(sheet.reply,),
            recipe=Recipe(user=(Words(text=prompt),)),
            seed=seed_of(identity),
            metadata={"lines": sheet.lines},
            answer_tokens=self.answer_tokens(tokens),
        )

    def _framed(self, text: str) -> str:
        return f"{self.instruction}\n\n{text}\n\n{self.answer_format}"

    def _lines_for(self, pair: Pair, context_tokens: int, tokenizer: Tokenizer) -> int:
        """Most lines that fit; raises `ConfigError` where hardly any do."""
        budget = context_tokens - tokenizer.count_prompt(Prompt(user=self._framed("")))
        most = max(1, budget // 2)
        long = tokenise(Sheet(pair=pair, lines=most, odd_line=most).text, tokenizer)
        ends = [match.start() for match in re.finditer(r"\n", long.text)]
        fitting = sum(long.tokens_between(0, end) <= budget - _ODD_EXTRA_TOKENS for end in ends)
        if fitting < _CONTROL_LINES:
            raise ConfigError(
                f"task.lengths: {context_tokens:,} is too short: {max(0, fitting)} lines fit beside template and "
                f"instruction, and {_CONTROL_LINES} are the fewest; ask for longer ones"
            )
        return fitting


@dataclass(frozen=True, kw_only=True, slots=True)
class ListMaker(Maker):
    """Makes the samples of a run."""

    task: Repeat
    materials: Materials

    def make(self, *, context_tokens: int, depth: float | None, trial: int) -> Iterator[Sample]:
        return self.task.ask(self.materials, context_tokens, depth or 0.0, trial)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sheet:
    """A list of numbered lines, one of them odd."""

    pair: Pair
    lines: int
    odd_line: int

    @property
    def text(self) -> str:
        """The list as it is given and is to be copied."""
        return self._numbered(self.pair.odd)

    @property
    def bare(self) -> str:
        """The list without its odd line."""
        return self._numbered(self.pair.common)

    @property
    def reply(self) -> str:
        """A perfect answer."""
        return f"{self.text}\nOdd line: {self.odd_line}"

    def _numbered(self, odd: str) -> str:
        items = (odd if line == self.odd_line else self.pair.common for line in range(1, self.lines + 1))
        return "\n".join(f"{line}. {item}" for line, item in enumerate(items, start=1))


def score_copy(answer: str, *, expected: str, cut_off: bool) -> Score:
    """Compare a copied list with the expected reply, line by number.

    0 with a tag where the odd line isn't named (`no_place`), is named wrong (`wrong_place`), or is not copied in its
    place (`odd_lost`); else the share of lines copied, tagged `incomplete` or `miscopied` below 1.
    """
    text = as_typed(answer).strip()
    wanted, odd_line = _lines(as_typed(expected)), _ODD.findall(expected)[-1]
    copied, named = _lines(text), _ODD.findall(text)
    if not named:
        tag = "no_place" if copied and not cut_off else tag_without_value(text, cut_off=cut_off)
        return Score(value=0.0, prediction=text, failure=tag)
    if named[-1] != odd_line:
        return Score(value=0.0, prediction=f"odd line {named[-1]}", failure="wrong_place")
    if copied.get(odd_line) != wanted[odd_line]:
        return Score(value=0.0, prediction=f"odd line {named[-1]}", failure="odd_lost")
    value = sum(copied.get(line) == item for line, item in wanted.items()) / len(wanted)
    failure = None if value == 1.0 else "incomplete" if cut_off else "miscopied"
    return Score(value=value, prediction=f"odd line {named[-1]}", failure=failure)


def _lines(text: str) -> dict[str, str]:
    found = (_LINE.match(line) for line in text.splitlines())
    return {line[1]: line[2].casefold() for line in found if line}


def _line_at(depth: float, lines: int) -> int:
    return 1 + round(depth * (lines - 1))
