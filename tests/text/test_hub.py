"""Tokenizers of the hub: found by a served model's name, and given up at once where there is no hub."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from contextcliff.engines.openai.http import KNOWN_VARIABLES
from contextcliff.text.tokenizer_choice import TokenizerSources
from tests.commands import QUIET, contextcliff_process
from tests.engines.fake_server import FakeServer, serving

SMALL = ("task.lengths=[300]", "task.depths=[0.5]", "task.trials=2")
NAME = "made/for-this-test"


def run(server: FakeServer, hub: str, folder: Path, *overrides: str, **env: str) -> subprocess.CompletedProcess[str]:
    return contextcliff_process(
        "engine=vllm",
        f"engine.base_url={server.address}",
        *QUIET,
        *SMALL,
        *overrides,
        cwd=folder,
        env={
            **dict.fromkeys(KNOWN_VARIABLES, ""),
            "HF_ENDPOINT": hub,
            "HF_HOME": str(folder / "hub"),
            "TIKTOKEN_CACHE_DIR": str(folder / "tiktoken"),
            **env,
        },
    )


@pytest.mark.slow
def test_no_hub_is_one_line_within_seconds(tmp_path: Path) -> None:
    server = FakeServer(models=[{"id": "m", "max_model_len": 1024}])
    with serving(server):
        started = time.monotonic()
        done = run(
            server, "http://127.0.0.1:9", tmp_path, "model=served", "tokenizer=huggingface", f"tokenizer.name={NAME}"
        )
        took = time.monotonic() - started
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"error: tokenizer.name={NAME}: can't be loaded (")
    assert "Connection refused" in done.stderr
    assert "HF_HOME" in done.stderr
    assert took < 20


def test_a_served_name_that_is_a_repositorys_is_tried_first() -> None:
    expected = {
        ("Qwen/Qwen3-4B", None): ("Qwen/Qwen3-4B",),
        # A preset's repository is not that of a model which was put in its place by hand.
        ("Qwen/Qwen3-4B", "HuggingFaceTB/SmolLM2-135M-Instruct"): (
            "Qwen/Qwen3-4B",
            "HuggingFaceTB/SmolLM2-135M-Instruct",
        ),
        ("Qwen3-8B", "Qwen/Qwen3-8B"): ("Qwen/Qwen3-8B",),
        ("/models/a.gguf", None): (),
        ("models/deep/a.gguf", None): (),
        ("../a", None): (),
        (None, None): (),
    }
    assert {
        (model, hub): TokenizerSources(own=None, hub=hub, template_arguments={}, model=model).repositories
        for model, hub in expected
    } == expected
