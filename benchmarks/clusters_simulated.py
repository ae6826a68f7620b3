"""How often samples that share texts show a score above the threshold, where it is at it and where it is above it.

    .venv/bin/python benchmarks/clusters_simulated.py [--runs N] [--threshold X] [--texts K×M …] [--correlation R …]

Each run draws the scores of one length, and tests them as a report does, at 95% confidence. *Before* is the test by
effective counts alone, on the same draws. Samples of a text correlate by a beta law; at 1 a text is right or wrong as a
whole. Graded scores are the share of twenty parts that are right.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from contextcliff.statistics.clusters import Cluster, Evidence, effective_sample
from contextcliff.statistics.intervals import clopper_pearson_low, wilson

DESIGNS = ("4×5", "8×5", "10×2", "14×2", "19×2", "20×5", "40×2")
CORRELATIONS = (0.0, 0.3, 1.0)
CONFIDENCE = 0.95
GOOD = 0.95
PARTS, WEIGHT = 20, 4.0
SEED = 0

Scores = NDArray[np.float64]


def about(rng: np.random.Generator, means: Scores, *, graded: bool) -> Scores:
    """A score about each mean."""
    if not graded:
        return (rng.random(means.shape) < means).astype(float)
    inside = np.clip(means, 1e-6, 1.0 - 1e-6)
    rates = rng.beta(WEIGHT * inside, WEIGHT * (1.0 - inside))
    return np.where(means == 1.0, 1.0, rng.binomial(PARTS, rates) / PARTS)


def drawn(rng: np.random.Generator, k: int, m: int, mean: float, correlation: float, *, graded: bool) -> Scores:
    """The scores of `k` texts with `m` samples each: shape (k, m)."""
    if correlation == 1.0:
        return np.repeat(about(rng, np.full((k, 1), mean), graded=graded), m, axis=1)
    rates = np.full((k, 1), mean)
    if correlation > 0.0 and mean < 1.0:
        weight = 1.0 / correlation - 1.0
        rates = rng.beta(weight * mean, weight * (1.0 - mean), (k, 1))
    return about(rng, np.repeat(rates, m, axis=1), graded=graded)


def shown(scores: Scores, threshold: float, *, graded: bool) -> tuple[bool, bool]:
    """Whether the scores of texts are shown to be above the threshold: by effective counts alone, and as it is."""
    rows = sorted((float(text.sum()), len(text)) for text in scores)
    clusters = tuple(Cluster(total=total, scored=n) for total, n in rows)
    before = clopper_pearson_low(*effective_sample(clusters, CONFIDENCE), CONFIDENCE) >= threshold
    evidence = Evidence(scores=tuple(sorted(scores.ravel().tolist())), binary=not graded, clusters=clusters)
    return before, evidence.lower(CONFIDENCE) >= threshold


def shares(design: str, mean: float, correlation: float, threshold: float, runs: int, *, graded: bool) -> str:
    """Of all runs, before and now."""
    k, m = map(int, design.split("×"))
    rng = np.random.default_rng([SEED, k, m, round(100 * mean), round(100 * correlation), graded])
    results = [shown(drawn(rng, k, m, mean, correlation, graded=graded), threshold, graded=graded) for _ in range(runs)]
    before, now = (sum(each) for each in zip(*results, strict=True))
    low, high = wilson(now, runs, 0.95)
    interval = f" ({100 * low:.1f}–{100 * high:.1f})" if mean == threshold else ""
    return f"{100 * before / runs:.1f} → {100 * now / runs:.1f}%{interval}"


def table(designs: Sequence[str], correlations: Sequence[float], threshold: float, runs: int) -> None:
    whole = {design: np.ones(tuple(map(int, design.split("×")))) for design in designs}
    print("| texts × samples | all right | correlation | errors | of graded scores | shown at .95 | graded |")
    print(f"| --- | --- | --: |{' --: |' * 4}")
    for design in designs:
        before, now = shown(whole[design], threshold, graded=False)
        for correlation in correlations:
            found = (
                shares(design, mean, correlation, threshold, runs, graded=graded)
                for mean in (threshold, GOOD) for graded in (False, True)
            )  # fmt: skip
            passes = f"{'shown' if before else 'not'} → {'shown' if now else 'not'}"
            print(f"| {design} | {passes} | {correlation:g} | {' | '.join(found)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--threshold", type=float, default=0.8)
    parser.add_argument("--texts", nargs="*", default=DESIGNS)
    parser.add_argument("--correlation", nargs="*", type=float, default=CORRELATIONS)
    given = parser.parse_args()
    table(given.texts, given.correlation, given.threshold, given.runs)


if __name__ == "__main__":
    main()
