"""The sweeps that an experiment's folder remembers, and the runs that each left."""

from __future__ import annotations

from pathlib import Path

SWEEPS = "sweeps"
_LONGEST_NAME = 1_000


def latest_sweep(experiment: Path) -> tuple[str, ...]:
    """Names of the run folders that the latest sweep left, in the order of its jobs; empty where there was none."""
    sweeps = sorted(path for path in (experiment / SWEEPS).glob("*") if path.is_dir())
    for sweep in reversed(sweeps):
        names = dict.fromkeys(_name(job) for job in sorted(sweep.iterdir()) if job.is_file())
        there = tuple(name for name in names if name and (experiment / name).is_dir())
        if there:
            return there
    return ()


def _name(job: Path) -> str:
    """The folder's name that a job left; empty for what is none."""
    if job.stat().st_size > _LONGEST_NAME:
        return ""
    text = job.read_text(encoding="utf-8", errors="replace").strip()
    return text if Path(text).name == text else ""
