"""Plans of calibrations, small ones and the shipped one."""

from __future__ import annotations

from contextcliff.analysis.calibration.calibrating import CalibrationPlan
from contextcliff.analysis.calibration.laws import laws_of

LENGTHS = (512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536)
THRESHOLD = 0.8
LAWS = {law.name: law for law in laws_of(LENGTHS, THRESHOLD)}


def plan_of(runs: int, *, seed: int = 0, resolution: int | None = None) -> CalibrationPlan:
    return CalibrationPlan(
        lengths=LENGTHS,
        threshold=THRESHOLD,
        confidence=0.95,
        depths=11,
        max_trials=160,
        resolution=resolution,
        runs=runs,
        seed=seed,
    )
