"""What was asked, in the order of sending: enough to see that two runs asked the same.

Where documents are asked about whole, the manifest holds them and their questions too: `dataset=manifest` repeats the
run from it when the source is gone.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path

from contextcliff import __version__
from contextcliff.actions.action import Identity, Invocation
from contextcliff.execution.store import PlannedSample, StoredRun, facts_to_strings
from contextcliff.records.corpus import Document
from contextcliff.records.report import SCHEMA_VERSION
from contextcliff.records.sample import Sample
from contextcliff.reporting.run_names import read_dataset, read_provenance


def manifest_of(
    invocation: Invocation, run: StoredRun, planned: Sequence[PlannedSample], documents: Mapping[str, Document]
) -> Mapping[str, object]:
    """`documents` are those that were kept with the run; without any the manifest names samples alone."""
    manifest: dict[str, object] = {
        "schema_version": SCHEMA_VERSION,
        "run_id": run.run_id,
        "fingerprint": run.fingerprint,
        "contextcliff_version": __version__,
        "provenance": dict(provenance_of(invocation)),
        "facts": facts_to_strings(run.facts),
        "configuration": dict(invocation.parameters),
        "samples": [_line(item) for item in planned],
    }
    if documents:
        asked = [item.sample for item in planned if item.sample.control is None and item.sample.repeat == 0]
        named = {sample.document_id for sample in asked}
        bins: defaultdict[int, list[str]] = defaultdict(list)
        for sample in asked:
            bins[sample.bin or 0].append(sample.item)
        manifest["corpus"] = {
            "dataset": dict(
                invocation.dataset.identity()
                if invocation.run_folder is None
                else read_dataset(invocation.run_folder / "manifest.json")
            ),
            "documents": [asdict(document) for name, document in sorted(documents.items()) if name in named],
            "questions": [_question(sample) for sample in asked],
            "drawn": [bins[position] for position in sorted(bins)],
        }
    return manifest


def _line(item: PlannedSample) -> Mapping[str, object]:
    sample = item.sample
    return {
        "sample_id": sample.sample_id,
        "context_tokens": sample.context_tokens,
        "built_tokens": sample.built_tokens,
        "depth": sample.depth,
        "trial": sample.trial,
        **({} if sample.control is None else {"control": sample.control}),
        "document_id": sample.document_id,
        "seed": sample.seed,
        "prompt_sha256": item.prompt_sha256,
    }


def _question(sample: Sample) -> Mapping[str, object]:
    ours = ("evidence_depth", "evidence_distance_tokens", "level")
    return {
        "question_id": sample.item,
        "document_id": sample.document_id,
        "text": sample.question,
        "answers": list(sample.answers),
        "kind": sample.reference.kind,
        "choices": list(sample.reference.choices),
        "evidence": [asdict(span) for span in sample.reference.evidence],
        "level": sample.metadata.get("level", 1),
        "metadata": {key: value for key, value in sample.metadata.items() if key not in ours},
    }


_SHOWN = 12
_PATIENCE_S = 5.0


def provenance(identity: Identity) -> Mapping[str, str]:
    """`git_commit`, left out where the program is not run from a checkout, and `dataset_digest`."""
    commit = code_commit()
    return {
        **({"git_commit": commit, "mlflow.source.git.commit": commit} if commit else {}),
        "dataset_digest": identity.text_identity[:_SHOWN],
    }


def provenance_of(invocation: Invocation) -> Mapping[str, str]:
    """The same for a run that is reported; of one that is read from its folder what its manifest says."""
    if invocation.run_folder is not None:
        return read_provenance(invocation.run_folder / "manifest.json")
    return provenance(invocation.identify())


@cache
def code_commit() -> str:
    """The commit of the checkout that the program runs from, with `-dirty` where it was changed; empty: no checkout."""
    checkout = Path(__file__).resolve().parents[2]
    git = shutil.which("git")
    if git is None or not (checkout / ".git").exists():
        return ""
    try:
        said = subprocess.run(  # noqa: S603 - git alone, in our own checkout
            [git, "-C", str(checkout), "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"],
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return said.stdout.strip() if said.returncode == 0 else ""
