"""Whether the tests show what the shape of the scores says, and the one word for both."""

from __future__ import annotations

from collections.abc import Mapping

from contextcliff.analysis.fixed_sequence import FixedSequenceTest, evidence_suffices
from contextcliff.analysis.shape import Shape
from contextcliff.analysis.threshold import Threshold
from contextcliff.records.analysis import EvidenceName, ShapeName, VerdictName


def evidence_of(sequence: FixedSequenceTest, threshold: Threshold, shape: Shape) -> EvidenceName:
    """Whether the walks show the shape.

    They show a `flat` or `rising` one where every length clears the threshold, a `cliff` or `slope` where a fall is
    shown from the longest length down (and the length that stopped the walk from the shortest up had samples enough to
    clear), and `below` where every length is shown to be below, as is the one at which a search ends. Nothing is shown
    where all lengths are part of the baseline, or where that is hardly one.
    """
    baseline, stop = threshold.relative, sequence.stop
    if baseline is not None and (baseline.is_low or len(baseline.members) == len(sequence.results)):
        return "unsettled"
    if stop is None:
        return "unsettled" if sequence.is_open or shape.name == "below" else "settled"
    if shape.name == "below":
        shown = len(sequence.degraded) == len(sequence.results)
    elif shape.name in ("cliff", "slope"):
        is_decided = threshold.is_shown_below(stop) or evidence_suffices(stop, threshold)
        shown = bool(sequence.degraded) and is_decided
    else:
        shown = False
    return "settled" if shown else "unsettled"


_VERDICTS: Mapping[ShapeName, VerdictName] = {"cliff": "cliff", "slope": "slope"}


def verdict_of(sequence: FixedSequenceTest, shape: Shape | None, evidence: EvidenceName | None) -> VerdictName:
    """The one word of both: `flat` where every length clears the threshold, else the fall that is shown.

    A model that is below the threshold everywhere is not `flat`: how its score falls cannot be said.
    """
    if shape is None or evidence != "settled":
        return "insufficient_evidence"
    return "flat" if sequence.stop is None else _VERDICTS.get(shape.name, "insufficient_evidence")
