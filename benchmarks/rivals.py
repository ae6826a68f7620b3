"""What a sample costs in Inspect and lm-eval, over the server of `plain_client.py`, beside ours and the plain client.

    .venv/bin/python benchmarks/rivals.py PYTHON [LENGTH ...]

PYTHON is that of an environment with `inspect-ai` and `lm-eval[api]`; what it lacks is left out. Both get their prompts
ready made, as the plain client does, and score whether the answer holds the expected figure; neither counts tokens. CPU
of the whole process by difference between few samples and many, the least of three rounds. Prints a line for each, and
JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from math import inf
from pathlib import Path
from typing import Any

AT_ONCE = 8


def prompt_of(length: int, number: int) -> str:
    """About so many tokens."""
    return "The tide came in over the flats. " * (length // 8) + f"Question {number}?"


def inspect(port: int, length: int, samples: int) -> None:
    """Runs in the environment of the rivals."""
    os.environ |= {"MOCK_BASE_URL": f"http://127.0.0.1:{port}/v1", "MOCK_API_KEY": "none"}
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.scorer import includes
    from inspect_ai.solver import generate

    dataset = MemoryDataset([Sample(input=prompt_of(length, number), target="7") for number in range(samples)])
    task = Task(dataset=dataset, solver=generate(), scorer=includes())
    (log,) = eval(task, model="openai-api/mock/mock", max_connections=AT_ONCE, display="none", log_dir=".")
    assert log.status == "success", log.error


def lm_eval(port: int, length: int, samples: int) -> None:
    """Runs in the environment of the rivals."""
    import lm_eval as harness
    from lm_eval.tasks import TaskManager

    os.environ["OPENAI_API_KEY"] = "none"
    lines = [json.dumps({"question": prompt_of(length, number), "answer": "7"}) for number in range(samples)]
    Path("data.jsonl").write_text("\n".join(lines), encoding="utf-8")
    task: dict[str, Any] = {
        "task": "prompts",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(Path("data.jsonl").resolve())}},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{question}}",
        "doc_to_target": "{{answer}}",
        "generation_kwargs": {"until": [], "max_gen_toks": 16},
        "metric_list": [{"metric": "exact_match"}],
    }
    harness.simple_evaluate(
        model="local-chat-completions",
        model_args={
            "model": "mock",
            "base_url": f"http://127.0.0.1:{port}/v1/chat/completions",
            "num_concurrent": AT_ONCE,
            "tokenized_requests": False,
        },
        tasks=[task],
        apply_chat_template=True,
        task_manager=TaskManager(include_defaults=False),
        bootstrap_iters=0,
    )


RIVALS: dict[str, tuple[str, Callable[[int, int, int], None]]] = {
    "inspect": ("inspect_ai", inspect),
    "lm-eval": ("lm_eval", lm_eval),
}


def main(python: str, lengths: tuple[int, ...]) -> None:
    """Every tool in turn, round after round, against one server."""
    plain = import_module("plain_client")

    script, plain_script = str(Path(__file__).resolve()), str(Path(__file__).resolve().with_name("plain_client.py"))
    there = [
        name
        for name, (package, _) in RIVALS.items()
        if subprocess.run([python, "-c", f"import {package}"], check=False, capture_output=True).returncode == 0
    ]
    found = []
    with subprocess.Popen([sys.executable, plain_script, "--serve"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        try:
            for length in lengths:
                least: dict[tuple[str, int], float] = {}
                for _ in range(plain.ROUNDS):
                    for samples in (plain.FEW, plain.MANY):
                        asked = [str(port), str(length), str(samples)]
                        commands = {
                            "plain client": [sys.executable, plain_script, "--plain", *asked],
                            "ours": plain._ours(port, length, samples),
                            **{name: [python, script, f"--{name}", *asked] for name in there},
                        }
                        for name, command in commands.items():
                            with tempfile.TemporaryDirectory() as folder:
                                cpu, _ = plain._cpu(command, folder)
                            least[name, samples] = min(least.get((name, samples), inf), cpu)
                each = {
                    name: 1000 * (least[name, plain.MANY] - least[name, plain.FEW]) / (plain.MANY - plain.FEW)
                    for name, samples in least
                    if samples == plain.MANY
                }
                found.append({"length": length, **each})
                told = ", ".join(f"{name} {ms:.1f} ms ({ms / each['plain client']:.1f}x)" for name, ms in each.items())
                print(f"{length:>7,} tokens: {told}", flush=True)
        finally:
            server.kill()
    print(json.dumps(found))


if __name__ == "__main__":
    match sys.argv[1:]:
        case [flag, port, length, samples] if flag.removeprefix("--") in RIVALS and flag.startswith("--"):
            RIVALS[flag.removeprefix("--")][1](int(port), int(length), int(samples))
        case [python, *given]:
            main(python, tuple(map(int, given)) or (4_096, 32_768))
        case _:
            raise SystemExit("usage: rivals.py PYTHON [LENGTH ...]")
