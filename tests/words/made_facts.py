# ruff: noqa: E501
"""A fact of every kind, as simulated runs gave them, and the English sentence of each."""

from __future__ import annotations

from contextcliff.analysis.best_case import LengthsOutOfReach, NoLengthInReach, NothingBeyondBaseline, TooFewForBaseline
from contextcliff.analysis.every_depth import ThirdOfLength, ThirdsBelow, ThirdsNotShown
from contextcliff.analysis.fitted_length import FallsTo, FitBasis, StartsBelow, StaysAbove, TooFewToFit
from contextcliff.analysis.guide import RangeAdvice, Retrieve, Rotate
from contextcliff.analysis.half_life import FittedDecay, NoFall, NoFallShown, NothingToHalve, TooFewLengths
from contextcliff.analysis.position import EqualScores, NoDepthsToCompare, PositionTested, Third, TooFewDepths
from contextcliff.records.cap_reason import (
    AskedThreshold,
    BaselineAlone,
    BelowAtShortest,
    BelowEverywhere,
    Degraded,
    EndOfRange,
    GivenUp,
    LowBaseline,
    MostAsked,
    NeitherShown,
    NoBaseline,
    NoneScored,
    NotDecided,
    NothingScored,
    Part,
    SampleCount,
    ScoreAt,
    ShortestUnscored,
    Stop,
    TooFewPlanned,
    TooFewToClear,
    TooFewToReject,
    Unscorable,
    UnscoredCouldBeRight,
    UnscoredDecide,
    Unshowable,
    ZeroBaseline,
)
from contextcliff.records.cautions import (
    AllOverOneText,
    ControlMeans,
    CoversLittle,
    DocumentZones,
    EmptyFrom,
    FewSharedTexts,
    NotMonotone,
    OneText,
    OneTextALength,
    RecurringTexts,
    RepeatedQuestions,
    ServerCountsDiffer,
    SharedDraws,
    SharedTexts,
    StoppedWhenDecided,
    UninformativeCells,
    UninformativeLengths,
    UnknownMarks,
    UnscoredSamples,
    ZeroOrOneScores,
)
from contextcliff.records.fact import Fact, NoSamples, Said

_SCORE = AskedThreshold(value=0.8, relative=False)
_BASIS = FitBasis(confidence=0.95, lengths=5, samples=100)
_MIDDLE = ThirdOfLength(name="middle", low=0.4, high=0.6, n_samples=12, mean=0.4, shown="below")

SENTENCES: tuple[tuple[Fact, str], ...] = (
    (
        Stop(
            threshold=AskedThreshold(value=0.7, relative=False, quantity="healthy"),
            confidence=0.95,
            shown_up_to=1743,
            at=ScoreAt(tokens=3801, mean=0.4, ci_low=0.1682, ci_high=0.6873),
            cause=TooFewToReject(
                scored=10, unit="samples", is_at_threshold=False, needed=SampleCount(n=19, unit="samples"), most=20_000
            ),
            fall=ScoreAt(tokens=7875, mean=0.0, ci_low=0.0, ci_high=0.2775),
        ),
        "every tested length up to 1,743 tokens clears a healthy share of 0.70 at 95% confidence; at 3,801 the healthy share is 0.40 (95% CI 0.17–0.69), below the threshold, but 10 samples do not show that it is degraded; a new run with about 19 scored samples at that length is likely to settle it; at 7,875 it is below, 0.00 (95% CI 0.00–0.28)",
    ),
    (
        NoLengthInReach(
            threshold=AskedThreshold(value=0.7, relative=False, quantity="healthy"),
            confidence=0.95,
            planned=SampleCount(n=3, unit="samples"),
            binary=True,
        ),
        "no safe cap is possible: 3 samples a length cannot show a healthy share of 0.70 at 95% confidence even if all are healthy",
    ),
    (
        BelowEverywhere(
            threshold=AskedThreshold(
                value=0.7, relative=True, baseline_mean=0.9, baseline_tokens=1743, quantity="healthy"
            ),
            confidence=0.95,
            first=ScoreAt(tokens=1743, mean=0.0, ci_low=0.0, ci_high=0.2153),
        ),
        "below a healthy share of 0.70 of the baseline (0.90 at 1,743 tokens) at every length tested (0.00 (95% CI 0.00–0.22) at the shortest, 1,743 tokens): no length is safe here; test shorter lengths or an easier task",
    ),
    (
        LowBaseline(mean=0.1, tokens=1743, least=0.2, quantity="healthy"),
        "the baseline is a healthy share of 0.10 at 1,743 tokens, under 0.20: this model hardly does the task even with short prompts, and keeping a share of that makes no length safe; take an easier task or a larger model",
    ),
    (
        ZeroBaseline(tokens=1743, quantity="healthy"),
        "the healthy share at the shortest length, 1,743 tokens, is 0.00: there is no baseline to compare with; test shorter lengths or an easier task",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=1024,
            at=ScoreAt(tokens=2048, mean=0.55, ci_low=0.3983, ci_high=0.6929),
            cause=Degraded(),
        ),
        "every tested length up to 1,024 tokens clears 0.80 at 95% confidence; at 2,048 the score is 0.55 (95% CI 0.40–0.69)",
    ),
    (
        Stop(threshold=_SCORE, confidence=0.95, shown_up_to=1000, at=None, cause=EndOfRange()),
        "every tested length up to 1,000 tokens clears 0.80 at 95% confidence; that is the longest one, and no fall was found",
    ),
    (
        Stop(threshold=_SCORE, confidence=0.95, shown_up_to=1219, at=None, cause=EndOfRange(), cleared_to=2695),
        "every tested length up to 1,219 tokens clears 0.80 at 95% confidence (the last bin that clears has prompts of 1,219 to 2,695 tokens: its mean vouches for the shortest); no fall was found up to 2,695",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=500,
            at=ScoreAt(tokens=1000, mean=0.875, ci_low=0.7389, ci_high=0.9454),
            cause=NeitherShown(),
            fall=ScoreAt(tokens=2000, mean=0.05, ci_low=0.0138, ci_high=0.165),
        ),
        "every tested length up to 500 tokens clears 0.80 at 95% confidence; at 1,000 the score is 0.88 (95% CI 0.74–0.95), shown neither to clear it nor to be below it; at 2,000 it is below, 0.05 (95% CI 0.01–0.17)",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=500,
            at=ScoreAt(tokens=1000, mean=0.85, ci_low=0.7834, ci_high=0.8989),
            cause=MostAsked(asked=SampleCount(n=154, unit="samples")),
        ),
        "every tested length up to 500 tokens clears 0.80 at 95% confidence; at 1,000 the score is 0.85 (95% CI 0.78–0.90), shown neither to clear it nor to be below it by 154 samples, the most that may be asked (task.max_trials)",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=440,
            at=ScoreAt(tokens=447, mean=None, ci_low=None, ci_high=None),
            cause=Unscorable(unscored=Part(n=11, total=11), kind="overflow", window_tokens=450),
        ),
        "every tested length up to 440 tokens clears 0.80 at 95% confidence; at 447 all 11 samples are unscored (overflow: the server names a window of 450 tokens), and no further answers there could make it clear; ask for shorter lengths, or start the server with a longer window",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=500,
            at=ScoreAt(tokens=1000, mean=1.0, ci_low=0.7, ci_high=1.0),
            cause=Unscorable(unscored=Part(n=12, total=44), kind="timeout"),
        ),
        "every tested length up to 500 tokens clears 0.80 at 95% confidence; at 1,000 12 of 44 samples are unscored (timeout), and no further answers there could make it clear; look at the server's log; the same command asks again what has no answer",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=500,
            at=ScoreAt(tokens=750, mean=0.7576, ci_low=0.5898, ci_high=0.8717),
            cause=GivenUp(asked=SampleCount(n=33, unit="samples")),
            fall=ScoreAt(tokens=1000, mean=0.05, ci_low=0.0138, ci_high=0.165),
        ),
        "every tested length up to 500 tokens clears 0.80 at 95% confidence; at 750 the score is 0.76 (95% CI 0.59–0.87), shown neither to clear it nor to be below it by 33 samples; by these scores more of them, up to task.max_trials, were not expected to clear it; at 1,000 it is below, 0.05 (95% CI 0.01–0.17)",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=500,
            at=ScoreAt(tokens=1000, mean=1.0, ci_low=0.7412, ci_high=1.0),
            cause=NotDecided(asked=SampleCount(n=11, unit="samples")),
        ),
        "every tested length up to 500 tokens clears 0.80 at 95% confidence; at 1,000 the score is 1.00 (95% CI 0.74–1.00), and the run ended with 11 samples before it was decided",
    ),
    (
        Stop(threshold=_SCORE, confidence=0.95, shown_up_to=500, at=None, cause=NotDecided(asked=None)),
        "every tested length up to 500 tokens clears 0.80 at 95% confidence; the run ended before the next length was decided",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=None,
            at=ScoreAt(tokens=500, mean=1.0, ci_low=0.7225, ci_high=1.0),
            cause=TooFewPlanned(
                planned=SampleCount(n=10, unit="samples"),
                binary=True,
                needed=SampleCount(n=14, unit="samples"),
                most=20000,
            ),
        ),
        "no tested length is shown to clear 0.80 at 95% confidence; at 500 the score is 1.00 (95% CI 0.72–1.00), but 10 samples cannot show 0.80 even if all are right; at least 14 samples a length are needed",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=500,
            at=ScoreAt(tokens=1000, mean=0.9, ci_low=0.7695, ci_high=0.9604),
            cause=TooFewToClear(
                scored=40,
                unit="samples",
                at_both_lengths=False,
                needed=SampleCount(n=106, unit="samples"),
                most=20000,
                planned_score=0.902,
            ),
        ),
        "every tested length up to 500 tokens clears 0.80 at 95% confidence; at 1,000 the score is 0.90 (95% CI 0.77–0.96), above the threshold, but 40 samples are too few to show it; a new run with about 106 scored samples at that length is likely to settle it, if the true score there is 0.90, as all lengths together suggest",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=500,
            at=ScoreAt(tokens=1000, mean=0.75, ci_low=0.5981, ci_high=0.8581),
            cause=TooFewToReject(
                scored=40, unit="samples", is_at_threshold=False, needed=SampleCount(n=342, unit="samples"), most=20000
            ),
        ),
        "every tested length up to 500 tokens clears 0.80 at 95% confidence; at 1,000 the score is 0.75 (95% CI 0.60–0.86), below the threshold, but 40 samples do not show that it is degraded; a new run with about 342 scored samples at that length is likely to settle it",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=None,
            at=ScoreAt(tokens=500, mean=0.8, ci_low=0.6524, ci_high=0.895),
            cause=TooFewToReject(
                scored=40, unit="samples", is_at_threshold=True, needed=SampleCount(n=6196, unit="samples"), most=20000
            ),
        ),
        "no tested length is shown to clear 0.80 at 95% confidence; at 500 the score is 0.80 (95% CI 0.65–0.90), at the threshold, but 40 samples do not show that it is degraded; a new run with about 6,196 scored samples at that length is likely to settle it",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=500,
            at=ScoreAt(tokens=1000, mean=1.0, ci_low=0.9124, ci_high=1.0),
            cause=UnscoredDecide(here=Part(n=10, total=50), at_baseline=None),
        ),
        "every tested length up to 500 tokens clears 0.80 at 95% confidence; at 1,000 the score is 1.00 (95% CI 0.91–1.00), but 10 of 50 samples are unscored, and were those wrong it would not clear 0.80",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=500,
            at=ScoreAt(tokens=1000, mean=None, ci_low=None, ci_high=None),
            cause=NoneScored(planned=SampleCount(n=20, unit="samples"), needed=SampleCount(n=14, unit="samples")),
        ),
        "every tested length up to 500 tokens clears 0.80 at 95% confidence; at 1,000 none of 20 samples was scored; at least 14 scored samples are needed there",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=1000,
            at=ScoreAt(tokens=2000, mean=0.0, ci_low=0.0, ci_high=0.2775),
            cause=UnscoredCouldBeRight(here=Part(n=90, total=100)),
        ),
        "every tested length up to 1,000 tokens clears 0.80 at 95% confidence; at 2,000 the score is 0.00 (95% CI 0.00–0.28), below the threshold, but 90 of 100 samples are unscored, and were those right it would not be below",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=500,
            at=ScoreAt(tokens=1000, mean=0.875, ci_low=0.7389, ci_high=0.9454),
            cause=NeitherShown(needed=SampleCount(n=176, unit="samples"), planned_score=0.871),
            fall=ScoreAt(tokens=2000, mean=0.05, ci_low=0.0138, ci_high=0.165),
        ),
        "every tested length up to 500 tokens clears 0.80 at 95% confidence; at 1,000 the score is 0.88 (95% CI 0.74–0.95), shown neither to clear it nor to be below it (about 176 scored samples there are likely to show which, if the true score there is 0.87, as all lengths together suggest); at 2,000 it is below, 0.05 (95% CI 0.01–0.17)",
    ),
    (NothingScored(planned=7), "none of the 7 samples was scored: nothing can be said of any length"),
    (NothingScored(planned=1), "the only sample was not scored: nothing can be said of any length"),
    (NoSamples(), "there are no samples to analyse"),
    (
        BelowEverywhere(
            threshold=_SCORE, confidence=0.95, first=ScoreAt(tokens=500, mean=0.125, ci_low=0.0546, ci_high=0.2611)
        ),
        "below 0.80 at every length tested (0.12 (95% CI 0.05–0.26) at the shortest, 500 tokens): no length is safe here; test shorter lengths or an easier task",
    ),
    (
        BelowAtShortest(
            threshold=_SCORE,
            confidence=0.95,
            first=ScoreAt(tokens=500, mean=0.5, ci_low=0.352, ci_high=0.648),
            recovered_tokens=1000,
        ),
        "below 0.80 already at the shortest length, 500 tokens (0.50 (95% CI 0.35–0.65)), though it clears it at 1,000, so that the shortest length is not the easiest one here; no length is shown to be safe from the start",
    ),
    (
        BelowAtShortest(
            threshold=_SCORE,
            confidence=0.95,
            first=ScoreAt(tokens=500, mean=0.5, ci_low=0.352, ci_high=0.648),
            recovered_tokens=None,
        ),
        "below 0.80 already at the shortest length, 500 tokens (0.50 (95% CI 0.35–0.65)), though it is not shown to be below at every longer one; no length is shown to be safe from the start",
    ),
    (
        Stop(
            threshold=AskedThreshold(value=0.8, relative=True, baseline_mean=1.0, baseline_tokens=500),
            confidence=0.95,
            shown_up_to=500,
            at=ScoreAt(tokens=1000, mean=0.4, ci_low=0.3094, ci_high=0.498),
            cause=Degraded(),
        ),
        "every tested length up to 500 tokens clears 0.80 of the baseline (1.00 at 500 tokens) at 95% confidence; at 1,000 the score is 0.40 (95% CI 0.31–0.50)",
    ),
    (
        ZeroBaseline(tokens=500),
        "the score at the shortest length, 500 tokens, is 0.00: there is no baseline to compare with; test shorter lengths or an easier task",
    ),
    (
        Stop(
            threshold=AskedThreshold(value=1.0, relative=False, baseline_mean=None, baseline_tokens=None),
            confidence=0.95,
            shown_up_to=None,
            at=ScoreAt(tokens=500, mean=1.0, ci_low=0.9124, ci_high=1.0),
            cause=Unshowable(score=1.0),
        ),
        "no tested length is shown to clear 1.00 at 95% confidence; at 500 the score is 1.00 (95% CI 0.91–1.00), and no number of samples can show a score of 1.00",
    ),
    (
        Stop(threshold=_SCORE, confidence=0.975, shown_up_to=500, at=None, cause=EndOfRange()),
        "every tested length up to 500 tokens clears 0.80 at 97.5% confidence; that is the longest one, and no fall was found",
    ),
    (
        NoBaseline(n_lengths=1, tokens=500, scored=3, planned=3, unit="samples", fewest=5),
        "at the shortest length, 500 tokens, there are only 3 samples: a baseline needs at least 5",
    ),
    (
        NoBaseline(n_lengths=1, tokens=500, scored=3, planned=7, unit="samples", fewest=5),
        "at the shortest length, 500 tokens, only 3 of 7 samples are scored: a baseline needs at least 5",
    ),
    (
        Stop(
            threshold=AskedThreshold(value=0.8, relative=True, baseline_mean=0.75, baseline_tokens=500),
            confidence=0.95,
            shown_up_to=500,
            at=ScoreAt(tokens=1000, mean=0.76, ci_low=0.6259, ci_high=0.857),
            cause=UnscoredDecide(here=None, at_baseline=Part(n=10, total=50)),
        ),
        "every tested length up to 500 tokens clears 0.80 of the baseline (0.75 at 500 tokens) at 95% confidence; at 1,000 the score is 0.76 (95% CI 0.63–0.86), but 10 of 50 samples are unscored at the baseline, and were those right it would not clear 0.80 of the baseline (0.75 at 500 tokens)",
    ),
    (BaselineAlone(tokens=500), "only one length was tested, 500 tokens, and nothing to compare it with"),
    (
        NoBaseline(n_lengths=1, tokens=500, scored=0, planned=20, unit="samples", fewest=5),
        "at the shortest length, 500 tokens, none of 20 samples was scored: there is no baseline to compare with",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=None,
            at=ScoreAt(tokens=500, mean=1.0, ci_low=0.2065, ci_high=1.0),
            cause=TooFewPlanned(
                planned=SampleCount(n=1, unit="samples"),
                binary=True,
                needed=SampleCount(n=14, unit="samples"),
                most=20000,
            ),
        ),
        "no tested length is shown to clear 0.80 at 95% confidence; at 500 the score is 1.00 (95% CI 0.21–1.00), but 1 sample cannot show 0.80 even if it is right; at least 14 samples a length are needed",
    ),
    (
        Stop(
            threshold=AskedThreshold(value=0.8, relative=True, baseline_mean=0.9, baseline_tokens=500),
            confidence=0.95,
            shown_up_to=500,
            at=ScoreAt(tokens=1000, mean=0.8, ci_low=0.6524, ci_high=0.895),
            cause=TooFewToClear(
                scored=40, unit="samples", at_both_lengths=True, needed=SampleCount(n=357, unit="samples"), most=20000
            ),
        ),
        "every tested length up to 500 tokens clears 0.80 of the baseline (0.90 at 500 tokens) at 95% confidence; at 1,000 the score is 0.80 (95% CI 0.65–0.90), above the threshold, but 40 samples are too few to show it; a new run with about 357 scored samples at each of the two lengths is likely to settle it",
    ),
    (
        Stop(
            threshold=AskedThreshold(value=0.8, relative=True, baseline_mean=1.0, baseline_tokens=500),
            confidence=0.95,
            shown_up_to=500,
            at=ScoreAt(tokens=1000, mean=1.0, ci_low=0.9124, ci_high=1.0),
            cause=UnscoredDecide(here=Part(n=10, total=50), at_baseline=None),
        ),
        "every tested length up to 500 tokens clears 0.80 of the baseline (1.00 at 500 tokens) at 95% confidence; at 1,000 the score is 1.00 (95% CI 0.91–1.00), but 10 of 50 samples are unscored, and were those wrong it would not clear 0.80 of the baseline (1.00 at 500 tokens)",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=500,
            at=ScoreAt(tokens=1000, mean=None, ci_low=None, ci_high=None),
            cause=NoneScored(planned=SampleCount(n=1, unit="samples"), needed=SampleCount(n=14, unit="samples")),
        ),
        "every tested length up to 500 tokens clears 0.80 at 95% confidence; at 1,000 the only sample was not scored; at least 14 scored samples are needed there",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=None,
            at=ScoreAt(tokens=500, mean=0.802, ci_low=0.7859, ci_high=0.8172),
            cause=TooFewToClear(scored=2500, unit="samples", at_both_lengths=False, needed=None, most=20000),
        ),
        "no tested length is shown to clear 0.80 at 95% confidence; at 500 the score is 0.80 (95% CI 0.79–0.82), above the threshold, but 2,500 samples are too few to show it; so near it, not even 20,000 scored samples at that length are likely to settle it",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=None,
            at=ScoreAt(tokens=500, mean=1.0, ci_low=0.7583, ci_high=1.0),
            cause=TooFewPlanned(
                planned=SampleCount(n=20, unit="samples", n_shared=8),
                binary=True,
                needed=SampleCount(n=22, unit="samples", n_shared=9),
                most=20000,
            ),
        ),
        "no tested length is shown to clear 0.80 at 95% confidence; at 500 the score is 1.00 (95% CI 0.76–1.00), but 20 samples in 8 texts cannot show 0.80 even if all are right; at least 22 samples a length in 9 texts are needed",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=None,
            at=ScoreAt(tokens=500, mean=1.0, ci_low=0.7225, ci_high=1.0),
            cause=UnscoredDecide(here=Part(n=10, total=20), at_baseline=None),
        ),
        "no tested length is shown to clear 0.80 at 95% confidence; at 500 the score is 1.00 (95% CI 0.72–1.00), but 10 of 20 samples are unscored, and were those wrong it would not clear 0.80",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=None,
            at=ScoreAt(tokens=500, mean=0.8333, ci_low=0.7667, ci_high=0.9),
            cause=TooFewToClear(
                scored=20,
                unit="questions",
                at_both_lengths=False,
                needed=SampleCount(n=219, unit="questions"),
                most=20000,
            ),
        ),
        "no tested length is shown to clear 0.80 at 95% confidence; at 500 the score is 0.83 (95% CI 0.77–0.90), above the threshold, but 20 questions are too few to show it; a new run with about 219 scored questions at that length is likely to settle it",
    ),
    (
        Stop(
            threshold=_SCORE,
            confidence=0.95,
            shown_up_to=None,
            at=ScoreAt(tokens=500, mean=0.9, ci_low=0.2632, ci_high=0.9708),
            cause=TooFewPlanned(
                planned=SampleCount(n=3, unit="samples"),
                binary=False,
                needed=SampleCount(n=14, unit="samples"),
                most=20000,
            ),
        ),
        "no tested length is shown to clear 0.80 at 95% confidence; at 500 the score is 0.90 (95% CI 0.26–0.97), but 3 samples cannot show 0.80 even if all are as good as can be; at least 14 samples a length are needed",
    ),
    (OneText(document_id="moby-dick"), "all samples are cut from one text, “moby-dick”: the claim is about that text"),
    (
        ZeroOrOneScores(),
        "scores are 0 or 1, so their spread follows from their mean and says nothing more",
    ),
    (
        DocumentZones(),
        "documents of many lengths share a bin: a zone is about the mean of its bins; cap and crossing hold for every length on their side, so that the cap is the shortest document of its bin and the crossing ends with the longest of another",
    ),
    (
        CoversLittle(longest_tokens=5853, window_tokens=32768),
        "the longest document takes 5,853 tokens, 18% of the window of 32,768: nothing is known of longer ones",
    ),
    (
        RecurringTexts(texts=2),
        "the samples are cut from 2 texts, and those of one text are treated as independent: where texts differ in difficulty, the intervals are too narrow",
    ),
    (
        UnscoredSamples(n=4, total=82, tags=(("timeout", 3), ("oom", 1)), cap_holds=True),
        "4 of 82 samples are unscored (timeout 3, oom 1); the cap holds even if all of them were wrong",
    ),
    (UnscoredSamples(n=1, total=21, tags=(("oom", 1),), cap_holds=False), "1 of 21 samples is unscored (oom 1)"),
    (
        UnknownMarks(mark="<ponder>", n=2, total=21),
        "2 of 21 answers began with “<ponder>” or its like, as reasoning does, which counted as the answer: let the server split reasoning off, or turn thinking off",
    ),
    (
        UnscoredSamples(n=7, total=72, tags=(("tool_calls", 7),), cap_holds=False),
        "7 of 72 samples are unscored (tool_calls 7); the server answered by tool calls: turn tools off",
    ),
    (
        EmptyFrom(tokens=8_188),
        "every answer from 8,188 tokens on is empty: is that the end of the server's window?",
    ),
    (
        NotMonotone(stop_tokens=1000, stop_mean=0.25, higher_tokens=2000, higher_mean=1.0, may_be_chance=False),
        "the observed curve is not monotone: at 2,000 tokens the score (1.00) clears the threshold, though at 1,000 (0.25) it does not; the cap stays below the first length that does not",
    ),
    (
        NotMonotone(stop_tokens=1000, stop_mean=0.85, higher_tokens=2000, higher_mean=1.0, may_be_chance=True),
        "the observed curve is not monotone: at 2,000 tokens the score (1.00) clears the threshold, though at 1,000 (0.85) it does not, which with so few samples can be chance; the cap stays below the first length that does not",
    ),
    (
        SharedDraws(n=2, total=6),
        "2 of 6 samples have the prompt and the draw of another one (temperature 0, or sampling.seed is set): they are one piece of evidence together",
    ),
    (
        ServerCountsDiffer(n=2, total=4, largest=0.05, tolerance=0.02),
        "for 2 of 4 prompts the server's token count differs by more than 2% from the built length (by up to 5.0%); lengths here are the server's",
    ),
    (
        SharedTexts(shared_by="texts", texts=(7, 8), design_effect=(1.6, 1.6)),
        "samples of one length share texts (7–8 a length): the intervals and the cap allow for it, with a design effect of 1.6",
    ),
    (
        FewSharedTexts(shared_by="texts", fewest=8, n_lengths=1, of_lengths=2),
        "with fewer than 8 texts at 1 of 2 lengths, how much texts differ is hardly known, and the intervals there are wide and rough: more texts help more than more samples of each",
    ),
    (
        OneTextALength(n_lengths=2, of_lengths=3, shared_by="texts"),
        "at 2 of 3 lengths all samples share one text: the claim there is about that text",
    ),
    (
        RepeatedQuestions(times=3),
        "each question was put 3 times: its score is the mean over its repeats, which are one piece of evidence together; the instability is how often they differ",
    ),
    (
        RepeatedQuestions(times=3, draws_anew=False),
        "each question was put 3 times: its score is the mean over its repeats, which are one piece of evidence together; at temperature 0, or with sampling.seed set, they are no draws of their own and measure no instability",
    ),
    (
        LowBaseline(mean=0.05, tokens=500, least=0.2),
        "the baseline is a score of 0.05 at 500 tokens, under 0.20: this model hardly does the task even with short prompts, and keeping a share of that makes no length safe; take an easier task or a larger model",
    ),
    (
        BaselineAlone(tokens=900, n_lengths=3),
        "all 3 lengths that were tested, up to 900 tokens, are the baseline, and there is nothing to compare it with",
    ),
    (
        Stop(
            threshold=AskedThreshold(value=0.8, relative=True, baseline_mean=1.0, baseline_tokens=500),
            confidence=0.95,
            shown_up_to=None,
            at=ScoreAt(tokens=1000, mean=0.5, ci_low=0.35, ci_high=0.65),
            cause=Degraded(),
        ),
        "no length beyond the baseline is shown to clear 0.80 of the baseline (1.00 at 500 tokens) at 95% confidence; at 1,000 the score is 0.50 (95% CI 0.35–0.65)",
    ),
    (
        BelowAtShortest(
            threshold=_SCORE,
            confidence=0.95,
            first=ScoreAt(tokens=500, mean=0.0909, ci_low=0.0162, ci_high=0.3774),
            recovered_tokens=None,
            is_only=True,
        ),
        "at the shortest length, 500 tokens, the score is 0.09 (95% CI 0.02–0.38), below 0.80, and the search ends there; test shorter lengths or an easier task",
    ),
    (
        Stop(
            threshold=AskedThreshold(value=0.8, relative=False, every_depth=True),
            confidence=0.95,
            shown_up_to=500,
            at=ScoreAt(tokens=1000, mean=0.9, ci_low=0.8, ci_high=0.95),
            cause=Degraded(third="middle"),
        ),
        "every tested length up to 500 tokens clears 0.80 in each third of the depths at 95% confidence; at 1,000 the score is 0.90 (95% CI 0.80–0.95), and the middle third of the depths is below",
    ),
    (
        ThirdsBelow(tokens=1000, thirds=(_MIDDLE,)),
        "at 1,000 tokens the middle third (0.40, n = 12) of the depths is below the threshold",
    ),
    (
        ThirdsNotShown(tokens=500, samples=(6, 8), can_ask_on=True),
        "at 500 tokens 6–8 samples of a third of the depths do not show that each clears the threshold; the search stops when the mean is decided (analysis.every_depth=true goes on until each third is)",
    ),
    (
        ThirdsNotShown(tokens=500, samples=(12, 12), can_ask_on=False),
        "at 500 tokens 12 samples of a third of the depths do not show that each clears the threshold",
    ),
    (
        AllOverOneText(document_id="moby-dick"),
        "samples begin all over one text, “moby-dick”: the claim is about prose of its kind",
    ),
    (
        StoppedWhenDecided(),
        "the search stopped at each length as soon as it was decided: decisions, tested bounds, the intervals of the lengths and the test of position hold all the same; mean scores, intervals by depth and by facet, fitted lengths, area and half-life are estimates from stopped data, and such a mean lies on average further from the threshold than the true score",
    ),
    (
        StoppedWhenDecided(each_third=True),
        "the search stopped at each length as soon as it was decided: decisions, tested bounds and the intervals of the lengths hold all the same; mean scores, intervals by depth and by facet, fitted lengths, area, half-life and the test of position are estimates from stopped data, and such a mean lies on average further from the threshold than the true score",
    ),
    (TooFewToFit(lengths=2, fewest=3), "a curve takes scores at 3 lengths or more, and there are 2"),
    (
        FallsTo(score=0.8, tokens=5780, ci_low=4084, ci_high=8180, basis=_BASIS),
        "the curve fitted to 100 samples at 5 lengths falls to 0.80 at about 5,780 tokens (95% interval 4,084–8,180)",
    ),
    (
        FallsTo(score=0.8, tokens=900, ci_low=None, ci_high=1200, basis=_BASIS),
        "the curve fitted to 100 samples at 5 lengths falls to 0.80 at about 900 tokens (95% interval up to 1,200, from below the shortest test)",
    ),
    (
        FallsTo(score=0.5, tokens=5780, ci_low=4084, ci_high=None, basis=_BASIS),
        "the curve fitted to 100 samples at 5 lengths falls to 0.50 at about 5,780 tokens (95% interval from 4,084 to beyond the longest test)",
    ),
    (
        FallsTo(score=0.5, tokens=2884, ci_low=None, ci_high=None, basis=_BASIS),
        "the curve fitted to 100 samples at 5 lengths falls to 0.50 at about 2,884 tokens (the 95% interval is wider than the tested range)",
    ),
    (
        StaysAbove(score=0.8, longest=8180, at_least=8180, basis=_BASIS),
        "the curve fitted to 100 samples at 5 lengths stays above 0.80 up to the longest test, 8,180 tokens: it falls to that beyond it, at 95% confidence, or not at all",
    ),
    (
        StaysAbove(score=0.5, longest=8180, at_least=2036, basis=_BASIS),
        "the curve fitted to 100 samples at 5 lengths stays above 0.50 up to the longest test, 8,180 tokens: it falls to that at 2,036 tokens or more, at 95% confidence, or not at all",
    ),
    (
        StaysAbove(score=0.5, longest=8180, at_least=None, basis=_BASIS),
        "the curve fitted to 100 samples at 5 lengths stays above 0.50 up to the longest test, 8,180 tokens, and so little is known of it that no length is ruled out",
    ),
    (
        StartsBelow(score=0.8, shortest=500, at_most=500, basis=_BASIS),
        "the curve fitted to 100 samples at 5 lengths is not above 0.80 even at the shortest test, 500 tokens",
    ),
    (
        StartsBelow(score=0.8, shortest=500, at_most=1500, basis=_BASIS),
        "the curve fitted to 100 samples at 5 lengths is not above 0.80 even at the shortest test, 500 tokens; up to 1,500 tokens it may be, at 95% confidence",
    ),
    (
        FittedDecay(
            tokens=1000, ci_low=693, ci_high=2321, confidence=0.95, initial=0.8, lengths=3, samples=150, longest=3000
        ),
        "the score halves every 1,000 tokens (95% CI 693–2,321), from 0.80 at length 0, by an exponential decay fitted to 3 lengths, 150 samples",
    ),
    (TooFewLengths(lengths=2, fewest=3), "a decay takes scores at 3 lengths or more, and there are 2"),
    (
        NothingToHalve(lengths=3, samples=60),
        "no sample scored above 0 (3 lengths, 60 samples): there is nothing to halve",
    ),
    (
        NoFall(lengths=3, samples=60, all_right=True, confidence=0.95, at_least=13143),
        "every sample has the full score (3 lengths, 60 samples): an exponential decay would take 13,143 tokens or more to halve it, at 95% confidence",
    ),
    (
        NoFall(lengths=3, samples=150, all_right=False, confidence=0.95, at_least=None),
        "the score does not fall with length (3 lengths, 150 samples) but rises: there is no half-life",
    ),
    (
        NoFallShown(lengths=3, samples=150, confidence=0.95, at_least=4515),
        "the score is not shown to fall with length (3 lengths, 150 samples): a half-life of 4,515 tokens or more would fit, at 95% confidence",
    ),
    (
        NoFall(lengths=3, samples=150, all_right=False, confidence=0.95, at_least=5247),
        "the score does not fall with length (3 lengths, 150 samples): an exponential decay would take 5,247 tokens or more to halve it, at 95% confidence",
    ),
    (
        FittedDecay(
            tokens=79706,
            ci_low=27417,
            ci_high=912000,
            confidence=0.95,
            initial=1.0,
            lengths=3,
            samples=150,
            longest=4000,
        ),
        "the score halves every 79,706 tokens (95% CI 27,417–912,000), from 1.00 at length 0, by an exponential decay fitted to 3 lengths, 150 samples; that is beyond the longest test, 4,000 tokens",
    ),
    (TooFewDepths(depths=2, fewest=3), "a pattern takes scores at 3 depths, and there are 2"),
    (NoDepthsToCompare(), "no two depths can be compared at the same length and in the same text"),
    (
        EqualScores(
            thirds=(
                Third(name="first", mean=1.0, n_samples=1),
                Third(name="middle", mean=1.0, n_samples=1),
                Third(name="last", mean=1.0, n_samples=1),
            )
        ),
        "nothing to tell apart: the mean score is 1.00 in the first third (n = 1), 1.00 in the middle third (n = 1), 1.00 in the last third (n = 1), and at no length do scores differ",
    ),
    (
        PositionTested(
            thirds=(
                Third(name="first", mean=1.0, n_samples=20),
                Third(name="middle", mean=0.0, n_samples=20),
                Third(name="last", mean=1.0, n_samples=20),
            ),
            pattern="middle_collapse",
            p_value=0.00025,
            n_samples=60,
        ),
        "the mean score is 1.00 in the first third (n = 20), 0.00 in the middle third (n = 20), 1.00 in the last third (n = 20) (the edges are found more often than the middle, p = 0.00025, 60 samples)",
    ),
    (
        PositionTested(
            thirds=(
                Third(name="first", mean=0.0, n_samples=20),
                Third(name="middle", mean=1.0, n_samples=20),
                Third(name="last", mean=1.0, n_samples=20),
            ),
            pattern="recency",
            p_value=0.00025,
            n_samples=60,
        ),
        "the mean score is 0.00 in the first third (n = 20), 1.00 in the middle third (n = 20), 1.00 in the last third (n = 20) (late evidence is found more often, p = 0.00025, 60 samples)",
    ),
    (
        PositionTested(
            thirds=(
                Third(name="first", mean=1.0, n_samples=20),
                Third(name="middle", mean=1.0, n_samples=20),
                Third(name="last", mean=0.0, n_samples=20),
            ),
            pattern="primacy",
            p_value=0.00025,
            n_samples=60,
        ),
        "the mean score is 1.00 in the first third (n = 20), 1.00 in the middle third (n = 20), 0.00 in the last third (n = 20) (early evidence is found more often, p = 0.00025, 60 samples)",
    ),
    (
        PositionTested(
            thirds=(
                Third(name="first", mean=0.5, n_samples=20),
                Third(name="middle", mean=0.5, n_samples=20),
                Third(name="last", mean=0.5, n_samples=20),
            ),
            pattern="stable",
            p_value=1.0,
            n_samples=60,
        ),
        "the mean score is 0.50 in the first third (n = 20), 0.50 in the middle third (n = 20), 0.50 in the last third (n = 20) (no dependence on depth is shown, p = 1, 60 samples)",
    ),
    (
        RangeAdvice(level="safe", lengths=(500, 1000, 2000), means=(0.95, 1.0), n_samples=300, unsure=(2000,)),
        "safe from 500 to 2,000 tokens (mean score 0.95–1.00, n = 300): use the text as it is; at 2,000 the tests of the safe cap do not show it",
    ),
    (
        RangeAdvice(level="caution", lengths=(4000,), means=(0.7, 0.7), n_samples=100, unsure=()),
        "caution at 4,000 tokens (mean score 0.70, n = 100): repeat or compress the key facts",
    ),
    (
        RangeAdvice(level="danger", lengths=(8000,), means=(0.1, 0.1), n_samples=100, unsure=()),
        "danger at 8,000 tokens (mean score 0.10, n = 100): use retrieval, a summary or chunking instead of the whole text",
    ),
    (
        Retrieve(half_life_tokens=1000, beyond_longest=False, below=4000),
        "the fitted half-life is 1,000 tokens, under 4,000: retrieval or chunking is advised for anything longer",
    ),
    (
        Rotate(half_life_tokens=1000, beyond_longest=False, below=2000),
        "the fitted half-life is 1,000 tokens, under 2,000: rotate the context (split it into short paragraphs, analyse each by itself, merge the results)",
    ),
    (
        ShortestUnscored(tokens=500, planned=1, unit="samples"),
        "at the shortest length, 500 tokens, the only sample was not scored: no length is shown to be safe from the start",
    ),
    (
        NoBaseline(n_lengths=2, tokens=900, scored=4, planned=9, unit="questions", fewest=5),
        "at the 2 shortest lengths together only 4 of 9 questions are scored: a baseline needs at least 5",
    ),
    (
        UninformativeLengths(
            lengths=(
                ControlMeans(asked_tokens=500, ceiling=0.3, floor=None),
                ControlMeans(asked_tokens=1000, ceiling=1.0, floor=0.9),
            )
        ),
        "by the controls no cliff can show at 500 tokens (0.30 with the evidence alone), 1,000 tokens (1.00 with the evidence alone, 0.90 without it): a score there says nothing about the length",
    ),
    (
        UninformativeCells(n=1, at_other_lengths=False),
        "1 cell of the heatmap tells nothing about the length, by its own controls",
    ),
    (
        UninformativeCells(n=3, at_other_lengths=True),
        "at other lengths 3 cells of the heatmap tell nothing about the length, by their own controls",
    ),
    (
        OneTextALength(n_lengths=3, of_lengths=3, shared_by="contexts"),
        "at all 3 lengths all samples share one context: the claim there is about that context",
    ),
    (
        RangeAdvice(
            level="safe", lengths=(500, 1000, 2000), means=(0.95, 0.95), n_samples=60, unsure=(500, 1000, 2000)
        ),
        "safe from 500 to 2,000 tokens (mean score 0.95, n = 60): use the text as it is; at 500, 1,000 and 2,000 the tests of the safe cap do not show it",
    ),
    (
        Retrieve(half_life_tokens=3000, beyond_longest=True, below=4000),
        "the fitted half-life is 3,000 tokens, beyond the longest test, under 4,000: retrieval or chunking is advised for anything longer",
    ),
    (NothingBeyondBaseline(), "no safe cap can be tested: there is no length beyond the baseline to compare with it"),
    (
        TooFewForBaseline(planned=SampleCount(n=1, unit="samples"), fewest=5),
        "no safe cap is possible: 1 sample at the shortest length is no baseline, which takes at least 5",
    ),
    (
        NoLengthInReach(
            threshold=AskedThreshold(value=0.8, relative=True, baseline_mean=1.0, baseline_tokens=509),
            confidence=0.95,
            planned=SampleCount(n=10, unit="questions", n_shared=5),
            binary=False,
        ),
        "no safe cap is possible: 10 questions a length in 5 texts cannot show 0.80 of the baseline at 95% confidence even if all are as good as can be",
    ),
    (
        LengthsOutOfReach(
            threshold=AskedThreshold(value=0.8, relative=False),
            confidence=0.95,
            planned=SampleCount(n=10, unit="samples"),
            binary=True,
            at_tokens=2000,
            others=2,
            cap_tokens=1000,
        ),
        "no safe cap beyond 1,000 tokens is possible: at 2,000 tokens 10 samples cannot show 0.80 at 95% confidence even if all are right, nor those at 2 longer lengths",
    ),
    (Said(text="half of the texts are short"), "half of the texts are short"),
)
