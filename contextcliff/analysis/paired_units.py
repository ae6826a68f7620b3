"""The pairs of two runs as independent units: by length, over all lengths, and in the blocks of a search."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from contextcliff.records.comparison import Matching, ScoredPair
from contextcliff.statistics.pairs import Unit, Units

Name = Callable[[ScoredPair], str]


def unit_names(pairs: Sequence[ScoredPair]) -> Name:
    """What names the unit of a pair: its text where several texts have several pairs each, else its question.

    Where all pairs share one text they are independent given that text, and the claim is about it.
    """
    texts = Counter(pair.cluster for pair in pairs if pair.cluster)
    share_texts = len(texts) > 1 and max(texts.values()) > 1

    def name(pair: ScoredPair) -> str:
        if share_texts and pair.cluster:
            return f"text {pair.cluster}"
        return f"question {pair.item}" if pair.item else f"sample {pair.sample_id}"

    return name


def units_of(pairs: Iterable[ScoredPair], name: Name) -> Units:
    """The differences of pairs that are scored on both sides, those of one name as one unit."""
    totals: defaultdict[str, list[float]] = defaultdict(list)
    for pair in pairs:
        if pair.baseline is not None and pair.candidate is not None:
            totals[name(pair)].append(pair.candidate - pair.baseline)
    return Units.of(Unit(total=_sum(each), pairs=len(each)) for each in totals.values())


def worst_case(pair: ScoredPair) -> ScoredPair:
    """The pair as if every missing score told against the candidate."""
    return ScoredPair(
        sample_id=pair.sample_id,
        context_tokens=pair.context_tokens,
        baseline=1.0 if pair.baseline is None else pair.baseline,
        candidate=0.0 if pair.candidate is None else pair.candidate,
        cluster=pair.cluster,
        item=pair.item,
        block=pair.block,
    )


def by_length(pairs: Iterable[ScoredPair]) -> Mapping[int, Sequence[ScoredPair]]:
    """Lengths ascending."""
    lengths: defaultdict[int, list[ScoredPair]] = defaultdict(list)
    for pair in pairs:
        lengths[pair.context_tokens].append(pair)
    return {tokens: lengths[tokens] for tokens in sorted(lengths)}


def whole_blocks(matching: Matching) -> Mapping[int, Sequence[Sequence[ScoredPair]]]:
    """Of each length in the order of testing the blocks that both runs have whole, from the first without a gap.

    What lies behind a gap was asked by one run alone, or ahead, and is no part of the comparison.
    """
    blocks: defaultdict[tuple[int, int], list[ScoredPair]] = defaultdict(list)
    for pair in matching.pairs:
        if pair.block is not None:
            blocks[pair.context_tokens, pair.block].append(pair)
    whole: dict[int, Sequence[Sequence[ScoredPair]]] = {}
    for tokens in matching.lengths:
        of_length: list[Sequence[ScoredPair]] = []
        while len(block := blocks.get((tokens, len(of_length)), [])) == matching.block_size > 0:
            of_length.append(block)
        if of_length:
            whole[tokens] = of_length
    return whole


def _sum(differences: Sequence[float]) -> float:
    # Sums of thirds and tenths come out a rounding off a whole number.
    total = sum(differences)
    return round(total) if abs(total - round(total)) < 1e-9 else total
