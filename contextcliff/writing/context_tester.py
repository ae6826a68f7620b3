"""Reads results of Context-Tester, another tool for continuation runs, and computes what this project's runs have.

A result folder has `context_N_results.json` and `metadata.json`; a CSV file of either generation has a row a round.
Nothing is tested. The tool has its own rules (for words, sentences and familiar words), so its figures are on other
scales than ours of the same name; where it stored the texts, they can be measured by our rules. The tool:
github.com/jabberjabberjabber/Context-Tester.
"""

from __future__ import annotations

import csv
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from contextcliff.analysis.lengths import Item
from contextcliff.datasets.local_files import checked_file, refuse_large
from contextcliff.errors import ConfigError
from contextcliff.records.note import Note
from contextcliff.writing.levels import DrawnTier, writing_tier
from contextcliff.writing.measures.measure import BY_NAME, CLASSIC_COMPOSITE, MEASURES, ORIGINAL
from contextcliff.writing.measures.measured import measure_prose
from contextcliff.writing.measures.readability import WordList
from contextcliff.writing.passage import classic
from contextcliff.writing.prose_findings import Writing, WritingTier

TOOL = "Context-Tester"
LENGTH = "context_length"
ROUNDS = "num_rounds"

_KEYS_OF_PARAMETERS = {
    "max_tokens": "task.max_tokens",
    "temperature": "sampling.temperature",
    "top_k": "sampling.top_k",
    "top_p": "sampling.top_p",
    "min_p": "sampling.min_p",
    "rep_pen": "sampling.repetition_penalty",
    "max_context": "task.max_context",
    "start_context": "task.start_context",
    "divisions": "task.divisions",
}
_MAX_NAME = 80
_MAX_SHOWN = 40
_MAX_READ = 400
"""Characters: of a name, of a value in a message, and of a value before its blanks are removed."""
_MAX_TOKENS = 1 << 31


def measures_of(row: Mapping[str, object], *, place: str) -> dict[str, float]:
    """The measures in a row or object, by name. Raises `ConfigError` for one that is not a number."""
    numbers = ((name, number(row.get(name), name, place=place)) for name in BY_NAME)
    return {name: value for name, value in numbers if value is not None}


def number(value: object, name: str, *, place: str) -> float | None:
    """A number; None for an empty value and for one that is not finite. Raises `ConfigError` for other values."""
    if value is None or value == "":
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        result = float(value)
    except (ValueError, OverflowError):
        raise ConfigError(
            f"{place}: {name} is {_shown(value)}, not a number; correct it, or leave this file out"
        ) from None
    return result if math.isfinite(result) else None


def context_tokens(value: object, *, place: str) -> int:
    """A context length in tokens. Raises `ConfigError` for other values."""
    tokens = number(value, LENGTH, place=place)
    if tokens is None or not 0 < tokens < _MAX_TOKENS or tokens != int(tokens):
        raise ConfigError(
            f"{place}: {LENGTH} is {_shown(value)}, not a whole number of tokens; correct it, or leave this file out"
        )
    return int(tokens)


def round_count(value: object, *, place: str) -> int:
    """The number of rounds that were averaged; 1 where it is absent."""
    rounds = number(value, ROUNDS, place=place)
    return 1 if rounds is None else max(1, int(rounds))


def parameters_of(values: Mapping[str, object]) -> dict[str, str]:
    """The tool's settings, under this project's keys. Unknown ones are absent."""
    parameters = ((ours, values.get(theirs)) for theirs, ours in _KEYS_OF_PARAMETERS.items())
    return {ours: one_line(value) for ours, value in parameters if value is not None and value != ""}


def one_line(value: object, *, longest: int = _MAX_NAME) -> str:
    """A value from a file as one line of at most `longest` characters; empty for a list or object."""
    flat = " ".join(str(value).split()) if isinstance(value, str | int | float) else ""
    return flat if len(flat) <= longest else f"{flat[: longest - 3]}..."


def text_of(value: object) -> str:
    """A continuation; empty where none was stored."""
    return value.strip() if isinstance(value, str) else ""


def address(file: Path, *, key: str) -> str:
    """How a file is named in an error."""
    return f"{key}={file}"


def _shown(value: object) -> str:
    return "missing" if value is None or value == "" else repr(one_line(str(value)[:_MAX_READ], longest=_MAX_SHOWN))


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedRound:
    """One continuation."""

    values: Mapping[str, float]
    """The measures by name."""
    text: str = ""
    """Empty where it was not stored."""


Rounds = tuple[ImportedRound, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedRun:
    """A run of another tool."""

    run_id: str
    """The name of its folder or file."""
    tool: str
    model: str
    text: str
    """The name of the continued text; empty where it is unknown."""
    label: str
    parameters: Mapping[str, str]
    """The settings, under this project's keys."""
    tiers: Mapping[int, Rounds]
    """The rounds of each context length, shortest first."""
    original: Mapping[str, float]
    """The measures of the author's own next words."""


_EMBEDDED = tuple(measure.name for measure in MEASURES if measure.embeds)
_LANGUAGE = "en"
"""Of the texts: the formulas of the other tool are for English alone."""


def imported_writing(run: ImportedRun, *, confidence: float) -> Writing:
    """The findings of a run. Equal rounds of a length (temperature 0) count as one."""
    absent = frozenset(_stored_as_zero(run))
    original = {ORIGINAL + name: value for name, value in run.original.items() if name not in absent}
    tiers = tuple(
        _of_rounds(tokens, rounds, absent=absent, original=original, confidence=confidence)
        for tokens, rounds in run.tiers.items()
    )
    measured = {level.name for tier in tiers for level in tier.measures}
    embedded = any(name in measured for name in _EMBEDDED)
    return Writing(
        document_id=run.text or f"a text that {run.tool} does not name",
        continuation_point=0,
        tiers=tiers,
        tests=(),
        trends=(),
        steps=(),
        verdict=Note("imported from {tool}; nothing was tested", tool=run.tool),
        settling_rounds=None,
        warnings=tuple(_warnings(run, absent, tiers)),
        embeddings=f"an unnamed model ({run.tool})" if embedded else None,
        unmeasured=tuple(measure.name for measure in MEASURES if measure.name not in measured),
        confidence=confidence,
    )


def remeasured(run: ImportedRun, *, word_list: WordList) -> ImportedRun:
    """The run with its texts, which have all to be kept, measured by our rules, as English.

    Coherence stays as it was stored. The author's own text is never stored, so its figures, which are by the other
    rules, are dropped. Raises `ValueError` where the text of a round was not stored.
    """
    if not kept_texts(run):
        raise ValueError("the texts of some rounds were not kept")
    return replace(
        run,
        tiers={tokens: tuple(_measured(one, word_list) for one in rounds) for tokens, rounds in run.tiers.items()},
        original={name: value for name, value in run.original.items() if name in _EMBEDDED},
    )


def _measured(one: ImportedRound, word_list: WordList) -> ImportedRound:
    ours = measure_prose(one.text, language=_LANGUAGE, word_list=word_list)
    stored = {name: one.values[name] for name in _EMBEDDED if name in one.values}
    return replace(one, values={**ours, **stored})


def _stored_as_zero(run: ImportedRun) -> Iterable[str]:
    """The measures of embeddings that are 0 in every row: the tool writes 0 for what it did not measure."""
    for name in _EMBEDDED:
        stored = [one.values[name] for rounds in run.tiers.values() for one in rounds if name in one.values]
        if stored and not any(stored):
            yield name


def _of_rounds(
    context_tokens: int,
    rounds: Rounds,
    *,
    absent: frozenset[str],
    original: Mapping[str, float],
    confidence: float,
) -> WritingTier:
    draws: dict[object, Item] = {}
    for kept in rounds:
        values = {name: value for name, value in kept.values.items() if name not in absent}
        composite = classic(values)
        details = {**values, **original, **({} if composite is None else {CLASSIC_COMPOSITE: composite})}
        # `setdefault`: what differs between equal texts is how long they took.
        draws.setdefault(kept.text or tuple(sorted(values.items())), Item(score=0.0, repeats=(0.0,), details=details))
    drawn = DrawnTier(context_tokens=context_tokens, draws=tuple(draws.values()))
    names = [m.name for m in MEASURES if any(m.name in draw.details for draw in drawn.draws)]
    return replace(writing_tier(drawn, names, confidence=confidence), n_rounds=len(rounds))


def _warnings(run: ImportedRun, absent: Iterable[str], tiers: Iterable[WritingTier]) -> Iterator[Note]:
    if absent:
        yield Note(
            "coherence is stored as 0 in every row: {tool} had no embeddings, and it counts as not measured",
            tool=run.tool,
        )
    if any(tier.n_distinct < tier.n_rounds for tier in tiers):
        yield Note("rounds of a length are the same draw (temperature 0): they count as one")


RESULTS = "context_*_results.json"
_METADATA = "metadata.json"
_REMEDY = "give a result folder as Context-Tester left it, or its CSV file"


def read_folder(folder: Path, *, key: str) -> ImportedRun:
    """The run in a folder. Raises `ConfigError` for a folder without results and for files of another kind."""
    files = sorted(folder.glob(RESULTS))
    if not files:
        raise ConfigError(f"{address(folder, key=key)}: holds no context_N_results.json; {_REMEDY}")
    tiers: dict[int, Rounds] = {}
    for file in files:
        place = address(file, key=key)
        tokens, rounds = _rounds_of(_object(file, key=key), place=place)
        if tokens in tiers:
            raise ConfigError(f"{place}: {LENGTH} is {tokens:,}, as in another file of the folder; keep one of them")
        tiers[tokens] = rounds
    metadata = folder / _METADATA
    values = _object(metadata, key=key) if metadata.is_file() else {}
    experiment = _inner(values, "experiment_metadata")
    place = address(metadata, key=key)
    return ImportedRun(
        run_id=one_line(folder.resolve().name) or TOOL,
        tool=TOOL,
        model=one_line(experiment.get("model_name")) or one_line(folder.resolve().name) or TOOL,
        text=one_line(experiment.get("source_text_name")),
        label=one_line(experiment.get("model_id")),
        parameters=parameters_of({**experiment, **_inner(experiment, "generation_params")}),
        tiers=dict(sorted(tiers.items())),
        original=measures_of(_inner(values, "ground_truth_analysis"), place=place),
    )


def _rounds_of(results: Mapping[str, object], *, place: str) -> tuple[int, Rounds]:
    """A context length and its rounds."""
    if LENGTH not in results:
        raise ConfigError(f"{place}: has no {LENGTH}, so it is not a file of Context-Tester's; {_REMEDY}")
    tokens = context_tokens(results[LENGTH], place=place)
    stored = results.get("individual_rounds") or []
    if not isinstance(stored, Sequence) or isinstance(stored, str):
        raise ConfigError(f"{place}: individual_rounds is not a list; {_REMEDY}")
    rounds = []
    for position, values_of_round in enumerate(stored, start=1):
        if not isinstance(values_of_round, dict):
            raise ConfigError(f"{place}: round {position} is not an object; {_REMEDY}")
        values = measures_of(values_of_round, place=f"{place}: round {position}")
        rounds.append(ImportedRound(values=values, text=text_of(values_of_round.get("continuation_text"))))
    if not rounds:
        raise ConfigError(f"{place}: holds no rounds; leave this file out")
    return tokens, tuple(rounds)


def _object(file: Path, *, key: str) -> Mapping[str, object]:
    place = address(file, key=key)
    refuse_large(file.stat().st_size, place)
    try:
        values = json.loads(file.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{place}: is not JSON; {_REMEDY}") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{place}: is not a JSON object; {_REMEDY}")
    return values


def _inner(values: Mapping[str, object], name: str) -> Mapping[str, object]:
    """The object under a name; empty where there is none."""
    inner = values.get(name)
    return inner if isinstance(inner, dict) else {}


_SUFFIXES = (".csv",)
_OWN_COLUMN = "num_distinct"
"""A column that only the tables of this project have."""
_TABLE_REMEDY = "give a CSV file as Context-Tester left it, or its result folder"
_ROUND = "round_number"
_RUN_COLUMNS = ("model_name", "text_name", "model_id")
_Row = Mapping[str, str]


def read_table(path: Path, *, key: str) -> ImportedRun:
    """The run in a CSV file of either generation with a row per round (`_detailed`), in any order.

    Raises `ConfigError` for a file that is empty, not of one run, or of averages.
    """
    file = checked_file(str(path), key=key, suffixes=_SUFFIXES)
    place = address(path, key=key)
    rows = _rows(file, place=place)
    first = rows[0]
    for column in _RUN_COLUMNS:
        values = {row.get(column, "") for row in rows}
        if len(values) > 1:
            some = ", ".join(sorted(map(one_line, values))[:3])
            raise ConfigError(
                f"{place}: holds rows of several runs ({column}: {some}); give each run a file of its own"
            )
    groups: defaultdict[int, list[tuple[int, _Row]]] = defaultdict(list)
    for position, row in enumerate(rows, start=1):
        groups[context_tokens(row.get(LENGTH), place=f"{place}: row {position}")].append((position, row))
    return ImportedRun(
        run_id=one_line(file.stem),
        tool=TOOL,
        model=one_line(first.get("model_name", "")) or one_line(file.stem),
        text=one_line(first.get("text_name", "")),
        label=one_line(first.get("model_id", "")),
        parameters=parameters_of(first),
        tiers={tokens: _rounds_of_table(tokens, groups[tokens], place=place) for tokens in sorted(groups)},
        original={},
    )


def _rows(file: Path, *, place: str) -> Sequence[_Row]:
    # A model's text can hold invalid bytes; the numbers are plain ASCII.
    with file.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        table = csv.DictReader(stream, restval="", strict=True)
        try:
            columns = list(table.fieldnames or ())
            _check(columns, place=place)
            rows = [{str(name): cell for name, cell in row.items() if name is not None} for row in table]
        except csv.Error as error:
            raise ConfigError(f"{place}: is not a CSV table ({error}); {_TABLE_REMEDY}") from error
    if not rows:
        raise ConfigError(f"{place}: has no row below its header; {_TABLE_REMEDY}")
    return rows


def _check(columns: Sequence[str], *, place: str) -> None:
    if LENGTH not in columns:
        raise ConfigError(f"{place}: has no column {LENGTH}; {_TABLE_REMEDY}")
    if _OWN_COLUMN in columns or "sample_id" in columns:
        raise ConfigError(f"{place}: is a table of a run of this project; give the run's folder in its place")
    repeated = next((name for name in columns if columns.count(name) > 1), None)
    if repeated is not None:
        raise ConfigError(f"{place}: has two columns {one_line(repeated)}; {_TABLE_REMEDY}")


def _rounds_of_table(tokens: int, rows: Sequence[tuple[int, _Row]], *, place: str) -> Rounds:
    """One context length, of its rows with their numbers in the file."""
    if len(rows) == 1:
        position, row = rows[0]
        where = f"{place}: row {position}"
        n = round_count(row.get(ROUNDS), place=where)
        if n > 1:
            raise ConfigError(
                f"{where}: holds the averages of {n:,} rounds; give the table with a row per round (_detailed), or the "
                "result folder"
            )
    numbers = [row.get(_ROUND, "") for _, row in rows]
    if len(set(numbers)) < len(numbers) and any(numbers):
        raise ConfigError(
            f"{place}: has several rows of one round at {tokens:,} tokens, as if of several runs; give each run a "
            "file of its own"
        )
    return tuple(
        ImportedRound(
            values=measures_of(row, place=f"{place}: row {position}"), text=text_of(row.get("continuation_text"))
        )
        for position, row in rows
    )


def is_context_tester(path: Path) -> bool:
    """Whether a path looks like results of Context-Tester."""
    return any(path.glob(RESULTS)) if path.is_dir() else path.suffix.lower() in _SUFFIXES


def read_context_tester(path: Path, *, key: str) -> ImportedRun:
    """The run at a path. Raises `ConfigError`, which begins with `key`, where there is none."""
    try:
        return read_folder(path, key=key) if path.is_dir() else read_table(path, key=key)
    except OSError as error:
        raise ConfigError(f"{key}={error.filename or path}: can't be read ({error.strerror})") from error


def kept_texts(run: ImportedRun) -> bool:
    """Whether the text of every round was stored, so that it can be measured again."""
    return all(one.text for rounds in run.tiers.values() for one in rounds)
