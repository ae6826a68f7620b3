"""Inspect and lm-eval over the server of `loopback.py`: run by `plain_client.py` in an environment that has them.

PYTHON benchmarks/rivals.py                                   names those that are installed
PYTHON benchmarks/rivals.py NAME PORT LENGTH SAMPLES AT_ONCE
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from loopback import prompt_of


def inspect(port: int, length: int, samples: int, at_once: int) -> None:
    """https://inspect.aisi.org.uk"""
    os.environ |= {"MOCK_BASE_URL": f"http://127.0.0.1:{port}/v1", "MOCK_API_KEY": "none"}
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.scorer import includes
    from inspect_ai.solver import generate

    dataset = MemoryDataset([Sample(input=prompt_of(length, number), target="7") for number in range(samples)])
    task = Task(dataset=dataset, solver=generate(), scorer=includes())
    (log,) = eval(task, model="openai-api/mock/mock", max_connections=at_once, display="none", log_dir=".")
    assert log.status == "success", log.error


def lm_eval(port: int, length: int, samples: int, at_once: int) -> None:
    """https://github.com/EleutherAI/lm-evaluation-harness"""
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
            "num_concurrent": at_once,
            "tokenized_requests": False,
        },
        tasks=[task],
        apply_chat_template=True,
        task_manager=TaskManager(include_defaults=False),
        bootstrap_iters=0,
    )


RIVALS: dict[str, tuple[str, Callable[[int, int, int, int], None]]] = {
    "inspect": ("inspect_ai", inspect),
    "lm-eval": ("lm_eval", lm_eval),
}


if __name__ == "__main__":
    match sys.argv[1:]:
        case []:
            print(" ".join(name for name, (package, _) in RIVALS.items() if find_spec(package)))
        case [name, *numbers]:
            RIVALS[name][1](*map(int, numbers))
