"""What a server's own counts of the prompts tell: whether it cuts long ones in silence, and what it adds to each.

A server that cuts counts no more than its window, however long a prompt is. A built length can't show that where it was
not counted by the model's own tokenizer: Japanese or Chinese has 0.71 to 0.93 of tiktoken's tokens. So a length is
compared with shorter ones by the counts of the server alone. It is cut

- where it has the count of one that was built at least 10% shorter, or
- where its count is more than 5% below what those of the shorter ones let expect, in proportion and by the tokens that
  each further token brought; 5% and as much as the rates of the shorter ones differ among themselves, since rates vary
  with the text by 1 to 3%.

What this misses: the first length of a run; beside one shorter length of half the size, cuts of less than about a fifth
(a server's own system prompt looks the same: it makes the rate fall); and cuts of less than 5%, until a longer length
has the same count. `tests/analysis/test_server_counts.py` simulates both errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from contextcliff.records.generation import TRUNCATED, ScoredSample

_APART = 1.1
"""Built lengths with this ratio can't have equal counts."""
_EQUAL = 0.01
_BELOW = 0.05
_FEWEST_DOCUMENTS = 5
_FAR_APART = 1.5
"""Ratio of built lengths from which on they tell an offset from a rate."""
_FEW_TOKENS = 32
_UNSTEADY = 0.15
_OFF: Mapping[bool, float] = {True: 0.02, False: 0.1}
"""How far counts may be off, as a share, by whether the model's own tokenizer counted the prompts."""
_LEAST_RATE = 0.7
"""Tokens that a server counts for one more of ours, at least, where it counts as many for those before: 0.71 is the
lowest that was measured."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptCount:
    """One prompt in tokens: as it was built, and as the server counted it."""

    built: int
    counted: int


def prompt_counts(samples: Iterable[ScoredSample]) -> tuple[PromptCount, ...]:
    """Those of the samples with a score whose prompts the server counted."""
    return tuple(
        PromptCount(built=item.sample.built_tokens, counted=item.generation.prompt_tokens)
        for item in samples
        if item.score is not None and item.generation is not None and item.generation.server_counted
    )


def is_cut(
    length: Sequence[PromptCount],
    shorter: Iterable[Sequence[PromptCount]],
    *,
    cut: Iterable[Sequence[PromptCount]] = (),
) -> bool:
    """Whether the server cut the prompts of a length, by its counts of these and of shorter ones, which it did not.
    `cut` are longer ones that it did: what comes to their count is taken for cut as well."""
    known = sorted((_built(each), _counted(each)) for each in shorter if each)
    if not length or not known or _built(length) <= known[-1][0]:
        return False
    built, most = _built(length), _counted(length)
    if any(most >= (1.0 - _EQUAL) * _counted(each) for each in cut if each):
        return True
    if most < (1.0 - _EQUAL) * known[-1][1]:
        return False  # a cut leaves no less than a shorter prompt: this is no count of the whole prompt
    if any(built >= _APART * other and abs(most - counted) <= _EQUAL * counted for other, counted in known):
        return True
    rates = [counted / other for other, counted in known]
    (first, first_counted), (last, last_counted) = known[0], known[-1]
    rate = (last_counted - first_counted) / (last - first) if last > first else _LEAST_RATE
    expected = min(min(rates) * built, last_counted + max(rate, _LEAST_RATE) * (built - last))
    return most < (1.0 - _BELOW - (1.0 - min(rates) / max(rates))) * expected


def without_cut(scored: Sequence[ScoredSample], *, designed_lengths: bool) -> tuple[ScoredSample, ...]:
    """The samples of a fixed design, those that the server cut without a score.

    Documents of natural length are no lengths to compare. Of these at least five have the greatest count, and some of
    them were built at least 10% longer than the shortest: those are cut."""
    if not designed_lengths:
        return _without_cut_documents(scored)
    known: list[tuple[PromptCount, ...]] = []
    cut: set[int] = set()
    for length in sorted({item.sample.context_tokens for item in scored}):
        counts = prompt_counts(item for item in scored if item.sample.context_tokens == length)
        if is_cut(counts, known):
            cut.add(length)
        else:
            known.append(counts)
    return tuple(truncated(item) if item.sample.context_tokens in cut else item for item in scored)


def _without_cut_documents(scored: Sequence[ScoredSample]) -> tuple[ScoredSample, ...]:
    counts = prompt_counts(scored)
    full = (1.0 - _EQUAL) * max((each.counted for each in counts), default=0)
    longest = [each.built for each in counts if each.counted >= full]
    if len(longest) < _FEWEST_DOCUMENTS:
        return tuple(scored)
    from_built = _APART * min(longest)

    def is_cut_short(item: ScoredSample) -> bool:
        return any(each.counted >= full and each.built >= from_built for each in prompt_counts([item]))

    return tuple(truncated(item) if is_cut_short(item) else item for item in scored)


def truncated(item: ScoredSample) -> ScoredSample:
    """A sample as it is where the server cut its prompt: without a score."""
    return item if item.score is None else replace(item, score=None, failure=TRUNCATED, prediction="", details={})


def is_unchecked(scored: Iterable[ScoredSample]) -> bool:
    """Whether prompts were counted by the server and no two of them differ enough to tell whether it cuts."""
    built = [each.built for each in prompt_counts(scored)]
    return bool(built) and max(built) < _APART * min(built)


def server_offset(scored: Sequence[ScoredSample], *, own: bool) -> int | None:
    """Tokens that the server adds to every prompt, as a system prompt of its own; None if unknown.

    It is learnt on the shortest fifth of the prompts. If the model's own tokenizer counted them (`own`), the server's
    count less ours is the offset. Otherwise the longest fifth tells what the server counts for each of our tokens,
    which is less exact. 0 where it is no more than our counts may be off."""
    counts = sorted(prompt_counts(scored), key=lambda each: each.built)
    some = max(1, len(counts) // 5)
    short, long = counts[:some], counts[-some:]
    if not counts or (not own and _built(long) < _FAR_APART * _built(short)):
        return None
    added = _counted(long) - _counted(short)
    rate = 1.0 if own else added / (_built(long) - _built(short))
    offset = median(each.counted - rate * each.built for each in short)
    if any(abs(each.counted - rate * each.built - offset) > _UNSTEADY * each.counted for each in (*short, *long)):
        return None  # no constant: counts may leave out what a cache saved
    if own and abs(added - (_built(long) - _built(short))) > _OFF[True] * _built(long):
        return None  # it does not count as we do
    return round(offset) if offset > max(_FEW_TOKENS, _OFF[own] * _counted(short)) else 0


def _built(counts: Sequence[PromptCount]) -> float:
    return median(each.built for each in counts)


def _counted(counts: Sequence[PromptCount]) -> float:
    return median(each.counted for each in counts)
