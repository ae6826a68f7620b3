"""Sequential tests: blocks of scores, the bets on them, and the decision."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from contextcliff.statistics.betting import Bets, Wealth, e_value_of


def refine_alpha(alpha: float, failures: int) -> float:
    """Error allowed to each test after `failures` lengths have failed: α/2, α/4, α/8, …

    A stage is the lengths that are tested between two failures: the walk up is the first, at α/2, and each failure of
    the bisection starts another. Within a stage lengths only grow, and each is tested because all before it passed, so
    that the lengths to come are fixed when the stage starts. A stage errs only where the *first* of them whose mean is
    not above the bar passes, and that is one test, on fresh samples: passes are free. The stages together err with a
    chance of at most α/2 + α/4 + … = α (union bound), however many there are. Each length needs its own samples; one
    that stayed open counts as failed and is not tested again.
    """
    require_alpha(alpha)
    if failures < 0:
        raise ValueError(f"a number of failures is not negative, unlike {failures}")
    return float(alpha * 0.5 ** (failures + 1))


# Blocks of scores as gains of the two bets of a sequential test: that the mean is above its bar, and below it.
#
# A gain is what a bet wins per unit staked, at least −1, and at most 0 on average where the bet is wrong. A sample
# without a score (None) counts for neither side: as 0 in the bet on "above" and as 1 in that on "below". Whatever made
# it fail, and however that depends on what the score would have been, no e-value is then larger than with the score. So
# a later run that obtains the score may put it in its place, and all looks together still err as seldom as stated.
#
# A block is whole: its samples are planned beforehand and cover each depth equally often.

Score = float | None
"""In [0, 1], or None for a sample that has no score."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """Gains per unit staked of the independent units of a block: samples, texts or pairs."""

    above: tuple[float, ...]
    below: tuple[float, ...]
    hoped: tuple[float, ...]
    """Gains of the bet on "above" if every sample without a score had the best one."""
    samples: int
    """Samples at this length, those without a score among them. Baseline samples do not count."""


def block_of(scores: Sequence[Score], threshold: float) -> Block:
    """A block of independent samples, for a mean against `threshold`."""
    return clustered_block([(score,) for score in scores], threshold)


def clustered_block(texts: Sequence[Sequence[Score]], threshold: float) -> Block:
    """A block of whole texts: the scores of all samples that share a text, for each text.

    Samples of one text are right and wrong together, so the bet is on the text: on the mean of its scores, where all
    texts have as many samples. The sum of the differences to the threshold is divided by the size of the *largest* text
    of the block, so that unequal texts leave the average over the block that over its samples.

    The rule of use: a text belongs to one block alone, with all samples that it will ever have. Where it came again
    after a look, its result would depend on what was seen. Texts are then independent, as draws from the texts of a
    kind, and the claim is about prose of that kind. The price: a text is worth at most one sample, so that
    `fewest_perfect` counts texts, and a handful of them can show nothing at all (18 texts are the fewest for 0.8
    at 95%). For a claim about these very texts, give samples as independent, in blocks that cover each text
    at each depth.
    """
    require_threshold(threshold)
    largest = max((len(text) for text in texts), default=0)
    return Block(
        above=tuple(_excess(text, threshold, unscored=0.0) / (largest * threshold) for text in texts if text),
        below=tuple(-_excess(text, threshold, unscored=1.0) / (largest * (1.0 - threshold)) for text in texts if text),
        hoped=tuple(_excess(text, threshold, unscored=1.0) / (largest * threshold) for text in texts if text),
        samples=sum(len(text) for text in texts),
    )


def paired_block(pairs: Sequence[tuple[Score, Score]], share: float) -> Block:
    """A block of pairs (score at this length, score at the baseline), for a mean against `share` times the baseline's.

    The bets are on x − share · x₀, at least −share and at most 1. A baseline sample is used in one pair at a length, or
    pairs are not independent; it may be used again at another length. The two of a pair may share an item. A baseline
    score that is missing counts as 1 in the bet on "above" and as 0 in that on "below".
    """
    if not 0.0 < share <= 1.0:
        raise ValueError(f"a share lies above 0 and not above 1, not {share}")
    return Block(
        above=tuple((_known(x, 0.0) - share * _known(base, 1.0)) / share for x, base in pairs),
        below=tuple(share * _known(base, 0.0) - _known(x, 1.0) for x, base in pairs),
        hoped=tuple((_known(x, 1.0) - share * _known(base, 0.0)) / share for x, base in pairs),
        samples=len(pairs),
    )


def _excess(text: Sequence[Score], threshold: float, *, unscored: float) -> float:
    return math.fsum(_known(score, unscored) - threshold for score in text)


def _known(score: Score, unscored: float) -> float:
    if score is None:
        return unscored
    if not 0.0 <= score <= 1.0:
        raise ValueError(f"a score lies between 0 and 1, not {score}")
    return score


def require_threshold(threshold: float) -> None:
    """Raises ValueError for a threshold outside (0, 1)."""
    if not 0.0 < threshold < 1.0:
        raise ValueError(f"a threshold of a sequential test lies between 0 and 1, both excluded, not {threshold}")


# The bets that the sequential tests make. They are fixed: choosing them by the data would cost their validity.
#
# Against a threshold θ, staking the fraction f on "above" multiplies the wealth by 1 + f (x − θ) / θ. That is 1 + λ (x
# − θ) with λ = (p − θ) / (θ (1 − θ)) and p = θ + f (1 − θ): on 0/1 scores the likelihood ratio of a true score p to θ.
# A stake is thus the place of the score it bets on, as a fraction of the way from θ to 1 — for θ = 0.8 these are .85,
# .90, .95 and .985. Likewise "below" bets on p = θ − f θ, a fraction of the way from θ to 0.
#
# The stakes were chosen on simulated laws for blocks of 10 and at most 160 samples. The figures are in
# `tests/statistics/test_sequential_power.py` and `tests/statistics/test_sequential_simulations.py`.

ABOVE = Bets(stakes=(0.25, 0.5, 0.75, 0.925), weights=(0.15, 0.25, 0.3, 0.3))
"""For "the mean is at most θ". Most of it is on high scores: a perfect model passes 0.8 at 95% with 20 samples."""

BELOW = Bets(stakes=(0.15, 0.35, 0.6, 0.9), weights=(0.3, 0.3, 0.25, 0.15))
"""For "the mean is at least θ". Most of it is near the threshold: any bet sees a cliff in one block, and a slope takes
low stakes. The mirror image of `ABOVE` shows .7 to be below .8 within 160 samples in 39% of runs, these in 62%."""

SHARE_ABOVE = Bets(stakes=(0.25, 0.5, 0.75, 0.925), weights=(0.25, 0.25, 0.25, 0.25))
"""For "the mean is at most a share of the baseline's". A pair of scores varies more than one score does, which calls
for lower stakes than a fixed threshold."""

SHARE_BELOW = Bets(stakes=(0.25, 0.5, 0.75, 0.925), weights=(0.25, 0.25, 0.25, 0.25))
"""For "the mean is at least a share of the baseline's"."""


# The decision of a sequential test: is the mean above its bar, below it, or is that open?
#
# Two e-values (`betting.py`) are looked at where a block ends. That of "above" at 1/α or more decides for above,
# wrongly with a chance of at most α whenever one looks; that of "below" at `below_at` or more decides for below,
# wrongly with a chance of at most 1 / `below_at`. Both can't be above 1 together: one needs an average gain above 0,
# the other below 0. The first decision is the last. While it is open, further blocks may be added at any time, also
# those of a later run.
#
# A test may also be given up where the blocks that are left are not expected to show "above". Giving up shows nothing:
# it only ever keeps a test from deciding, so no error grows. What it costs is power
# (`tests/statistics/test_sequential_power.py`). It ends at no cost in "above" where its samples without a score keep
# the best possible rest from showing that.

BELOW_AT = 20.0
"""E-value at which a mean is shown below its bar: wrongly in at most 5% of runs."""

Kind = Literal["above", "below", "open", "unscorable"]
"""`unscorable`: with right answers in the place of its samples without a score the mean could still be shown above,
and as it is, not even by right answers alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """What is seen at the end of a block."""

    samples: int
    """Samples up to here, those without a score among them."""
    log_e_above: float
    log_e_below: float

    @property
    def e_above(self) -> float:
        return e_value_of(self.log_e_above)

    @property
    def e_below(self) -> float:
        return e_value_of(self.log_e_below)


@dataclass(frozen=True, kw_only=True, slots=True)
class GivingUp:
    """When to end a test without a decision."""

    rows: int
    """Rows of blocks that may be asked in all."""
    best_gain: float | None = None
    """Of a sample with the best score, per unit staked: the test ends where by it the mean is not expected to be shown
    above (`Wealth.log_e_value_expected`). None if it is to go on."""
    most_gain: float | None = None
    """Most that a sample can gain, per unit staked: the test ends where samples without a score are what keeps the mean
    from being shown above even so. None if it is to go on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SequentialDecision:
    """`looks` has the end of every block up to the one that decides; it is empty before the first block."""

    kind: Kind
    looks: tuple[Look, ...]
    place: int = 0
    """Of several means the first that is below."""

    @property
    def blocks_used(self) -> int:
        return len(self.looks)

    @property
    def samples(self) -> int:
        return self.looks[-1].samples if self.looks else 0

    @property
    def e_above(self) -> float:
        return self.looks[-1].e_above if self.looks else 1.0

    @property
    def e_below(self) -> float:
        return self.looks[-1].e_below if self.looks else 1.0


def decide(
    blocks: Sequence[Sequence[Score]], *, threshold: float, alpha: float, below_at: float = BELOW_AT
) -> SequentialDecision:
    """Whether the mean of independent samples is shown above `threshold`, or below it.

    `blocks` are whole blocks in the order that was fixed beforehand; a sample without a score is None.
    """
    return decision_of(
        [block_of(b, threshold) for b in blocks], above=ABOVE, below=BELOW, alpha=alpha, below_at=below_at
    )


def decision_of(
    blocks: Iterable[Block], *, above: Bets, below: Bets, alpha: float, below_at: float = BELOW_AT
) -> SequentialDecision:
    """The decision from blocks of gains; those behind the one that decides are not looked at."""
    return decision_of_all(((block,) for block in blocks), above=above, below=below, alpha=alpha, below_at=below_at)


def decision_of_all(
    rows: Iterable[Sequence[Block]],
    *,
    above: Bets,
    below: Bets,
    alpha: float,
    below_at: float = BELOW_AT,
    giving_up: GivingUp | None = None,
) -> SequentialDecision:
    """Whether each of several means is shown above its bar, or one of them below it; a row has a block of each.

    Above: each has an e-value of 1/`alpha` at some look, wrongly with a chance of at most `alpha`, since a single mean
    that is not above has to err (intersection-union). Below: one of m has an e-value of m · `below_at`, so that
    any errs with a chance of at most 1 / `below_at`. `looks` are those of the first mean, up to the row that decides;
    rows behind it are not looked at.

    `giving_up` says when the test ends undecided before the last row; None if never.
    """
    require_alpha(alpha)
    if not below_at > 1.0:
        raise ValueError(f"the e-value that shows a mean below its bar is above 1, not {below_at}")
    tests: list[_Test] = []
    kind: Kind = "open"
    place = 0
    for row in rows:
        tests = tests or [_Test.begun(above, below) for _ in row]
        for test, block in zip(tests, row, strict=True):
            test.take(block, passes=-math.log(alpha), fails=math.log(len(row) * below_at))
        if any(test.kind == "below" for test in tests):
            kind, place = "below", next(i for i, test in enumerate(tests) if test.kind == "below")
        elif all(test.kind == "above" for test in tests):
            kind = "above"
        if kind != "open":
            break
        if giving_up is not None:
            ends = {test.given_up(giving_up, passes=-math.log(alpha)) for test in tests} - {None}
            if ends:
                kind = "unscorable" if "unscorable" in ends else "open"
                break
    return SequentialDecision(kind=kind, looks=tuple(tests[0].looks) if tests else (), place=place)


@dataclass(kw_only=True, slots=True)
class _Test:
    """The test of one mean under way. Its first decision is its last; its looks go on."""

    above: Wealth
    below: Wealth
    hoped: Wealth
    """That of "above" if the samples without a score were right."""
    looks: list[Look] = field(default_factory=list)
    kind: Kind = "open"
    bets: int = 0
    """Samples so far, or texts or pairs."""

    @classmethod
    def begun(cls, above: Bets, below: Bets) -> _Test:
        begun = Wealth.before_any_block(above)
        return cls(above=begun, below=Wealth.before_any_block(below), hoped=begun)

    def take(self, block: Block, *, passes: float, fails: float) -> None:
        """Look at one more block; the limits are logs of e-values."""
        self.above, self.below = self.above.after(block.above), self.below.after(block.below)
        self.hoped = self.hoped.after(block.hoped)
        self.bets += len(block.above)
        samples = block.samples + (self.looks[-1].samples if self.looks else 0)
        look = Look(samples=samples, log_e_above=self.above.log_e_value, log_e_below=self.below.log_e_value)
        self.looks.append(look)
        if self.kind == "open" and look.log_e_above >= passes:
            self.kind = "above"
        elif self.kind == "open" and look.log_e_below >= fails:
            self.kind = "below"

    def given_up(self, giving_up: GivingUp, *, passes: float) -> Kind | None:
        """How the test ends without showing its mean above or below; None where it goes on.

        `unscorable` where it would go on if the samples without a score had been right.
        """
        if self.kind != "open":
            return None
        left = self.bets * (giving_up.rows / len(self.looks) - 1.0)
        if (gain := giving_up.most_gain) is not None:
            at_best, hoped = (each.log_e_value_at_best(more=left, gain=gain) for each in (self.above, self.hoped))
            if at_best < passes <= hoped:
                return "unscorable"
        if (gain := giving_up.best_gain) is not None:
            expected, hoped = (
                each.log_e_value_expected(samples=self.bets, more=left, best_gain=gain)
                for each in (self.above, self.hoped)
            )
            if expected < passes:
                return "unscorable" if hoped >= passes else "open"
        return None


def require_alpha(alpha: float) -> None:
    """Raises ValueError for an `alpha` outside (0, 1)."""
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha lies between 0 and 1, both excluded, not {alpha}")
