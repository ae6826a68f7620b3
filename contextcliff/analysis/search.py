"""The sequential search of the safe cap: which length is decided how, and what to ask next.

`follow` replays a search over the answered blocks, as a pure function of them: a run that was killed, one that asked
ahead, and an analysis of stored answers decide alike. A block counts when it and all blocks before it are complete.

The walk goes from the shortest length up and ends at the first that does not pass. With `SearchPlan.refine`, lengths
between the last one passed and that one are then bisected. Passing costs nothing. After k − 1 failures a length is
tested at alpha · 2⁻ᵏ, so that a walk that may be refined runs at alpha / 2 from its start: the first length that is
truly below the threshold after each failure can pass wrongly with that probability, and these sum to at most alpha.
A length between two others is given up where the blocks that it may still ask are not expected to pass it.
A length is unscorable where its samples without a score keep it from passing, whatever the rest of them bring, or where
none of its first ten has a score. One that the server refused as too long, or cut in silence, ends the range: the walk
is refined below it. Whether it was cut is told by the server's counts (`server_counts.py`) of its first block and of
the blocks that decided shorter lengths.
Without refining the walk is a fixed sequence of tests, each at alpha (W. Maurer, L. A. Hothorn and W. Lehmacher 1995).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from contextcliff.analysis.server_counts import PromptCount, is_cut, prompt_counts
from contextcliff.records.generation import NOT_SENT, OVERFLOW, TRUNCATED, ScoredSample
from contextcliff.records.sample import Sample
from contextcliff.records.search_record import (
    PASSED,
    THIRDS,
    BlockEvidence,
    Decision,
    Search,
    SearchPlan,
    SearchRule,
    TestedLength,
    depth_thirds,
    third_sizes,
)
from contextcliff.statistics.sequential import (
    ABOVE,
    BELOW,
    SHARE_ABOVE,
    SHARE_BELOW,
    Block,
    GivingUp,
    Kind,
    Score,
    clustered_block,
    decision_of_all,
    paired_block,
    refine_alpha,
)

BASELINE_SAMPLES = 5
"""Fewest scored samples that a baseline is built on."""
MOST_WITHOUT_A_SCORE = 10
"""Samples of a length after which it is unscorable if not one of them has a score."""


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class BlockKey:
    """A block of samples: the `index`-th of its length, from 0."""

    context_tokens: int
    index: int


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockScores:
    """The scores of a complete block, in the order of their coordinates."""

    texts: tuple[tuple[Score, ...], ...]
    """The scores of the samples that share a text, for each text; a text each where they share none."""
    thirds: tuple[tuple[tuple[Score, ...], ...], ...] = ()
    """The same of each third of the depths; empty where there are fewer than three."""
    is_too_long: bool = False
    """Whether the server refused a sample as too long, or cut it."""
    window_tokens: int | None = None
    """The context window that it named as it did; None if unknown."""
    counts: tuple[PromptCount, ...] = ()
    """The prompts of the samples with a score, as the server counted them."""

    @property
    def scores(self) -> tuple[Score, ...]:
        """One score a text: the mean of its samples, None where one of them has no score."""
        return tuple(map(_mean, self.texts))

    def cut(self) -> BlockScores:
        """The block without scores, as the server cut its prompts."""
        return BlockScores(
            texts=tuple((None,) * len(text) for text in self.texts),
            thirds=tuple(tuple((None,) * len(text) for text in third) for third in self.thirds),
            is_too_long=True,
            window_tokens=min((count.counted for count in self.counts), default=None),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Followed:
    """A search as far as it is answered, and the blocks that it needs next; none where it is at its end."""

    search: Search
    wanted: tuple[BlockKey, ...]
    cut: frozenset[int] = frozenset()
    """Lengths whose prompts the server cut in silence, by its counts: their scores do not count."""


def block_key(sample: Sample) -> BlockKey | None:
    """The block that a sample belongs to; None where its length has a fixed number of samples."""
    return None if sample.block is None else BlockKey(context_tokens=sample.context_tokens, index=sample.block)


def block_scores(samples: Sequence[ScoredSample]) -> BlockScores:
    """The scores of one complete block; samples that share a text count once, by their mean."""
    thirds = depth_thirds(item.sample.depth for item in samples)
    return BlockScores(
        is_too_long=any(item.failure in (OVERFLOW, TRUNCATED) for item in samples),
        window_tokens=min((item.window_tokens for item in samples if item.window_tokens is not None), default=None),
        counts=prompt_counts(samples),
        texts=_texts(samples),
        thirds=tuple(_texts([item for item in samples if item.sample.depth in third]) for third in thirds),
    )


def _texts(samples: Sequence[ScoredSample]) -> tuple[tuple[Score, ...], ...]:
    units: defaultdict[str, list[ScoredSample]] = defaultdict(list)
    for item in sorted(samples, key=_coordinates):
        units[item.sample.cluster or item.sample.sample_id].append(item)
    return tuple(tuple(item.score for item in unit) for unit in units.values())


def complete_blocks(scored: Iterable[ScoredSample], plan: SearchPlan) -> dict[BlockKey, BlockScores]:
    """The scores of every block of which each sample has an outcome, be it a score or a failure to get one."""
    blocks: defaultdict[BlockKey, list[ScoredSample]] = defaultdict(list)
    for item in scored:
        key = block_key(item.sample)
        if key is not None and item.failure != NOT_SENT:
            blocks[key].append(item)
    return {key: block_scores(samples) for key, samples in blocks.items() if len(samples) == plan.block}


def blocks_used(search: Search, *, relative: bool) -> frozenset[BlockKey]:
    """The blocks that the decisions rest on, with those of the baseline that others were compared with."""
    used = {(each.context_tokens, index) for each in search.tested for index in range(each.n_blocks)}
    paired = {(search.plan.lengths[0], index) for _, index in used} if relative else set()
    return frozenset(BlockKey(context_tokens=tokens, index=index) for tokens, index in used | paired)


def _coordinates(item: ScoredSample) -> tuple[int, float, str]:
    sample = item.sample
    return (sample.trial, -1.0 if sample.depth is None else sample.depth, sample.sample_id)


def _mean(text: Sequence[Score]) -> Score:
    return None if None in text else math.fsum(score or 0.0 for score in text) / len(text)


def follow(plan: SearchPlan, rule: SearchRule, blocks: Mapping[BlockKey, BlockScores]) -> Followed:
    """Replay the search over the blocks that are answered, up to the first that is not."""
    walker = _Walker(plan=plan, rule=rule, blocks=blocks)
    steps = list(walker.walk())
    tested = tuple(tested for tested, _ in steps)
    # What was taken for below may be seen to be cut by shorter lengths that refining tested after it.
    below = (each.context_tokens for each in tested if each.decision == "below")
    late = {length for length in below if walker.is_cut(length, tested)}
    if late:
        walker = _Walker(plan=plan, rule=rule, blocks=blocks, late=frozenset(late))
        steps = list(walker.walk())
        tested = tuple(tested for tested, _ in steps)
    wanted = steps[-1][1] if steps else ()
    return Followed(search=Search(plan=plan, tested=tested), wanted=wanted, cut=frozenset(walker.cut | late))


def judged_again(asked: Followed, rule: SearchRule, blocks: Mapping[BlockKey, BlockScores]) -> Followed:
    """The lengths that a search tested for the rule of its plan, each tested by another rule on the answers there are.

    A test for "above" keeps its level of error, by the failures that the search met before it. That holds whatever the
    two rules are: which lengths a stage may come to is fixed when it starts, so that the first of them which is truly
    not above this rule's threshold passes wrongly at most so often, however many of its blocks were asked. Which length
    is the last of a walk is not fixed, and depends on its scores: "below" takes alpha / (m (m + 1)) at the m-th length,
    alpha together.
    """
    walker = _Walker(plan=asked.search.plan, rule=rule, blocks=blocks, late=asked.cut)
    tested: list[TestedLength] = []
    failures = 0
    for m, each in enumerate(asked.search.tested, start=1):
        again, _ = walker.test(each.context_tokens, tested, failures=failures, claims=m * (m + 1))
        tested.append(again)
        failures += each.decision not in PASSED
    return replace(asked, search=replace(asked.search, tested=tuple(tested)))


def even_block(plan: SearchPlan, score: float) -> BlockScores:
    """A block in which every sample has this score."""
    return BlockScores(
        texts=((score,),) * plan.block_evidence, thirds=tuple(((score,),) * size for size in third_evidence(plan))
    )


def third_evidence(plan: SearchPlan) -> tuple[int, ...]:
    """Pieces of evidence in each third of the depths of a block; empty where there are fewer than three depths."""
    if plan.depths < len(THIRDS):
        return ()
    if plan.block_evidence < plan.block:  # a shared text has samples in every third
        return (plan.block_evidence,) * len(THIRDS)
    return tuple(size * plan.block // plan.depths for size in third_sizes(plan.depths))


def perfect_path(
    plan: SearchPlan, rule: SearchRule, blocks: Mapping[BlockKey, BlockScores]
) -> tuple[Search, tuple[BlockKey, ...]]:
    """The search as it ends if every answer beyond `blocks` is the best possible, and the blocks that it then asks."""
    guessed = GuessedBlocks(blocks, lambda _: even_block(plan, 1.0))
    return follow(plan, rule, guessed).search, tuple(guessed)[len(blocks) :]


class GuessedBlocks(dict[BlockKey, BlockScores]):
    """Answered blocks, which have a guess for each other one that a search looks for, until there are `most`."""

    def __init__(
        self, blocks: Mapping[BlockKey, BlockScores], guess: Callable[[int], BlockScores], *, most: float = math.inf
    ) -> None:
        super().__init__(blocks)
        self._guess, self._most = guess, most

    def __contains__(self, key: object) -> bool:
        if isinstance(key, BlockKey) and not super().__contains__(key) and len(self) < self._most:
            self[key] = self._guess(key.context_tokens)
        return super().__contains__(key)


def alpha_of(plan: SearchPlan, rule: SearchRule, *, failures: int = 0) -> float:
    """Error that the test of a length may make after so many lengths have failed."""
    alpha = 1.0 - rule.confidence
    return refine_alpha(alpha, failures) if plan.refine else alpha


def fewest_blocks(plan: SearchPlan, rule: SearchRule) -> int:
    """Blocks of a length by which the best possible answers pass; the most where even they do not."""
    lengths = plan.lengths[:2] if rule.relative else plan.lengths[:1]
    tested = perfect_path(plan, rule, {})[0].of(lengths[-1])
    return plan.most_blocks if tested is None else max(1, tested.n_blocks)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Walker:
    plan: SearchPlan
    rule: SearchRule
    blocks: Mapping[BlockKey, BlockScores]
    late: frozenset[int] = frozenset()
    """Lengths that were seen to be cut after they had been decided."""
    cut: set[int] = field(default_factory=set)
    """Lengths that are seen to be cut on the way."""

    def walk(self) -> Iterator[tuple[TestedLength, tuple[BlockKey, ...]]]:
        """Each tested length, with the blocks that it still needs; it is the last one where there are some."""
        before: list[TestedLength] = []
        low: int | None = None
        high: TestedLength | None = None
        for length in self.plan.lengths:
            tested, wanted = self.test(length, before, failures=0)
            before.append(tested)
            yield tested, wanted
            if tested.decision == "open":
                return
            if tested.decision not in PASSED:
                high = tested
                break
            low = length
        if self.plan.refine and low is not None and high is not None:
            yield from self._refine(low, self._range_end(low, high), before)

    def _range_end(self, low: int, high: TestedLength) -> int:
        """Where refining ends: the length that is below, or what the server takes; `low` where nothing is to refine."""
        if high.decision == "below" or high.context_tokens in self.late:
            return high.context_tokens
        blocks = self._blocks(high.context_tokens, high.n_blocks)
        if high.decision != "unscorable" or not any(block.is_too_long for block in blocks):
            return low
        window = min((block.window_tokens for block in blocks if block.window_tokens is not None), default=None)
        counts = self._block(BlockKey(context_tokens=low, index=0)).counts
        if window is None or not counts:
            return high.context_tokens
        # A count above ours may be due to what the server adds to each prompt: refusals cost nothing.
        rate = sum(count.counted for count in counts) / sum(count.built for count in counts)
        return min(high.context_tokens, low + int((window - low * rate) / min(1.0, rate)))

    def is_cut(self, length: int, before: Iterable[TestedLength]) -> bool:
        """Whether the server cut a length, by the counts of its first block and of the lengths `before`."""
        counts = {each.context_tokens: self._counts(each.context_tokens, each.n_blocks) for each in before}
        cut = self.cut | self.late
        return is_cut(
            self._counts(length, 1),
            [count for tokens, count in counts.items() if tokens < length and tokens not in cut],
            cut=[count for tokens, count in counts.items() if tokens > length and tokens in cut],
        )

    def _counts(self, length: int, n_blocks: int) -> tuple[PromptCount, ...]:
        keys = (BlockKey(context_tokens=length, index=index) for index in range(n_blocks))
        return tuple(count for key in keys for count in self.blocks[key].counts)

    def _blocks(self, length: int, n_blocks: int) -> list[BlockScores]:
        return [self._block(BlockKey(context_tokens=length, index=index)) for index in range(n_blocks)]

    def _block(self, key: BlockKey) -> BlockScores:
        block = self.blocks[key]
        return block.cut() if key.context_tokens in self.late or key.context_tokens in self.cut else block

    def _refine(
        self, low: int, high: int, before: list[TestedLength]
    ) -> Iterator[tuple[TestedLength, tuple[BlockKey, ...]]]:
        resolution, failures = self.plan.resolution_between(low, high), 1
        while high - low > resolution:
            middle = (low + high) // 2
            tested, wanted = self.test(middle, before, failures=failures)
            before.append(tested)
            yield tested, wanted
            if tested.decision == "open":
                return
            if tested.decision == "passed":
                low = middle
            else:
                high, failures = middle, failures + 1

    def test(
        self, length: int, before: Iterable[TestedLength], *, failures: int, claims: int = 1
    ) -> tuple[TestedLength, tuple[BlockKey, ...]]:
        """How a length is decided, and the blocks that it needs. "Below" errs a `claims`-th as often as alpha says."""
        alpha = alpha_of(self.plan, self.rule, failures=failures)
        if self.rule.relative and length == self.plan.lengths[0]:
            return self._baseline(length, alpha)
        wanted: tuple[BlockKey, ...] = ()
        own: list[BlockScores] = []

        def gains() -> Iterator[tuple[Block, ...]]:  # up to the block that decides, and none behind it
            nonlocal wanted
            for index in range(self.plan.most_blocks):
                # Compared with a baseline, also the block of the baseline with the same coordinates.
                lengths = (self.plan.lengths[0], length) if self.rule.relative else (length,)
                needed = [BlockKey(context_tokens=tokens, index=index) for tokens in lengths]
                wanted = tuple(key for key in needed if key not in self.blocks)
                if wanted:
                    return
                if index == 0 and length not in self.late and self.is_cut(length, before):
                    self.cut.add(length)
                own.append(self._block(needed[-1]))
                yield self._gains(needed)
                if _is_without_a_score(own, length):
                    return

        decided = decision_of_all(
            gains(),
            above=SHARE_ABOVE if self.rule.relative else ABOVE,
            below=SHARE_BELOW if self.rule.relative else BELOW,
            alpha=alpha,
            below_at=claims / (1.0 - self.rule.confidence),
            giving_up=GivingUp(
                rows=self.plan.most_blocks,
                best_gain=self.rule.best_gain if failures else None,
                # Beside a wrong answer of the baseline, where there is one.
                most_gain=self.rule.best_gain + (1.0 if self.rule.relative else 0.0),
            ),
        )
        without = not wanted and _is_without_a_score(own, length)
        shown: Mapping[Kind, Decision] = {"above": "passed", "below": "below", "open": "unsettled"}
        decision = shown.get(decided.kind, "unscorable")
        if wanted or without:
            decision = "open" if wanted else "unscorable"
        evidence = [BlockEvidence(n=look.samples, e_above=look.e_above, e_below=look.e_below) for look in decided.looks]
        tested = self._tested(length, alpha, decision, failures, evidence)
        return replace(tested, third=THIRDS[decided.place - 1] if decided.place else None), wanted

    def _baseline(self, length: int, alpha: float) -> tuple[TestedLength, tuple[BlockKey, ...]]:
        """The shortest length under a relative threshold: asked until it has samples enough to be compared with."""
        scored, total = 0, 0.0
        for index in range(self.plan.most_blocks):
            key = BlockKey(context_tokens=length, index=index)
            if key not in self.blocks:
                return self._tested(length, alpha, "open", 0, (), index), (key,)
            if _is_without_a_score(self._blocks(length, index + 1), length):
                return self._tested(length, alpha, "unscorable", 0, (), index + 1), ()
            known = [score for text in self.blocks[key].texts for score in text if score is not None]
            scored, total = scored + len(known), total + math.fsum(known)
            if scored >= BASELINE_SAMPLES and total > 0.0:
                return self._tested(length, alpha, "baseline", 0, (), index + 1), ()
        return self._tested(length, alpha, "unsettled", 0, (), self.plan.most_blocks), ()

    def _gains(self, needed: Sequence[BlockKey]) -> tuple[Block, ...]:
        own = self._block(needed[-1])
        baseline = self.blocks[needed[0]] if self.rule.relative else None
        whole = gains_of(own.texts, self.rule, baseline=None if baseline is None else baseline.texts)
        return (whole, *gains_by_third(own, self.rule, baseline=baseline)) if self.rule.every_depth else (whole,)

    def _tested(
        self,
        length: int,
        alpha: float,
        decision: Decision,
        failures: int,
        evidence: Iterable[BlockEvidence],
        n_blocks: int | None = None,
    ) -> TestedLength:
        blocks = tuple(evidence)
        return TestedLength(
            context_tokens=length, alpha=alpha, decision=decision, refined=failures > 0, blocks=blocks,
            n_blocks=len(blocks) if n_blocks is None else n_blocks,
        )  # fmt: skip


def _is_without_a_score(blocks: Sequence[BlockScores], length: int) -> bool:
    """Whether no sample of these blocks has a score, and no more are needed to see that none of the length will."""
    scores = [score for block in blocks for text in block.texts for score in text]
    is_beyond = any(block.window_tokens is not None and block.window_tokens < length for block in blocks)
    return all(score is None for score in scores) and (is_beyond or len(scores) >= MOST_WITHOUT_A_SCORE)


def gains_of(
    texts: Sequence[Sequence[Score]], rule: SearchRule, *, baseline: Sequence[Sequence[Score]] | None
) -> Block:
    """What the bets win by these samples, for a mean above the threshold and for one below it."""
    if baseline is None:
        return clustered_block(texts, rule.threshold)
    return paired_block(tuple(zip(map(_mean, texts), map(_mean, baseline), strict=True)), rule.threshold)


def gains_by_third(own: BlockScores, rule: SearchRule, *, baseline: BlockScores | None) -> tuple[Block, ...]:
    """The same for each third of the depths, compared with the same third of the baseline."""
    bases = (None,) * len(own.thirds) if baseline is None else baseline.thirds
    return tuple(gains_of(third, rule, baseline=base) for third, base in zip(own.thirds, bases, strict=True))
