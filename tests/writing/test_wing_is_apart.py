"""What is not about writing runs without the package of writing."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import contextcliff
from tests.commands import SIMULATED, python

_SCRIPT = """
import atexit, sys
atexit.register(lambda: print(*[name for name in sys.modules if name.startswith("contextcliff.writing")]))
from contextcliff.__main__ import main
sys.exit(main())
"""


@pytest.mark.slow
def test_a_needle_run_imports_no_module_of_writing(tmp_path: Path) -> None:
    done = python("-c", _SCRIPT, "task=niah", "task.trials=1", "reporting.dpi=50", *SIMULATED, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == ""
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
