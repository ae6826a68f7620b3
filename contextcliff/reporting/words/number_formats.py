"""Figures as every language writes them."""

from __future__ import annotations

from collections.abc import Sequence


def threshold_figure(value: float) -> str:
    """A threshold: two decimals, three where two would round it to another number."""
    return f"{value:.2f}" if abs(value - round(value, 2)) < 1e-9 else f"{value:.3f}".rstrip("0")


def confidence_figure(confidence: float) -> str:
    """A confidence as a percentage with as many digits as it has: `95%`, `97.5%`."""
    return f"{100.0 * confidence:.6g}%"


def span(low: float, high: float, style: str) -> str:
    """Both ends, or one where they read alike; `style` is a format of Python's."""
    first, last = format(low, style), format(high, style)
    return first if first == last else f"{first}–{last}"


def listed_in_part(lengths: Sequence[int], *, most: int = 4) -> tuple[str, int]:
    """The first lengths, and how many more there are."""
    return ", ".join(f"{tokens:,}" for tokens in lengths[:most]), max(0, len(lengths) - most)
