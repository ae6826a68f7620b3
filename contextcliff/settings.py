"""What every configuration class has in common.

A group of `conf/` names a class in `_target_`; the class is its schema. `settings` makes it a frozen,
keyword-only dataclass that pydantic checks: types, ranges and unknown keys fail before anything runs,
whether the values come from YAML or from Python.
"""

from __future__ import annotations

import re
from typing import Annotated, TypeVar, dataclass_transform

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

FOLDER_NAME = re.compile(r"[\w][\w. -]{0,99}")
"""What is taken for the name of one folder on every system."""

Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
PositiveInt = Annotated[int, Field(gt=0)]
NonNegativeInt = Annotated[int, Field(ge=0)]
PositiveFloat = Annotated[float, Field(gt=0.0)]
NonNegativeFloat = Annotated[float, Field(ge=0.0)]

_T = TypeVar("_T")


def folder_name(text: str) -> str:
    """A text as a part of a file's or folder's name: its letters, digits, `_` and `.`, and hyphens for the rest."""
    return re.sub(r"[^\w.]+", "-", text).strip("-.")


@dataclass_transform(kw_only_default=True, frozen_default=True)
def settings(cls: type[_T]) -> type[_T]:
    """Class decorator for the schema of one config group."""
    made: type[_T] = dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))(cls)  # type: ignore[assignment]
    return made
