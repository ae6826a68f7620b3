"""The command line as a user types it, and what a run leaves."""

from __future__ import annotations

import gc
import importlib
import io
import json
import logging
import multiprocessing
import os
import pkgutil
import signal
import sqlite3
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from tests.valid_reports import valid_report

if TYPE_CHECKING:
    from mlflow.entities import Run

QUIET = ("tracking=none", "reporting.progress=false", "reporting.console=none", "reporting.figures=false")
"""Nothing is shown, tracked or drawn; a test that looks at one of these turns it on again behind."""
SIMULATED = ("engine=simulated", *QUIET)
TEN_DEPTHS = "task.depths=[0.0,0.11,0.22,0.33,0.44,0.56,0.67,0.78,0.89,1.0]"
"""The depths of a fixed design whose counts a test knows."""
DRAWN = ("reporting.figures=true", "reporting.dpi=50")
_NEEDS_TORCH = "contextcliff.engines.transformers."
"""Modules that few environments can import, and that start threads, which a fork must not have."""
_OFTEN_IMPORTED = (
    "hydra.main",
    "matplotlib.backends.backend_agg",
    "mlflow.store.tracking.sqlalchemy_store",
    "mlflow.tracking",
    "openai",
    "pandas",
    "PIL.PngImagePlugin",
    "scipy.stats",
    "sentencex",
    "transformers.models.auto.tokenization_auto",
    "transformers.tokenization_utils_tokenizers",
)


@cache
def _warm_up() -> None:
    """Do once what every command line does first, so that every fork of this process has it done.

    Nothing is left behind but what is in memory: no file, no signal handler, no variable of the environment.
    """
    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from matplotlib.figure import Figure

    import contextcliff as package
    from contextcliff.command_line.overrides import parse_overrides
    from contextcliff.composing import conf_dir
    from contextcliff.config import build_invocation
    from contextcliff.kv.model_cache import cache_facts
    from contextcliff.writing.measures.measured import measure_prose
    from contextcliff.writing.measures.readability import dale_chall
    from tests.compositions import read_files_once

    names = [
        module.name
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if not module.name.startswith(_NEEDS_TORCH)
    ]
    # No advice to install torch, and no warning of SQLAlchemy's about MLflow's tables.
    with mock.patch.dict(os.environ, TRANSFORMERS_VERBOSITY="error"), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for name in (*_OFTEN_IMPORTED, *names):
            importlib.import_module(name)
    read_files_once()
    overrides = [*SIMULATED, "task.lengths=[500,1000]", "action=run"]
    parse_overrides(overrides)
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        invocation = build_invocation(compose("config", overrides=overrides), overrides)
        cache_facts(invocation.model, invocation.kv_policy)
        assert compose("config", return_hydra_config=True).hydra.mode is None
    GlobalHydra.instance().clear()
    story = (Path(next(iter(package.__path__))) / "datasets" / "texts" / "the_tide_clerk.txt").read_text("utf-8")
    measure_prose(story[:5000], language="en", word_list=dale_chall())
    figure = Figure()
    figure.subplots().set_title("warm")
    figure.savefig(io.BytesIO(), format="png")
    # What is here stays: no fork has to look through it for garbage, nor copy it by doing so.
    gc.collect()
    gc.freeze()


def contextcliff(
    *overrides: str, cwd: Path, timeout_s: float = 240, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `python -m contextcliff` to its end, in a fork of this process: nothing is imported anew.

    Every report that it writes below `cwd` has to be as the published schema says. For the engine `simulated` and for
    servers. llama.cpp's threads and signals need `contextcliff_process`.
    """
    _warm_up()
    began = time.time()
    out, err = cwd.with_name(f"{cwd.name}.out"), cwd.with_name(f"{cwd.name}.err")
    asked = partial(_as_a_process, overrides, cwd=cwd, env=env or {}, out=out, err=err)
    child = multiprocessing.get_context("fork").Process(target=asked)
    child.start()
    child.join(timeout_s)
    if child.exitcode is None:
        child.kill()
        raise TimeoutError(f"no end within {timeout_s:g} s")
    for file in cwd.rglob("report.json"):
        if file.stat().st_mtime > began:
            valid_report(file.read_text(encoding="utf-8"))
    return subprocess.CompletedProcess(overrides, child.exitcode, out.read_text("utf-8"), err.read_text("utf-8"))


def contextcliff_process(
    *overrides: str, cwd: Path, timeout_s: float = 240, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The same in a process of its own, as a user starts it."""
    return python("-m", "contextcliff", *overrides, cwd=cwd, timeout_s=timeout_s, env=env)


def python(
    *arguments: str, cwd: Path, timeout_s: float = 240, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A Python of its own, to its end."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


def started(folder: Path, *overrides: str) -> subprocess.Popen[str]:
    """The same, left to run."""
    return subprocess.Popen(
        [sys.executable, "-m", "contextcliff", *overrides],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell lets what it runs in the background ignore Ctrl-C, and that is inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def once(process: subprocess.Popen[str], holds: Callable[[], bool], *, within_s: float = 60) -> None:
    """Wait until something holds; the process must not end before."""
    deadline = time.monotonic() + within_s
    while not holds():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """The exit code of a process and what it said on stderr."""
    _, err = process.communicate(timeout=60)
    return process.returncode, err


def kept(store: Path) -> int:
    """The answers that a store holds."""
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
            return int(connection.execute("SELECT count(*) FROM generations").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def _as_a_process(overrides: Sequence[str], *, cwd: Path, env: Mapping[str, str], out: Path, err: Path) -> None:
    """Run the command line as a fresh interpreter would: its own streams, nothing of pytest's logging and filters."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, file in ((1, out), (2, err)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdin, sys.stdout = open(0), open(1, "w", encoding="utf-8")  # noqa: SIM115 - the child ends at once
    sys.stderr = open(2, "w", encoding="utf-8", buffering=1)  # noqa: SIM115
    logging.getLogger().handlers.clear()
    warnings.resetwarnings()
    for ignored in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
        warnings.simplefilter("ignore", ignored)
    os.environ.update({"TOKENIZERS_PARALLELISM": "false", **env})
    os.chdir(cwd)
    sys.argv = ["contextcliff", *overrides]
    from contextcliff.__main__ import main

    try:
        main()
    except SystemExit as end:
        sys.stdout.flush()
        os._exit(int(end.code or 0))  # a launcher's idle workers are not waited for


def of_server(address: str, tokenizer: str) -> tuple[str, ...]:
    """The overrides of a server and of the tokenizer that counts for it."""
    return ("engine=vllm", f"engine.base_url='{address}'", "tokenizer=huggingface", f"tokenizer.name={tokenizer}")


def reports(folder: Path) -> list[dict[str, Any]]:
    """Every `report.json` below a folder, by run id; each keeps to the published schema."""
    found = [valid_report(file.read_text(encoding="utf-8")) for file in folder.rglob("report.json")]
    return sorted(found, key=lambda report: str(report["run_id"]))


def samples(folder: Path) -> list[dict[str, Any]]:
    """Every line of the one `samples.jsonl` below a folder."""
    (file,) = folder.rglob("samples.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def run(folder: Path, *overrides: str) -> str:
    """What a command prints that ends well and complains of nothing."""
    folder.mkdir(exist_ok=True)
    ended = contextcliff(*overrides, cwd=folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def reported(folder: Path, *overrides: str) -> dict[str, Any]:
    """The report of the one run of a folder, after a command that ends well."""
    run(folder, *overrides)
    (report,) = reports(folder)
    return report


def refused(folder: Path, *overrides: str, code: int = 2) -> str:
    """The one line of a command that is refused, without `error: `."""
    ended = contextcliff(*overrides, cwd=folder)
    assert (ended.returncode, ended.stderr.count("\n")) == (code, 1)
    return ended.stderr.removeprefix("error: ").removesuffix("\n")


def folders(folder: Path, experiment: str = "contextcliff") -> list[str]:
    """The runs of an experiment that have a report, by the names of their folders."""
    return sorted(file.parent.name for file in (folder / "outputs" / experiment).glob("*/report.json"))


def comparison(folder: Path, name: str = "comparison") -> dict[str, Any]:
    """The file of a comparison."""
    file = folder / "outputs" / "contextcliff" / "comparisons" / name / "comparison.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def plan_of(folder: Path) -> dict[str, Any]:
    """The file of a plan."""
    found: dict[str, Any] = json.loads((folder / "outputs" / "plan.json").read_text(encoding="utf-8"))
    return found


def tracked_runs(folder: Path, which: str = "") -> list[Run]:
    """The runs of an output folder's own MLflow store, the earliest first."""
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=f"sqlite:///{folder}/mlruns/mlflow.db")
    return list(client.search_runs(["1"], which, order_by=["attributes.start_time ASC"]))
