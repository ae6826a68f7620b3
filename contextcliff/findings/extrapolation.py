"""Where extrapolation begins to fail: the scores within the positions that a model was trained on, and beyond them.

The position of a token is its place in the prompt, so that a prompt longer than the trained positions has some that the
model never saw. A scaling of rotary positions (`model.rope`) maps them into the trained range. What each length shows
is what the walk of the safe cap decided about it, from the shortest length up and from the longest one down; nothing is
tested anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from contextcliff.analysis.bins import Group
from contextcliff.analysis.lengths import pooled_evidence
from contextcliff.analysis.study import Study
from contextcliff.analysis.walk import FixedSequenceTest
from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Finding, Line, Measurement, Pairs, Table, Text, columns, measured
from contextcliff.records.note import Note
from contextcliff.records.positions import Positions, PositionSource
from contextcliff.records.report import Report
from contextcliff.statistics.descriptive import mean_of

Place = Literal["within", "across", "beyond"]
Standing = Literal["cleared", "below", "open"]

_MEANING = (
    "A prompt that is longer than the positions that the model was trained on has positions that it never saw, and a"
    " scaling of RoPE maps them into those that it did. Extrapolation begins to fail at the first length beyond them"
    " that is shown to be below the threshold, by the tests of the safe cap. The mean scores weigh every sample alike."
    " Weights that bring a scaling of their own may have been trained on with it. The positions here are those before;"
    " model.rope.trained_tokens gives others."
)
_SOURCES: Mapping[PositionSource, Note | str] = {
    "given": "model.rope.trained_tokens",
    "gguf": Note("GGUF header"),
    "config": "config.json",
    "server": Note("as the server tells"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtrapolatedLength:
    """A tested length: where it lies, and what the walk of the safe cap shows of it."""

    asked_tokens: int
    median_tokens: int
    place: Place
    """Whether all prompts lie `within` the trained positions, all `beyond` them, or some of each (`across`)."""
    n_samples: int
    """Scored ones."""
    mean: float | None
    shown: Standing
    """Whether it is shown to clear the threshold, to be `below` it, or neither (`open`)."""
    reaches_tokens: int
    """The longest prompt that cleared; where the length is below the threshold, the shortest prompt that is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PooledScore:
    """The mean score of several lengths together; the interval is at the confidence of the analysis."""

    n_lengths: int
    n_samples: int
    """Scored questions or draws; the repeats of one count once."""
    mean: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Extrapolation:
    """The trained positions, the scores within and beyond them, and where extrapolation begins to fail."""

    trained_tokens: int
    positions: Positions
    longest_tokens: int
    """The longest prompt."""
    within: PooledScore | None
    """None if no such length has scores."""
    beyond: PooledScore | None
    fails_at_tokens: int | None
    """Where it begins to fail beyond the trained positions; None if that is not shown."""
    cleared_beyond_tokens: int | None
    """The longest prompt beyond them that is shown to clear the threshold."""
    reason: Note
    lengths: tuple[ExtrapolatedLength, ...]


def extrapolation(study: Study) -> Extrapolation | None:
    """What is found within and beyond the trained positions; None if these are unknown, or not reached."""
    positions, sequence = study.facts.positions, study.sequence
    if positions is None or positions.trained_tokens is None or sequence is None:
        return None
    trained = positions.trained_tokens
    longest = max(each.max_tokens for each in study.bins)
    if longest <= trained and not positions.is_extended:
        return None
    lengths = tuple(_lengths(study, sequence, trained))
    fails_at, reason = _reason(lengths, trained)
    return Extrapolation(
        trained_tokens=trained, positions=positions, longest_tokens=longest, within=_pooled(study, lengths, "within"),
        beyond=_pooled(study, lengths, "beyond"), fails_at_tokens=fails_at,
        cleared_beyond_tokens=max((each.reaches_tokens for each in _cleared_beyond(lengths)), default=None),
        reason=reason, lengths=lengths,
    )  # fmt: skip


def _lengths(study: Study, sequence: FixedSequenceTest, trained: int) -> Iterator[ExtrapolatedLength]:
    cleared = 0 if sequence.is_withheld else sequence.cleared
    for number, (result, scored) in enumerate(zip(sequence.results, study.results, strict=True)):
        length = result.bin
        place: Place = "within" if length.max_tokens <= trained else "across"
        if length.min_tokens > trained:
            place = "beyond"
        shown: Standing = "cleared" if number < cleared else "below" if number in sequence.degraded else "open"
        yield ExtrapolatedLength(
            asked_tokens=length.asked_tokens,
            median_tokens=length.median_tokens,
            place=place,
            n_samples=len(scored.scores),
            mean=scored.bin.mean,
            shown=shown,
            # Of a length across the end only the longest prompt is beyond for certain.
            reaches_tokens=length.clears_up_to
            if shown == "cleared"
            else length.max_tokens
            if place == "across"
            else length.below_from,
        )


def _cleared_beyond(lengths: Sequence[ExtrapolatedLength]) -> list[ExtrapolatedLength]:
    return [each for each in lengths if each.place == "beyond" and each.shown == "cleared"]


def _reason(lengths: Sequence[ExtrapolatedLength], trained: int) -> tuple[int | None, Note]:
    """Where extrapolation begins to fail (None if that is not shown), and what the lengths show."""
    below = next((each for each in lengths if each.shown == "below"), None)
    if below is not None and below.place == "within":
        return None, Note(
            "below the threshold from {tokens:,} tokens on, within the trained positions already: extrapolation is not"
            " what fails first",
            tokens=below.reaches_tokens,
        )
    if below is not None:
        tokens = below.reaches_tokens
        cleared = max((each.reaches_tokens for each in lengths if each.shown == "cleared"), default=None)
        return tokens, Note(
            "extrapolation begins to fail at {tokens:,} tokens ({times:.2f} x trained), the first length shown below"
            " the threshold; {cleared}",
            tokens=tokens,
            times=tokens / trained,
            cleared=Note("no length clears it")
            if cleared is None
            else Note("{tokens:,} tokens clear it", tokens=cleared),
        )
    beyond, clearing = [each for each in lengths if each.place == "beyond"], _cleared_beyond(lengths)
    if clearing:
        tokens, n_open = max(each.reaches_tokens for each in clearing), len(beyond) - len(clearing)
        return None, Note(
            "no failure is shown beyond the trained positions: {tokens:,} tokens ({times:.2f} x trained) clear the"
            " threshold{undecided}",
            tokens=tokens,
            times=tokens / trained,
            undecided=Note("; {n} longer {n:length is/lengths are} not decided", n=n_open) if n_open else "",
        )
    if beyond:
        return None, Note(
            "the tests are too few to say whether extrapolation fails: {n:lengths} beyond ({samples:samples}), neither"
            " cleared nor below",
            n=len(beyond),
            samples=sum(each.n_samples for each in beyond),
        )
    return None, Note("no tested length lies beyond the trained positions")


def _pooled(study: Study, lengths: Sequence[ExtrapolatedLength], place: Place) -> PooledScore | None:
    own: list[Group] = [group for group, each in zip(study.groups, lengths, strict=True) if each.place == place]
    evidence = pooled_evidence([group.samples for group in own], binary=study.binary)
    if evidence is None:
        return None
    low, high = evidence.shown(study.confidence)
    return PooledScore(
        n_lengths=len(own), n_samples=len(evidence.scores), mean=mean_of(evidence.scores), ci_low=low, ci_high=high
    )


class ExtrapolationFinding(Finding[Extrapolation]):
    """The scores within the trained positions and beyond them."""

    key = "extrapolation"
    title = "Extrapolation"
    record = Extrapolation

    def find(self, study: Study) -> Extrapolation | None:
        return extrapolation(study)

    def look(self, report: Report) -> tuple[Line, ...]:
        found = self.of(report)
        return () if found.fails_at_tokens is None else (Line(label=self.title, text=found.reason),)

    def show(self, report: Report) -> tuple[Block, ...]:
        found = self.of(report)
        scores = Note("within {within}, beyond {beyond}", within=_score(found.within), beyond=_score(found.beyond))
        table = columns(
            found.lengths,
            ("asked tokens", lambda each: phrases.whole(each.asked_tokens)),
            ("median prompt", lambda each: phrases.whole(each.median_tokens)),
            ("of the trained", lambda each: f"x{each.median_tokens / found.trained_tokens:.2f}"),
            ("place", lambda each: each.place),
            ("n", lambda each: phrases.whole(each.n_samples)),
            ("mean score", lambda each: phrases.score(each.mean)),
            ("shown", lambda each: each.shown),
            words=("place", "shown"),
        )
        return (
            Text(text=_MEANING),
            Pairs(rows=(("Trained", _trained(found)), ("Score", scores), ("Shown", found.reason))),
            Table(columns=table),
        )

    def metrics(self, report: Report) -> Iterator[Measurement]:
        found = self.of(report)
        names = ("trained_tokens", "fails_at_tokens", "cleared_beyond_tokens")
        yield from measured("extrapolation/", found, *names)
        for name, pooled in (("within", found.within), ("beyond", found.beyond)):
            if pooled is not None:
                yield Measurement(key=f"extrapolation/score_{name}", value=pooled.mean)


def _trained(found: Extrapolation) -> Note:
    """How many positions the model was trained on, who says so, how they are scaled, and the longest test."""
    positions = found.positions
    factor = "" if positions.factor is None else f" x{positions.factor:g}"
    return Note(
        "{trained:,} tokens{source}{scaled}; tested to {longest:,}",
        trained=found.trained_tokens,
        source="" if positions.source is None else Note(" ({source})", source=_SOURCES[positions.source]),
        scaled=Note(", {scaling}{factor}", scaling=positions.scaling, factor=factor) if positions.scaling else "",
        longest=found.longest_tokens,
    )


def _score(pooled: PooledScore | None) -> Note:
    if pooled is None:
        return Note("none")
    return Note("{mean:.2f} ({low:.2f}-{high:.2f}, n {n:,})", mean=pooled.mean, low=pooled.ci_low, high=pooled.ci_high,
                n=pooled.n_samples)  # fmt: skip
