"""The keys that the jobs of a command line have: what is typed is checked against them, Hydra's errors are explained,
and `--help` shows them.

Which keys a job has is decided by the options of its groups, so those alone are composed, once for each kind of job.
`++KEY=VALUE` sets a key in the jobs that have it. Hydra's own `++` sets a key or adds it. In a sweep over options with
different keys (`task=niah,continuation ++task.trials=2`) a job without the key drops the override with a note; a key
that no job has is an error."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from contextcliff.command_line.overrides import (
    LAUNCHERS,
    chosen_options,
    compose_options,
    defaults,
    no_such_option,
    option_files,
    options_of,
    parse_overrides,
    shown,
)
from contextcliff.composing import conf_dir, hint, nodes
from contextcliff.errors import ConfigError, ContextCliffError, RunError, one_line, tell

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

_FORCED = "++"
_WEIGHTS = ("model.gguf.path", "model.gguf.repo", "model.gguf.package")
ANY_KEYS = ("extra_body", "press_arguments", "sampler_names", "served", "template_arguments", "uncached_fields")
_OPEN = re.compile(rf"((?:\w+\.)+(?:{'|'.join(ANY_KEYS)}))(\.|=.*\{{)", re.DOTALL)
_NO_SUCH_OPTION = re.compile(r"Could not (?:find|load) '([^']+)/([^'/]+)'")
_FULL_KEY = re.compile(r"full_key: (\S+)")
_WIDTH, _COMMENTS_AT = 80, 29
_HELP = """\
contextcliff: how many tokens can a language model really be given?

  contextcliff                                the embedded model, a few minutes
  contextcliff experiment=quick               a first answer in 1.6 minutes
  contextcliff experiment=planted             a report to look at, in seconds
  contextcliff 'task.lengths=[4096,7992]'     other lengths
  contextcliff kv_policy=none,q8_0,q4_0       a comma sweeps: compare KV caches
  contextcliff action=plan                    what a run would send and cost
  contextcliff ui                             the runs, in MLflow's page

GROUP=OPTION chooses one; those in brackets hold where none is chosen:
{groups}
GROUP.KEY=VALUE sets a key. What the options and keys of a group mean:
  contextcliff --help task                    also --help task=qa, --help model
{others}
"""
"""Two screens of 24 lines and 80 columns."""


def help_text(names: Sequence[str]) -> str:
    """What `--help` shows: the groups with their options, or what the options and keys of the groups mean that are
    named (`task`, `task=qa` or `task.trials`). Raises `ConfigError` for a name that is neither group nor key."""
    config = (conf_dir() / "config.yaml").read_text("utf-8")
    blocks = {name: block for block, name in re.findall(r"^((\w+):.*\n(?: .*\n|\n)*)", config, re.MULTILINE)}
    standing = {name: str(option or "").rpartition(",")[2].rstrip("}") for name, option in defaults().items()}
    groups = {name: option for name, option in standing.items() if options_of(name)}
    keys = [name for name in blocks if name not in {*groups, "defaults", "hydra"}]
    if names:
        known = {name: blocks.get(name, "") for name in [*groups, *keys]}
        return "\n".join(_help_of(name, groups, known) for name in names)
    rows = (
        _wrapped(", ".join(f"[{each}]" if each == option else each for each in options_of(group)), f"  {group:<10} ")
        for group, option in groups.items()
    )
    others = f"Keys of no group: {', '.join(keys)}. Hydra's flags: contextcliff --hydra-help"
    return _HELP.format(groups="\n".join(rows), others=_wrapped(others))


def _help_of(name: str, groups: Mapping[str, str], blocks: Mapping[str, str]) -> str:
    """The options of a group, each with its first line, and the keys of the one that is named or holds by default."""
    group = re.split("[.=]", name)[0]
    option = name.removeprefix(f"{group}=") if (chosen := name.startswith(f"{group}=")) else ""
    if group not in blocks:
        raise ConfigError(f"--help {shown(name)}: no such group or key; {hint(shown(group), blocks)}")
    texts: dict[str, str] = {}
    for file in option_files(f"{group}/*.yaml"):  # the shipped ones first, as Hydra takes them
        texts.setdefault(file.stem, file.read_text("utf-8").removeprefix("# @package _global_\n"))
    if chosen and option not in texts:
        raise ConfigError(f"--help {no_such_option(group, option)}")
    lines = []
    if texts and not chosen:
        room = _WIDTH - (width := max(map(len, texts)) + 4)
        firsts = {each: (re.findall("^# (.+)", text, re.MULTILINE) or [""])[0] for each, text in sorted(texts.items())}
        told = (
            f"  {each:<{width - 2}}{textwrap.shorten(first, room, placeholder='…')}" for each, first in firsts.items()
        )
        lines = [f"{group}=OPTION, which is one of:", *told, ""]
        option = groups[group]
    if text := texts.get(option):
        sets = "fixes" if group == "experiment" else f"has these keys, as {group}.KEY=VALUE"
        lines += [f"{group}={option} {sets}:", "", *_reflowed(text)]
    return "\n".join([*lines, *_reflowed(blocks[group]), ""])


def _reflowed(text: str) -> Iterator[str]:
    """The lines of a YAML file with its comments in a column of their own, as a terminal has room for them."""
    rows: list[tuple[str, str]] = []
    for line in text.splitlines():
        found = re.fullmatch(r"(.*?)(?:(?:^|\s+)# ?(.*))?", line)
        code, comment = found.groups(default="") if found else (line, "")
        goes_on = rows and comment and not code and line.startswith(" ") == bool(rows[-1][0]) and bool(rows[-1][1])
        if goes_on and " " not in (comment[0], rows[-1][1][0]):  # an example is indented
            rows[-1] = (rows[-1][0], f"{rows[-1][1]} {comment}")
        elif not code.startswith("_target_"):
            rows.append((code, comment))
    for code, comment in rows:
        begin = f"{code:<{_COMMENTS_AT}}# " if code else "# "
        if not comment or (code and len(code) >= _COMMENTS_AT):
            yield _wrapped(code, then=" " * (len(code) - len(code.lstrip()) + 4))
            begin = f"{'':<{_COMMENTS_AT}}# "
        if comment:
            yield _wrapped(comment, begin, then=f"{'# ':>{len(begin)}}")


def _wrapped(text: str, begin: str = "", then: str | None = None) -> str:
    """`text` in lines of a terminal, the first behind `begin`, and further ones behind `then` or blanks."""
    then = " " * len(begin) if then is None else then
    return textwrap.fill(text, _WIDTH, initial_indent=begin, subsequent_indent=then, break_on_hyphens=False)


def checked(overrides: Sequence[Override]) -> list[str]:
    """The overrides as Hydra takes them, checked against the keys of the jobs. Raises `ConfigError`. Keys of mappings
    that take any key (`model.extra_body.top_a=1`) get the `++` without which Hydra adds none."""
    for override in overrides:
        if override.is_force_add() and (problem := _problem(override, overrides)):
            raise ConfigError(problem)
        _refuse_swept_list(override, overrides)
        _refuse_one_file_of_models(override, overrides)
    return [f"{_FORCED}{each.input_line}" if _is_open(each, overrides) else str(each.input_line) for each in overrides]


def _refuse_swept_list(override: Override, overrides: Sequence[Override]) -> None:
    key = override.key_or_group
    if "." not in key or not override.is_discrete_sweep():
        return
    values = list(override.sweep_string_iterator())
    value = dict(nodes(_composed(_choices(overrides)))).get(key)
    is_list = isinstance(value, list) or (key == "task.lengths" and value == "auto")
    if is_list and not any(each.startswith("[") for each in values):
        raise ConfigError(f"{shown(override.input_line)}: takes a list; write {key}=[{shown(','.join(values))}]")


def _refuse_one_file_of_models(override: Override, overrides: Sequence[Override]) -> None:
    """Raise `ConfigError` where the jobs of several models would all run the weights that are typed."""
    is_one = not override.is_sweep_override() and not override.is_delete() and override.value()
    if override.key_or_group in _WEIGHTS and is_one and len(models := _options_of_jobs("model", overrides)) > 1:
        raise ConfigError(
            f"{str(override.input_line).lstrip('+')}: model={','.join(models)} would each run these weights; give one "
            "model, and several files with model.gguf.path=A.gguf,B.gguf"
        )


def open_swept_keys(config: DictConfig) -> None:
    """Let an experiment sweep over keys of mappings that take any key, as a command line may. Changes `config` in
    place. Raises `ConfigError` for what no command line may sweep over."""
    lines = [f"{key}={value}" for key, value in (config.hydra.sweeper.get("params") or {}).items()]
    # Unresolved: an interpolation in an override refers to our configuration, not to Hydra's.
    typed = cast(list[str], OmegaConf.to_container(config.hydra.overrides.task, resolve=False))
    overrides = parse_overrides([*lines, *typed])
    opened = [f"{_FORCED}{line}" if _is_open(overrides[n], overrides) else line for n, line in enumerate(lines)]
    with read_write(config.hydra), open_dict(config.hydra):
        config.hydra.sweeper.params = dict(line.partition("=")[::2] for line in opened) or None


def _is_open(override: Override, overrides: Sequence[Override]) -> bool:
    inside = _OPEN.match(str(override.input_line))
    return inside is not None and all(
        inside[1] in dict(nodes(config)) for config in _jobs_of(inside[1], overrides).values()
    )


def drop_absent_keys(
    config: DictConfig, overrides: Sequence[str], choices: Mapping[str, str | None], *, of_experiment: Collection[str]
) -> list[str]:
    """Drop the `++` keys that the options of one job of a sweep do not have, each with a note on stderr.

    Those that an experiment brings are for the jobs that have them, and go without a note. Changes `config` in place.
    Returns the overrides that are left."""
    kept = []
    for item in overrides:
        key = item.partition("=")[0].removeprefix(_FORCED)
        group, section = _section(key)
        name = section.rpartition(".")[2]
        node = config.get(group) if item.startswith(_FORCED) and name and f"{group}/{name}" not in choices else None
        known = _fields_of(node) if isinstance(node, DictConfig) else None
        if known is None or name in known:
            kept.append(item)
            continue
        with open_dict(config[group]):
            config[group].pop(name, None)
        if item not in of_experiment:
            tell(f"note: {key}: {group}={choices.get(group)} has no such key, and goes without it")
    return kept


def _section(key: str) -> tuple[str, str]:
    """A key's group and section: `task` and `task.needle` for `task.needle.text`; the section is '' for a group."""
    group, _, rest = key.partition(".")
    return group, f"{group}.{rest.partition('.')[0]}" if rest else ""


def _fields_of(node: DictConfig) -> Collection[str] | None:
    """The keys of the class that a section names; None for what building the section reports as wrong, too."""
    module, _, name = str(node.get("_target_") or "").rpartition(".")
    try:
        cls = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        return None
    return {field.name for field in fields(cls)} if is_dataclass(cls) else None


def explain(error: Exception, overrides: Sequence[Override]) -> str:
    """An error of Hydra's in one line: the first override that the jobs can't take, else what Hydra says."""
    message = f"{error}\n{error.__cause__ or ''}"
    if no_option := _NO_SUCH_OPTION.search(message):
        return no_such_option(*no_option.groups())
    if problem := next(filter(None, (_problem(each, overrides) for each in overrides)), ""):
        return problem
    merging = error.__cause__ and str(error).startswith("Error merging override")
    said = one_line(str(error.__cause__).splitlines()[0] if merging else str(error), longest=400)
    full = _FULL_KEY.search(message)
    for each in overrides:
        key, value = str(each.get_key_element()).lstrip("+~"), str(each.input_line).partition("=")[2]
        meant = f"'{key}'" in message or (full and full[1] == key) or ("${" in value and value in message)
        if (meant or (merging and str(each.input_line) in str(error))) and not said.startswith(key):
            return f"{shown(each.input_line)}: {said}"
    return said


def explain_setup(error: Exception, overrides: Sequence[Override], *, began: bool) -> ContextCliffError | None:
    """What is wrong with a launcher, or before a job began with a key of Hydra or a forced one; None if neither."""
    said = f"{shown(error) or type(error).__name__}; HYDRA_FULL_ERROR=1 shows where"
    for launcher in chosen_options(overrides, LAUNCHERS):
        if launcher != "basic":
            return RunError(f"{LAUNCHERS}={launcher}: {said}")
    set_by_force = [each for each in overrides if re.match(r"hydra\b", each.key_or_group) or each.is_force_add()]
    return ConfigError(f"{shown(set_by_force[-1].input_line)}: {said}") if set_by_force and not began else None


def _problem(override: Override, overrides: Sequence[Override]) -> str:
    """What is wrong with a key that some job has not, or has already; empty if nothing is. Of a forced key the section
    has to be there: what is inside one is left to the jobs, since some take any key."""
    key, (group, section) = override.key_or_group, _section(override.key_or_group)
    if "/" in key or group == "hydra" or override.package is not None or options_of(key):
        return ""
    configs = _jobs_of(key, overrides)
    jobs = {job: dict(nodes(config)) for job, config in configs.items()}
    if override.is_force_add():
        if len(jobs) > 1 and section and not any(section in known for known in jobs.values()):
            return f"{key}: unknown key; none of {', '.join(jobs)} has it; {_hint(key, jobs)}"
        return ""
    lacking = [job for job, known in jobs.items() if key not in known]
    forced = f"write ++{key}=VALUE to set it where it exists" if len(jobs) > 1 else f"write {key}=VALUE"
    if override.is_add():
        return f"+{key}: exists already; {forced}" if len(lacking) < len(jobs) else ""
    if override.is_delete():
        return f"~{shown(key)}: unknown key; {_hint(key, jobs)}" if len(lacking) == len(jobs) else ""
    if not lacking:
        return ""
    if len(lacking) < len(jobs):
        has = "has" if len(lacking) == 1 else "have"
        return f"{shown(key)}: {' and '.join(lacking)} {has} no such key; {forced}"
    return f"{shown(key)}: unknown key; {_hint(key, jobs)}"


def _hint(key: str, jobs: Mapping[str, Collection[str]]) -> str:
    known = dict.fromkeys(name for names in jobs.values() for name in names)
    return hint(shown(key), [name for name in known if not name.endswith("_target_")])


def _jobs_of(key: str, overrides: Sequence[Override]) -> Mapping[str, Mapping[str, Any]]:
    """The configuration of each job, by the option of a key's group (`task=niah`); by '' if it is in no group."""
    group = key.partition(".")[0]
    options = _options_of_jobs(group, overrides) if options_of(group) else ()
    others = _choices([each for each in overrides if each.key_or_group != group or each.package is not None])
    return {f"{group}={each}": _composed((f"{group}={each}", *others)) for each in options} or {"": _composed(others)}


def _choices(overrides: Sequence[Override]) -> tuple[str, ...]:
    plain = [each for each in overrides if not each.is_sweep_override() and not each.is_force_add()]
    return tuple(str(each.input_line) for each in plain if re.match(r"hydra\b|[^.]*$", each.key_or_group))


def _options_of_jobs(group: str, overrides: Sequence[Override]) -> tuple[str, ...]:
    """The options of a group: from the command line, else from an experiment's sweep, else the default."""
    named = chosen_options(overrides, group)
    if named:
        return named
    hydra = _composed(_choices(overrides)).get("hydra")
    if hydra is None:
        return ()
    swept = hydra["sweeper"]["params"] or {}
    if group in swept:
        return chosen_options(parse_overrides([f"{group}={swept[group]}"]), group)
    default = hydra["runtime"]["choices"].get(group)
    return (default,) if isinstance(default, str) else ()


@cache
def _composed(choices: tuple[str, ...]) -> Mapping[str, Any]:
    """The configuration that these choices compose to, with Hydra's. Where Hydra refuses them, only those of the outer
    groups are used, then none."""
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    for attempt in (choices, [each for each in choices if not re.match(r"[+~]*hydra\b|.*[/@].*=", each)], ()):
        try:
            config = compose_options(attempt)
        except (HydraException, OmegaConfBaseException):
            continue
        return cast(dict[str, Any], OmegaConf.to_container(config, resolve=False))
    return {}
