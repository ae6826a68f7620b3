"""A model is loaded once for the jobs of a sweep that can share it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from contextcliff.engines.kept_model import models_kept, taken
from tests.commands import QUIET, reports, samples


class Model:
    """Counts how often it is loaded, and whether it is closed."""

    loaded: int = 0

    def __init__(self) -> None:
        Model.loaded += 1
        self.closed = False

    def close(self) -> None:
        self.closed = True


@pytest.fixture(autouse=True)
def nothing_loaded() -> None:
    Model.loaded = 0


@contextmanager
def job(key: object, size: int = 0) -> Iterator[Model]:
    with taken(key, Model, close=Model.close, size=size) as model:
        assert not model.closed
        yield model


def test_outside_a_sweep_a_model_is_closed_when_its_job_ends() -> None:
    with job("a") as model:
        pass
    assert model.closed
    with job("a"):
        pass
    assert Model.loaded == 2


def test_the_next_job_of_a_sweep_takes_over_the_model_of_the_last() -> None:
    with models_kept():
        with job("a") as first:
            pass
        with job("a") as second:
            pass
        assert second is first
        assert not first.closed
    assert first.closed
    assert Model.loaded == 1


def test_another_model_is_closed_before_the_next_is_loaded() -> None:
    with models_kept():
        with job("a") as first:
            pass
        with taken("b", lambda: (Model(), first.closed)[1], close=lambda _: None) as was_closed:
            assert was_closed


def test_a_model_that_is_too_short_is_loaded_again_and_a_longer_one_is_not() -> None:
    with models_kept():
        for size in (1024, 512, 1024, 2048, 1024):
            with job("a", size):
                pass
    assert Model.loaded == 2


def test_a_model_whose_job_failed_is_not_handed_on() -> None:
    with models_kept():
        with pytest.raises(RuntimeError), job("a") as failed:
            raise RuntimeError
        assert failed.closed
        with job("a"):
            pass
    assert Model.loaded == 2


_COUNTING = """
import sys
import contextcliff.engines.llamacpp as engine
from contextcliff.__main__ import main
served, loads = engine.loopback_server, []
engine.loopback_server = lambda *given, **named: (loads.append(1), served(*given, **named))[1]
try:
    main()
finally:
    sys.stderr.write(f"loaded {len(loads)} times")
"""


@pytest.mark.llm
@pytest.mark.slow
def test_a_sweep_over_tasks_loads_the_embedded_model_once_and_answers_as_runs_alone(tmp_path: Path) -> None:
    asked = ("task.lengths=[256]", "task.depths=[0.5]", "task.trials=1", "task.haystacks=1", *QUIET)

    def loads(name: str, *overrides: str) -> str:
        folder = tmp_path / name
        folder.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", _COUNTING, *overrides, *asked],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stderr.splitlines()[-1]

    assert loads("sweep", "task=niah,niah_multikey") == "loaded 1 times"
    assert [each["task"] for each in reports(tmp_path / "sweep")] == ["niah", "niah_multikey"]
    together = [file.read_text(encoding="utf-8") for file in (tmp_path / "sweep").rglob("samples.jsonl")]
    for name in ("niah", "niah_multikey"):
        assert loads(name, f"task={name}") == "loaded 1 times"
        (alone,) = samples(tmp_path / name)
        assert any(alone["prediction"] in text for text in together)
