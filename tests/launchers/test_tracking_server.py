"""Sweeps of two Ray workers against a tracking server on PostgreSQL, which is killed half way: nothing is lost."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.commands import contextcliff_process, once, reports, started
from tests.launchers.tracking_server import PASSWORD, MLflowServer, postgres, postgres_binaries

if TYPE_CHECKING:
    from mlflow.entities import Run

LACKING = [name for name in ("psycopg", "hydra_plugins.hydra_ray_launcher") if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(postgres_binaries() is None, reason="no PostgreSQL here: install Debian's package `postgresql`"),
    pytest.mark.skipif(bool(LACKING), reason=f"not installed: {', '.join(LACKING)}; make test-all brings them"),
]
RAY = ("hydra/launcher=ray", "+hydra.launcher.ray.init.num_cpus=2", "+hydra.launcher.ray.init.include_dashboard=false")
SWEEP = (
    *("engine=simulated", "dataset=synthetic", "model=smollm2,qwen3_4b", "task=niah,tracing"),
    *("task.lengths=[512,1024]", "reporting.console=none", "reporting.dpi=50"),
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MLflowServer]:
    folder = tmp_path_factory.mktemp("server")
    with postgres(folder / "postgres") as database:
        server = MLflowServer(folder / "mlflow", database)
        server.start()
        try:
            yield server
        finally:
            server.kill()


def runs(server: MLflowServer, experiment: str) -> list[Run]:
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=server.address)
    found = client.get_experiment_by_name(experiment)
    return [] if found is None else list(client.search_runs([found.experiment_id]))


def jobs_of(server: MLflowServer, experiment: str) -> list[Run]:
    return [run for run in runs(server, experiment) if run.data.tags.get("kind") != "sweep"]


def test_a_server_that_is_killed_half_way_loses_nothing_and_one_command_uploads_the_rest(
    server: MLflowServer, tmp_path: Path
) -> None:
    from mlflow.tracking import MlflowClient

    away = (f"tracking.uri={server.address}", "tracking.experiment=second")
    sweep = started(tmp_path, *SWEEP, *RAY, *away, "seed=1,2,3", "engine.delay_ms=40")
    try:
        once(sweep, lambda: any(run.info.status == "FINISHED" for run in jobs_of(server, "second")), within_s=300)
        server.kill()
        _, told = sweep.communicate(timeout=580)
    finally:
        sweep.kill()
    assert sweep.returncode == 0, told
    assert "warning: can't track in" in told
    assert "python -m contextcliff action=gather" in told
    assert len(reports(tmp_path / "outputs")) == 12
    server.start()
    assert len([run for run in jobs_of(server, "second") if run.info.status == "FINISHED"]) < 12
    done = contextcliff_process("action=gather", *away, cwd=tmp_path, timeout_s=500)
    assert done.returncode == 0, done.stderr
    jobs = jobs_of(server, "second")
    assert [run.info.status for run in jobs] == ["FINISHED"] * 12
    assert len({run.data.tags["contextcliff.run_id"] for run in jobs}) == 12
    (parent,) = (run for run in runs(server, "second") if run.data.tags.get("kind") == "sweep")
    assert parent.info.status == "FINISHED"
    assert {run.data.tags.get("mlflow.parentRunId") for run in jobs} == {parent.info.run_id}
    client = MlflowClient(tracking_uri=server.address)
    assert {run.info.artifact_uri.split(":")[0] for run in jobs} == {"mlflow-artifacts"}
    kept = client.download_artifacts(jobs[0].info.run_id, "report.md", str(tmp_path))
    assert "SAFE CAP" in Path(kept).read_text(encoding="utf-8")
    assert client.download_artifacts(parent.info.run_id, "leaderboard.html", str(tmp_path))
    assert not any(PASSWORD.encode() in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
