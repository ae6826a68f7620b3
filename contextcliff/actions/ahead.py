"""What a run has ahead of it: what is stored, what is left to ask, and what is said before that is sent."""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from contextcliff.actions.action import Invocation
from contextcliff.actions.prepare import Prepared, planned_step
from contextcliff.analysis.search import Path, StepScores, perfect, step_scores
from contextcliff.errors import tell
from contextcliff.execution.budget import NOTHING, Cost, Meter, answer_tokens
from contextcliff.execution.schedule import shared_tokens
from contextcliff.execution.scoring import Scorer, recall
from contextcliff.execution.store import PlannedSample, Store
from contextcliff.findings.phrases import duration
from contextcliff.models.model import Price, dollars
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import Outcome
from contextcliff.records.run_plan import JudgePlan
from contextcliff.records.search_record import Key

if TYPE_CHECKING:
    from contextcliff.analysis.forecast import BestCase

REQUIRE = "analysis.require_cap"


@dataclass(frozen=True, kw_only=True)
class Ahead:
    """What is left of a run, and what that takes of its budget."""

    invocation: Invocation
    prepared: Prepared
    meter: Meter
    search: SearchAhead | None
    missing: Sequence[PlannedSample]
    judge: JudgePlan | None

    @classmethod
    def of(cls, invocation: Invocation, prepared: Prepared, store: Store, meter: Meter) -> Ahead:
        search, judge, planned = None, None, prepared.planned
        if prepared.search is not None:
            search = search_ahead(invocation, prepared, store)
            planned = search.planned
        if (judging := invocation.judge) is not None:
            asked = judging.requests_ahead(planned, store, run_id=prepared.run.run_id, sampling=invocation.sampling)
            judge = JudgePlan(
                requests=len(asked),
                prompt_tokens=sum(item.sample.built_tokens for item in asked),
                completion_tokens=answer_tokens((item.sample for item in asked), judging.sampling),
                usd=judging.meter(invocation.budget).worst(asked).usd,
            )
        missing = store.missing(planned) if search is None else search.least
        return cls(invocation=invocation, prepared=prepared, meter=meter, search=search, missing=missing, judge=judge)

    @property
    def judging(self) -> Cost:
        judge = self.judge
        return NOTHING if judge is None else Cost(tokens=judge.prompt_tokens + judge.completion_tokens, usd=judge.usd)

    def refuse_beyond_budget(self) -> None:
        """Raise `OverBudgetError` where the run, or the search of a perfect model, could take more than the budget."""
        what = "this run"
        if self.search is not None:
            replays = ", with what it replays," if self.search.replayed else ""
            what = f"even the search of a model without a mistake{replays}"
        self.meter.refuse_beyond(self.missing, beside=self.judging, what=what)

    @cached_property
    def least(self) -> Cost:
        return self.meter.worst(self.missing) + self.judging

    @cached_property
    def most(self) -> Cost:
        if self.search is None:
            return self.least
        most, known = self.search.most, self.invocation.model.price.is_known
        tokens = round(most.prompt_tokens) + round(most.completion_tokens)
        cost = Cost(tokens=tokens, usd=most.worst_usd if known else None)
        return cost + self.judging.times(self.search.share(most))

    def announce(self) -> None:
        invocation, limit_usd = self.invocation, self.meter.limit_usd
        for warning in hopeless(invocation, self.prepared):
            tell(f"warning: {warning}")
        lengths = sorted({item.sample.context_tokens for item in self.prepared.planned if item.sample.is_ordinary})
        if invocation.task.traits.designed_lengths and invocation.place is None:
            tell(f"lengths: {', '.join(f'{length:,}' for length in lengths)} tokens")
        least, most, usd = self.least, self.most, ""
        if least.usd is not None and most.usd is not None:
            usd = f", {_between(dollars(least.usd, at_most=True), dollars(most.usd, at_most=True))}"
            if limit_usd is not None and not invocation.budget.is_set and most.usd > limit_usd:
                usd = f"{usd}; at most {dollars(limit_usd)} are spent (budget.usd=none: all)"
        span = "" if invocation.place is None else f"{lengths[0]:,} to {lengths[-1]:,} tokens: "
        n = len(self.missing)
        n_most = n if self.search is None else round(self.search.most.samples + self.search.most.controls)
        samples, tokens = _between(f"{n:,}", f"{n_most:,}"), _between(f"{least.tokens:,}", f"{most.tokens:,}")
        tell(f"{span}{samples} requests, {tokens} tokens{usd}")

    def agreed(self) -> bool:
        """Ask for consent to a paid run at a terminal. A budget is consent, and so is a run without a terminal."""
        worst = self.most.within(self.meter.limit_usd)
        if not worst.usd or self.invocation.budget.is_set or not (sys.stdin.isatty() and sys.stderr.isatty()):
            return True
        usd = dollars(worst.usd, at_most=True)
        sys.stderr.write(f"This run can cost {usd} ({worst.tokens:,} tokens). Go on? [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def minutes(self) -> Callable[[Outcome], str | None]:
        """Says how long it may take by the rate of the first answers, as soon as these are there."""
        began_s, tokens = time.monotonic(), list[int]()

        def heard(outcome: Outcome) -> str | None:
            if (answer := outcome.generation) is None or len(tokens) == _FIRST_ANSWERS:
                return None
            tokens.append(answer.prompt_tokens + answer.completion_tokens)
            if len(tokens) < _FIRST_ANSWERS:
                return None
            seconds = (time.monotonic() - began_s) / sum(tokens)
            low, high = (cost.within(self.meter.limit_usd).tokens * seconds for cost in (self.least, self.most))
            return f"by the rate of the first answers it takes {_between(duration(low), duration(high))}"

        return heard


_FIRST_ANSWERS = 10


def _between(low: str, high: str) -> str:
    return high if low == high else f"{low.removesuffix(' USD')} to {high}"


def hopeless(invocation: Invocation, prepared: Prepared) -> Iterator[str]:
    """A sentence where no answers, however good, could give a safe cap, and one where none could give the required."""
    if (impossible := impossible_cap(invocation, prepared)) is not None:
        yield impossible
    required = invocation.analysis.require_cap
    best = best_case_of(invocation, prepared).sequence.cap_tokens or 0
    if required is not None and best < required:
        most = f"a cap of {best:,} tokens at most" if best else "no cap at all"
        way_out = f"take documents of {required:,} tokens or more"
        if invocation.task.traits.designed_lengths:
            way_out = f"ask for prompts of {required:,} tokens or more (task.lengths)"
        yield f"{REQUIRE}={required}: the best possible answers would give {most}; {way_out}, or require less"


def impossible_cap(invocation: Invocation, prepared: Prepared) -> str | None:
    """A sentence if even a perfect model would get no cap of the whole range; None if one would."""
    best = best_case_of(invocation, prepared)
    if best.is_enough:
        return None
    needed = best.needed()
    if best.is_baseline_alone:
        way_out = "ask for more lengths, or take analysis.relative_to_baseline=false"
    elif needed is None:
        way_out = "no number of samples could; lower analysis.threshold"
    elif best.has_shared_draws:
        way_out = (
            "samples that are one draw (temperature 0, or sampling.seed is set) count once, and more of them show no "
            "more; with a temperature above 0 and no sampling.seed each is a draw of its own"
        )
    else:
        way_out = f"at least {needed} are needed; {invocation.task.traits.more_samples}"
    return f"{best.shortfall()}; {way_out}"


def best_case_of(invocation: Invocation, prepared: Prepared) -> BestCase:
    """What a perfect model would show with the samples that are planned."""
    from contextcliff.analysis.forecast import best_case

    task, search = invocation.task, None
    if prepared.search is not None:
        search = prepared.search.perfect_path().search
    return best_case(
        [item.sample for item in prepared.planned if item.sample.is_ordinary],
        invocation.analysis,
        designed_lengths=task.traits.designed_lengths,
        relative_by_default=task.traits.relative_by_default,
        quantity=task.traits.cap_quantity,
        search=search,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """Numbers to send; fractions where they are expectations."""

    samples: float
    controls: float
    prompt_tokens: float
    cached_tokens: float
    completion_tokens: float
    usd: float
    """With what a prefix cache can save; 0 if no price is known."""
    worst_usd: float

    def __add__(self, other: Load) -> Load:
        return Load(**{name: getattr(self, name) + getattr(other, name) for name in _FIELDS})


_COUNTS = ("samples", "controls", "prompt_tokens", "cached_tokens", "completion_tokens")
_FIELDS = (*_COUNTS, "usd", "worst_usd")


def load_of(planned: Iterable[PlannedSample], sampling: Sampling, price: Price) -> Load:
    """That of samples and controls which are sent in this order."""
    samples = [item.sample for item in planned]
    ordinary = sum(sample.is_ordinary for sample in samples)
    cached = shared_tokens(samples)
    answers = [answer_tokens([sample], sampling) for sample in samples]
    sizes = list(zip((sample.built_tokens for sample in samples), cached, answers, strict=True))
    return Load(
        samples=ordinary,
        controls=len(samples) - ordinary,
        prompt_tokens=sum(sample.built_tokens for sample in samples),
        cached_tokens=sum(cached),
        completion_tokens=sum(answers),
        usd=sum(_usd(price, prompt, saved, answer) for prompt, saved, answer in sizes),
        worst_usd=sum(_usd(price, prompt, 0, answer) for prompt, _, answer in sizes),
    )


def _usd(price: Price, prompt: float, cached: float, completion: float) -> float:
    return price.of(prompt_tokens=prompt, cached_tokens=cached, completion_tokens=completion) or 0.0


SCORE = 0.98
"""True score of the model whose search is expected where nothing else is known of it."""


@dataclass(frozen=True, kw_only=True)
class SearchAhead:
    """The rest of a search. Loads count what is not stored; half a step that is stored counts as none."""

    invocation: Invocation
    prepared: Prepared
    path: Path
    known: Mapping[Key, StepScores]
    stored: int
    planned: tuple[PlannedSample, ...]
    """The whole search of a perfect model, and what it replays, what is stored included, in the order of sending."""
    least: tuple[PlannedSample, ...]
    replayed: Mapping[int, int]

    def expected(self, score_at: Callable[[int], float]) -> tuple[Mapping[int, float], Load, float]:
        """Samples at each length, their load, and the chance of the whole range, of a model with these true scores."""
        from contextcliff.analysis.forecast import expected

        forecast = expected(self.path, self.known, score_at)
        beside = self._beside(forecast.steps)
        both = {
            length: forecast.steps.get(length, 0.0) + beside.get(length, 0.0) for length in {**forecast.steps, **beside}
        }
        samples = {length: count * self.path.plan.step_samples for length, count in both.items()}
        return samples, self._load(forecast.steps), forecast.whole_range

    def tokens_left(self, known: Mapping[Key, StepScores]) -> int:
        """Prompt tokens that a search without a further mistake takes beyond these steps."""
        _, keys = self.path.played(known, lambda _: perfect(self.path.plan))
        return round(self._load(Counter(length for length, _ in keys)).prompt_tokens)

    @property
    def most(self) -> Load:
        from contextcliff.analysis.forecast import most_steps

        return self._load(most_steps(self.path, self.known))

    def share(self, load: Load) -> float:
        """The samples of a search with this load, and what is stored, as a multiple of those of a perfect model."""
        return (self.stored + load.samples) / sum(item.sample.is_ordinary for item in self.planned)

    def _beside(self, steps: Mapping[int, float]) -> Mapping[int, float]:
        left = {length: count - steps.get(length, 0.0) for length, count in self.replayed.items()}
        return {length: count for length, count in left.items() if count > 0.0}

    def _load(self, steps: Mapping[int, float]) -> Load:
        built = self.prepared.planned
        ordinary = [item for item in built if item.sample.is_ordinary]
        return self._of_steps(steps, built) + self._of_steps(self._beside(steps), ordinary)

    def _of_steps(self, steps: Mapping[int, float], built: Sequence[PlannedSample]) -> Load:
        """That of so many steps at each length; `built` are whole steps of some lengths. A step of a length between two
        of them takes what lies between theirs, and all of it costs what the longest prompt of the length does."""
        import numpy as np

        # A control goes with a sample that it is a control of: it can be shorter than that.
        controlled = {control: item.sample for item in built for control in item.sample.controls}
        at_length: defaultdict[int, list[PlannedSample]] = defaultdict(list)
        for item in sorted(built, key=lambda each: each.sample.step or 0):
            at_length[controlled.get(item.sample.sample_id, item.sample).context_tokens].append(item)
        lengths, size, price = sorted(at_length), self.path.plan.step_samples, self.invocation.model.price
        loads = [load_of(at_length[length], self.invocation.sampling, price) for length in lengths]
        each = {name: [getattr(load, name) * size / load.samples for load in loads] for name in _COUNTS}
        longest = [max(item.sample.built_tokens for item in at_length[length]) for length in lengths]
        total = Load(**dict.fromkeys(_FIELDS, 0.0))
        for length, count in steps.items():
            counts = {name: float(np.interp(length, lengths, each[name])) for name in _COUNTS}
            rates = price.at(float(np.interp(length, lengths, longest)))
            _, _, prompt, cached, completion = counts.values()
            usd, worst = (_usd(rates, prompt, saved, completion) for saved in (cached, 0.0))
            one = {**counts, "usd": usd, "worst_usd": worst}
            total += Load(**{name: count * value for name, value in one.items()})
        return total


def search_ahead(invocation: Invocation, prepared: Prepared, store: Store) -> SearchAhead:
    """Follow the stored answers as far as they go, and build what a perfect model would be asked beyond them."""
    search, built = prepared.search, dict[Key, tuple[PlannedSample, ...]]()
    assert search is not None

    def samples_of(*keys: Key) -> list[PlannedSample]:
        for key in keys:
            if key not in built:
                built[key] = planned_step(prepared, key)
        return list({item.sample.sample_id: item for key in keys for item in built[key]}.values())

    def ordinary(*keys: Key) -> list[PlannedSample]:
        return [item for item in samples_of(*keys) if item.sample.is_ordinary]

    scorer = Scorer(invocation.task, [item.sample for item in prepared.planned], prepared.documents)
    path, known, stored = Path(search.plan, search.rule), dict[Key, StepScores](), 0
    while wanted := path.follow(known):
        missing = {item.key for item in store.missing(samples_of(*wanted))}
        stored += sum(item.key not in missing for item in ordinary(*wanted))
        if missing:
            break
        for key in wanted:
            answered = recall(store, prepared.run.run_id, ordinary(key))
            known[key] = step_scores([scorer.score(each) for each in answered])
    _, keys = path.played(known, search.perfect)
    beside = [key for key in search.replayed if key not in known and key not in keys]
    planned = (*samples_of(*known, *keys), *ordinary(*beside))
    least = tuple(store.missing(planned))
    absent = {item.key for item in least}
    partly = [key for key in search.replayed if not absent.isdisjoint(item.key for item in ordinary(key))]
    return SearchAhead(
        invocation=invocation,
        prepared=prepared,
        path=path,
        known=known,
        stored=stored + sum(item.key not in absent for item in ordinary(*beside)),
        planned=planned,
        least=least,
        replayed=Counter(length for length, _ in partly),
    )
