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
