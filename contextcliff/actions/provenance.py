"""By what a run was made: the commit of this program, and a digest of the texts."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from contextcliff.actions.action import Identity, Invocation
from contextcliff.reporting.run_names import read_provenance

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
