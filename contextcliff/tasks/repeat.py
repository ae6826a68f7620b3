"""Task `repeat`: copy a long list in which one item differs, and say where it stands.

After the repeated-words test of Chroma's "Context Rot" (Hong, Troynikov and Huber 2025), with numbered lines. Nothing
has to be found or understood, so that length alone makes it hard. Scored by the share of lines that are copied, and 0
where the odd line is not named or lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from contextcliff.records.generation import Generation, Score
from contextcliff.records.note import Note
from contextcliff.records.sample import Prompt, Recipe, Sample, Words, render
from contextcliff.seeding import digest_of, seed_of
from contextcliff.settings import settings
from contextcliff.tasks.grid import Depths, fit
from contextcliff.tasks.task import Cell, Maker, Materials, ScoringContext, Traits, control_of, sample_at
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
    claim = Note("In a copying test {whether}the model earns {share} points in prompts of {lengths}")

    instruction: str
    answer_format: str
    pairs: Annotated[tuple[Pair, ...], Field(min_length=1)]

    @property
    def traits(self) -> Traits:
        return replace(super().traits, takes_texts=False)

    def answer_tokens(self, context_tokens: int) -> int:
        return round(_ANSWER_MARGIN * context_tokens) + _ANSWER_EXTRA_TOKENS

    def maker(self, materials: Materials) -> ListMaker:
        return ListMaker(task=self, materials=materials)

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:  # noqa: ARG002
        """The share of lines copied in their place, where the odd one is among them and is named.

        0 with a tag where the odd line isn't named (`no_place`), is named wrong (`wrong_place`), or is not copied in
        its place (`odd_lost`); below 1 else tagged `incomplete` or `miscopied`."""
        text, cut_off = as_typed(generation.text).strip(), generation.finish_reason == "length"
        expected = sample.answers[0]
        wanted, odd_line = _lines(as_typed(expected)), _ODD.findall(expected)[-1]
        copied, named = _lines(text), _ODD.findall(text)
        if not named:
            tag = "no_place" if copied and not cut_off else tag_without_value(replace(generation, text=text))
            return Score(value=0.0, prediction=text, failure=tag)
        value, failure = 0.0, "wrong_place"
        if named[-1] == odd_line:
            failure = "odd_lost"
            if copied.get(odd_line) == wanted[odd_line]:
                value = sum(copied.get(line) == item for line, item in wanted.items()) / len(wanted)
                failure = "incomplete" if cut_off else "miscopied"
        return Score(value=value, prediction=f"odd line {named[-1]}", failure=None if value == 1.0 else failure)


@dataclass(frozen=True, kw_only=True, slots=True)
class ListMaker(Maker):
    task: Repeat
    materials: Materials

    def make(self, at: Cell) -> Iterator[Sample]:
        task, (context_tokens, depth, trial) = self.task, at
        place = depth or 0.0
        asked = digest_of([[pair.common, pair.odd] for pair in task.pairs], task.instruction, task.answer_format)
        cell = (self.materials.seed, task.name, asked, context_tokens, place)
        pair = task.pairs[(seed_of(*cell) + trial) % len(task.pairs)]
        lines = self._lines_for(pair, context_tokens)
        text, odd_line = _listed(pair, lines, place)
        recipe, tokens = self._asking(text)
        sample = sample_at(
            task,
            (*cell, trial),
            at,
            built_tokens=tokens,
            document_id=f"list of {pair.common}",
            question=task.answer_format,
            answers=(f"{text}\nOdd line: {odd_line}",),
            recipe=recipe,
            metadata={"lines": lines},
            answer_tokens=task.answer_tokens(context_tokens),
        )
        yield sample
        if task.controls:
            few, odd_line = _listed(pair, _CONTROL_LINES, place)
            sample = replace(sample, answers=(f"{few}\nOdd line: {odd_line}",))
            bare, _ = _listed(Pair(common=pair.common, odd=pair.common), _CONTROL_LINES, place)
            yield self._control(sample, "ceiling", few, odd_line)
            yield self._control(sample, "floor", bare, odd_line)

    def _control(self, sample: Sample, kind: Literal["ceiling", "floor"], text: str, odd_line: int) -> Sample:
        recipe, tokens = self._asking(text)
        identity = (render(recipe, {}).user, odd_line)
        control = control_of(sample, kind, identity, recipe=recipe, tokens=tokens, named="control")
        return replace(control, metadata={"lines": _CONTROL_LINES}, answer_tokens=self.task.answer_tokens(tokens))

    def _asking(self, text: str) -> tuple[Recipe, int]:
        prompt = f"{self.task.instruction}\n\n{text}\n\n{self.task.answer_format}"
        return Recipe(user=(Words(text=prompt),)), self.materials.tokenizer.count_prompt(Prompt(user=prompt))

    def _lines_for(self, pair: Pair, context_tokens: int) -> int:
        _, framing = self._asking("")
        most = max(_CONTROL_LINES, (context_tokens - framing) // 2)
        long = tokenise(_listed(pair, most + 1, 1.0)[0], self.materials.tokenizer)
        ends = [match.start() for match in re.finditer(r"\n", long.text)]

        def tokens_of(lines: int) -> int:
            return framing + _ODD_EXTRA_TOKENS + long.tokens_between(0, ends[lines - 1])

        return fit(tokens_of, context_tokens, least=_CONTROL_LINES, most=most)


def _listed(pair: Pair, lines: int, depth: float) -> tuple[str, int]:
    odd_line = 1 + round(depth * (lines - 1))
    items = (pair.odd if line == odd_line else pair.common for line in range(1, lines + 1))
    return "\n".join(f"{line}. {item}" for line, item in enumerate(items, start=1)), odd_line


def _lines(text: str) -> dict[str, str]:
    found = (_LINE.match(line) for line in text.splitlines())
    return {line[1]: line[2].casefold() for line in found if line}
