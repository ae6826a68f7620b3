"""The positions that a model was trained on, which the figure of scores marks. A scaling of rotary positions
(`model.rope`) maps longer prompts into them; weights that bring a scaling of their own may have been trained on with
it: the positions here are those before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from contextcliff.analysis.study import Study
from contextcliff.findings.finding import Block, Finding, Pairs
from contextcliff.records.note import Note
from contextcliff.records.positions import Positions, PositionSource
from contextcliff.records.report import Report

_SOURCES: Mapping[PositionSource, Note | str] = {
    "given": "model.rope.trained_tokens",
    "gguf": Note("GGUF header"),
    "config": "config.json",
    "server": Note("as the server tells"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Extrapolation:
    """The trained positions, of a run with longer prompts or with scaled positions."""

    trained_tokens: int
    positions: Positions
    longest_tokens: int
    """The longest length: its median prompt, or of documents the longest."""


class ExtrapolationFinding(Finding[Extrapolation]):
    key = "extrapolation"
    title = "Extrapolation"
    record = Extrapolation

    def find(self, study: Study) -> Extrapolation | None:
        positions = study.facts.positions
        if positions is None or positions.trained_tokens is None or not study.bins:
            return None
        longest = max(each.below_from for each in study.bins)
        if longest <= positions.trained_tokens and not positions.is_extended:
            return None
        return Extrapolation(trained_tokens=positions.trained_tokens, positions=positions, longest_tokens=longest)

    def show(self, report: Report) -> tuple[Block, ...]:
        found = self.of(report)
        positions = found.positions
        factor = "" if positions.factor is None else f" x{positions.factor:g}"
        trained = Note(
            "{trained:,} tokens{source}{scaled}; tested to {longest:,}",
            trained=found.trained_tokens,
            source="" if positions.source is None else Note(" ({source})", source=_SOURCES[positions.source]),
            scaled=Note(", {scaling}{factor}", scaling=positions.scaling, factor=factor) if positions.scaling else "",
            longest=found.longest_tokens,
        )
        return (Pairs(rows=(("Trained", trained),)),)
