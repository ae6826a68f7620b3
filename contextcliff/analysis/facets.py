"""The scores by what else was varied: hops, distance of the evidence, topic.

Each key of the samples' metadata is a facet. Each word has a row, and each number where there are few different ones;
other numbers are cut at their quartiles. A facet's safe cap is that of its samples alone. With fewer samples at each
length it is often lower than the run's, or missing, because there is less evidence and not because the model is worse.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from contextcliff.analysis.bins import Group, summarise
from contextcliff.analysis.fixed_sequence import fixed_sequence_test
from contextcliff.analysis.items import pooled_evidence
from contextcliff.analysis.threshold import make_threshold
from contextcliff.statistics.descriptive import mean_of, quantile_classes


@dataclass(frozen=True, kw_only=True, slots=True)
class FacetRow:
    """The samples of one value (or range of values) of one metadata key.

    `cap_tokens` is the safe cap of these samples alone, by the same rule as the run's.
    """

    facet: str
    value: str
    n_samples: int
    mean: float
    ci_low: float
    ci_high: float
    cap_tokens: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Facets:
    """The scores by everything that varied beside length and depth."""

    facets: tuple[FacetRow, ...]


Value = str | int | float

FEW_NUMBERS = 6
"""Most different numbers that have a row each; more are cut at their quartiles."""
MOST_WORDS = 12
"""Most rows of a facet of words; the less frequent words are `other`."""
OTHER = "other"
_QUARTERS = 4


def facet_rows(
    groups: Sequence[Group],
    *,
    threshold: float,
    relative: bool,
    confidence: float,
    binary: bool,
    is_searched: bool = False,
) -> tuple[FacetRow, ...]:
    """A row for each value of each key that has more than one, keys in alphabetical order.

    `mean` and its two-sided interval at `confidence` are those of all scored samples with the value, over all
    lengths; a value without one has no row. `cap_tokens` is tested with the same threshold, relative to
    the shortest length of the same samples where `relative`. `binary` is whether the whole run's scores are 0 or 1.

    A search gives no caps of facets (`is_searched`): it stops by all scores, which a test of a part does not allow for.
    """
    rows: list[FacetRow] = []
    for key, values in _values(groups).items():
        for label, members in _classes(values):
            own = _having(groups, key, members)
            evidence = pooled_evidence([group.samples for group in own], binary=binary)
            if evidence is None:
                continue
            results = summarise(own, confidence, binary=binary)
            facet_threshold = make_threshold(results, threshold=threshold, relative=relative, confidence=confidence)
            low, high = evidence.shown(confidence)
            rows.append(
                FacetRow(
                    facet=key,
                    value=label,
                    n_samples=len(evidence.scores),
                    mean=mean_of(evidence.scores),
                    ci_low=low,
                    ci_high=high,
                    cap_tokens=None if is_searched else fixed_sequence_test(results, facet_threshold).cap_tokens,
                )
            )
    return tuple(rows)


def _values(groups: Sequence[Group]) -> dict[str, list[Value]]:
    """The values of each key, one for each planned sample that has it."""
    by_key: defaultdict[str, list[Value]] = defaultdict(list)
    for group in groups:
        for item in group.samples:
            for key, value in item.sample.metadata.items():
                by_key[key].append(value)
    return {key: by_key[key] for key in sorted(by_key) if len(set(by_key[key])) > 1}


def _classes(values: Sequence[Value]) -> Iterator[tuple[str, frozenset[Value]]]:
    """The rows of a facet: a label each, and the values that belong to it."""
    numbers = [value for value in values if not isinstance(value, str)]
    if len(numbers) < len(values):
        yield from _words(values)
    elif len(set(numbers)) <= FEW_NUMBERS:
        yield from ((_figure(number), frozenset({number})) for number in sorted(set(numbers)))
    else:
        yield from ((_range(quarter), frozenset(quarter)) for quarter in quantile_classes(numbers, _QUARTERS))


def _words(values: Sequence[Value]) -> Iterator[tuple[str, frozenset[Value]]]:
    labels: defaultdict[str, set[Value]] = defaultdict(set)
    for value in set(values):
        labels[value if isinstance(value, str) else _figure(value)].add(value)
    counts = Counter(values)
    names = sorted(labels, key=lambda label: (-sum(counts[v] for v in labels[label]), label))
    kept = names
    if len(names) > MOST_WORDS:
        kept = [name for name in names if name != OTHER][:MOST_WORDS]
    yield from ((name, frozenset(labels[name])) for name in sorted(kept))
    rest = [name for name in names if name not in kept]
    if rest:
        yield OTHER, frozenset(value for name in rest for value in labels[name])


def _having(groups: Sequence[Group], key: str, members: frozenset[Value]) -> list[Group]:
    """The groups of those samples alone, without the lengths that have none."""
    having = (
        Group(
            asked_tokens=group.asked_tokens,
            samples=tuple(item for item in group.samples if item.sample.metadata.get(key) in members),
        )
        for group in groups
    )
    return [group for group in having if group.samples]


def _range(numbers: Sequence[int | float]) -> str:
    return _figure(numbers[0]) if len(numbers) == 1 else f"{_figure(numbers[0])}–{_figure(numbers[-1])}"


def _figure(number: int | float) -> str:
    """A number in words: whole numbers without decimals, others with four significant digits; commas from 1,000 on."""
    if number == int(number):
        return f"{int(number):,}"
    return f"{number:,.1f}" if abs(number) >= 1_000 else f"{number:.4g}"
