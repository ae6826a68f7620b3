"""What every configuration class has in common.

A group of `conf/` names a class in `_target_`; the class is its schema. `settings` makes it a frozen,
keyword-only dataclass that pydantic checks: types, ranges and unknown keys fail before anything runs,
whether the values come from YAML or from Python.
"""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import Annotated, TypeVar, dataclass_transform

from pydantic import AfterValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass
from pydantic_core import PydanticCustomError

_LONGEST_NAME = 255
"""Bytes of one part of a path, on every file system in use."""

FOLDER_NAME = re.compile(r"[\w][\w. -]{0,99}")
"""What is taken for the name of one folder on every system."""

Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
PositiveInt = Annotated[int, Field(gt=0)]
NonNegativeInt = Annotated[int, Field(ge=0)]
PositiveFloat = Annotated[float, Field(gt=0.0)]
NonNegativeFloat = Annotated[float, Field(ge=0.0)]
Name = Annotated[str, Field(min_length=1)]


def why_no_path(path: str) -> str | None:
    """Why no file of this name can be or be looked for; None where one can. Whether there is one, its reader says."""
    try:
        given = Path(path).expanduser()
        if any(len(os.fsencode(part)) > _LONGEST_NAME for part in given.parts):
            return os.strerror(errno.ENAMETOOLONG)
        given.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return error.strerror
    except RuntimeError:
        return "there is no such home folder"
    except ValueError as error:
        return str(error)
    return None


def _usable(path: str) -> str:
    told = why_no_path(path)
    if told is not None:
        raise PydanticCustomError("path", "{told}; give another path", {"told": told})
    return path


GivenPath = Annotated[Name, AfterValidator(_usable)]
"""A file or folder that a user names. One that is too long, or that can't be looked for, fails before anything runs."""

_T = TypeVar("_T")


def folder_name(text: str) -> str:
    """A text as a part of a file's or folder's name: its letters, digits, `_` and `.`, and hyphens for the rest."""
    return re.sub(r"[^\w.]+", "-", text).strip("-.")


@dataclass_transform(kw_only_default=True, frozen_default=True)
def settings(cls: type[_T]) -> type[_T]:
    """Class decorator for the schema of one config group."""
    made: type[_T] = dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))(cls)  # type: ignore[assignment]
    return made
