"""Errors of Hydra, and of the operating system about paths, in one line with the key, the value and the way out."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.command_line.job_keys import keys_of_jobs, options_with
from contextcliff.command_line.overrides import chosen_options, options_of
from contextcliff.composing import hint
from contextcliff.errors import ConfigError, RunError, full_disk

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override


_NO_SUCH_KEY = re.compile(r"Could not override '([^']+)'|Key '([^']+)' is not in struct")
_NO_SUCH_OPTION = re.compile(r"Could not find '([^']+)/([^'/]+)'")
_KEY_EXISTS = re.compile(r"Could not append to config\. An item is already at '([^']+)'")
_GROUP_CHOSEN = re.compile(r"Multiple values for ([^\s.]+)\. To override")
_NOTHING_TO_DELETE = re.compile(r"Could not delete from config\. '([^']+)' does not exist")
_FULL_KEY = re.compile(r"full_key: (\S+)")

_LAUNCHERS = "hydra/launcher"
_EXTRAS = {"ray": "ray", "ray_aws": "ray", "submitit_local": "slurm", "submitit_slurm": "slurm"}
"""Launchers that an extra of our package installs; `joblib` comes with it, and `basic` is Hydra's own."""

_MOST_OPTIONS = 12
"""So many options of a group that have a key are named in one line."""


def explain(error: Exception, overrides: Sequence[Override]) -> str:
    """An error in one line; for an error that is not known here, Hydra's own message."""
    message = f"{error}\n{error.__cause__ or ''}"
    for pattern, explanation in _EXPLANATIONS.items():
        match = pattern.search(message)
        if match is not None:
            return explanation(match, message, overrides)
    return " ".join(str(error).split())


def explain_launcher(error: Exception, overrides: Sequence[Override]) -> str | None:
    """What a launcher with processes of its own complains of, as one that finds no cluster; None without such a one."""
    launcher = next((name for name in chosen_options(overrides, _LAUNCHERS) if name != "basic"), None)
    if launcher is None:
        return None
    said = str(error) or type(error).__name__
    return f"{_LAUNCHERS}={launcher}: {said}; HYDRA_FULL_ERROR=1 shows where"


def _no_such_option(match: re.Match[str], _: str, __: Sequence[Override]) -> str:
    group, name = match.groups()
    if group == _LAUNCHERS and name in _EXTRAS:
        return f"{group}={name}: not installed; run pip install 'contextcliff[{_EXTRAS[name]}]'"
    options = sorted(["basic", "joblib", *_EXTRAS]) if group == _LAUNCHERS else options_of(group)
    if not options:
        return f"{group}={name}: no such option; is the package that brings it installed?"
    near = difflib.get_close_matches(name, options, n=1) or [option for option in options if name in option][:1]
    suggestion = f"did you mean {near[0]}? " if near else ""
    return f"{group}={name}: no such option; {suggestion}the options are: {', '.join(options)}"


def _no_such_key(match: re.Match[str], message: str, overrides: Sequence[Override]) -> str:
    full = _FULL_KEY.search(message)
    missing = full.group(1) if full is not None else next(filter(None, match.groups()))
    typed = (override.key_or_group for override in overrides)
    key = next((name for name in typed if name == missing or name.startswith(f"{missing}.")), missing)
    jobs = keys_of_jobs(key, overrides)
    lacking = [job for job, known in jobs.items() if key not in known]
    verb = "has" if len(lacking) == 1 else "have"
    if 0 < len(lacking) < len(jobs):
        return f"{key}: {' and '.join(lacking)} {verb} no such key; write ++{key}=VALUE to set it where it exists"
    others = options_with(key)
    if others and lacking and all(lacking):
        group = key.partition(".")[0]
        named = ", ".join(others[:_MOST_OPTIONS])
        more = f" and {len(others) - _MOST_OPTIONS} more" if len(others) > _MOST_OPTIONS else ""
        return f"{key}: {' and '.join(lacking)} {verb} no such key; these do: {group}={named}{more}"
    known = dict.fromkeys(name for names in jobs.values() for name in names if name != key)
    return f"{key}: unknown key; {hint(key, known)}"


def _key_exists(match: re.Match[str], _: str, overrides: Sequence[Override]) -> str:
    key = match.group(1)
    one_kind_of_job = len(keys_of_jobs(key, overrides)) < 2
    more = "" if one_kind_of_job else f", or ++{key}=VALUE to set it where it exists"
    return f"+{key}: exists already; write {key}=VALUE{more}"


def _group_chosen(match: re.Match[str], _: str, __: Sequence[Override]) -> str:
    group = match.group(1)
    return f"+{group}: is chosen already; write {group}=OPTION"


def _nothing_to_delete(match: re.Match[str], _: str, overrides: Sequence[Override]) -> str:
    key = match.group(1)
    known = dict.fromkeys(name for keys in keys_of_jobs(key, overrides).values() for name in keys)
    return f"~{key}: unknown key; {hint(key, known)}"


_EXPLANATIONS: Mapping[re.Pattern[str], Callable[[re.Match[str], str, Sequence[Override]], str]] = {
    _NO_SUCH_OPTION: _no_such_option,
    _KEY_EXISTS: _key_exists,
    _GROUP_CHOSEN: _group_chosen,
    _NOTHING_TO_DELETE: _nothing_to_delete,
    _NO_SUCH_KEY: _no_such_key,
}


@contextmanager
def path_errors_by_key(parameters: Mapping[str, str]) -> Iterator[None]:
    """Raise an `OSError` about a file as `ConfigError` where the path comes from a key, else as `RunError`."""
    try:
        yield
    except OSError as error:
        if full := full_disk(error, parameters.get("output_dir")):
            raise full from error
        if error.filename is None or error.strerror is None:
            raise
        path = _absolute(str(error.filename))
        key = max(
            (key for key in parameters if _contains(parameters[key], path)),
            key=lambda key: len(parameters[key]),
            default=None,
        )
        if key is not None:
            raise ConfigError(
                f"{key}={parameters[key]}: {error.strerror} ({error.filename}); give another path"
            ) from error
        raise RunError(f"{error.filename}: {error.strerror}") from error


def _contains(value: str, path: Path) -> bool:
    """Whether a value names this path, or a folder above it."""
    if not value or value in (".", "/"):
        return False
    try:
        return path.is_relative_to(_absolute(value))
    except (ValueError, OSError, RuntimeError):
        return False


def _absolute(path: str) -> Path:
    return Path(path).expanduser().absolute()
