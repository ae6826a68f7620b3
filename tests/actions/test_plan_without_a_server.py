"""A plan sends nothing: it needs no key, no hosted service, and no server that is not there yet."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from contextcliff.engines.openai.server_access import KNOWN_VARIABLES
from tests.commands import QUIET, contextcliff

# Nothing answers behind this proxy: a request to a hosted service would fail, and be seen to.
NO_NETWORK = {
    **dict.fromkeys(KNOWN_VARIABLES, ""),
    "HF_HUB_OFFLINE": "1",
    "TIKTOKEN_CACHE_DIR": "/nowhere",
    **dict.fromkeys(("HTTPS_PROXY", "https_proxy"), "http://127.0.0.1:9"),
}


def planned(folder: Path, *overrides: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    done = contextcliff("action=plan", *QUIET, *overrides, cwd=folder, env=NO_NETWORK)
    file = folder / "outputs" / "plan.json"
    return done, json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


@pytest.mark.parametrize("preset", ["openai", "openrouter", "nvidia_nim", "gemini", "zai"])
def test_a_hosted_model_is_planned_for_without_its_host(preset: str, tmp_path: Path) -> None:
    done, plan = planned(tmp_path, f"engine={preset}", "model=gpt")
    assert (done.returncode, done.stderr) == (0, "")
    assert (plan["model"], plan["engine"], plan["least"]["samples"]) == ("gpt-5", preset, 66)
    assert plan["usd"] > 0
    assert "no tokenizer can be loaded here: tokens are estimated" in plan["notes"]
    assert any(note.startswith("the run will stop at once: engine.api_key_env: ") for note in plan["notes"])


def test_a_tokenizer_that_is_asked_for_and_not_to_be_had_is_an_error(tmp_path: Path) -> None:
    done, _ = planned(tmp_path, "engine=openai", "model=gpt", "tokenizer=tiktoken")
    assert done.returncode == 1
    assert done.stderr.startswith("error: tokenizer.name=o200k_base: tiktoken fetches its vocabulary")


def test_a_server_that_is_not_there_yet_is_planned_for_by_what_is_known(tmp_path: Path) -> None:
    done, plan = planned(tmp_path, "engine=vllm", "model=qwen", "engine.base_url=http://127.0.0.1:9")
    assert (done.returncode, done.stderr) == (0, "")
    assert (plan["least"]["samples"], plan["tokenizer"]) == (66, "words")
    assert plan["notes"][0].startswith(
        "tokens are estimated: engine.base_url=http://127.0.0.1:9/v1: can't be reached ("
    )


def test_a_server_that_is_not_there_and_has_to_tell_its_model_is_an_error(tmp_path: Path) -> None:
    done, plan = planned(tmp_path, "engine=vllm", "model=served", "engine.base_url=http://127.0.0.1:9")
    assert (done.returncode, plan) == (1, {})
    assert done.stderr.startswith("error: engine.base_url=http://127.0.0.1:9/v1: can't be reached (")
