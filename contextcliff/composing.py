"""The shipped configuration: its folder, the options that go with a task, and its keys."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from omegaconf import OmegaConf

from contextcliff import conf_dir as conf_dir
from contextcliff.seeding import digest_of


@cache
def _of_task(group: str, task: str, default: str) -> str:
    """The option of a group that `conf/of_task.yaml` names for a task, else `default`."""
    options: Any = OmegaConf.load(conf_dir() / "of_task.yaml")
    return str(options.get(task, {}).get(group, default))


OmegaConf.register_new_resolver("of_task", _of_task, replace=True)


def _digest(*nodes: Any) -> str:
    """Eight characters that stand for these parts of the configuration: another label for another configuration."""
    plain = [OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else node for node in nodes]
    return digest_of(*plain)[:8]


OmegaConf.register_new_resolver("digest", _digest, replace=True)


def _trials_for(samples: int, *, _parent_: Any) -> int:
    grid = _parent_.get("depth_grid") or {}
    return math.ceil(samples / (grid.get("count") or len(_parent_.get("depths") or [None])))


OmegaConf.register_new_resolver("trials_for", _trials_for, replace=True)


def hint(key: str, known: Iterable[str]) -> str:
    """`did you mean KEY?` with the most similar known key; where none is similar, how to list all keys."""
    near = difflib.get_close_matches(key, list(known), n=1)
    return f"did you mean {near[0]}?" if near else "see all keys with: python -m contextcliff --cfg job"


def nodes(values: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, object]]:
    """Every value of nested mappings with its dotted key, each mapping before the values in it."""
    for key, value in values.items():
        path = f"{prefix}{key}"
        yield path, value
        if isinstance(value, Mapping):
            yield from nodes(value, f"{path}.")
