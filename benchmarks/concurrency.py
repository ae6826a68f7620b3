"""How busy many requests in flight keep a server: our run beside a bare asyncio loop with the same client.

    .venv/bin/python benchmarks/concurrency.py [CONCURRENCY] [REQUESTS] [ROUNDS]

The server of `loopback.py` takes 20 ms a token, for every request by itself, and clocks the answers: from the first
request that came in to the last answer that went out. Ours builds, sends, stores and scores; the rival keeps as many
requests of the same length in flight and reads their streams. Best of the rounds; prints JSON.
"""

from __future__ import annotations

import json
import sys

from loopback import cpu_and_peak, measured, ours, plain_client, served

LENGTH = 4_096
ANSWER_TOKENS = 50
S_PER_TOKEN = 0.02


def rate(port: int, command: list[str], requests: int) -> float:
    """Answers a second."""
    cpu_and_peak(command)
    told = measured(port)
    assert told["answers"] == requests
    return requests / told["seconds"]


def main(concurrency: int = 64, requests: int = 640, rounds: int = 3) -> None:
    """Both against one server, in turn."""
    with served(answer_tokens=ANSWER_TOKENS, s_per_token=S_PER_TOKEN) as port:
        run = ours(port, length=LENGTH, depths=(0.5,), trials=requests, at_once=concurrency)
        bare = plain_client(port, length=LENGTH, requests=requests, at_once=concurrency)
        rates = [(rate(port, run, requests), rate(port, bare, requests)) for _ in range(rounds)]
    best, plain = (max(column) for column in zip(*rates, strict=True))
    most = concurrency / (S_PER_TOKEN * (ANSWER_TOKENS + 1))
    print(f"{concurrency} in flight: {best:.1f} answers a second, bare loop {plain:.1f}: {best / plain:.0%} of it")
    print(f"a server that never waits gives {most:.1f}: ours keeps it busy for {best / most:.0%} of the time")
    print(json.dumps({"concurrency": concurrency, "ours_per_s": best, "bare_per_s": plain, "ratio": best / plain}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
