"""What the rounds of a run can't show, whatever the texts are: said before a reader takes silence for health."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal

from contextcliff.analysis.items import Item
from contextcliff.statistics.descriptive import counted
from contextcliff.statistics.holm import holm, is_significant
from contextcliff.statistics.rank_tests import least_p
from contextcliff.statistics.sample_size import fewest_for_significance
from contextcliff.writing.analysis.draws import DrawnTier
from contextcliff.writing.measures.measure import MEASURES
from contextcliff.writing.prose_findings import WritingTest

_OF_TEXT = tuple(measure.name for measure in MEASURES if measure.worse and measure.of_text)
"""What can get worse in a text: how much of it is missing is known of an empty answer too."""


def power_warnings(tiers: Sequence[DrawnTier], tests: Sequence[WritingTest], *, confidence: float) -> tuple[str, ...]:
    """A sentence for each thing that the rounds can't show. `tests` are those of both families."""
    return (
        *_same_draws(tiers),
        *_without_text(tiers),
        *_out_of_reach(tests, "shortest", confidence),
        *_out_of_reach(tests, "author", confidence),
    )


def rounds_without_measures(tier: DrawnTier) -> int:
    """Rounds that were answered with nothing that can get worse: no text, or next to none."""
    return sum(len(draw.samples) for draw in tier.draws if _is_without_text(draw))


def _is_without_text(draw: Item) -> bool:
    return not any(name in draw.details for name in _OF_TEXT)


def _same_draws(tiers: Sequence[DrawnTier]) -> Iterator[str]:
    repeated = [tier for tier in tiers if len(tier.rounds) > len(tier.draws)]
    if not repeated:
        return
    if all(len(tier.draws) == 1 for tier in repeated):
        yield (
            f"{_at(repeated, tiers)}all rounds of a length are the same draw (temperature 0, or sampling.seed is "
            "set): they count as one round, and more of them show nothing more; a temperature above 0 without "
            "sampling.seed makes them rounds of their own"
        )
    else:
        yield f"{_at(repeated, tiers)}some rounds of a length are the same draw: they count as one round"


def _without_text(tiers: Sequence[DrawnTier]) -> Iterator[str]:
    for tier in tiers:
        missing = rounds_without_measures(tier)
        if missing:
            tags = counted(
                scored.failure or "no reason given"
                for draw in tier.draws
                if _is_without_text(draw)
                for scored in draw.samples
            )
            kinds = ", ".join(f"{tag} {n}" for tag, n in tags.items())
            yield (
                f"at {tier.context_tokens:,} tokens {missing:,} of {len(tier.rounds):,} answered rounds gave no text "
                f"to measure ({kinds}): the tests of the prose leave them out, the score does not"
            )


def _out_of_reach(
    tests: Sequence[WritingTest], against: Literal["shortest", "author"], confidence: float
) -> Iterator[str]:
    """The lengths at which no measure can be shown to be degraded, however bad it is.

    The corrected least p-values are the best that Holm's correction can give to each test.
    """
    family = [test for test in tests if test.against == against]
    least = [least_p(test.n, test.n_baseline) for test in family]
    lengths: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    best: dict[int, tuple[float, float, WritingTest]] = {}
    for test, p, p_holm in zip(family, least, holm(least), strict=True):
        found = (p_holm, p, test)
        best[test.context_tokens] = min(best.get(test.context_tokens, found), found, key=lambda one: one[:2])
    for tokens, (p_holm, _, test) in best.items():
        if not is_significant(p_holm, confidence):
            lengths[test.n, test.n_baseline].append(tokens)
    for (n, n_baseline), at in lengths.items():
        where = "" if len(at) == len(best) else f"at {listed([f'{tokens:,}' for tokens in at])} tokens "
        windows = "of the author's windows" if against == "author" else ""
        p = least_p(n, n_baseline)
        corrected = min(1.0, p * len(family))
        needed = fewest_for_significance(len(family), None if against == "shortest" else n_baseline, confidence)
        then = "" if needed is None else f"; from {needed:,} rounds on it can"
        yield (
            f"{where}{n:,} {_rounds(n)} against {n_baseline:,} {windows or ''}".rstrip()
            + f" can reach p = {p:.2g} at best, and {corrected:.2g} after Holm over {len(family):,} "
            f"{'test' if len(family) == 1 else 'tests'}: no degradation can be shown{then}"
        )


def _at(some: Sequence[DrawnTier], tiers: Sequence[DrawnTier]) -> str:
    if len(some) == len(tiers):
        return ""
    return f"at {listed([f'{tier.context_tokens:,}' for tier in some])} tokens "


def listed(words: Sequence[str]) -> str:
    """Words with an `and` before the last."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _rounds(n: int) -> str:
    return "round" if n == 1 else "rounds"
