"""What a sweep costs beside its model: simulated jobs in one process, against Hydra with as many empty ones.

    .venv/bin/python benchmarks/sweep_of_many.py [JOBS]

Prints the CPU seconds of the whole sweep, of each further job, and the ratio to Hydra's, for small jobs (one length,
one trial) and for whole searches, bare and with everything at its defaults.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from loopback import cpu_and_peak

_ASKED = ("engine=simulated", "reporting.progress=false", "reporting.console=none")
_BARE = ("tracking=none", "reporting.figures=false", "reporting.html=false")
_SMALL = ("task.lengths=[512]", "task.trials=1")
_EMPTY = """
import hydra
import contextcliff.composing

@hydra.main(version_base="1.3", config_path=str(contextcliff.composing.conf_dir()), config_name="config")
def main(config):
    pass

main()
"""
_FEW = 4


def seconds(command: list[str], jobs: int) -> float:
    """CPU time of a sweep over so many seeds, start to end."""
    return cpu_and_peak([sys.executable, *command, f"seed=range({jobs})"])[0]


def main(jobs: int = 100) -> None:
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder, "empty.py")
        empty.write_text(_EMPTY, encoding="utf-8")
        commands = {
            "Hydra, empty": [str(empty), "-m", *_ASKED, "~hydra.callbacks.sweep"],
            "small, bare": ["-m", "contextcliff", *_ASKED, *_SMALL, *_BARE],
            "small, tracked, with page": ["-m", "contextcliff", *_ASKED, *_SMALL, "reporting.figures=false"],
            "whole search, bare": ["-m", "contextcliff", *_ASKED, *_BARE],
            "whole search, tracked, with page and figures": ["-m", "contextcliff", *_ASKED],
        }
        hydras = 0.0
        for name, command in commands.items():
            whole, start = seconds(command, jobs), seconds(command, _FEW)
            hydras = hydras or whole
            each = (whole - start) / (jobs - _FEW)
            print(
                f"{name}: {jobs} jobs {whole:.1f} s, {each:.2f} s a job, {whole / hydras:.1f} times Hydra", flush=True
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
