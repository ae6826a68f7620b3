"""Long runs: against a server that breaks in every way it can, killed again and again, in little memory and disk."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from contextcliff.engines.openai.http import KNOWN_VARIABLES
from tests.commands import QUIET, SIMULATED, TEN_DEPTHS, contextcliff, contextcliff_process, kept, reports
from tests.engines.fake_server import FAULTS, FakeServer, serving

pytestmark = pytest.mark.slow
NO_KEYS = dict.fromkeys(KNOWN_VARIABLES, "")
WINDOW = [{"id": "m", "max_model_len": 4096}]

ANSWERED = "SELECT count(*), count(DISTINCT key) FROM run_samples JOIN generations USING (key)"


def command(server: FakeServer, folder: str, *overrides: str) -> tuple[str, ...]:
    return (
        "engine=vllm",
        f"engine.base_url={server.address}",
        "model=served",
        "tokenizer=huggingface",
        f"tokenizer.name={folder}",
        *QUIET,
        *overrides,
    )


def test_two_thousand_requests_with_a_third_of_faults_lose_nothing(tmp_path: Path, tokenizer: str) -> None:
    rng, kinds = random.Random(1), sorted(FAULTS)
    faults: Counter[str] = Counter()

    def fault(_: int) -> str | None:
        if rng.random() >= 0.3:
            return None
        kind = rng.choice(kinds)
        faults[kind] += 1
        return kind

    # Eleven faults in a row come once in 560,000 requests, so to one run of these in 280; twenty-one never.
    overrides = ("task.lengths=[200]", "task.trials=200", TEN_DEPTHS, "engine.concurrency=16", "engine.max_retries=20")
    with serving(FakeServer(models=WINDOW, fault=fault)) as server:
        done = contextcliff_process(*command(server, tokenizer, *overrides), cwd=tmp_path, env=NO_KEYS, timeout_s=900)
        assert (done.returncode, done.stderr) == (0, "")
        seen = len(server.bodies)
    (report,) = reports(tmp_path)
    counts = report["counts"]
    assert (counts["planned"], counts["completed"], counts["unscored"]) == (2000, 2000, 0)
    assert report["mean"] == 1.0
    assert set(faults) == set(kinds)
    assert seen - 2000 == sum(faults.values())
    # Each was counted; beside them only connections that never reached the server.
    unseen = sum(counts["errors"].values()) - sum(faults.values())
    assert 0 <= unseen <= counts["errors"].get("connect", 0)
    with sqlite3.connect(tmp_path / "outputs" / "state.db") as store:
        assert store.execute(ANSWERED).fetchone() == (2000, 2000)


def test_ten_kills_at_random_moments_lose_nothing_and_repeat_no_more_than_was_in_flight(
    tmp_path: Path, tokenizer: str
) -> None:
    rng, concurrency, kills = random.Random(2), 4, 0
    overrides = ("task.lengths=[200]", "task.trials=30", TEN_DEPTHS, f"engine.concurrency={concurrency}")
    with serving(FakeServer(models=WINDOW, pause_s=0.1)) as server:
        line = [sys.executable, "-m", "contextcliff", *command(server, tokenizer, *overrides)]
        environment = {**os.environ, **NO_KEYS}
        store = tmp_path / "outputs" / "state.db"
        while kills < 10:
            before = kept(store) if store.exists() else 0
            process = subprocess.Popen(
                line, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            while process.poll() is None and (not store.exists() or kept(store) < before + 3):
                time.sleep(0.01)
            time.sleep(rng.random() * 0.4)
            assert process.poll() is None, "the run ended before it could be killed"
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
        done = contextcliff_process(*command(server, tokenizer, *overrides), cwd=tmp_path, env=NO_KEYS)
        assert (done.returncode, done.stderr) == (0, "")
        seen = len(server.bodies)
    (report,) = reports(tmp_path)
    assert (report["counts"]["planned"], report["counts"]["completed"]) == (300, 300)
    assert 300 <= seen <= 300 + concurrency * kills
    with sqlite3.connect(store) as connection:
        assert connection.execute(ANSWERED).fetchone() == (300, 300)
        assert connection.execute("SELECT count(*) FROM generations").fetchone() == (300,)
    asked = Counter(json.dumps(body["messages"]) for body in server.bodies)
    assert len(asked) == 300


MIB = 2**20
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def test_ten_thousand_samples_of_32k_tokens_need_less_than_a_gibibyte(tmp_path: Path) -> None:
    overrides = ("dataset=synthetic", "model=qwen", "task.lengths=[32000]", "task.trials=1000", TEN_DEPTHS)
    # By way of a small process: what a child may be told to have used begins with what its parent uses.
    line = [sys.executable, "-c", PEAK, sys.executable, "-m", "contextcliff", *SIMULATED, *overrides]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert reports(tmp_path)[0]["counts"]["completed"] == 10_000
    assert int(done.stdout) * 1024 < 1024 * MIB


def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path: Path) -> None:
    # A limit on the size of files is what a full disk is to SQLite: a write that fails.
    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    line = [sys.executable, "-m", "contextcliff", *SIMULATED, "task.trials=20", TEN_DEPTHS]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False, preexec_fn=little_room)
    assert done.returncode == 1
    assert done.stderr.startswith("error: outputs/state.db: ")
    assert done.stderr.endswith("run the same command again; what was answered is kept\n")
    assert "disk" in done.stderr
    assert done.stderr.count("\n") == 1
    before = kept(tmp_path / "outputs" / "state.db")
    assert contextcliff(*SIMULATED, "task.trials=20", TEN_DEPTHS, cwd=tmp_path).returncode == 0
    (report,) = reports(tmp_path)
    assert (report["counts"]["completed"], report["counts"]["reused"]) == (600, before)
