"""What a length has to clear: a score, or a share of the score at the shortest length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from contextcliff.analysis import sample_size
from contextcliff.analysis.bins import Level
from contextcliff.analysis.evidence import Evidence, p_at_least_share, p_at_most_share
from contextcliff.analysis.settling import fewest_like

BASELINE_SAMPLES = 5
"""Fewest scored samples that a baseline is built on."""


class Bar(Protocol):
    """The threshold of an analysis, and the tests against it.

    `score` is the threshold as a score: where a relative one has no baseline it is None.
    """

    @property
    def score(self) -> float | None: ...

    @property
    def asked(self) -> str:
        """The threshold as it is asked for, before anything is known of a baseline."""
        ...

    @property
    def words(self) -> str:
        """The threshold as it is written in a sentence."""
        ...

    def clears(self, level: Level) -> bool:
        """Whether "the score is below the bar" is rejected, with every unscored sample counted against."""
        ...

    def undercuts(self, level: Level) -> bool:
        """Whether "the score is at the bar or above" is rejected, every unscored sample counted for it."""
        ...

    def could_clear(self, level: Level, evidence: Evidence) -> bool:
        """Whether these scores, were they what this length gave, would clear the bar."""
        ...

    def clears_as_scored(self, level: Level) -> bool:
        """Whether the scored samples would clear the bar if there were no unscored ones."""
        ...

    def samples_to_clear(self, level: Level) -> int | None:
        """Samples at which a score like the one observed clears the bar with 80% power.

        Where they share texts, in texts of as many samples as now and as different.
        """
        ...


def is_degraded(level: Level, bar: Bar) -> bool:
    """Whether the whole of the interval that is shown lies below the bar."""
    return level.bin.ci_high is not None and bar.score is not None and level.bin.ci_high < bar.score


@dataclass(frozen=True, kw_only=True, slots=True)
class AbsoluteBar:
    """A score that every length has to clear, tested by the bin's own one-sided bound."""

    threshold: float
    confidence: float

    @property
    def score(self) -> float | None:
        return self.threshold

    @property
    def asked(self) -> str:
        return figure(self.threshold)

    @property
    def words(self) -> str:
        return self.asked

    def clears(self, level: Level) -> bool:
        return level.bin.tested_low is not None and level.bin.tested_low >= self.threshold

    def undercuts(self, level: Level) -> bool:
        if not level.scores:
            return False
        return level.if_unscored_right.upper(self.confidence) < self.threshold

    def could_clear(self, level: Level, evidence: Evidence) -> bool:  # noqa: ARG002 (a relative bar needs it)
        return bool(evidence.scores) and evidence.lower(self.confidence) >= self.threshold

    def clears_as_scored(self, level: Level) -> bool:
        return self.could_clear(level, level.evidence)

    def samples_to_clear(self, level: Level) -> int | None:
        if not (level.binary or level.clusters) and len(level.scores) >= 2:
            # A baseline that is known to be 1 makes the share a fixed threshold.
            return fewest_like(level.scores, (1.0, 1.0), self.threshold, self.confidence, most=sample_size.MOST)
        rate = sample_size.cautious_rate(level.scores, self.threshold)
        needed = sample_size.to_clear(rate, self.threshold, self.confidence)
        return level.evidence.samples_worth(needed, self.confidence, most=sample_size.MOST)


@dataclass(frozen=True, kw_only=True, slots=True)
class RelativeBar:
    """A share of the shortest length's score, tested jointly: the baseline is an estimate too.

    The worst case of an unscored sample is a wrong answer at the length in question and a right one at
    the baseline. The baseline itself passes where there is one: five scored samples and a mean
    above zero. Where several lengths make it, `baseline` is all of them together and `members` each.
    """

    share: float
    confidence: float
    baseline: Level
    members: tuple[Level, ...]

    @property
    def score(self) -> float | None:
        return None if self.baseline.bin.mean is None else self.share * self.baseline.bin.mean

    @property
    def asked(self) -> str:
        return f"{figure(self.share)} of the baseline"

    @property
    def words(self) -> str:
        mean = self.baseline.bin.mean
        of = "" if mean is None else f" ({mean:.2f} at {self.baseline.bin.median_tokens:,} tokens)"
        return f"{self.asked}{of}"

    def clears(self, level: Level) -> bool:
        if not level.scores:
            return False
        if self._is_member(level):
            return self._is_baseline(level.scores, of=level)
        return self._exceeds(level.if_unscored_wrong)

    def _is_member(self, level: Level) -> bool:
        return any(level is member for member in self.members)

    def _is_baseline(self, scores: Sequence[float], *, of: Level) -> bool:
        """Whether there is a baseline, had this one of its lengths these scores."""
        return len(self.baseline.scores) - len(of.scores) + len(scores) >= BASELINE_SAMPLES and max(scores) > 0.0

    def _exceeds(self, evidence: Evidence) -> bool:
        return self._exceeds_share_of(self.baseline.if_unscored_right, evidence)

    def _exceeds_share_of(self, baseline: Evidence, evidence: Evidence) -> bool:
        p = p_at_most_share(evidence, baseline, self.share, self.confidence)
        return p <= 1.0 - self.confidence

    def clears_as_scored(self, level: Level) -> bool:
        if not level.scores or not self.baseline.scores:
            return False
        if self._is_member(level):
            return self._is_baseline(level.scores, of=level)
        return self._exceeds_share_of(self.baseline.evidence, level.evidence)

    def undercuts(self, level: Level) -> bool:
        if self._is_member(level) or not level.scores or not self.baseline.scores:
            return False
        p = p_at_least_share(level.if_unscored_right, self.baseline.if_unscored_wrong, self.share, self.confidence)
        return p <= 1.0 - self.confidence

    def could_clear(self, level: Level, evidence: Evidence) -> bool:
        if not evidence.scores:
            return False
        if self._is_member(level):
            return self._is_baseline(evidence.scores, of=level)
        return self._exceeds(evidence)

    def samples_to_clear(self, level: Level) -> int | None:
        """At both lengths alike, since more samples at one alone leave the other's error.

        Fractional scores that share no texts are planned with the spread they have, 0/1 scores and single ones with
        that of right and wrong answers.
        """
        if self.score is None or self.baseline.bin.mean is None:
            return None
        if not (level.binary or level.clusters or self.baseline.clusters):
            here, baseline = level.scores, self.baseline.scores
            if min(len(here), len(baseline)) >= 2:
                return fewest_like(
                    here, baseline, self.share, self.confidence, most=sample_size.MOST, least=BASELINE_SAMPLES
                )
        rate = sample_size.cautious_rate(level.scores, self.score)
        needed = sample_size.to_clear_share(rate, self.baseline.bin.mean, self.share, self.confidence)
        return level.evidence.samples_worth(needed, self.confidence, most=sample_size.MOST)


def make_bar(
    levels: Sequence[Level], *, threshold: float, relative: bool, confidence: float, baseline: Level | None = None
) -> Bar:
    """The bar of an analysis with at least one length.

    `baseline` is the level of several short lengths together, whose prompts are no longer than its longest; None:
    the shortest length.
    """
    if relative:
        whole = levels[0] if baseline is None else baseline
        members = tuple(level for level in levels if level.bin.max_tokens <= whole.bin.max_tokens)
        return RelativeBar(share=threshold, confidence=confidence, baseline=whole, members=members or (whole,))
    return AbsoluteBar(threshold=threshold, confidence=confidence)


def figure(value: float) -> str:
    """A score as it is written: two decimals, three where two would round it to another number."""
    return f"{value:.2f}" if abs(value - round(value, 2)) < 1e-9 else f"{value:.3f}".rstrip("0")
