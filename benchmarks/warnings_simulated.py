"""How often the words beside the cap are wrong: shapes, alarms of unremarkable models, and latency on shared servers.

    .venv/bin/python benchmarks/warnings_simulated.py [--runs N] [--only shapes|alarms|latency]

Every run is a list of scored samples that goes through `study_of` and `analyse` with all findings, as a real one does;
an alarm is a line of "Worth a look". The cells of the table are percentages of runs; docs/simulations.md has them
beside those of the code before.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from contextcliff.analysis.analyse import analyse, study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.study import StudyFacts
from contextcliff.findings.finding import findings_of, findings_with
from contextcliff.findings.warnings import EarlyWarnings
from contextcliff.records.analysis import Analysis
from contextcliff.records.generation import ScoredSample
from contextcliff.records.search_record import SearchPlan
from contextcliff.statistics import intervals
from tests.make import DEPTHS, coin, drawn_items, plan_of, repeated, scored_sample, searched
from tests.simulated_reports import simulated

Rng = np.random.Generator
Rows = Iterator[tuple[str, str, Callable[[int], Mapping[str, float]]]]
"""Table, cell, and what a number of runs makes of it: the share of runs with each outcome."""

THRESHOLD = 0.8
LADDER = tuple(500 * 2**k for k in range(7))
THREE = (500, 4_000, 32_000)
SEARCHED = tuple(4_096 * 2**k for k in range(6))


def analysed(
    scored: Sequence[ScoredSample], *, controls: Sequence[ScoredSample] = (), search: SearchPlan | None = None
) -> Analysis:
    facts = StudyFacts(max_context_tokens=131_072, designed_lengths=True, relative_by_default=False, search=search)
    return analyse(study_of(scored, AnalysisSettings(), facts, controls=controls), findings_with())


def drawn(rng: Rng, rates: Sequence[float], lengths: Sequence[int], n: int) -> list[ScoredSample]:
    """Right or wrong answers, at depths that go in turn."""
    return [
        scored_sample(length, float(right), depth=DEPTHS[place % len(DEPTHS)])
        for length, rate in zip(lengths, rates, strict=True)
        for place, right in enumerate(rng.random(n) < rate)
    ]


def shares(outcomes: Counter[str], runs: int) -> Mapping[str, float]:
    return {name: count / runs for name, count in outcomes.most_common()}


# Shapes.

SHAPES: Mapping[str, tuple[Callable[[float], float], str]] = {
    "flat .95": (lambda _: 0.95, "flat"),
    "cliff .97 to .30 at 10K": (lambda tokens: 0.97 if tokens < 10_000 else 0.3, "cliff"),
    "slope .98 to .20": (lambda tokens: 0.98 - 0.78 * math.log2(tokens / 500) / 6, "slope"),
    "falls to .85, never below": (lambda tokens: 0.98 - 0.13 * math.log2(tokens / 500) / 6, "slope"),
    "falls from .97 to .85 at 10K": (lambda tokens: 0.97 if tokens < 10_000 else 0.85, "slope"),
}


def shapes(law: str, lengths: Sequence[int], n: int, runs: int) -> Mapping[str, float]:
    rate, right = SHAPES[law]
    rng, found = np.random.default_rng([1, n]), Counter[str]()
    for _ in range(runs):
        shape = study_shape(drawn(rng, [rate(tokens) for tokens in lengths], lengths, n))
        found["right" if shape == right else "none" if shape is None else f"“{shape}”"] += 1
    return shares(found, runs)


def searched_shapes(law: str, runs: int) -> Mapping[str, float]:
    rate, right = SHAPES[law]
    plan, found = plan_of(*LADDER, refine=True), Counter[str]()
    for run in range(runs):
        samples = searched(plan, coin(lambda tokens, _: rate(tokens), run), AnalysisSettings())
        shape = study_shape(samples, search=plan)
        found["right" if shape == right else "none" if shape is None else f"“{shape}”"] += 1
    return shares(found, runs)


def study_shape(scored: Sequence[ScoredSample], search: SearchPlan | None = None) -> str | None:
    facts = StudyFacts(max_context_tokens=131_072, designed_lengths=True, relative_by_default=False, search=search)
    return study_of(scored, AnalysisSettings(), facts).safe_cap.shape


# Alarms of a report of a model that has nothing to report.


def looked_at(analysis: Analysis) -> list[str]:
    """The findings with a line under "Worth a look"."""
    report = replace(simulated(), analysis=analysis)
    report = replace(report, run=replace(report.run, notes=()))
    return [finding.key for finding in findings_of(report) if finding.look(report)]


def steady_times(rng: Rng, scored: Sequence[ScoredSample]) -> list[ScoredSample]:
    """The same with times to the first token of a server of one's own."""
    return [
        replace(item, generation=replace(item.generation, ttft_ms=prefill_ms(item.sample.context_tokens) * noise))
        for item, noise in zip(scored, np.exp(rng.normal(0.0, 0.1, len(scored))), strict=True)
        if item.generation is not None
    ]


def plain(rate: float, n: int, rng: Rng) -> Analysis:
    return analysed(steady_times(rng, drawn(rng, [rate] * len(LADDER), LADDER, n)))


def graded(mean: float, n: int, rng: Rng) -> Analysis:
    samples = [
        scored_sample(length, float(score), depth=DEPTHS[place % len(DEPTHS)])
        for length in LADDER
        for place, score in enumerate(rng.beta(8.0 * mean, 8.0 * (1.0 - mean), n))
    ]
    return analysed(steady_times(rng, samples))


def asked_again(rate: float, n: int, rng: Rng) -> Analysis:
    """Questions that are put three times each."""
    samples = [
        replace(item, sample=replace(item.sample, cluster="", depth=DEPTHS[item.sample.trial % len(DEPTHS)]))
        for length in LADDER
        for item in repeated(length, drawn_items(rng, rate, n=n, within=0.8))
    ]
    return analysed(steady_times(rng, samples))


def with_controls(rate: float, n: int, rng: Rng) -> Analysis:
    """A ceiling that is near the threshold, and a floor near half of it: eight of each a length."""
    samples, controls = drawn(rng, [rate] * len(LADDER), LADDER, n), []
    named = []
    for item in samples:
        names = []
        if item.sample.trial % 3 == 0:
            for kind, mean in (("ceiling", 0.85), ("floor", 0.3)):
                made = scored_sample(100, float(rng.random() < mean))
                sample_id = f"{kind}-{made.sample.sample_id}"
                controls.append(replace(made, sample=replace(made.sample, sample_id=sample_id, control=kind)))
                names.append(sample_id)
        named.append(replace(item, sample=replace(item.sample, controls=tuple(names))))
    return analysed(steady_times(rng, named), controls=controls)


def in_a_search(rate: float, rng: Rng) -> Analysis:
    plan = plan_of(*SEARCHED)
    samples = searched(plan, coin(lambda *_: rate, int(rng.integers(1 << 31))), AnalysisSettings())
    return analysed(steady_times(rng, samples), search=plan)


ALARMS: Mapping[str, Callable[[Rng], Analysis]] = {
    "flat .98, 20 a length": partial(plain, 0.98, 20),
    "flat .95, 20 a length": partial(plain, 0.95, 20),
    "flat .95, 40 a length": partial(plain, 0.95, 40),
    "flat .90, 40 a length": partial(plain, 0.9, 40),
    "graded .90, 20 a length": partial(graded, 0.9, 20),
    "flat .90, 20 questions three times": partial(asked_again, 0.9, 20),
    "flat .95, controls of .85 and .30": partial(with_controls, 0.95, 24),
    "flat .95, a search": partial(in_a_search, 0.95),
}


def alarms(cell: str, runs: int) -> Mapping[str, float]:
    rng, found = np.random.default_rng(2), Counter[str]()
    for _ in range(runs):
        names = looked_at(ALARMS[cell](rng))
        found.update([*(["any"] if names else []), *names])
    return shares(found, runs)


# Latency: lengths are asked in ascending order, so that what changes in time changes with length.


def prefill_ms(tokens: int, cached: int = 0) -> float:
    """What a server of one's own takes to read a prompt."""
    return 30.0 + 0.5 * (tokens - cached) + 0.5e-4 * (tokens**2 - cached**2)


@dataclass(frozen=True)
class Served:
    """A server that others may use: what the time to the first token is multiplied with, from 0 to 1 in the run."""

    load: Callable[[Rng], Callable[[float], float]] = lambda _: lambda _: 1.0
    cached: Callable[[int], float] = lambda _: 0.0
    """The share of a prompt that a cache saves without saying so, by its length; new texts have none."""
    slower: Callable[[int], float] = lambda _: 1.0
    noise: float = 0.15

    def ms(self, rng: Rng, tokens: int, load: float, *, is_new: bool = False) -> float:
        saved = 0 if is_new else round(tokens * self.cached(tokens))
        return prefill_ms(tokens, saved) * self.slower(tokens) * load * math.exp(rng.normal(0.0, self.noise))


def _bursts(rng: Rng, *, factor: float, mean: float) -> Callable[[float], float]:
    """Others come and go: each spell takes `mean` of the run on average."""
    ends = np.cumsum(rng.exponential(mean, 200))
    first = int(rng.integers(2))
    return lambda at: factor if (int(np.searchsorted(ends, at)) + first) % 2 else 1.0


def _walk(rng: Rng, *, width: float) -> Callable[[float], float]:
    """A load that drifts: the logarithm goes its random way."""
    steps = np.cumsum(rng.normal(0.0, width / math.sqrt(100.0), 101))
    return lambda at: float(np.exp(abs(steps[min(100, int(100 * at))])))


def _from_then_on(rng: Rng, *, factor: float) -> Callable[[float], float]:
    begins = rng.random()
    return lambda at: factor if at > begins else 1.0


LATENCY: Mapping[str, Served] = {
    "a server of one's own": Served(),
    "attention alone": Served(slower=lambda tokens: tokens**2 / prefill_ms(tokens) / 1_000),
    "others from some time on, × 3": Served(load=partial(_from_then_on, factor=3.0)),
    "others come and go in half a run, × 3": Served(load=partial(_bursts, factor=3.0, mean=0.5)),
    "others come and go in a tenth, × 3": Served(load=partial(_bursts, factor=3.0, mean=0.1)),
    "others come and go in a tenth, × 10": Served(load=partial(_bursts, factor=10.0, mean=0.1)),
    "a load that drifts": Served(load=partial(_walk, width=1.5)),
    "a cache from 4,000 tokens on": Served(cached=lambda tokens: 0.8 if tokens >= 4_000 else 0.0),
    "a cache up to 4,000 tokens": Served(cached=lambda tokens: 0.8 if tokens < 4_000 else 0.0),
    "slower × 3 from 4,000 on (to be found)": Served(slower=lambda tokens: 3.0 if tokens >= 4_000 else 1.0),
    "slower × 3 from 16,000 on (to be found)": Served(slower=lambda tokens: 3.0 if tokens >= 16_000 else 1.0),
    "slower × 10 from 8,000 on (to be found)": Served(slower=lambda tokens: 10.0 if tokens >= 8_000 else 1.0),
}


def latency(cell: str, n: int, runs: int) -> Mapping[str, float]:
    rng, found, server = np.random.default_rng(3), Counter[str](), LATENCY[cell]
    whole = 1.02 * n * sum(map(prefill_ms, LADDER))
    for _ in range(runs):
        load, now, samples = server.load(rng), 0.0, []
        for length in LADDER:
            for _ in range(n):
                time = server.ms(rng, length, load(now / whole))
                now += prefill_ms(length)
                samples.append(scored_sample(length, 1.0, ttft_ms=time, latency_ms=time + 250.0))
        controls = []
        for _ in range(4):
            made = scored_sample(LADDER[0], 1.0, ttft_ms=server.ms(rng, LADDER[0], load(now / whole), is_new=True))
            controls.append(replace(made, sample=replace(made.sample, control="recheck")))
            now += prefill_ms(LADDER[0])
        warnings = analysed(samples, controls=controls).finding(EarlyWarnings)
        found.update({each.name for each in warnings.warnings} if warnings else ())
        found["any"] += any(each.name.startswith("latency") for each in warnings.warnings) if warnings else 0
    return shares(found, runs)


def rows() -> Rows:
    for law in SHAPES:
        for lengths, n in ((THREE, 20), (LADDER, 20), (LADDER, 40)):
            yield "shapes", f"{law}, {len(lengths)} lengths × {n}", partial(shapes, law, lengths, n)
        yield "shapes", f"{law}, searched", partial(searched_shapes, law)
    yield from (("alarms", cell, partial(alarms, cell)) for cell in ALARMS)
    yield from (("latency", cell, partial(latency, cell, 20)) for cell in LATENCY)


def without_bootstrap() -> None:
    """The intervals that are shown beside the means take most of the time, and no word here looks at them."""
    setattr(intervals, "_bootstrap", lambda scores, _: (scores[0], scores[-1]))  # noqa: B010 - mypy refuses the other


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--only", choices=("shapes", "alarms", "latency"))
    asked = parser.parse_args()
    without_bootstrap()
    print("| | cell | share of runs |\n| --- | --- | --- |")
    for table, cell, run in rows():
        if asked.only in (None, table):
            told = ", ".join(f"{name} {share:.1%}" for name, share in run(asked.runs).items())
            print(f"| {table} | {cell} | {told or 'none'} |", flush=True)


if __name__ == "__main__":
    main()
