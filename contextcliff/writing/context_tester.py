"""Reads results of Context-Tester, another tool for continuation runs, and computes what this project's runs have.

A result folder has `context_N_results.json` and `metadata.json`; a `_detailed` CSV file of either generation has a row
a round. Its figures follow other rules for words and sentences than ours; stored texts can be measured by ours. The
tool: github.com/jabberjabberjabber/Context-Tester."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from contextcliff.analysis.lengths import Item
from contextcliff.datasets.local_files import checked_file, refuse_large
from contextcliff.errors import ConfigError, one_line
from contextcliff.records.note import Note
from contextcliff.writing.levels import DrawnTier, measured_names, writing_tier
from contextcliff.writing.measures.measure import BY_NAME, CLASSIC_COMPOSITE, MEASURES, ORIGINAL
from contextcliff.writing.measures.measured import measure_prose
from contextcliff.writing.measures.readability import WordList
from contextcliff.writing.passage import classic
from contextcliff.writing.prose_findings import Writing, WritingTier

TOOL = "Context-Tester"
_LENGTH = "context_length"
_RESULTS = "context_*_results.json"
_TABLE = ".csv"
_REMEDY = "give a result folder as Context-Tester left it, or its CSV file"
_PARAMETERS = {
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
"""Its settings, and this project's keys for them."""
_EMBEDDED = tuple(measure.name for measure in MEASURES if measure.embeds)
_LONGEST_NAME, _LONGEST_SHOWN = 80, 40
_MAX_TOKENS = 1 << 31

Row = Mapping[str, object]
"""A round as it is stored: an object of a JSON file, or a row of a table."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedRound:
    """One continuation: its measures by name, and its text, empty where it was not stored."""

    values: Mapping[str, float]
    text: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedRun:
    """A run of Context-Tester."""

    run_id: str
    """The name of its folder or file."""
    model: str
    text: str
    """The name of the continued text; empty where it is unknown."""
    label: str
    parameters: Mapping[str, str]
    """The settings, under this project's keys."""
    tiers: Mapping[int, Sequence[ImportedRound]]
    """The rounds of each context length, shortest first."""
    original: Mapping[str, float]
    """The measures of the author's own next words."""

    @property
    def rounds(self) -> list[ImportedRound]:
        """Those of all lengths."""
        return [one for rounds in self.tiers.values() for one in rounds]

    @property
    def keeps_texts(self) -> bool:
        """Whether the text of every round was stored, so that it can be measured again."""
        return all(one.text for one in self.rounds)


def is_context_tester(path: Path) -> bool:
    """Whether a path looks like results of Context-Tester."""
    return any(path.glob(_RESULTS)) if path.is_dir() else path.suffix.lower() == _TABLE


def read_context_tester(path: Path, *, key: str) -> ImportedRun:
    """The run at a path. Raises `ConfigError`, which begins with `key`, where there is none."""
    place = f"{key}={path}"
    try:
        told, rows, original = _of_folder(path, place=place) if path.is_dir() else _of_table(path, key=key, place=place)
    except OSError as error:
        raise ConfigError(f"{key}={error.filename or path}: can't be read ({error.strerror})") from error
    tiers: defaultdict[int, list[ImportedRound]] = defaultdict(list)
    for at, tokens, row in rows:
        text = row.get("continuation_text")
        values = _measures(row, place=at)
        tiers[tokens].append(ImportedRound(values=values, text=text.strip() if isinstance(text, str) else ""))
    name = _one_line(path.resolve().name if path.is_dir() else path.stem) or TOOL
    settings = ((ours, told.get(theirs)) for theirs, ours in _PARAMETERS.items())
    return ImportedRun(
        run_id=name,
        model=_one_line(told.get("model_name")) or name,
        text=_one_line(told.get("text_name")),
        label=_one_line(told.get("model_id")),
        parameters={ours: _one_line(value) for ours, value in settings if value is not None and value != ""},
        tiers=dict(sorted(tiers.items())),
        original=_measures(original, place=place),
    )


Rows = list[tuple[str, int, Row]]
"""Each round with the place where it stands, and its context length."""


def _of_folder(folder: Path, *, place: str) -> tuple[Row, Rows, Row]:
    """What is told of the run, its rounds, and the measures of the author's own next words."""
    files = sorted(folder.glob(_RESULTS))
    if not files:
        raise ConfigError(f"{place}: holds no context_N_results.json; {_REMEDY}")
    rows: Rows = []
    for file in files:
        at = f"{place}/{file.name}"
        results = _object(file, place=at)
        tokens, rounds = _context_tokens(results, place=at), results.get("individual_rounds")
        if not isinstance(rounds, list) or not rounds or not all(isinstance(row, dict) for row in rounds):
            raise ConfigError(f"{at}: individual_rounds holds no rounds; leave this file out")
        rows += [(f"{at}: round {number}", tokens, row) for number, row in enumerate(rounds, start=1)]
    metadata = folder / "metadata.json"
    values = _object(metadata, place=f"{place}/{metadata.name}") if metadata.is_file() else {}
    told = _inner(values, "experiment_metadata")
    told = {**told, "text_name": told.get("source_text_name"), **_inner(told, "generation_params")}
    return told, rows, _inner(values, "ground_truth_analysis")


def _object(file: Path, *, place: str) -> Row:
    refuse_large(file.stat().st_size, place)
    try:
        values = json.loads(file.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{place}: is not JSON; {_REMEDY}") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{place}: is not a JSON object; {_REMEDY}")
    return values


def _inner(values: Row, name: str) -> Row:
    inner = values.get(name)
    return inner if isinstance(inner, dict) else {}


def _of_table(path: Path, *, key: str, place: str) -> tuple[Row, Rows, Row]:
    table = _table(checked_file(str(path), key=key, suffixes=(_TABLE,)), place=place)
    for column in ("model_name", "text_name", "model_id"):
        values = {row.get(column, "") for row in table}
        if len(values) > 1:
            some = ", ".join(sorted(map(_one_line, values))[:3])
            raise ConfigError(
                f"{place}: holds rows of several runs ({column}: {some}); give each run a file of its own"
            )
    places = [f"{place}: row {number}" for number in range(1, len(table) + 1)]
    rows = [(at, _context_tokens(row, place=at), row) for at, row in zip(places, table, strict=True)]
    rounds = Counter((tokens, row.get("round_number")) for _, tokens, row in rows)
    lengths = Counter(tokens for _, tokens, _ in rows)
    for at, tokens, row in rows:
        averaged = _number(row, "num_rounds", place=at) or 1
        if lengths[tokens] == 1 and averaged > 1:
            raise ConfigError(
                f"{at}: holds the averages of {int(averaged):,} rounds; give the table with a row per round "
                "(_detailed), or the result folder"
            )
        number = row.get("round_number")
        if number and rounds[tokens, number] > 1:
            raise ConfigError(
                f"{place}: has several rows of one round at {tokens:,} tokens, as if of several runs; give each run a "
                "file of its own"
            )
    return table[0], [*rows], {}


def _table(file: Path, *, place: str) -> list[dict[str, str]]:
    # A model's text can hold invalid bytes; the numbers are plain ASCII.
    with file.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        table = csv.DictReader(stream, restval="", strict=True)
        try:
            columns = table.fieldnames or ()
            if _LENGTH not in columns:
                raise ConfigError(f"{place}: has no column {_LENGTH}; {_REMEDY}")
            if "num_distinct" in columns or "sample_id" in columns:
                raise ConfigError(f"{place}: is a table of a run of this project; give the run's folder in its place")
            rows = [{name: cell for name, cell in row.items() if name is not None} for row in table]
        except csv.Error as error:
            raise ConfigError(f"{place}: is not a CSV table ({error}); {_REMEDY}") from error
    if not rows:
        raise ConfigError(f"{place}: has no row below its header; {_REMEDY}")
    return rows


def _measures(row: Row, *, place: str) -> dict[str, float]:
    numbers = ((name, _number(row, name, place=place)) for name in BY_NAME)
    return {name: value for name, value in numbers if value is not None}


def _number(row: Row, name: str, *, place: str) -> float | None:
    """None for an empty value and for one that is not finite. Raises `ConfigError` for what is no number."""
    value = row.get(name)
    if value is None or value == "":
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        number = float(value)
    except (ValueError, OverflowError):
        raise ConfigError(
            f"{place}: {name} is {_shown(value)}, not a number; correct it, or leave this file out"
        ) from None
    return number if math.isfinite(number) else None


def _context_tokens(row: Row, *, place: str) -> int:
    tokens = _number(row, _LENGTH, place=place)
    if tokens is None or not 0 < tokens < _MAX_TOKENS or tokens != int(tokens):
        raise ConfigError(
            f"{place}: {_LENGTH} is {_shown(row.get(_LENGTH))}, not a whole number of tokens; correct it, or leave "
            "this file out"
        )
    return int(tokens)


def _one_line(value: object) -> str:
    """A value of a file on one line; empty for a list or object."""
    return one_line(str(value), longest=_LONGEST_NAME) if isinstance(value, str | int | float) else ""


def _shown(value: object) -> str:
    return "missing" if value is None or value == "" else repr(one_line(str(value), longest=_LONGEST_SHOWN))


def imported_writing(run: ImportedRun, *, confidence: float) -> Writing:
    absent = _stored_as_zero(run)
    original = {ORIGINAL + name: value for name, value in run.original.items() if name not in absent}
    tiers = tuple(
        _tier(tokens, rounds, absent=absent, original=original, confidence=confidence)
        for tokens, rounds in run.tiers.items()
    )
    measured = {level.name for tier in tiers for level in tier.measures}
    return Writing(
        document_id=run.text or f"a text that {TOOL} does not name",
        continuation_point=0,
        tiers=tiers,
        tests=(),
        trends=(),
        steps=(),
        verdict=Note("imported from {tool}; nothing was tested", tool=TOOL),
        settling_rounds=None,
        warnings=tuple(_warnings(absent, tiers)),
        embeddings=None if measured.isdisjoint(_EMBEDDED) else f"an unnamed model ({TOOL})",
        unmeasured=tuple(measure.name for measure in MEASURES if measure.name not in measured),
        confidence=confidence,
    )


def remeasured(run: ImportedRun, *, word_list: WordList) -> ImportedRun:
    """The run with its texts, which have all to be kept, measured by our rules, as English. Coherence stays as it was
    stored. The author's text is never stored: its figures by the other rules are dropped."""

    def again(one: ImportedRound) -> ImportedRound:
        ours = measure_prose(one.text, language="en", word_list=word_list)  # its formulas are for English alone
        return replace(one, values={**ours, **_of_embeddings(one.values)})

    tiers = {tokens: list(map(again, rounds)) for tokens, rounds in run.tiers.items()}
    return replace(run, tiers=tiers, original=_of_embeddings(run.original))


def _of_embeddings(values: Mapping[str, float]) -> dict[str, float]:
    return {name: values[name] for name in _EMBEDDED if name in values}


def _stored_as_zero(run: ImportedRun) -> Set[str]:
    """Measures of embeddings that are 0 in every row: the tool writes 0 for what it did not measure."""
    stored = {name: [one.values[name] for one in run.rounds if name in one.values] for name in _EMBEDDED}
    return {name for name, values in stored.items() if values and not any(values)}


def _tier(
    context_tokens: int,
    rounds: Sequence[ImportedRound],
    *,
    absent: Set[str],
    original: Mapping[str, float],
    confidence: float,
) -> WritingTier:
    draws: dict[object, Item] = {}
    for one in rounds:
        values = {name: value for name, value in one.values.items() if name not in absent}
        composite = classic(values)
        details = {**values, **original, **({} if composite is None else {CLASSIC_COMPOSITE: composite})}
        # `setdefault`: what differs between equal texts is how long they took.
        draws.setdefault(one.text or tuple(sorted(values.items())), Item(score=0.0, repeats=(0.0,), details=details))
    drawn = DrawnTier(context_tokens=context_tokens, draws=tuple(draws.values()))
    return replace(writing_tier(drawn, measured_names([drawn]), confidence=confidence), n_rounds=len(rounds))


def _warnings(absent: Set[str], tiers: Sequence[WritingTier]) -> Iterator[Note]:
    if absent:
        yield Note(
            "coherence is stored as 0 in every row: {tool} had no embeddings, and it counts as not measured", tool=TOOL
        )
    if any(tier.n_distinct < tier.n_rounds for tier in tiers):
        yield Note("rounds of a length are the same draw (temperature 0): they count as one")
