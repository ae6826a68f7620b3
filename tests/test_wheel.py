"""The installed wheel works from another directory, with its configuration and its story inside."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    # The test environment holds hatchling, so that nothing has to be fetched to build.
    built = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    (found,) = folder.glob("*.whl")
    return found


def test_the_wheel_carries_configuration_and_story_and_nothing_of_the_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for needed in (
        "contextcliff/conf/config.yaml",
        "contextcliff/conf/task/niah.yaml",
        "contextcliff/datasets/texts/the_tide_clerk.txt",
        "contextcliff/locale/ja.yaml",
        "contextcliff/reporting/pages/page.html",
        "contextcliff/reporting/pages/samples.js",
        "contextcliff/text/prose_stock.yaml",
        "contextcliff/py.typed",
        "contextcliff/writing/pages/writing.html",
        "contextcliff/writing/measures/measures.yaml",
        "contextcliff/writing/word_lists/dale_chall.txt",
        "contextcliff/writing/word_lists/dale_chall_license.txt",
    ):
        assert needed in names
    assert not [name for name in names if name.startswith(("tests/", "conf/", "outputs/", "mlruns/"))]


def test_the_wheel_has_every_option_and_nothing_of_ones_own(wheel: Path) -> None:
    conf = ROOT / "conf"
    shipped = {file.relative_to(conf) for file in conf.rglob("*.yaml")} - {
        file.relative_to(conf) for file in conf.glob("local/*")
    }
    prefix = "contextcliff/conf/"
    names = {Path(name.removeprefix(prefix)) for name in zipfile.ZipFile(wheel).namelist() if name.startswith(prefix)}
    assert names == shipped


def test_the_installed_command_runs_from_another_directory(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel], check=True)
    # Dependencies come from the test environment; the package itself must come from the wheel.
    (site,) = (environment / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    where = subprocess.run(
        [python, "-c", "import contextcliff; print(contextcliff.__file__)"],
        cwd=elsewhere,
        env=clean,
        capture_output=True,
        text=True,
        check=True,
    )
    assert where.stdout.startswith(str(site))
    done = subprocess.run(
        [environment / "bin" / "contextcliff", "engine=simulated", "task.trials=2", "reporting.progress=false"],
        cwd=elsewhere,
        env=clean,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "SAFE CAP" in done.stdout
    assert (elsewhere / "mlruns" / "mlflow.db").is_file()
    assert len(list((elsewhere / "outputs").rglob("report.json"))) == 1
