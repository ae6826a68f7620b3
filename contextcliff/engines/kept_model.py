"""A model that stays loaded between the jobs of a sweep: the next job of the same model takes it over.

Loading takes minutes for large weights, and a sweep over tasks and policies asks for the same ones again and again.
Outside a sweep nothing is kept. One model is kept at a time, since memory may hold no second.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, cast

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kept:
    key: Hashable
    fits: int
    model: Any
    close: Callable[[Any], None]


@dataclass(kw_only=True, slots=True)
class _Process:
    """State of this process: jobs of one sweep follow each other in it."""

    keeping: bool = False
    kept: _Kept | None = None


_process = _Process()


@contextmanager
def models_kept() -> Iterator[None]:
    """Inside the block a model stays loaded when its job ends."""
    before, _process.keeping = _process.keeping, True
    try:
        yield
    finally:
        _process.keeping = before
        if not before:
            drop()


@contextmanager
def taken(key: Hashable, load: Callable[[], T], *, close: Callable[[T], None], size: int = 0) -> Iterator[T]:
    """The model that is kept under this key and is at least of this size, or one that is loaded now.

    Any other that is kept is closed first. One whose job fails is closed as well: it may be what failed.
    """
    kept = _process.kept
    if kept is not None and kept.key == key and kept.fits >= size:
        _process.kept = None
        model, fits = cast(T, kept.model), kept.fits
    else:
        drop()
        model, fits = load(), size
    try:
        yield model
    except BaseException:
        close(model)
        raise
    if _process.keeping:
        _process.kept = _Kept(key=key, fits=fits, model=model, close=close)
    else:
        close(model)


def drop() -> None:
    """Close the model that is kept, where there is one."""
    kept, _process.kept = _process.kept, None
    if kept is not None:
        kept.close(kept.model)
