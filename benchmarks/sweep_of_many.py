"""What a job of a sweep costs beside its model: simulated jobs in one process, with everything at its defaults.

    .venv/bin/python benchmarks/sweep_of_many.py [JOBS]

Prints the seconds of the whole sweep, and of each job as a ratio to one that is not tracked, draws nothing and has no
page.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time

from loopback import environment

_BARE = ("tracking=none", "reporting.figures=false", "reporting.html=false")


def seconds(jobs: int, *overrides: str) -> float:
    """The time of a sweep over so many seeds, start to end."""
    asked = ("engine=simulated", f"seed=range({jobs})", "reporting.progress=false", "reporting.console=none")
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "contextcliff", *asked, *overrides], cwd=folder, env=environment(), check=True
        )
        return time.perf_counter() - began


def main(jobs: int = 100) -> None:
    few = 4
    whole, start = seconds(jobs), seconds(few)
    bare, bare_start = seconds(jobs, *_BARE), seconds(few, *_BARE)
    each, each_bare = (whole - start) / (jobs - few), (bare - bare_start) / (jobs - few)
    print(f"{jobs} jobs: {whole:.1f} s, {each:.2f} s for each further job")
    print(f"untracked, without figures and page: {bare:.1f} s, {each_bare:.2f} s for each further job")
    print(f"a job takes {each / each_bare:.1f} times that")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
