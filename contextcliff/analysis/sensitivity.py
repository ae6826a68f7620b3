"""How the safe cap moves with the settings that it is judged by: the same samples judged again, without a model.

One setting moves at a time, and the others stay as they are. That holds for a search, too: its e-values are evidence
at whatever point one looks, against whatever threshold, so that a length which the samples at hand do not decide by
another rule stays open, and the cap ends below it. Samples that another rule would have asked are not there; a cap that
is lower for their want says nothing against the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from contextcliff.analysis.analyse import judged
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.study import Study
from contextcliff.records.analysis import EvidenceName

Moved = Literal["threshold", "confidence", "bins"]

_STEPS = (-0.1, -0.05, 0.05, 0.1)
_CONFIDENCES = (0.9, 0.95, 0.99)
_BINS = (5, 10, 20)


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgedAnew:
    """The cap by one other value of one setting; `own` marks the run's own."""

    setting: Moved
    value: float
    own: bool
    tokens: int | None
    """None: no cap."""
    censored: bool
    """Whether no fall was found up to the longest test."""
    evidence: EvidenceName | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Sensitivity:
    """Setting by setting, each from its lowest value to its highest."""

    judged: tuple[JudgedAnew, ...]
    is_search: bool
    """Whether the samples were asked by the run's own rule, so that another one may want more of them."""


def sensitivity(study: Study) -> Sensitivity | None:
    """None for a run with fewer than two lengths that have a score: there is nothing to move."""
    if sum(each.bin.mean is not None for each in study.results) < 2:
        return None
    return Sensitivity(judged=tuple(_judged(study)), is_search=study.search is not None)


def _judged(study: Study) -> Iterator[JudgedAnew]:
    own = study.settings
    for value in _thresholds(own.threshold):
        yield _by(study, replace(own, threshold=value), "threshold", value)
    for confidence in sorted({*_CONFIDENCES, own.confidence}):
        yield _by(study, replace(own, confidence=confidence), "confidence", confidence)
    if not study.facts.designed_lengths:
        for bins in sorted({*_BINS, own.bins}):
            yield _by(study, replace(own, bins=bins), "bins", bins)


def _thresholds(own: float) -> list[float]:
    near = (round(own + step, 4) for step in _STEPS)
    return sorted({own, *(value for value in near if 0.0 < value < 1.0)})


def _by(study: Study, settings: AnalysisSettings, setting: Moved, value: float) -> JudgedAnew:
    own = settings == study.settings
    cap = study.safe_cap if own else judged(study.scored, settings, study.facts)
    return JudgedAnew(
        setting=setting, value=value, own=own, tokens=cap.tokens, censored=cap.censored, evidence=cap.evidence
    )
