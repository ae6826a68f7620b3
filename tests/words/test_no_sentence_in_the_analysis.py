"""An analysis gives facts: no text of three words or more stands in it, but for docstrings and errors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "contextcliff"
SOURCES = sorted(
    file for room in ("analysis", "statistics", "writing/analysis") for file in (PACKAGE / room).rglob("*.py")
)


def texts_of(tree: ast.AST) -> Iterator[str]:
    """Every text of a module that is neither a docstring nor part of an error."""
    passed_over = {
        id(text)
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for text in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed_over:
            yield node.value


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_a_module_of_an_analysis_says_nothing(file: Path) -> None:
    texts = texts_of(ast.parse(file.read_text(encoding="utf-8")))
    assert not [text for text in texts if " " in text.strip() and len(re.findall(r"[a-z]{2,}", text)) >= 3]
