"""Reads a result folder of Context-Tester's second generation: `metadata.json`, and a JSON file per context length."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from contextcliff.datasets.local_files import refuse_large
from contextcliff.errors import ConfigError
from contextcliff.writing.context_tester.imported_writing import ImportedMeans, ImportedRound, ImportedRun, ImportedTier
from contextcliff.writing.context_tester.results_schema import (
    LENGTH,
    ROUNDS,
    STDS,
    TOOL,
    address,
    context_tokens,
    measures_of,
    number,
    one_line,
    parameters_of,
    round_count,
    text_of,
)

RESULTS = "context_*_results.json"
_METADATA = "metadata.json"
_REMEDY = "give a result folder as Context-Tester left it, or its CSV file"


def read_folder(folder: Path, *, key: str) -> ImportedRun:
    """The run in a folder. Raises `ConfigError` for a folder without results and for files of another kind."""
    files = sorted(folder.glob(RESULTS))
    if not files:
        raise ConfigError(f"{address(folder, key=key)}: holds no context_N_results.json; {_REMEDY}")
    tiers: dict[int, ImportedTier] = {}
    for file in files:
        tier = _tier(_object(file, key=key), place=address(file, key=key))
        if tier.context_tokens in tiers:
            raise ConfigError(
                f"{address(file, key=key)}: {LENGTH} is {tier.context_tokens:,}, as in another file of the folder; "
                "keep one of them"
            )
        tiers[tier.context_tokens] = tier
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
        tiers=tuple(tiers[tokens] for tokens in sorted(tiers)),
        original=measures_of(_inner(values, "ground_truth_analysis"), place=place),
    )


def _tier(results: Mapping[str, object], *, place: str) -> ImportedTier:
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
    if rounds:
        return ImportedTier(context_tokens=tokens, rounds=tuple(rounds))
    averaged = _inner(results, "averaged_stats")
    values = measures_of(averaged, place=place)
    if not values:
        raise ConfigError(f"{place}: holds neither rounds nor averages; leave this file out")
    stds = {measure: number(averaged.get(name), name, place=place) for name, measure in STDS.items()}
    means = ImportedMeans(
        values=values,
        stds={name: std for name, std in stds.items() if std is not None},
        n=round_count(averaged.get(ROUNDS, results.get(ROUNDS)), place=place),
    )
    return ImportedTier(context_tokens=tokens, means=means)


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
