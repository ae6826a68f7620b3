"""Where extrapolation begins to fail, beyond the positions that the model was trained on."""

from __future__ import annotations

from collections.abc import Iterator

from contextcliff.analysis.extrapolation import Extrapolation, extrapolation
from contextcliff.analysis.study import Study
from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Column, Finding, Measurement, Pairs, Table, Text
from contextcliff.findings.phrases import from_stopped_data
from contextcliff.records.report import Report
from contextcliff.reporting.extrapolation_facts import ScoresByPlace, TrainedPositions

_MEANING = (
    "A prompt that is longer than the positions that the model was trained on has positions that it never saw, and a"
    " scaling of RoPE maps them into those that it did. Extrapolation begins to fail at the first length beyond them"
    " that is shown to be below the threshold, by the tests of the safe cap. The mean scores weigh every sample alike."
    " Weights that bring a scaling of their own may have been trained on with it. The positions here are those before;"
    " model.rope.trained_tokens gives others."
)


class ExtrapolationSection(Finding[Extrapolation]):
    """The scores within the trained positions and beyond them."""

    key = "extrapolation"
    title = "Extrapolation"
    title_note = "beyond the positions that the model was trained on"
    record = Extrapolation

    def find(self, study: Study) -> Extrapolation | None:
        return extrapolation(study)

    def short(self, report: Report) -> tuple[Block, ...]:
        found = self.of(report)
        return () if found is None else (_pairs(found),)

    def show(self, report: Report) -> tuple[Block, ...]:
        found = self.of(report)
        if found is None:
            return ()
        stopped = from_stopped_data(report, "The mean scores within and beyond the trained positions")
        return (Text(text=_MEANING), _pairs(found), *stopped, _table(found))

    def metrics(self, report: Report) -> Iterator[Measurement]:
        found = self.of(report)
        if found is None:
            return
        yield Measurement(key="extrapolation/trained_tokens", value=found.trained_tokens)
        yield Measurement(key="extrapolation/fails_at_tokens", value=found.fails_at_tokens)
        yield Measurement(key="extrapolation/cleared_beyond_tokens", value=found.cleared_beyond_tokens)
        for name, pooled in (("within", found.within), ("beyond", found.beyond)):
            if pooled is not None:
                yield Measurement(key=f"extrapolation/score_{name}", value=pooled.mean)


def _pairs(found: Extrapolation) -> Pairs:
    return Pairs(
        rows=(
            ("Trained", TrainedPositions(extrapolation=found)),
            ("Score", ScoresByPlace(extrapolation=found)),
            ("Shown", found.reason),
        )
    )


def _table(found: Extrapolation) -> Table:
    lengths = found.lengths
    columns = (
        Column(title="asked tokens", cells=tuple(phrases.whole(each.asked_tokens) for each in lengths)),
        Column(title="median prompt", cells=tuple(phrases.whole(each.median_tokens) for each in lengths)),
        Column(
            title="of the trained",
            cells=tuple(f"x{each.median_tokens / found.trained_tokens:.2f}" for each in lengths),
        ),
        Column(title="place", cells=tuple(each.place for each in lengths), words=True),
        Column(title="n", cells=tuple(phrases.whole(each.n_samples) for each in lengths)),
        Column(title="mean score", cells=tuple(phrases.score(each.mean) for each in lengths)),
        Column(title="shown", cells=tuple(each.shown for each in lengths), words=True),
    )
    return Table(columns=columns)
