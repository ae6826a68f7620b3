"""How often Python looks for garbage."""

from __future__ import annotations

import gc

_NEW_OBJECTS = 20_000
"""Python's own 700 have it look through the samples, figures and sessions of a run again and again, for a twentieth of
the run's time. What waits for it meanwhile is some tens of megabytes in a sweep."""
_ROUNDS = 20


def collect_less_often() -> None:
    """Look for garbage at a thirtieth of the usual rate in this process."""
    gc.set_threshold(_NEW_OBJECTS, _ROUNDS, _ROUNDS)
