"""Half-life, position and the advice of the operating guide, in Japanese."""

from __future__ import annotations
