"""The finding of a continuation run in one sentence: where the prose degrades, or what would settle it."""

from __future__ import annotations

from collections.abc import Sequence

from contextcliff.analysis.threshold import figure
from contextcliff.statistics.sample_size import MOST_ROUNDS
from contextcliff.writing.analysis.draws import DrawnTier
from contextcliff.writing.analysis.power_warnings import listed, rounds_without_measures
from contextcliff.writing.measures.measure import BY_NAME
from contextcliff.writing.prose_findings import WritingTest

_SHOWN = 3
"""Measures of a degradation that are named; the rest is counted."""
_SHOWN_AUTHOR = 2
"""The same of what is worse than the author's, over all lengths."""


def verdict_of(
    tiers: Sequence[DrawnTier],
    tests: Sequence[WritingTest],
    by_author: Sequence[WritingTest] = (),
    *,
    share: float | None,
    cleared: bool,
    settling_rounds: int | None,
) -> str:
    """`tests` are those against the shortest length, `by_author` those against the author.

    `cleared` is whether the safe cap reaches the longest length; `share` None: not by a margin.
    """
    if not any(tier.draws for tier in tiers):
        return "no round was answered: nothing can be said of the writing"
    found = _by_length(tiers, tests, share=share, cleared=cleared, settling_rounds=settling_rounds)
    # A model that loops at every length is as bad at the longest as at the shortest.
    worse = _worse_than_author([test for test in by_author if test.degraded])
    return f"{found}; {worse}" if worse else found


def _by_length(
    tiers: Sequence[DrawnTier],
    tests: Sequence[WritingTest],
    *,
    share: float | None,
    cleared: bool,
    settling_rounds: int | None,
) -> str:
    if len(tiers) == 1:
        return "only one length was tested: there is nothing to compare its writing with"
    degraded = [test for test in tests if test.degraded]
    textless = _textless(tiers)
    if degraded:
        found = _degraded(degraded)
        found += f"; {textless}" if textless else ""
        return f"{found}; {_within(share)} all the same" if cleared else found
    found = "no degradation detected"
    if textless:
        return f"{found} in what can be measured, but {textless}"
    if not tests:
        return f"{found}, since no measure could be compared with the shortest length"
    if cleared:
        return f"{found}; {_within(share)}"
    if settling_rounds is not None:
        return f"{found}; {settling_rounds:,} rounds a length would settle it"
    if min(len(tier.draws) for tier in tiers) < 2:
        return f"{found}; it takes more than one round a length to tell"
    if share is None:
        return found
    return f"{found}, and no number of rounds up to {MOST_ROUNDS} is likely to settle it"


def _within(share: float | None) -> str:
    if share is None:
        return "the safe cap reaches the longest length"
    return (
        f"the longest length is shown to be no worse than the shortest within the margin ({figure(share)} of its score)"
    )


def _degraded(degraded: Sequence[WritingTest]) -> str:
    """The shortest length with its clearest measures, and the other lengths by their tokens."""
    lengths = sorted({test.context_tokens for test in degraded})
    here = [test for test in degraded if test.context_tokens == lengths[0]]
    here.sort(key=_clearest)
    named = ", ".join(
        f"{title_of(test.measure)} (p = {test.p_holm:.2g} after Holm, effect {test.effect:.2f})"
        for test in here[:_SHOWN]
    )
    found = f"degraded at {lengths[0]:,} tokens: {named}"
    if len(here) > _SHOWN:
        found += f" and {len(here) - _SHOWN} more"
    if len(lengths) > 1:
        found += f"; also at {', '.join(f'{tokens:,}' for tokens in lengths[1:])} tokens"
    return found


def _worse_than_author(degraded: Sequence[WritingTest]) -> str:
    """All lengths, and the clearest measures of any; empty where nothing is worse."""
    if not degraded:
        return ""
    lengths = [f"{tokens:,}" for tokens in sorted({test.context_tokens for test in degraded})]
    names = [title_of(name) for name in dict.fromkeys(test.measure for test in sorted(degraded, key=_clearest))]
    more = len(names) - _SHOWN_AUTHOR
    told = listed([*names[:_SHOWN_AUTHOR], f"{more} more"] if more > 0 else names)
    return f"at {listed(lengths)} tokens the writing is worse than the author's elsewhere ({told})"


def _clearest(test: WritingTest) -> tuple[float, float]:
    return test.p_holm, -test.effect


def title_of(name: str) -> str:
    """A measure's title within a sentence; an abbreviation stays as it is."""
    title = BY_NAME[name].title
    return title if title[:2].isupper() else title[0].lower() + title[1:]


def _textless(tiers: Sequence[DrawnTier]) -> str:
    """The length with the largest share of rounds without text, where it is larger than the shortest's."""
    answered = [tier for tier in tiers if tier.rounds]
    if not answered:
        return ""
    shares = [rounds_without_measures(tier) / len(tier.rounds) for tier in answered]
    worst = max(range(len(answered)), key=lambda place: shares[place])
    if shares[worst] <= shares[0]:
        return ""
    tier = answered[worst]
    return (
        f"at {tier.context_tokens:,} tokens {rounds_without_measures(tier):,} of {len(tier.rounds):,} rounds gave no "
        "text to measure"
    )
