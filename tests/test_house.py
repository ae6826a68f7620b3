"""The test of the house: what may only fall. A limit is at most; the end of each issue sets it to what it found.

An issue that brings a capability may raise the lines by 1,500 of code and 1,500 of tests, and says so. Nothing else may
rise.
"""

from __future__ import annotations

import ast
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import grimp
import networkx as nx
import pytest

from tests.commands import python

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "contextcliff"
LIMITS = {
    "lines of contextcliff/": 47_206,
    "modules of contextcliff/ without __init__.py": 247,
    "lines of the largest module": 421,
    "lines of tests/": 32_520,
    "data records": 354,
    "modules of ours that --help imports": 9,
    "modules of ours that a niah run imports": 146,
    "modules of ours that action=plan imports": 121,
    "import circles": 0,
    "methods of other libraries that are replaced": 0,
}
RECORDS = {"dataclass", "record", "settings"}
"""Decorators that make a class a data record; `NamedTuple`, `TypedDict` and `BaseModel` as its base do too."""
RECORD_BASES = {"NamedTuple", "TypedDict", "BaseModel"}
SMALL_RUN = ("engine=simulated", "tracking=none", "reporting.progress=false", "task.trials=1", "task.lengths=[256]")
COMMANDS = {"--help": ("--help",), "a niah run": SMALL_RUN, "action=plan": ("action=plan", *SMALL_RUN)}
IMPORTED = f"""
import atexit, json, sys
def ours():
    found = [name for name in sys.modules if name.partition(".")[0] == "{PACKAGE}"]
    return [name for name in found if not hasattr(sys.modules[name], "__path__")]
atexit.register(lambda: open("imported.json", "w").write(json.dumps(ours())))
from {PACKAGE}.__main__ import main
main()
"""


def modules(folder: str) -> dict[str, str]:
    """The text of every module below a folder, by its path."""
    return {str(file.relative_to(ROOT)): file.read_text("utf-8") for file in sorted((ROOT / folder).rglob("*.py"))}


def lines(folder: str) -> list[int]:
    return [text.count("\n") for text in modules(folder).values()]


@cache
def trees() -> tuple[ast.Module, ...]:
    return tuple(map(ast.parse, modules(PACKAGE).values()))


def records() -> int:
    classes = (node for tree in trees() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return sum(
        any(_name(each) in RECORDS for each in found.decorator_list)
        or any(_name(each) in RECORD_BASES for each in found.bases)
        for found in classes
    )


def _name(node: ast.expr) -> str:
    """The last name of `module.name`, `name` or `name(…)`."""
    if isinstance(node, ast.Call | ast.Subscript):
        return _name(node.func if isinstance(node, ast.Call) else node.value)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def imported_by(command: str) -> int:
    """Modules that hold code, without packages; a process of its own imports them."""
    with tempfile.TemporaryDirectory() as folder:
        done = python("-c", IMPORTED, *COMMANDS[command], cwd=Path(folder))
        assert done.returncode == 0, done.stderr
        return len(json.loads((Path(folder) / "imported.json").read_text("utf-8")))


def circles() -> int:
    """Groups of modules that import each other in a ring; what only type checkers import is left out."""
    graph = grimp.build_graph(PACKAGE, cache_dir=None, exclude_type_checking_imports=True)
    imports = nx.DiGraph(
        (one, other) for one in graph.modules for other in graph.find_modules_directly_imported_by(one)
    )
    return sum(len(group) > 1 for group in nx.strongly_connected_components(imports))


def replaced() -> list[str]:
    """`Class.method` or `module.function` of another library to which a module of ours assigns."""
    return sorted({found for tree in trees() for found in _replaced_in(tree)})


def _replaced_in(tree: ast.Module) -> Iterator[str]:
    foreign = set(_foreign_names(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            attributes = (each for one in targets for each in ast.walk(one) if isinstance(each, ast.Attribute))
            yield from (ast.unparse(each) for each in attributes if _root(each) in foreign)
        elif isinstance(node, ast.Call) and _name(node.func) == "setattr" and _root(node.args[0]) in foreign:
            yield ast.unparse(node)


def _foreign_names(tree: ast.Module) -> Iterator[str]:
    """Names that a module imports from other libraries than Python's own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            paths = [(alias.name, alias.asname or alias.name.partition(".")[0]) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            paths = [(node.module or "", alias.asname or alias.name) for alias in node.names]
        else:
            continue
        for path, name in paths:
            if path.partition(".")[0] not in {PACKAGE, *sys.stdlib_module_names}:
                yield name


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


MEASURES: dict[str, Callable[[], int]] = {
    "lines of contextcliff/": lambda: sum(lines(PACKAGE)),
    "modules of contextcliff/ without __init__.py": lambda: sum("__init__" not in name for name in modules(PACKAGE)),
    "lines of the largest module": lambda: max(lines(PACKAGE)),
    "lines of tests/": lambda: sum(lines("tests")),
    "data records": records,
    **{f"modules of ours that {command} imports": partial(imported_by, command) for command in COMMANDS},
    "import circles": circles,
    "methods of other libraries that are replaced": lambda: len(replaced()),
}


@pytest.mark.parametrize("what", LIMITS)
def test_the_house_does_not_grow(what: str) -> None:
    found, limit = MEASURES[what](), LIMITS[what]
    assert found <= limit, (
        f"{what}: {found:,}, which is {found - limit:,} more than the limit of {limit:,}. Simplify what you touched: "
        "delete, merge, or take a library. The limit stays (tests/test_house.py)"
    )
