"""A model is loaded once for the jobs of a sweep that can share it."""

from __future__ import annotations

import pytest

from contextcliff.engines.engine import models_kept, taken


class Model:
    closed = False

    def close(self) -> None:
        self.closed = True


def jobs(*sizes: int, key: str = "a") -> list[Model]:
    models = []
    for size in sizes:
        with taken(key, Model, close=Model.close, size=size) as model:
            assert not model.closed
            models.append(model)
    return models


def test_outside_a_sweep_a_model_is_closed_when_its_job_ends() -> None:
    first, second = jobs(0, 0)
    assert first is not second
    assert (first.closed, second.closed) == (True, True)


def test_the_jobs_of_a_sweep_share_a_model_that_is_long_enough() -> None:
    with models_kept():
        first, *shared, longer, last = jobs(1024, 512, 1024, 2048, 1024)
        assert shared == [first] * 2
        assert last is longer
        assert (first.closed, last.closed) == (True, False)
    assert last.closed


def test_another_model_is_closed_before_the_next_is_loaded_and_one_whose_job_failed_is_not_handed_on() -> None:
    with models_kept():
        (first,) = jobs(0)
        with taken("b", lambda: (Model(), first.closed)[1], close=lambda _: None) as was_closed:
            assert was_closed
        with pytest.raises(RuntimeError), taken("a", Model, close=Model.close) as failed:
            raise RuntimeError
        assert failed.closed
        assert jobs(0) != [failed]
