"""Action `calibrate`: simulated searches of laws with a known crossing; calls no model and reads no text."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from typing import Annotated

from pydantic import Field

from contextcliff.actions.action import Invocation
from contextcliff.actions.track import track_result
from contextcliff.analysis.calibration.calibrating import CalibrationPlan, DesignName, calibrate_law
from contextcliff.analysis.calibration.laws import FEWEST_LENGTHS, FEWEST_PLACES, HIGHEST, LOWEST, laws_of
from contextcliff.errors import ConfigError, ExitCode, shown_value
from contextcliff.settings import Count, Int, PositiveInt, settings

_FOLDER = "calibration"


@settings
class Calibrate:
    """What is simulated: laws and designs by their names, and the plan of the searches."""

    runs: Count = 200
    lengths: tuple[PositiveInt, ...] = (512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536)
    laws: tuple[str, ...] = ()
    designs: Annotated[tuple[DesignName, ...], Field(min_length=1)] = ("walk", "refine", "fixed_40", "fixed_500")
    depths: Annotated[Int, Field(ge=FEWEST_PLACES, le=1_000)] = 11
    max_trials: Count = 160
    resolution: PositiveInt | None = None
    track: bool = False

    def __post_init__(self) -> None:
        shown = f"action.lengths=[{','.join(map(str, self.lengths))}]"
        if len(self.lengths) < FEWEST_LENGTHS:
            raise ValueError(f"{shown}: a calibration takes at least {FEWEST_LENGTHS} lengths; give some more")
        if any(longer < shorter + 2 for shorter, longer in pairwise(self.lengths)):
            raise ValueError(f"{shown}: each length is at least two tokens longer than the one before it; sort them")

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Simulate, print the table, and write `calibration.json`, `.md` and `.png` into `output_dir`/calibration."""
        from joblib import Parallel, delayed  # type: ignore[import-untyped]
        from rich.console import Console
        from rich.progress import track

        from contextcliff.reporting.calibration_report import render_calibration, write_calibration

        threshold, shown = invocation.analysis.threshold, invocation.reporting.progress
        if not LOWEST <= threshold <= HIGHEST:
            raise ConfigError(
                f"analysis.threshold={threshold:g}: the simulated laws lie around thresholds from {LOWEST:g} to "
                f"{HIGHEST:g}; give one of these"
            )
        plan = CalibrationPlan(
            lengths=self.lengths,
            threshold=threshold,
            confidence=invocation.analysis.confidence,
            depths=self.depths,
            max_trials=self.max_trials,
            resolution=self.resolution,
            runs=self.runs,
            seed=invocation.seed,
        )
        known = {law.name: law for law in laws_of(self.lengths, threshold)}
        for name in self.laws:
            if name not in known:
                raise ConfigError(f"action.laws: {shown_value(name)} is no law; choose from {', '.join(known)}")
        laws = [law for name, law in known.items() if not self.laws or name in self.laws]
        done = Parallel(n_jobs=-1, return_as="generator")(
            delayed(calibrate_law)(plan, law, self.designs) for law in laws
        )
        of_laws = track(done, "laws", total=len(laws), console=Console(stderr=True), transient=True, disable=not shown)
        results = [result for of_law in of_laws for result in of_law]
        folder = invocation.output_dir / _FOLDER
        command = " ".join(("python -m contextcliff", *invocation.overrides))
        write_calibration(plan, results, folder=folder, dpi=invocation.reporting.figure_dpi, command=command)
        if self.track:
            numbers = {"calibration": [{**asdict(each), "error": each.error} for each in results]}
            track_result(
                invocation, "calibration", _FOLDER, folder=folder, title=f"calibration · threshold={threshold:g}",
                numbers=numbers, tags={"command": command},
            )  # fmt: skip
        if invocation.reporting.prints:
            render_calibration(plan, results, console=Console(), folder=folder)
        return ExitCode.DONE
