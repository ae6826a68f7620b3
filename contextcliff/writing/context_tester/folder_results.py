"""A result folder of Context-Tester's second generation: `metadata.json` and a JSON file for each context length."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from contextcliff.datasets.local_files import refuse_large
from contextcliff.errors import ConfigError
from contextcliff.writing.context_tester.imported_run import ImportedMeans, ImportedRound, ImportedRun, ImportedTier
from contextcliff.writing.context_tester.results_schema import (
    LENGTH,
    ROUNDS,
    STDS,
    TOOL,
    address,
    context_tokens,
    count,
    line,
    measures_of,
    number,
    parameters_of,
    text_of,
)

RESULTS = "context_*_results.json"
_METADATA = "metadata.json"
_OUT = "give a result folder as Context-Tester left it, or its CSV file"


def read_folder(folder: Path, *, key: str) -> ImportedRun:
    """All lengths of a folder. Raises `ConfigError` for one without any, and for files that aren't its."""
    files = sorted(folder.glob(RESULTS))
    if not files:
        raise ConfigError(f"{address(folder, key=key)}: holds no context_N_results.json; {_OUT}")
    tiers: dict[int, ImportedTier] = {}
    for file in files:
        tier = _tier(_object(file, key=key), place=address(file, key=key))
        if tier.context_tokens in tiers:
            raise ConfigError(
                f"{address(file, key=key)}: {LENGTH} is {tier.context_tokens:,}, which another file of the folder has "
                "too; keep one of them"
            )
        tiers[tier.context_tokens] = tier
    metadata = folder / _METADATA
    told = _object(metadata, key=key) if metadata.is_file() else {}
    experiment = _inner(told, "experiment_metadata")
    place = address(metadata, key=key)
    return ImportedRun(
        run_id=line(folder.resolve().name) or TOOL,
        tool=TOOL,
        model=line(experiment.get("model_name")) or line(folder.resolve().name) or TOOL,
        text=line(experiment.get("source_text_name")),
        label=line(experiment.get("model_id")),
        parameters=parameters_of({**experiment, **_inner(experiment, "generation_params")}),
        tiers=tuple(tiers[tokens] for tokens in sorted(tiers)),
        original=measures_of(_inner(told, "ground_truth_analysis"), place=place),
    )


def _tier(found: Mapping[str, object], *, place: str) -> ImportedTier:
    if LENGTH not in found:
        raise ConfigError(f"{place}: has no {LENGTH}, so it is none of Context-Tester's; {_OUT}")
    tokens = context_tokens(found[LENGTH], place=place)
    stored = found.get("individual_rounds") or []
    if not isinstance(stored, Sequence) or isinstance(stored, str):
        raise ConfigError(f"{place}: individual_rounds is no list; {_OUT}")
    rounds = []
    for position, kept in enumerate(stored, start=1):
        if not isinstance(kept, dict):
            raise ConfigError(f"{place}: round {position} is no object; {_OUT}")
        values = measures_of(kept, place=f"{place}: round {position}")
        rounds.append(ImportedRound(values=values, text=text_of(kept.get("continuation_text"))))
    if rounds:
        return ImportedTier(context_tokens=tokens, rounds=tuple(rounds))
    averaged = _inner(found, "averaged_stats")
    values = measures_of(averaged, place=place)
    if not values:
        raise ConfigError(f"{place}: holds neither rounds nor averages; leave this file out")
    stds = {measure: number(averaged.get(name), name, place=place) for name, measure in STDS.items()}
    means = ImportedMeans(
        values=values,
        stds={name: std for name, std in stds.items() if std is not None},
        n=count(averaged.get(ROUNDS, found.get(ROUNDS)), place=place),
    )
    return ImportedTier(context_tokens=tokens, means=means)


def _object(file: Path, *, key: str) -> Mapping[str, object]:
    place = address(file, key=key)
    refuse_large(file.stat().st_size, place)
    try:
        found = json.loads(file.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{place}: is no JSON; {_OUT}") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{place}: is no JSON object; {_OUT}")
    return found


def _inner(found: Mapping[str, object], name: str) -> Mapping[str, object]:
    inner = found.get(name)
    return inner if isinstance(inner, dict) else {}
