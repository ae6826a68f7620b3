"""Configuration classes: the decorator that makes a class the schema of a config group, and its field types.

An option of `conf/` names its class in `_target_`. `settings` makes that class a frozen, keyword-only dataclass that
pydantic validates: a wrong type, a value out of range and an unknown key fail before anything runs, from YAML as
from Python."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import Annotated, TypeVar, dataclass_transform, get_args, get_type_hints

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass
from pydantic_core import PydanticCustomError

_LONGEST_NAME = 255

FOLDER_NAME = re.compile(r"[\w][\w. -]{0,99}")

_LARGEST = 10**15
"""No number of a configuration is beyond it; JSON and floats hold every whole number up to there."""


def _no_truth(value: object) -> object:
    """Python takes true and false for 1 and 0, and so would pydantic."""
    if isinstance(value, bool):
        raise PydanticCustomError("number", "true and false are no numbers; give a number")
    return value


Int = Annotated[int, BeforeValidator(_no_truth), Field(ge=-_LARGEST, le=_LARGEST)]
Float = Annotated[float, BeforeValidator(_no_truth), Field(ge=-_LARGEST, le=_LARGEST)]
PositiveInt = Annotated[Int, Field(gt=0)]
NonNegativeInt = Annotated[Int, Field(ge=0)]
Count = Annotated[int, BeforeValidator(_no_truth), Field(gt=0, le=100_000)]
"""How many of what is built one by one: a run is bounded before it is built."""
Few = Annotated[int, BeforeValidator(_no_truth), Field(gt=0, le=1_000)]
"""How many of what each sample is built from, or of what multiplies the samples."""
PositiveFloat = Annotated[Float, Field(gt=0.0)]
NonNegativeFloat = Annotated[Float, Field(ge=0.0)]
Fraction = Annotated[Float, Field(ge=0.0, le=1.0)]
Name = Annotated[str, Field(min_length=1)]


def _matching(pattern: re.Pattern[str], way_out: str) -> AfterValidator:
    def check(text: str) -> str:
        if not pattern.fullmatch(text):
            raise PydanticCustomError("name", "{way_out}", {"way_out": way_out})
        return text

    return AfterValidator(check)


_LABEL = re.compile(r"[\w.-]{0,64}", re.ASCII)
Label = Annotated[str, _matching(_LABEL, "give up to 64 letters, digits, dots, hyphens and underscores")]
_NAMES_A_FOLDER = "names a folder; give up to 100 letters, digits, spaces, dots, hyphens and underscores"
FolderName = Annotated[str, _matching(FOLDER_NAME, _NAMES_A_FOLDER)]


def why_no_path(path: str) -> str | None:
    """Why the operating system refuses a path (too long, no such home folder …); None where it accepts it. Whether
    there is a file is not checked: whoever reads it reports that."""
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
    problem = why_no_path(path)
    if problem is not None:
        raise PydanticCustomError("path", "{problem}; give another path", {"problem": problem})
    return path


GivenPath = Annotated[Name, AfterValidator(_usable)]

_T = TypeVar("_T")
_CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False)


def path_fields(cls: type) -> frozenset[str]:
    """The fields of a settings class that hold paths."""

    def holds_path(kind: object) -> bool:
        return kind in (GivenPath, Path) or any(map(holds_path, get_args(kind)))

    return frozenset(name for name, kind in get_type_hints(cls, include_extras=True).items() if holds_path(kind))


def folder_name(text: str) -> str:
    """`text` as a part of a file or folder name: letters, digits, `_` and `.` are kept, the rest become hyphens."""
    return re.sub(r"[^\w.]+", "-", text).strip("-.")


@dataclass_transform(kw_only_default=True, frozen_default=True)
def settings(cls: type[_T]) -> type[_T]:
    """Class decorator: makes a class the schema of a config group."""
    schema: type[_T] = dataclass(frozen=True, kw_only=True, config=_CONFIG)(cls)  # type: ignore[assignment]
    return schema
