"""Several tasks of a sweep as one benchmark: which rows belong together, and what their mean shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contextcliff.analysis.task_means import task_means
from contextcliff.records.sweep import CurvePoint, SweepRow, row_from_json, row_to_json
from contextcliff.statistics.intervals import wilson

N = 22


def row(job: int, task: str, right: dict[int, int], *, model: str = "m", **changes: object) -> SweepRow:
    curve = tuple(
        CurvePoint(tokens=tokens - 3, mean=n / N, low=low, high=high, asked_tokens=tokens)
        for tokens, n in right.items()
        for low, high in [wilson(n, N, 0.95)]
    )
    made = SweepRow(
        job=job,
        model=model,
        task=task,
        kv_policy="none",
        state="done",
        curve=curve,
        threshold_score=0.856,
        confidence=0.95,
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # fields of the row


PERFECT = {4_096: N, 8_192: N, 16_384: N}


def test_the_mean_is_over_tasks_and_matched_by_the_length_asked_for() -> None:
    (found,) = task_means([row(0, "a", PERFECT), row(1, "b", {4_096: N, 8_192: 20, 16_384: 11})])
    assert found.tasks == ("a", "b")
    assert [point.asked_tokens for point in found.points] == [4_096, 8_192, 16_384]
    assert [point.mean for point in found.points] == pytest.approx([1.0, 21 / 22, 0.75])
    assert found.effective_tokens == 8_192
    assert found.cap_tokens == 8_192
    assert (found.confidence, found.threshold, found.censored) == (0.95, 0.856, False)


def test_an_effective_length_is_a_mean_alone_and_a_cap_needs_its_interval_above() -> None:
    close = {4_096: N, 8_192: 19}  # 0.864 each
    (found,) = task_means([row(0, "a", close), row(1, "b", close)])
    assert (found.effective_tokens, found.cap_tokens) == (8_192, 4_096)
    (none,) = task_means([row(0, "a", {4_096: 10}), row(1, "b", {4_096: 10})])
    assert (none.effective_tokens, none.cap_tokens) == (None, None)
    (all_of_it,) = task_means([row(0, "a", PERFECT), row(1, "b", PERFECT)])
    assert all_of_it.censored


def test_a_window_s_own_length_is_one_length_though_the_tasks_leave_different_room_for_the_answer() -> None:
    first, second = {4_096: N, 130_872: N}, {4_096: N, 130_944: 20}
    (found,) = task_means([row(0, "a", first), row(1, "b", second)])
    assert [point.asked_tokens for point in found.points] == [4_096, 130_944]
    assert found.points[1].mean == pytest.approx(21 / 22)
    assert found.incomplete == {}


def test_a_length_that_only_some_tasks_have_has_no_mean() -> None:
    (found,) = task_means([row(0, "a", PERFECT), row(1, "b", {4_096: N})])
    assert [point.asked_tokens for point in found.points] == [4_096]
    assert found.incomplete == {8_192: 1, 16_384: 1}


def test_models_policies_and_other_swept_keys_are_apart_and_failed_tasks_are_named() -> None:
    rows = [
        *(row(job, task, PERFECT, model=model) for model in ("m", "n") for job, task in enumerate(("a", "b"))),
        row(4, "c", {}, model="n", state="failed"),
        row(5, "a", PERFECT, differing={"model.rope.type": "yarn"}),
        row(6, "b", PERFECT, state="running"),
    ]
    found = {means.model: means for means in task_means(rows)}
    assert set(found) == {"m", "n"}
    assert all(means.tasks == ("a", "b") and means.lacking == ("c",) for means in found.values())


def test_different_thresholds_give_rulers_and_different_confidences_none() -> None:
    (found,) = task_means([row(0, "a", PERFECT, threshold_score=0.8, confidence=0.9), row(1, "b", PERFECT)])
    assert (found.threshold, found.confidence) == (0.856, None)
    (shared,) = task_means([row(job, task, PERFECT, threshold_score=0.7) for job, task in enumerate("ab")])
    assert shared.threshold == 0.7


def test_a_row_of_an_earlier_version_is_read_and_averaged_with_nothing() -> None:
    old = row_to_json(row(0, "a", PERFECT)).replace(', "asked_tokens": 4096', "").replace('"confidence": 0.95, ', "")
    read = row_from_json(old)
    assert (read.curve[0].asked_tokens, read.confidence) == (0, None)


def test_a_share_of_healthy_rounds_is_averaged_with_no_score() -> None:
    assert task_means([row(0, "a", PERFECT), row(1, "b", PERFECT, quantity="healthy")]) == ()
