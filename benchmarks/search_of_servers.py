"""The search as a user runs it: commands against a loopback server whose answers follow a planted law.

    .venv/bin/python benchmarks/search_of_servers.py laws [NAME …] [--seeds N]    tokens sent, and octaves lost
    .venv/bin/python benchmarks/search_of_servers.py kills [--at-once N …]        ten SIGKILLs, beside a run without

A law is one of `search_simulated.py`. Whether an answer is right is drawn from the prompt, so that the same prompt has
the same answer whenever it is asked. Tokens are prompts in full, by the server's count of every request.

Under `kills` a run is killed ten times at random moments, each time after further answers, and goes on by the same
command. An answer that was stored and is sent again was paid twice. What was under way at a kill has to be sent again:
that is counted beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import re
import signal
import sqlite3
import statistics
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopback import Server, command, environment
from search_simulated import HIGH, LENGTHS, LOW, Model, costs, line, octaves, steps

from contextcliff.analysis.calibration.laws import TrueScore
from contextcliff.records.sample import Prompt

LAWS = ("perfect", "cliff_6k", "cliff_20k", "cliff_100k")
NEEDLE = re.compile(r"number is: (\d+)")
WRONG = "I do not know."
SMALL = (512, 1_024, 2_048, 4_096, 8_192)
CLIFF = 3_000.0
KILLS, AT_ONCE = 10, (1, 4, 16, 64)
DECISIONS = ("safe_cap", "search", "caps", "zones", "shape", "evidence", "verdict")


@dataclass(kw_only=True, slots=True)
class Planted(Server):
    """Answers rightly as often as a law says."""

    mean: TrueScore
    delay_s: float = 0.0
    """Time that an answer takes, half to one and a half of it."""
    sent: list[tuple[str, int]] = field(default_factory=list)
    """Digest and tokens of each prompt, in order of arrival."""

    async def spoken(self, body: dict[str, Any], tokens: int) -> Sequence[str]:
        text = body["messages"][-1]["content"]
        prompt = Prompt(user=text).sha256
        self.sent.append((prompt, tokens))
        rng, found = random.Random(prompt), NEEDLE.search(text)
        is_right = rng.random() < self.mean(tokens)
        await asyncio.sleep(self.delay_s * (0.5 + rng.random()))
        return (found[1] if found is not None and is_right else WRONG,)

    @property
    def tokens(self) -> int:
        return sum(tokens for _, tokens in self.sent)


@contextmanager
def serving(server: Server) -> Iterator[int]:
    """The port of a server in a thread of this process."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    starting = asyncio.start_server(server.talk, "127.0.0.1", 0, limit=2**26)
    listening = asyncio.run_coroutine_threadsafe(starting, loop).result()
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def started(folder: Path, run: Sequence[str]) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    return subprocess.Popen(run, cwd=folder, env=environment())


def report_of(folder: Path, run: Sequence[str]) -> dict[str, Any]:
    """The report of a run that goes to its end."""
    if status := started(folder, run).wait():
        raise SystemExit(f"ended with {status}: {' '.join(run)}")
    (file,) = folder.glob("outputs/contextcliff/*/report.json")
    report: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return report


def searched(model: Model, seed: int) -> tuple[int, int, float]:
    """Prompt tokens and requests of one run, and the octaves that it lost."""
    server = Planted(answer_tokens=1, mean=model.mean)
    with serving(server) as port, tempfile.TemporaryDirectory() as folder:
        lengths = ",".join(map(str, LENGTHS))
        report = report_of(Path(folder), command(port, f"task.lengths=[{lengths}]", f"seed={seed}", at_once=1))
    return server.tokens, len(server.sent), octaves(model, report["safe_cap"]["tokens"])


def laws(names: Sequence[str], seeds: int) -> Iterator[str]:
    yield line("law", "runs", "M tokens, median", "least to most", "requests", "octaves lost, median", "mean", "most")
    yield line("---", *("--:" for _ in range(7)))
    for model in (model for model in costs() if model.name in (names or LAWS)):
        runs = [searched(model, seed) for seed in range(seeds)]
        tokens, requests, lost = ([run[place] for run in runs] for place in range(3))
        millions = sorted(each / 1e6 for each in tokens)
        yield line(
            model.title, str(seeds), f"{statistics.median(millions):.2f}", f"{millions[0]:.2f} to {millions[-1]:.2f}",
            f"{statistics.median(requests):.0f}",
            f"{statistics.median(lost):.2f}", f"{statistics.mean(lost):.2f}", f"{max(lost):.2f}",
        )  # fmt: skip


def stored(folder: Path) -> set[str]:
    """Digests of the prompts whose answers are stored."""
    file = folder / "outputs" / "state.db"
    if not file.exists():
        return set()
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as store:
            return {row[0] for row in store.execute("SELECT prompt_sha256 FROM generations")}
    except sqlite3.OperationalError:  # while it is made
        return set()


def killed(at_once: int) -> str:
    """A row: one run that goes through, and one that is killed again and again."""
    server = Planted(answer_tokens=1, mean=steps((HIGH, CLIFF), (LOW, math.inf)), delay_s=0.1 + at_once / 32)
    rng, paid_twice, under_way = random.Random(at_once), 0, 0
    with serving(server) as port, tempfile.TemporaryDirectory() as name:
        run = command(port, f"task.lengths=[{','.join(map(str, SMALL))}]", at_once=at_once)
        whole, folder = report_of(Path(name) / "whole", run), Path(name) / "killed"
        undisturbed, server.sent = list(server.sent), []
        for left in range(KILLS, 0, -1):
            before, first = stored(folder), len(server.sent)
            further = max(1, (len(undisturbed) - len(before)) // (2 * left))
            process = started(folder, run)
            while process.poll() is None and len(stored(folder)) < len(before) + further:
                time.sleep(0.01)
            time.sleep(0.5 * rng.random() * server.delay_s)
            if process.poll() is not None:
                raise SystemExit("the run ended before it could be killed")
            process.send_signal(signal.SIGKILL)
            process.wait()
            asked = [prompt for prompt, _ in server.sent[first:]]
            paid_twice += sum(prompt in before for prompt in asked)
            under_way += len(set(asked) - stored(folder))
        before, first = stored(folder), len(server.sent)
        report = report_of(folder, run)
        paid_twice += sum(prompt in before for prompt, _ in server.sent[first:])
    sent = Counter(prompt for prompt, _ in server.sent)
    differing = [key for key in DECISIONS if key in whole and report[key] != whole[key]]
    return line(
        str(at_once), f"{whole['safe_cap']['tokens']:,}", str(len(undisturbed)),
        f"{sum(tokens for _, tokens in undisturbed):,}", ", ".join(differing) or "all the same",
        str(paid_twice), str(under_way), str(sent.total() - len(sent)), f"{server.tokens:,}",
    )  # fmt: skip


def kills(at_once: Sequence[int]) -> Iterator[str]:
    yield line(
        "at once", "cap", "requests, undisturbed", "tokens", "decisions after ten kills", "paid twice",
        "under way at a kill", "sent again", "tokens with kills",
    )  # fmt: skip
    yield line(*("--:" for _ in range(9)))
    yield from map(killed, at_once)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    of_laws, of_kills = kinds.add_parser("laws"), kinds.add_parser("kills")
    of_laws.add_argument("names", nargs="*", help=f"default: {' '.join(LAWS)}")
    of_laws.add_argument("--seeds", type=int, default=20)
    of_kills.add_argument("--at-once", type=int, nargs="*", default=AT_ONCE)
    given = parser.parse_args()
    for row in laws(given.names, given.seeds) if given.kind == "laws" else kills(given.at_once):
        print(row, flush=True)


if __name__ == "__main__":
    main()
