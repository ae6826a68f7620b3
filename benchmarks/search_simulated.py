"""What the search of the safe cap costs, how close it comes, and how often it errs, on models with a known score.

    .venv/bin/python benchmarks/search_simulated.py [--runs N] [--law NAME …] [--only costs|errors] [--processes N]
        [--figure docs/search_cost.png]

Every run is a `SafeCapSearch`, the class that a real run uses, on scores that are drawn. The first table has models
with something to find: prompt tokens, each prompt in full; octaves lost, log2(true crossing / cap), of the longest
length where every one is good; the share of runs with the whole range as their cap; how the searches ended. Beside it
forty samples at every length. `--figure` draws it as the README shows it (`search_figure.py`). The second table has
models at the threshold, where a search errs most often, and the ways in which answers come: an error is a cap at a
length whose true score is not above the threshold, at any time in a run.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from multiprocessing.pool import Pool
from pathlib import Path

import numpy as np

from contextcliff.analysis.calibration import laws as calibration
from contextcliff.analysis.calibration.calibrating import CalibrationPlan, simulate
from contextcliff.analysis.safe_cap_search import SafeCapSearch, SearchAnswer
from contextcliff.analysis.search_path import SearchDesign, Step
from contextcliff.records.search_record import Key
from contextcliff.statistics.intervals import wilson
from contextcliff.tasks.task import draws

LENGTHS = (4_096, 8_192, 16_384, 32_768, 65_536, 131_072)
THRESHOLD, ALPHA, MOST = 0.8, 0.05, 160
DESIGN = SearchDesign(lengths=LENGTHS, threshold=THRESHOLD, alpha=ALPHA, most=MOST)
DEPTHS = 10
IN_A_TEXT, TEXTS = 11, 60
LOST = 0.3
"""Chance that a score is lost."""
GRADED_PARTS, GRADED_WEIGHT = 20, 4.0
HIGH, LOW = 0.98, 0.05
SEED = 0

Draw = Callable[[np.random.Generator, float], Step]
"""A sample's score about a true mean."""
Ask = Callable[[Key], Step]


def right_or_wrong(rng: np.random.Generator, mean: float) -> Step:
    return float(rng.random() < mean)


def graded(rng: np.random.Generator, mean: float) -> Step:
    """The share of the parts that are right, by a beta distribution."""
    rate = rng.beta(GRADED_WEIGHT * mean, GRADED_WEIGHT * (1.0 - mean)) if mean < 1.0 else 1.0
    return float(rng.binomial(GRADED_PARTS, rate)) / GRADED_PARTS


def text_of_many(rng: np.random.Generator, mean: float, *, correlation: float) -> Step:
    """The scores of a text's samples, which are right or wrong together so often."""
    weight = 1.0 / correlation - 1.0
    rate = rng.beta(weight * mean, weight * (1.0 - mean))
    return tuple(float(right) for right in rng.random(IN_A_TEXT) < rate)


@dataclass(frozen=True)
class Model:
    """A model whose true score is known, and what one run of a search asks it."""

    name: str
    title: str
    mean: calibration.TrueScore
    crossing: float | None
    """The first length whose mean is not above the threshold; 0 if every one's, None if none's."""
    draw: Draw = right_or_wrong
    design: SearchDesign = DESIGN
    run: str = "plain"
    """How answers come: a key of `RUNS`."""
    step: int = 1
    """Samples of a step."""
    has_profile: bool = False
    """Whether the first depths are always right and the last never, with one between that makes up the mean."""

    def is_error(self, cap: int | None) -> bool:
        """Whether a cap claims a length whose true score is not above the threshold."""
        return cap is not None and self.crossing is not None and cap >= self.crossing


@dataclass(kw_only=True)
class Answers:
    """The scores of one run: each is drawn when it is first asked, and stays."""

    model: Model
    rng: np.random.Generator
    run: int
    scores: dict[Key, Step] = field(default_factory=dict)
    depths: dict[int, Iterator[tuple[int, int]]] = field(default_factory=dict)

    def __call__(self, key: Key) -> Step:
        if key not in self.scores:
            self.scores[key] = self._new(key[0])
        return self.scores[key]

    def _new(self, length: int) -> Step:
        model = self.model
        mean = model.mean(length)
        if model.has_profile:
            found = self.depths.setdefault(length, draws(self.run, model.name, length, places=DEPTHS))
            ((place, _),) = islice(found, 1)
            mean = min(1.0, max(0.0, DEPTHS * mean - place))
        return model.draw(self.rng, mean)

    @property
    def tokens(self) -> int:
        return sum(length for length, _ in self.scores) * self.model.step


def ask(search: SafeCapSearch, answers: Ask, rng: np.random.Generator, *, in_flight: int = 1) -> None:
    """Go on with a search to its end; answers in flight come back in any order."""
    sent: list[Key] = []
    while keys := search.next(in_flight):
        sent += [key for key in keys if key not in sent][: in_flight - len(sent)]
        length, number = sent.pop(int(rng.integers(len(sent))) if len(sent) > 1 else 0)
        search.tell(length, [answers((length, number))], number)
    for length, number in sent:  # what is on its way is paid
        answers((length, number))


def plain(answers: Answers, *, in_flight: int = 1) -> Iterator[SearchAnswer]:
    search = SafeCapSearch(answers.model.design)
    ask(search, answers, answers.rng, in_flight=in_flight)
    yield search.answer


def lost_and_back(answers: Answers) -> Iterator[SearchAnswer]:
    """A part of the scores is lost at first, wrong ones rather than right ones, and a second run obtains them."""
    lost: dict[Key, bool] = {}

    def with_losses(key: Key) -> Step:
        score = answers(key)
        chance = LOST * (0.5 if score == 1.0 else 1.0)
        return None if lost.setdefault(key, bool(answers.rng.random() < chance)) else score

    search = SafeCapSearch(answers.model.design)
    ask(search, with_losses, answers.rng)
    yield search.answer
    yield from told_again(answers, answers.model.design)


def range_grown(answers: Answers) -> Iterator[SearchAnswer]:
    """The first lengths with few samples each, then more of both, and then a length between two."""
    design = answers.model.design
    for lengths, most in ((LENGTHS[:3], 60), (LENGTHS, MOST), ((*LENGTHS[:3], 24_576, *LENGTHS[3:]), MOST)):
        grown = SearchDesign(lengths=lengths, threshold=design.threshold, alpha=design.alpha, most=most)
        yield from told_again(answers, grown)


def told_again(answers: Answers, design: SearchDesign) -> Iterator[SearchAnswer]:
    search = SafeCapSearch(design)
    for (length, number), score in answers.scores.items():
        search.tell(length, [score], number)
    ask(search, answers, answers.rng)
    yield search.answer


RUNS: Mapping[str, Callable[[Answers], Iterator[SearchAnswer]]] = {
    "plain": plain,
    "in_flight_4": partial(plain, in_flight=4),
    "in_flight_16": partial(plain, in_flight=16),
    "lost_and_back": lost_and_back,
    "range_grown": range_grown,
}


def flat(score: float) -> calibration.TrueScore:
    return lambda _: score


def steps(*parts: tuple[float, float]) -> calibration.TrueScore:
    """Each score up to a length, that one excluded."""
    return lambda tokens: next(score for score, end in parts if tokens < end)


def wide_cliff(tokens: float) -> float:
    """A logistic fall, four fifths of it in half an octave, with exactly the threshold at 20,000 tokens."""
    odds = (HIGH - THRESHOLD) / (THRESHOLD - LOW)
    return LOW + (HIGH - LOW) / (1.0 + odds * math.exp(8.8 * math.log2(tokens / 20_000)))


def rise(tokens: float) -> float:
    return min(0.98, 0.86 + 0.03 * math.log2(tokens / LENGTHS[0]))


def costs() -> tuple[Model, ...]:
    """Models with something to find, or nothing at all."""
    end = math.inf
    cliffs = {
        f"{name}_{at // 1000}k": (f"cliff at {at:,} from {high} to {low}", steps((high, at), (low, end)), float(at))
        for name, high, low in (("cliff", HIGH, LOW), ("low_cliff", 0.95, 0.30))
        for at in (6_000, 20_000, 100_000)
    }
    title, cliff, crossing = cliffs["cliff_20k"]
    plateau = steps((HIGH, 12_000), (0.85, 50_000), (0.75, end))
    return (
        Model("perfect", "perfect", flat(1.0), None),
        *(Model(f"flat_{score}", f"flat .{score}", flat(score / 100), None) for score in (98, 95, 90)),
        *(Model(name, *cliff) for name, cliff in cliffs.items()),
        Model("logistic_20k", "logistic cliff, .80 at 20,000", calibration.cliff(THRESHOLD, 20_000), 20_000.0),
        Model("logistic_wide", "the same over half an octave", wide_cliff, 20_000.0),
        *(
            Model(f"slope_{at // 1000}k", f"slope, .80 at {at:,}", calibration.slope(THRESHOLD, at), float(at))
            for at in (20_000, 50_000)
        ),
        *(Model(f"flat_{score:02d}", f"hopeless, .{score:02d}", flat(score / 100), 0.0) for score in (0, 10, 30)),
        Model("graded_90", "graded, flat .90", flat(0.9), None, draw=graded),
        Model("plateau", ".98, .85 from 12,000, .75 from 50,000", plateau, 50_000.0),
        Model("rise", "rise from .86 to .98", rise, None),
        *(Model(f"perfect_{n}", f"perfect, {n} in flight", flat(1.0), None, run=f"in_flight_{n}") for n in (4, 16)),
        *(Model(f"cliff_20k_{n}", f"{title}, {n} in flight", cliff, crossing, run=f"in_flight_{n}") for n in (4, 16)),
    )


def errors() -> tuple[Model, ...]:
    """Models at the threshold."""
    at, beyond, end = LENGTHS[2], LENGTHS[2] + 1.0, math.inf
    longest = float(LENGTHS[-1])
    everywhere = flat(THRESHOLD)
    between = steps((HIGH, beyond), (THRESHOLD, LENGTHS[3]), (LOW, end))
    late_between = steps((HIGH, 24_000), (THRESHOLD, LENGTHS[3]), (LOW, end))
    texts = SearchDesign(lengths=LENGTHS, threshold=THRESHOLD, alpha=ALPHA, most=TEXTS)
    shares = SearchDesign(lengths=LENGTHS, threshold=THRESHOLD, alpha=ALPHA, most=MOST, relative=True)
    in_texts = partial(text_of_many, correlation=0.3)
    return (
        Model("null_flat", "flat", everywhere, 0.0),
        Model("null_from", "from 16,384 on", steps((HIGH, at), (THRESHOLD, end)), float(at)),
        Model("null_between", "only between 16,384 and 32,768", between, beyond),
        Model("null_late_between", "only between 24,000 and 32,768", late_between, 24_000.0),
        Model("null_longest", "at the longest only", steps((HIGH, longest), (THRESHOLD, end)), longest),
        Model("null_profile", "hopeless depths", everywhere, 0.0, has_profile=True),
        Model("null_graded", "graded", everywhere, 0.0, draw=graded),
        Model("null_texts", "texts, correlation .3", everywhere, 0.0, draw=in_texts, design=texts, step=IN_A_TEXT),
        Model("null_lost", "scores lost and back", everywhere, 0.0, run="lost_and_back"),
        Model("null_lost_between", "scores lost and back, between", between, beyond, run="lost_and_back"),
        Model("null_grown", "range grown", everywhere, 0.0, run="range_grown"),
        Model("null_grown_between", "range grown, between", between, beyond, run="range_grown"),
        Model("null_in_flight", "four in flight", everywhere, 0.0, run="in_flight_4"),
        Model("null_in_flight_between", "four in flight, between", between, beyond, run="in_flight_4"),
        *(
            Model(
                f"relative_{100 * base:.0f}", f"share of a baseline of {base}",
                steps((base, LENGTHS[0] + 1), (THRESHOLD * base, end)), LENGTHS[0] + 1.0, design=shares,
            )
            for base in (0.95, 0.5)
        ),
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Run:
    """What came of one run."""

    cap: int | None
    stopped: str
    tokens: int
    samples: int
    erred: bool


def run_of(model: Model, run: int) -> Run:
    answers = Answers(model=model, rng=np.random.default_rng([SEED, *model.name.encode(), run]), run=run)
    found = list(RUNS[model.run](answers))
    return Run(
        cap=found[-1].cap, stopped=found[-1].stopped, tokens=answers.tokens, samples=len(answers.scores),
        erred=any(model.is_error(each.cap) for each in found),
    )  # fmt: skip


def runs_of(name: str, runs: range) -> list[Run]:
    model = next(model for model in (*costs(), *errors()) if model.name == name)
    return [run_of(model, run) for run in runs]


def all_runs(model: Model, runs: int, pool: Pool) -> list[Run]:
    parts = [range(start, min(start + 25, runs)) for start in range(0, runs, 25)]
    return [run for part in pool.map(partial(runs_of, model.name), parts, chunksize=1) for run in part]


def octaves(model: Model, cap: int | None) -> float:
    """What a cap loses; infinite without one."""
    reachable = min(model.crossing or math.inf, float(LENGTHS[-1]))
    return math.inf if cap is None else max(0.0, math.log2(reachable / cap))


def octaves_lost(model: Model, caps: Sequence[int | None]) -> str:
    """Median and mean, of the runs with a cap; a share of runs without one stands beside them."""
    if model.crossing == 0.0:
        return "–"
    lost = [octaves(model, cap) for cap in caps]
    with_cap = [each for each in lost if math.isfinite(each)]
    mean = f"{np.mean(with_cap):.2f}" if with_cap else "–"
    without = "" if len(with_cap) == len(lost) else f" ({100 * (1 - len(with_cap) / len(lost)):.0f}% no cap)"
    return f"{np.median(lost):.2f} · {mean}{without}"


def forty(model: Model, runs: int) -> list[int | None]:
    """The caps of forty samples at every length."""
    plan = CalibrationPlan(
        lengths=LENGTHS, threshold=THRESHOLD, confidence=1.0 - ALPHA, depths=DEPTHS, max_trials=MOST, resolution=None,
        runs=runs, seed=SEED,
    )  # fmt: skip
    draws = {law.name: law.draw for law in calibration.laws_of(LENGTHS, THRESHOLD)}
    law = calibration.Law(
        name=model.name, title=model.title, true_score=model.mean, crossing=model.crossing,
        draw=draws["graded_90" if model.draw is graded else "flat_90"],
    )  # fmt: skip
    caps, _ = simulate(plan, law, "fixed_40")
    return [int(cap) or None for cap in caps]


def line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


@dataclass(frozen=True, kw_only=True)
class Costs:
    """All runs of a model with something to find, and the caps of forty samples at every length."""

    model: Model
    found: Sequence[Run]
    forty: Sequence[int | None]


COST_HEAD = (
    line("model", "M tokens", "octaves lost", "whole range", "samples", "how it ended", "forty a length, octaves lost"),
    line("---", *("--:" for _ in range(4)), "---", "--:"),
)


def cost_row(costs: Costs) -> str:
    model, found, caps = costs.model, costs.found, [run.cap for run in costs.found]
    ended = Counter(run.stopped for run in found).most_common(3)
    whole, samples = np.mean([cap == LENGTHS[-1] for cap in caps]), np.mean([run.samples for run in found])
    return line(
        model.title, millions(found), octaves_lost(model, caps), f"{100 * whole:.0f}%", f"{samples:.0f}",
        ", ".join(f"{name} {100 * n / len(found):.0f}%" for name, n in ended),
        octaves_lost(model, costs.forty) if model.run == "plain" else "",
    )  # fmt: skip


def error_table(models: Sequence[Model], runs: int, pool: Pool) -> Iterator[str]:
    yield line("at the threshold", "errors", "95% interval", "M tokens")
    yield line("---", "--:", "--:", "--:")
    for model in models:
        found = all_runs(model, runs, pool)
        wrong = sum(run.erred for run in found)
        low, high = wilson(wrong, runs, 0.95)
        yield line(model.title, f"{100 * wrong / runs:.1f}%", f"{100 * low:.1f}–{100 * high:.1f}%", millions(found))


def millions(runs: Sequence[Run]) -> str:
    return f"{np.mean([run.tokens for run in runs]) / 1e6:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--law", nargs="*", default=(), help="names of laws; default: all")
    parser.add_argument("--only", choices=("costs", "errors"))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--figure", type=Path, help="a PNG of the costs")
    given = parser.parse_args()

    def chosen(models: Sequence[Model]) -> list[Model]:
        return [model for model in models if not given.law or model.name in given.law]

    with multiprocessing.get_context("forkserver").Pool(given.processes) as pool:
        if given.only != "errors":
            print(*COST_HEAD, sep="\n")
            drawn = []
            for model in chosen(costs()):
                found, caps = all_runs(model, given.runs, pool), forty(model, given.runs)
                drawn.append(Costs(model=model, found=found, forty=caps))
                print(cost_row(drawn[-1]), flush=True)
            if given.figure:
                from search_figure import draw_costs  # imported late, since it imports this module

                draw_costs(drawn, path=given.figure.resolve())
        if given.only != "costs":
            print()
            for row in error_table(chosen(errors()), given.runs, pool):
                print(row, flush=True)


if __name__ == "__main__":
    main()
