"""The installed wheel works from another directory, with its configuration and its story inside."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import venv
import zipfile
from functools import partial
from pathlib import Path

import pytest

from tests.commands import python

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    # The test environment holds hatchling, so that nothing has to be fetched to build.
    built = python("-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT), cwd=folder)
    assert built.returncode == 0, built.stderr
    (found,) = folder.glob("*.whl")
    return found


def test_the_wheel_carries_every_file_of_the_package_every_option_and_nothing_of_ones_own(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    package, conf = ROOT / "contextcliff", ROOT / "conf"
    files = [file for file in package.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    options = [file for file in conf.rglob("*.yaml") if file.parent.name != "local"]
    shipped = {f"contextcliff/conf/{file.relative_to(conf)}" for file in options}
    assert {str(file.relative_to(ROOT)) for file in files} | shipped <= names
    assert {name for name in names if name.startswith("contextcliff/conf/")} == shipped
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"contextcliff"}


def test_the_installed_command_runs_from_another_directory(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    venv.create(environment, with_pip=True)
    own = environment / "bin" / "python"
    subprocess.run([own, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel], check=True)
    # Dependencies come from the test environment; the package itself must come from the wheel.
    (site,) = (environment / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    asking = partial(subprocess.run, cwd=elsewhere, env=clean, capture_output=True, text=True, check=False)
    where = asking([own, "-c", "import contextcliff; print(contextcliff.__file__)"])
    assert where.stdout.startswith(str(site))
    small = ("engine=simulated", "task.trials=2", "reporting.progress=false")
    done = asking([environment / "bin" / "contextcliff", *small])
    assert (done.returncode, done.stderr) == (0, "")
    assert "SAFE CAP" in done.stdout
    assert (elsewhere / "mlruns" / "mlflow.db").is_file()
    assert len(list((elsewhere / "outputs").rglob("report.json"))) == 1
