"""No other package may import that of writing: `tests/test_house.py` counts what a run imports."""

from __future__ import annotations

import tomllib
from pathlib import Path

import contextcliff


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
