"""Task `repeat`: copy a long list in which one item differs, and say where it stands.

After the repeated-words test of Chroma's "Context Rot" (Hong, Troynikov and Huber 2025), with numbered lines, so that
the place can be named without counting. Nothing has to be found or understood, so that length alone makes it hard.
Scored by the share of lines that are copied, and 0 where the odd line is not named or lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Prompt, Recipe, Sample, Words, render
from contextcliff.seeding import digest_of, seed_of
from contextcliff.settings import settings
from contextcliff.tasks.fit import fit
from contextcliff.tasks.grid import Depths
from contextcliff.tasks.task import Maker, Materials, ScoringContext, Traits, control_of, sample_at
from contextcliff.tasks.values import tag_without_value
from contextcliff.text.tokens import tokenise
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
        return score_copy(generation, expected=sample.answers[0])


@dataclass(frozen=True, kw_only=True, slots=True)
class ListMaker(Maker):
    """Makes the samples of a run; the trials of a place go through the pairs."""

    task: Repeat
    materials: Materials

    def make(self, *, context_tokens: int, depth: float | None, trial: int) -> Iterator[Sample]:
        task, place = self.task, depth or 0.0
        asked = digest_of([[pair.common, pair.odd] for pair in task.pairs], task.instruction, task.answer_format)
        cell = (self.materials.seed, task.name, asked, context_tokens, place)
        pair = task.pairs[(seed_of(*cell) + trial) % len(task.pairs)]
        lines = self._lines_for(pair, context_tokens)
        sheet = Sheet(pair=pair, lines=lines, odd_line=_line_at(place, lines))
        recipe, tokens = self._asking(sheet.text)
        sample = sample_at(
            task,
            (*cell, trial),
            context_tokens=context_tokens,
            depth=place,
            trial=trial,
            built_tokens=tokens,
            document_id=f"list of {pair.common}",
            question=task.answer_format,
            answers=(sheet.reply,),
            recipe=recipe,
            metadata={"lines": lines},
            answer_tokens=task.answer_tokens(context_tokens),
        )
        yield sample
        if task.controls:
            few = Sheet(pair=pair, lines=_CONTROL_LINES, odd_line=_line_at(place, _CONTROL_LINES))
            sample = replace(sample, answers=(few.reply,))
            yield self._control(sample, "ceiling", few, few.text)
            yield self._control(sample, "floor", few, few.bare)

    def _control(self, sample: Sample, kind: Literal["ceiling", "floor"], few: Sheet, text: str) -> Sample:
        recipe, tokens = self._asking(text)
        identity = (render(recipe, {}).user, few.odd_line)
        control = control_of(sample, kind, identity, recipe=recipe, tokens=tokens, named="control")
        return replace(control, metadata={"lines": few.lines}, answer_tokens=self.task.answer_tokens(tokens))

    def _asking(self, text: str) -> tuple[Recipe, int]:
        prompt = f"{self.task.instruction}\n\n{text}\n\n{self.task.answer_format}"
        return Recipe(user=(Words(text=prompt),)), self.materials.tokenizer.count_prompt(Prompt(user=prompt))

    def _lines_for(self, pair: Pair, context_tokens: int) -> int:
        """Most lines that fit; raises `ConfigError` where hardly any do."""
        _, framing = self._asking("")
        most = max(_CONTROL_LINES, (context_tokens - framing) // 2)
        long = tokenise(Sheet(pair=pair, lines=most + 1, odd_line=most + 1).text, self.materials.tokenizer)
        ends = [match.start() for match in re.finditer(r"\n", long.text)]

        def tokens_of(lines: int) -> int:
            return framing + _ODD_EXTRA_TOKENS + long.tokens_between(0, ends[lines - 1])

        return fit(tokens_of, context_tokens, least=_CONTROL_LINES, most=most)


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


def score_copy(generation: Generation, *, expected: str) -> Score:
    """Compare a copied list with the expected reply, line by number.

    0 with a tag where the odd line isn't named (`no_place`), is named wrong (`wrong_place`), or is not copied in its
    place (`odd_lost`); else the share of lines copied, tagged `incomplete` or `miscopied` below 1.
    """
    text, cut_off = as_typed(generation.text).strip(), generation.finish_reason == "length"
    wanted, odd_line = _lines(as_typed(expected)), _ODD.findall(expected)[-1]
    copied, named = _lines(text), _ODD.findall(text)
    if not named:
        tag = "no_place" if copied and not cut_off else tag_without_value(replace(generation, text=text))
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
