"""How often Python looks for garbage.

Most of what a command makes stays to its end: classes, configurations, samples. By default Python searches the newest
of it after every 700 objects, which takes a tenth of a small run. What is large (prompts, a model's caches) refers to
nothing that refers to it, and is freed without a search.
"""

from __future__ import annotations

import gc

_AFTER = (10_000, 20, 20)
"""New objects until the newest are searched, and such searches until older ones are too."""


def collect_less_often() -> None:
    """In this process, from now on."""
    gc.set_threshold(*_AFTER)
