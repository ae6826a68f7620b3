"""How a search that goes on after a failure shares its error of α among its stages."""

from __future__ import annotations

from contextcliff.statistics.sequential_decision import require_alpha


def refine_alpha(alpha: float, failures: int) -> float:
    """Error allowed to each test after `failures` lengths have failed: α/2, α/4, α/8, …

    A stage is the lengths that are tested between two failures: the walk up is the first, at α/2, and each failure of
    the bisection starts another. Within a stage lengths only grow, and each is tested because all before it passed, so
    that the lengths to come are fixed when the stage starts. A stage errs only where the *first* of them whose mean is
    not above the bar passes, and that is one test, on fresh samples: passes are free. The stages together err with a
    chance of at most α/2 + α/4 + … = α (union bound), however many there are. Each length needs its own samples; one
    that stayed open counts as failed and is not tested again.

    Raises ValueError for an `alpha` outside (0, 1) or a negative number of failures.
    """
    require_alpha(alpha)
    if failures < 0:
        raise ValueError(f"a number of failures is not negative, unlike {failures}")
    return float(alpha * 0.5 ** (failures + 1))
