"""What a sample costs beside a plain client, and beside Inspect and lm-eval where they are installed.

    .venv/bin/python benchmarks/plain_client.py [LENGTH ...] [--rivals PYTHON]

CPU of the whole process, by difference between few samples and many, the least of three rounds. ContextCliff builds,
counts (`tokenizer=server`), hashes, sends, stores and scores over the server of `loopback.py`, which answers at once.
The plain client sends prompts of the same length that are in memory already. PYTHON is that of an environment with
`inspect-ai` and `lm-eval[api]`; both get their prompts ready made too, count no tokens, and score whether the answer
holds a figure. All have eight requests under way. Prints a line for each length, and JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from math import inf
from pathlib import Path

from loopback import cpu_and_peak, measured, ours, plain_client, served

LENGTHS = (4_096, 32_768, 131_072)
DEPTHS = (0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95)
FEW, MANY = 20, 200
ROUNDS = 3
AT_ONCE = 8
PLAIN, OURS = "plain client", "ours"
_RIVALS = str(Path(__file__).resolve().with_name("rivals.py"))


def rivals_of(python: str | None) -> tuple[str, ...]:
    """The rivals that an environment has."""
    if python is None:
        return ()
    told = subprocess.run([python, _RIVALS], check=True, capture_output=True, text=True)
    return tuple(told.stdout.split())


def commands(
    port: int, length: int, samples: int, *, python: str | None, rivals: tuple[str, ...]
) -> dict[str, list[str]]:
    """Of everyone, for so many samples."""
    asked = list(map(str, (port, length, samples, AT_ONCE)))
    return {
        OURS: ours(port, length=length, depths=DEPTHS, trials=samples // len(DEPTHS), at_once=AT_ONCE),
        PLAIN: plain_client(port, length=length, requests=samples, at_once=AT_ONCE),
        **{name: [python or "", _RIVALS, name, *asked] for name in rivals},
    }


def costs(port: int, length: int, *, python: str | None, rivals: tuple[str, ...]) -> Mapping[str, float]:
    """CPU of a sample in ms, of everyone; our `requests` a sample and `peak_mib`.

    Of several rounds the least counts: what else the machine does only adds.
    """
    least: dict[tuple[str, int], float] = {}
    requests: dict[int, float] = {}
    peak = 0.0
    for _ in range(ROUNDS):
        for samples in (FEW, MANY):
            for name, command in commands(port, length, samples, python=python, rivals=rivals).items():
                measured(port)
                cpu, mib = cpu_and_peak(command)
                least[name, samples] = min(least.get((name, samples), inf), cpu)
                if name == OURS:
                    requests[samples], peak = measured(port)["requests"], max(peak, mib)
    further = MANY - FEW
    each = {name: 1000 * (least[name, MANY] - least[name, FEW]) / further for name in (OURS, PLAIN, *rivals)}
    return {**each, "requests": (requests[MANY] - requests[FEW]) / further, "peak_mib": peak}


def main(lengths: tuple[int, ...], python: str | None) -> None:
    """All lengths against one server."""
    found, rivals = {}, rivals_of(python)
    with served(answer_tokens=8) as port:
        for length in lengths:
            cost = found[length] = costs(port, length, python=python, rivals=rivals)
            told = ", ".join(f"{name} {cost[name]:.1f} ms" for name in (OURS, PLAIN, *rivals))
            print(
                f"{length:>7,} tokens: {told}; ours {cost[OURS] / cost[PLAIN]:.1f} times the plain client, "
                f"{cost['requests']:.1f} requests a sample, {cost['peak_mib']:.0f} MiB at most",
                flush=True,
            )
    print(json.dumps(found))


if __name__ == "__main__":
    given = sys.argv[1:]
    environment = given.pop(given.index("--rivals") + 1) if "--rivals" in given else None
    main(tuple(int(each) for each in given if each != "--rivals") or LENGTHS, environment)
