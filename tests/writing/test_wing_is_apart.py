"""What is not about writing runs without the package of writing."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import contextcliff
from tests.commands import SIMULATED

_SCRIPT = """
import json, sys
from contextcliff.__main__ import main

sys.argv = ["contextcliff", *sys.argv[1:]]
try:
    code = main()
except SystemExit as end:
    code = end.code
names = [name for name in sys.modules if name.split(".")[:2] == ["contextcliff", "writing"]]
print(json.dumps({"code": code, "names": sorted(names)}))
"""


def run(folder: Path, *overrides: str) -> dict[str, object]:
    """A command in a process of its own: its exit code, and the modules of writing that it imported."""
    ended = subprocess.run(
        [sys.executable, "-c", _SCRIPT, *overrides], cwd=folder, capture_output=True, text=True, timeout=240, check=True
    )
    found: dict[str, object] = json.loads(ended.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
def test_a_needle_run_imports_no_module_of_writing(tmp_path: Path) -> None:
    ended = run(tmp_path, "task=niah", "task.trials=1", "reporting.dpi=50", *SIMULATED)
    assert not ended["code"]
    assert ended["names"] == []
    # It was a whole run, with its report.
    assert list(tmp_path.glob("outputs/*/niah-*/report.md"))


def test_the_import_contract_names_every_other_package() -> None:
    root = Path(contextcliff.__file__).parent
    packages = {path.name for path in root.iterdir() if (path / "__init__.py").is_file()}
    modules = {path.stem for path in root.glob("*.py")} - {"__init__"}
    project = tomllib.loads((root.parent / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(
        each
        for each in project["tool"]["importlinter"]["contracts"]
        if each.get("forbidden_modules") == ["contextcliff.writing"]
    )
    assert set(contract["source_modules"]) == {f"contextcliff.{name}" for name in (packages | modules) - {"writing"}}
