"""What a command costs before it does anything: CPU of the whole process beside the least that Hydra takes.

    .venv/bin/python benchmarks/fixed_cost.py [ROUNDS]

The rival imports Hydra and composes an empty configuration. Of several rounds the least counts. Prints a line for each
command, and JSON.
"""

from __future__ import annotations

import json
import sys
from math import inf

from loopback import cpu_and_peak

_SMALL = ("engine=simulated", "task.lengths=[512,1024]", "task.trials=5", "reporting.progress=false", "tracking=none")
_BARE = ("reporting.figures=false", "reporting.html=false")
RIVAL = "from hydra import initialize, compose\nwith initialize(version_base=None): compose()"
COMMANDS = {
    "--help": ("--help",),
    "--cfg job": ("--cfg", "job"),
    "action=plan": (*_SMALL, "action=plan"),
    "10 simulated samples, no figures, no page": (*_SMALL, *_BARE),
    "10 simulated samples, figures and page": _SMALL,
}


def main(rounds: int = 5) -> None:
    """Every command in turn, round after round."""
    rival = [sys.executable, "-c", RIVAL]
    commands = {name: [sys.executable, "-m", "contextcliff", *given] for name, given in COMMANDS.items()}
    seconds = dict.fromkeys(("hydra", *commands), inf)
    for _ in range(rounds):
        for name, command in {"hydra": rival, **commands}.items():
            seconds[name] = min(seconds[name], cpu_and_peak(command)[0])
    least = seconds.pop("hydra")
    for name, taken in seconds.items():
        print(f"{name:<45} {taken:.2f} s CPU: {taken / least:.1f} times Hydra alone ({least:.2f} s)")
    print(json.dumps({"hydra_s": least, "ours_s": seconds}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
