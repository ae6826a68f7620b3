"""Half-life, position and the advice of the operating guide, in English."""

from __future__ import annotations
