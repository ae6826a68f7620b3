"""A model is loaded once for the jobs of a sweep that can share it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from contextcliff.engines.engine import models_kept, taken


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


def jobs(*sizes: int) -> list[Model]:
    """The model of each of several jobs, one after another."""
    models = []
    for size in sizes:
        with job("a", size) as model:
            models.append(model)
    return models


def test_outside_a_sweep_a_model_is_closed_when_its_job_ends() -> None:
    assert [model.closed for model in jobs(0, 0)] == [True, True]
    assert Model.loaded == 2


def test_the_jobs_of_a_sweep_share_a_model_that_is_long_enough() -> None:
    with models_kept():
        first, *shared, longer, last = jobs(1024, 512, 1024, 2048, 1024)
        assert shared == [first] * 2
        assert last is longer
        assert (first.closed, last.closed, Model.loaded) == (True, False, 2)
    assert last.closed


def test_another_model_is_closed_before_the_next_is_loaded() -> None:
    with models_kept():
        (first,) = jobs(0)
        with taken("b", lambda: (Model(), first.closed)[1], close=lambda _: None) as was_closed:
            assert was_closed


def test_a_model_whose_job_failed_is_not_handed_on() -> None:
    with models_kept():
        with pytest.raises(RuntimeError), job("a") as failed:
            raise RuntimeError
        assert failed.closed
        assert jobs(0) != [failed]
